"""Descriptions of calls, as the sentences that users see."""

import re
from datetime import UTC, datetime

import pytest

from intents_ui.fields import abi
from intents_ui.fields import calls as descriptions
from intents_ui.service.models import (
    Call,
    ChainInfo,
    DepositIntentEntry,
    DepositTransaction,
    IntentCalls,
    MetaTxn,
    NativeCurrency,
    QuoteIntentRequest,
    QuoteOptions,
    ServiceAddressOverrides,
    ServiceContracts,
    TokenInfo,
    TransactionPrecondition,
)
from tests.fields.test_abi import call_of, word
from tests.tables import toml
from tests.transfers.builders import (
    ARBITRUM,
    BASE,
    CHAINS,
    MERCHANT,
    OWNER,
    USDC,
    USDC_ON_BASE,
    Catalogue,
    at,
    intent,
    named,
    receipt,
    refund,
    summary,
    transaction,
)

DEPOSIT = "0x" + "de" * 20
DELIVERY = "0x" + "d1" * 20
ROUTER = "0x" + "12" * 20
UNLISTED = "0x" + "99" * 20
WETH = "0x" + "77" * 20
ZERO_ADDRESS = "0x" + "0" * 40
MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11"
NOON = int(datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp())
UNLIMITED = 2**256 - 1


class Names(Catalogue):
    """USDC on both chains, WETH and the native token, and the requests for them."""

    def __init__(self):
        self.requested = set()

    def chain(self, chain_id):
        known = chain_id in CHAINS
        coin = NativeCurrency(symbol="ETH", decimals=18)
        return ChainInfo(id=chain_id, name=CHAINS[chain_id], native_currency=coin) if known else None

    def token(self, chain_id, address):
        self.requested.add(chain_id)
        listed = {USDC: ("USDC", 6), USDC_ON_BASE: ("USDC", 6), WETH: ("WETH", 18)}
        symbol, decimals = listed.get(address, (None, None))
        return TokenInfo(chain_id=chain_id, address=address, symbol=symbol, decimals=decimals) if symbol else None

    def lists(self, chain_id, address):
        self.requested.add(chain_id)
        return None if not address else address in (USDC, USDC_ON_BASE, WETH, ZERO_ADDRESS)


def plan(*made, receipt=None, names=None, **members):
    """Return the transactions of an intent with these calls on Arbitrum."""
    usual = {
        "origin_intent_address": DEPOSIT,
        "destination_intent_address": DELIVERY,
        "origin_calls": IntentCalls(chain_id=ARBITRUM, calls=made),
    }
    return descriptions.transactions(at(intent(**{**usual, **members}), receipt, names=names or Names()))


def step_of(data, to=ROUTER, **members):
    return plan(Call(to=to, data=hexed(data), **members))[0].steps[0]


def hexed(data):
    return f"0x{data.hex()}" if isinstance(data, bytes) else data


KNOWN = {
    "OWNER": OWNER, "MERCHANT": MERCHANT, "USDC": USDC, "WETH": WETH, "ROUTER": ROUTER, "UNLISTED": UNLISTED,
    "ZERO_ADDRESS": ZERO_ADDRESS, "UNLIMITED": UNLIMITED, "NOON": NOON, "ZEROS": bytes(32),
}  # fmt: skip
CALLS = toml(__file__, "calls")


def argument(written):
    if isinstance(written, list):
        return [argument(each) for each in written]
    is_hex = isinstance(written, str) and written.startswith("hex:")
    return bytes.fromhex(written[4:]) if is_hex else KNOWN.get(written, written)


@pytest.mark.parametrize("row", CALLS.values(), ids=CALLS)
def test_a_call_is_described_in_a_sentence(row):
    data = call_of(row["call"], *map(argument, row["with"])) if "call" in row else row["data"]
    call = Call(to=KNOWN[row.get("to", "ROUTER")], data=hexed(data), value=row.get("value"))
    made = plan(call, receipt=receipt(summary=summary(destination_to_address=MERCHANT)))
    says = re.sub(r"\b(ROUTER|UNLISTED)\b", lambda name: KNOWN[name[0]], row["says"])
    assert str(made[0].steps[0].said) == says


SEND = call_of("transfer", OWNER, 100_000_000)


def test_an_address_is_named_by_its_role():
    addresses = iter(f"0x{number:040x}" for number in range(1, 99))
    wallet, contracts = (
        model(**dict(zip(model.model_fields, addresses, strict=False)))
        for model in (ServiceAddressOverrides, ServiceContracts)
    )
    options = QuoteOptions(service_address_overrides=wallet)
    entry = DepositIntentEntry(fee_collector=next(addresses))
    named = [*dict(wallet).values(), *dict(contracts).values(), entry.fee_collector, MERCHANT, OWNER, DELIVERY, DEPOSIT]
    (made,) = plan(
        *[Call(to=each, data="0xdeadbeef") for each in named],
        quote_request=QuoteIntentRequest(options=options, destination_to_address=MERCHANT),
        service_contracts=contracts,
        receipt=receipt(deposit=transaction("PENDING", deposit_intent_entry=entry)),
    )
    roles = {str(step.said).removeprefix("Call function 0xdeadbeef of ") for step in made.steps}
    assert roles == set(descriptions.TABLE["parties"].values())


