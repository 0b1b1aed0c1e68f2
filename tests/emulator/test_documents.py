"""Every object matches docs/contract.md, and the amounts add up."""

import re

import pytest

from intents_ui.emulator import Emulator
from intents_ui.emulator.documents import MICROSECONDS
from intents_ui.emulator.population import ORDINARY, STREAMS
from intents_ui.emulator.scenario_engine import SCENARIOS
from tests import spec
from tests.emulator.driving import NOW, Clock, call, quote, receipt_at

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,5}[1-9])?Z")
TIMES = {"createdAt", "updatedAt", "expiresAt", "startedAt", "finishedAt", "txnMinedAt"}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.slug)
def test_every_step_of_every_scenario_matches_the_contract(emulator, clock, scenario):
    for variant in scenario.variant_names:
        intent = emulator.newest(scenario.slug, variant=variant)
        asked = {"intentId": intent["intentId"]}
        around = {"fromTime": intent["id"] // MICROSECONDS, "toTime": intent["id"] // MICROSECONDS + 1}
        for step in scenario.script_of(variant):
            receipt_at(emulator, clock, intent, step.at)
            answers = {
                "GetIntent.response": call(emulator, "GetIntent", asked),
                "WaitIntentReceipt.response": call(emulator, "WaitIntentReceipt", asked | {"lastReceiptStates": ["X"]}),
                "GetIntentHistory.response": call(emulator, "GetIntentHistory", around | {"includeBalances": True}),
            }
            for name, answer in answers.items():
                assert spec.problems(name, answer) == []
                assert not badly_written(answer)
            if not scenario.deal.edge:
                assert spec.unknown_members("Intent", answers["GetIntent.response"]["intent"]) == []
                receipt = answers["WaitIntentReceipt.response"]["intentReceipt"]
                assert spec.unknown_members("IntentReceipt", receipt) == []


def badly_written(document):
    """Return times in another format (docs/contract.md#encodings), and addresses and hashes not in lower case."""
    found = []

    def look(value, key):
        if isinstance(value, dict):
            for name, member in value.items():
                look(member, name)
        elif isinstance(value, list):
            for member in value:
                look(member, key)
        elif isinstance(value, str):
            well = STAMP.fullmatch(value) if key in TIMES else not value.startswith("0x") or value == value.lower()
            if not well:
                found.append((key, value))

    look(document, "")
    return found


def test_every_member_of_the_tables_is_filled_somewhere(emulator):
    """A table's field that no scenario gives a value would be a page nobody has seen."""
    seen = {}

    def look(kind, value):
        for name, member_kind in spec.SPEC[kind]:
            member = value.get(name)
            if member not in (None, "", []):
                seen.setdefault(kind, set()).add(name)
                inner = member_kind.removesuffix("[]").removesuffix("!")
                if inner in spec.SPEC:
                    for each in member if isinstance(member, list) else [member]:
                        look(inner, each)

    for scenario in SCENARIOS:
        look("Intent", emulator.finished(scenario.number))
    for row in call(emulator, "GetIntentHistory", {"onlyRecoverable": True, "includeBalances": True})["intents"]:
        look("IntentHistory", row)
    for scenario in SCENARIOS:
        asked = {"intentId": emulator.finished(scenario.number)["intentId"]}
        look("IntentReceipt", call(emulator, "GetIntentReceipt", asked)["intentReceipt"])
    second_names = {"destinationSalt", "calls", "preconditions", "metaTxns"}
    for kind, names in seen.items():
        missing = {name for name, _ in spec.SPEC[kind]} - names - (second_names if kind == "Intent" else set())
        assert missing == set(), kind


def test_catalogs_match_the_contract(emulator):
    everything = {"chainIds": [1, 10, 56, 137, 8453, 42161], "includeAllListed": True, "includeExternal": True}
    for operation, body in (
        ("GetChains", {}),
        ("GetTokenList", everything),
        ("GetExactInputRoutes", {"originChainId": 1, "originTokenAddress": "0x" + "0" * 40}),
        ("GetExactOutputRoutes", {"destinationChainId": 1, "destinationTokenAddress": "0x" + "0" * 40}),
    ):
        answer = call(emulator, operation, body)
        assert spec.problems(f"{operation}.response", answer) == []
        assert spec.unknown_members(f"{operation}.response", answer) == []
    assert spec.problems("Intent", quote(emulator)) == []


@pytest.fixture(scope="module")
def every_intent():
    """Return one in ten, and all copies of scenarios."""
    emulator, now = Emulator(now=Clock()), round(NOW * MICROSECONDS)
    entries = emulator.ledger.entries(now, descending=True)
    chosen = [
        each for place, each in enumerate(entries) if place % 10 == 0 or each.transfer.number % STREAMS != ORDINARY
    ]
    return [entry.intent() for entry in chosen]


def test_amounts_add_up_in_every_intent(every_intent):
    for intent in every_intent:
        fees, quoted, deposit = intent["fees"], intent["quote"], intent["depositTransaction"]
        parts = ("gasFee", "serviceFee", "collectorFee", "providerFee")
        assert int(fees["totalFeeAmount"]) == sum(int(fees[f"{part}Total"]) for part in parts)
        assert fees["totalFeeUsd"] == pytest.approx(sum(fees[f"{part}Usd"] for part in parts), abs=1e-9)
        gas = [each for each in (fees["originGas"], fees["destinationGas"]) if each]
        assert fees["gasFeeUsd"] == pytest.approx(sum(float(each["totalFeeUsd"]) for each in gas), abs=1e-9)
        for each in gas:
            assert int(each["totalFeeAmount"]) == int(each["totalGasLimit"]) * int(each["gasPrice"])
        provider = fees["provider"]
        assert int(provider["totalFeeAmount"]) == int(provider["quoteProviderFee"]) + int(provider["serviceFee"])
        assert sum(quoted["routeProvidersFeeUsd"]) == pytest.approx(fees["providerFeeUsd"], abs=1e-9)
        assert len(quoted["routeProviders"]) == len(quoted["routeProvidersFeeUsd"])
        assert deposit["amount"] == quoted["fromAmount"] == intent["originPrecondition"]["minAmount"]
        assert int(quoted["toAmountMin"]) <= int(quoted["toAmount"])
        lost = quoted["fromAmountUsd"] - quoted["toAmountUsd"]
        assert quoted["priceImpactUsd"] == pytest.approx(lost, rel=1e-9, abs=1e-6)
        details = {name: part["priceImpactUsd"] for name, part in quoted["priceImpactDetails"].items()}
        net = details.pop("netPriceImpact")
        assert sum(details.values()) == pytest.approx(net, rel=1e-6, abs=1e-5)