def test_arguments_are_listed_with_type_and_value():
    step = step_of(call_of("approve/2", DEPOSIT, 99_912_345), to=USDC, gas_limit=160_000)
    assert step.function.signature == "approve(address,uint256)"
    rows = [(each.name, each.type, cell.shown, cell.who) for each, cell in step.arguments]
    assert rows[0] == ("spender", "address", "0xdEDEDEDEdEdEdEDedEDeDedEdEdeDedEdEDedEdE", "the deposit address")
    assert rows[1] == ("amount", "uint256", "99.9123 USDC", "")
    assert step.arguments[1][1].value.full == "99.912345"
    assert (step.size, step.is_whole, step.data[:10]) == (68, True, "0x095ea7b3")
    assert step.call.gas_limit == 160_000


def test_bytes_after_the_arguments_are_counted():
    parameter, cell = step_of(SEND + b"referral").arguments[-1]
    assert (parameter.name, cell.shown) == ("more", "8 after the arguments")
    assert [each.name for each, _ in step_of(SEND).arguments] == ["to", "amount"]


def test_the_zero_address_is_the_native_token_where_a_token_is_expected():
    step = step_of(call_of("sweep", ZERO_ADDRESS, ZERO_ADDRESS))
    assert [cell.who for _, cell in step.arguments] == ["native token", "the zero address"]


def test_flags_are_shown_as_words():
    assert " ".join(step_of("0x", only_fallback=True, delegate_call=True, behavior_on_error=1).remarks) == (
        "Runs if the previous call fails. Delegate call. On failure: revert all."
    )
    assert step_of("0x", behavior_on_error=9).remarks == ["On failure: unknown behavior (9)."]
    assert step_of("0x", only_fallback=False, delegate_call=False).remarks == []


TROUBLES = {
    "no hex": abi.Unread.NO_HEX,
    "0xab": abi.Unread.SHORT,
    "0xdeadbeef": abi.Unread.UNKNOWN,
    "0xa9059cbb00": abi.Unread.BROKEN,
    "0xa9059cbb" + "00" * 70_000: abi.Unread.TOO_LONG,
}


@pytest.mark.parametrize(("data", "problem"), TROUBLES.items(), ids=list(TROUBLES.values()))
def test_undecodable_data_says_why_and_is_shown_raw(data, problem):
    step = step_of(data)
    assert step.problem == problem
    assert data.startswith(step.data)
    assert step.is_whole == (len(data) <= 4096)


def test_nested_calls_are_listed_below_their_call():
    inside = call_of("transfer", OWNER, 10**6), call_of("approve/2", ROUTER, 10**6)
    step = step_of(call_of("aggregate3", [(USDC, False, data) for data in inside]), to=MULTICALL3)
    assert str(step.said) == "Run these calls in one transaction"
    assert [str(each.said) for each in step.inside] == [
        "Send 1.00 USDC to the owner's wallet",
        f"Approve {ROUTER} to spend 1.00 USDC from the Multicall3 contract",
    ]


def nested(depth):
    data = call_of("refundETH")
    for _ in range(depth):
        data = call_of("multicall/1", [data])
    return data


def test_nested_calls_are_decoded_three_levels_deep():
    step = step_of(nested(6))
    for _ in range(3):
        assert not step.problem
        step = step.inside[0]
    assert (step.problem, step.inside) == (descriptions.TOO_DEEP, ())


def test_the_limit_of_fifty_nested_calls_is_per_page():
    data = hexed(call_of("multicall/1", [call_of("refundETH")] * 30))
    result = plan(Call(to=ROUTER, data=data), Call(to=ROUTER, data=data), Call(to=ROUTER, data=data))[0]
    assert [(len(step.inside), step.more) for step in result.steps] == [(30, 0), (20, 10), (0, 30)]


def test_decoded_data_is_limited_per_page():
    long = hexed(call_of("forward", bytes(60_000)))
    result = plan(*[Call(to=ROUTER, data=long)] * 5)[0]
    assert [step.problem for step in result.steps] == ["", "", *[descriptions.SPENT] * 3]


CONDITIONS = named(
    (
        "a balance",
        {"type": "tokenMinBalance", "owner_address": DELIVERY, "token_address": USDC_ON_BASE, "min_amount": 99_900_000},
        ["Runs once the destination intent address has at least 99.90 USDC on Base."],
    ),
    (
        "of no kind",
        {"owner_address": ROUTER, "token_address": ZERO_ADDRESS, "min_amount": 1},
        [f"Runs once {ROUTER} has at least <0.000001 ETH on Base."],
    ),
    (
        "of a kind that nobody knows",
        {"type": "moon\u202ephase", "min_amount": 1},
        ["Runs under an unknown condition: moon⟨U+202E⟩phase."],
    ),
    ("none", {}, []),
)


@pytest.mark.parametrize(("condition", "sentences"), CONDITIONS)
def test_a_condition_is_described_in_a_sentence(condition, sentences):
    result = plan(destination_precondition=TransactionPrecondition(chain_id=BASE, **condition))
    assert [str(note) for each in result for note in each.notes] == sentences


def signed(**members):
    entry = DepositIntentEntry(**{"intent_signature": "0x1b", "deadline": NOON} | members)
    deposit = transaction("PENDING", deposit_intent_entry=entry)
    notes = plan(receipt=receipt(deposit=deposit))[0].notes
    return [str(note) for note in notes], [note.tone.value for note in notes]


def test_an_unlimited_permit_is_described_and_marked():
    sentences, tones = signed(
        permit_signature="0x1c",
        permit_deadline=NOON,
        permit_amount=UNLIMITED,
        fee_amount=20_000,
        fee_token=USDC,
        fee_collector=ROUTER,
    )
    assert sentences == [
        "Gasless deposit: the owner signed it and the relayer submits it until 2026-11-21T12:00:00Z.",
        "A signed permit allows the service's contract to spend USDC without limit from the owner's wallet "
        "until 2026-11-21T12:00:00Z.",
        descriptions.UNLIMITED,
        "Relay fee: 0.02 USDC to the fee collector.",
    ]
    assert tones == ["neutral", "neutral", "attention", "neutral"]


def packed(*made):
    listed = b"".join(bytes.fromhex(to[2:]) + word(value) + word(len(data)) + data for to, value, data in made)
    return hexed(call_of("execute(bytes,bytes)", listed, b"signature"))


def test_the_relayers_calls_are_compared_with_the_plan():
    pay = Call(to=USDC, data=hexed(call_of("transfer", OWNER, 5)))
    give_back = Call(to=ROUTER, data="0xdeadbeef", only_fallback=True)
    paid, given_back = (USDC, 0, abi.raw(pay.data)), (ROUTER, 0, b"\xde\xad\xbe\xef")

    def relayed(data):
        result = plan(pay, give_back, origin_meta_txn=MetaTxn(wallet_address=DEPOSIT, contract=DEPOSIT, input=data))[0]
        return [str(note) for note in result.notes], len(result.steps)

    assert relayed(packed(paid, given_back)) == ([descriptions.RELAYED], 2)
    assert relayed(packed(paid)) == ([descriptions.RELAYED_IN_PART], 2)
    assert relayed(packed((USDC, 0, paid[2][:-1] + b"\x06"), given_back)) == ([descriptions.RELAYED_OTHERWISE], 3)
    assert relayed(packed((USDC, 1, paid[2]), given_back)) == ([descriptions.RELAYED_OTHERWISE], 3)
    assert relayed(packed(given_back, paid)) == ([descriptions.RELAYED_OTHERWISE], 3)
    assert relayed("0xdeadbeef") == ([], 3)


def test_the_refund_is_a_separate_transaction():
    returned = refund("SUCCEEDED", calldata=hexed(call_of("transfer", OWNER, 99_500_000)))
    result = plan(receipt=receipt(refund=returned))[-1]
    assert (result.title, result.about) == ("Refund", "on Arbitrum")
    assert str(result.steps[0].said) == "Send 99.50 USDC to the owner's wallet"
    assert result.steps[0].remarks == ["As recorded in the receipt."]


def test_a_call_sent_as_planned_is_not_repeated():
    data = hexed(call_of("transfer", DEPOSIT, 10**8))
    asked = DepositTransaction(chain_id=ARBITRUM, to=USDC, data=data)
    result = plan(deposit_transaction=asked, receipt=receipt(deposit=transaction("SUCCEEDED", calldata=data.upper())))
    assert [str(step.said) for step in result[0].steps] == ["Send 100.00 USDC to the deposit address"]


def test_data_naming_other_chains_loads_none_of_their_tokens():
    names = Names()
    bridge = call_of("depositV3", OWNER, OWNER, USDC, USDC, 1, 1, 31_337, ZERO_ADDRESS, 0, 0, 0, b"")
    calls_elsewhere = IntentCalls(chain_id=999, calls=(Call(to=USDC, data=hexed(bridge)),))
    assert plan(names=names, origin_calls=calls_elsewhere, destination_calls=calls_elsewhere)
    plan(Call(to=USDC, data=hexed(bridge)), names=names)
    assert names.requested <= {ARBITRUM, BASE}
