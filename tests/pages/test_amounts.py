"""Amounts: every surface shows the same one, and calls a requested one requested."""

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import SCENARIOS
from intents_ui.emulator.transfers import OWNERS
from intents_ui.live.snapshot import Snapshot
from intents_ui.tokens.token_amounts import DECIMALS
from intents_ui.web import intent as intent_page
from intents_ui.web import reading
from tests.fenced import json_of
from tests.pages.reading import content
from tests.pages.recorded import Recorded, recorded
from tests.surfaces import NOW, moments, play, words

SCENARIO = 2  # 100 USDC from Arbitrum One to Base, bridged by Relay
REQUESTED = 100_000_000
AMOUNT = re.compile(r"[\d,]+\.\d+ USDC")
RECEIPTS = ("GetIntentReceipt", "WaitIntentReceipt", "GetIntentHistory")

pytestmark = pytest.mark.usefixtures("still")


@pytest.fixture
def service(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    with recorded(emulator, monkeypatch) as way:
        yield way


def changed(service: Recorded, change: Callable[[dict[str, Any]], object], operations: tuple[str, ...]) -> None:
    """Let a function modify every object of these responses."""

    def of(document: Any) -> Any:
        for each in document.values() if isinstance(document, dict) else document:
            if isinstance(each, dict | list):
                of(each)
        if isinstance(document, dict):
            change(document)
        return document

    service.changes |= dict.fromkeys(operations, of)


def finished(emulator: Emulator, scenario: int) -> dict[str, Any]:
    """Return the Intent document of an old copy, the only transfer of its owner."""
    return emulator.play(scenario, age=3600, owner=OWNERS)


def deposited(amount: object) -> Callable[[dict[str, Any]], object]:
    """Return a change of a receipt after which its deposit has this amount. None: it has none."""

    def change(document: dict[str, Any]) -> None:
        deposit = document.get("depositTransaction")
        if isinstance(deposit, dict) and "tokenAmount" in deposit:
            del deposit["tokenAmount"]
            deposit |= {} if amount is None else {"tokenAmount": amount}

    return change


def read(site: Client, path: str) -> str:
    answer = site.get(path)
    assert answer.status_code == 200, f"{path}: {answer.status_code}"
    return content(answer)


def live_fragment(intent_id: str) -> str:
    receipt = reading.read(intent_id).receipt
    assert receipt
    return intent_page.receipt_fragment(Snapshot(intent_id, receipt, learned_at=NOW))


def list_row(site: Client, intent: dict[str, Any], column: str) -> str:
    markup = read(site, f"/history?owner={intent['ownerAddress']}&balances=1")
    row = re.search(rf'<tr id="row-{intent["intentId"]}">(.*?)</tr>', markup, re.DOTALL)
    assert row
    cell = re.search(rf'<td[^>]*data-label="{column}">(.*?)</td>', row[1], re.DOTALL)
    assert cell
    return words(cell[1])


def export_rows(site: Client, intent: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the row of each format, with the values of CSV."""
    query = f"owner={intent['ownerAddress']}&balances=1"
    table = csv.DictReader(io.StringIO(read(site, f"/export/history.csv?{query}").lstrip("\ufeff")))
    lines = map(json.loads, read(site, f"/export/history.ndjson?{query}").splitlines())
    found = [row for rows in (table, lines) for row in rows if row.get("intent_id") == intent["intentId"]]
    assert len(found) == 2
    return [{name: "" if value is None else str(value) for name, value in row.items()} for row in found]


def reply(site: Client, intent_id: str) -> str:
    found = re.findall(r"<textarea[^>]*>(.*?)</textarea>", read(site, f"/intent/{intent_id}/reply"), re.DOTALL)
    return html.unescape(found[0])


def api_transfers(site: Client, intent_id: str) -> dict[str, dict[str, Any]]:
    """Return the transfer as the API, the assistant and triage have it."""
    call = {"name": "explain_transfer", "arguments": {"intent_id": intent_id}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    told = site.post("/mcp", message, content_type="application/json").json()["result"]["content"][0]["text"]
    triage = site.post("/api/v1/triage", {"text": intent_id}, content_type="application/json").json()
    return {
        "API": json.loads(read(site, f"/api/v1/transfers/{intent_id}")),
        "MCP": json_of(told),
        "triage": triage["rows"][0]["transfers"][0],
    }


# The deposit


@pytest.mark.parametrize(
    ("amount", "shown", "difference"),
    [
        pytest.param("100000000", "100.00 USDC", "", id="as requested"),
        pytest.param("97000000", "97.00 USDC", ", 3.00 USDC less than requested", id="97 %"),
        pytest.param("150000000", "150.00 USDC", ", 50.00 USDC more than requested", id="150 %"),
        pytest.param("1234565000", "1,234.57 USDC", ", 1,134.57 USDC more than requested", id="rounded half up"),
        pytest.param("42076", "0.042076 USDC", ", 99.9579 USDC less than requested", id="six digits"),
        pytest.param("0", "0 USDC", ", 100.00 USDC less than requested", id="nothing"),
    ],
)
def test_every_surface_shows_the_amount_that_arrived(
    service: Recorded, emulator: Emulator, site: Client, amount: str, shown: str, difference: str
) -> None:
    intent = finished(emulator, SCENARIO)
    changed(service, deposited(amount), RECEIPTS)
    intent_id = intent["intentId"]
    sentence = f"Received {shown} at the deposit address on Arbitrum One{difference}."
    for markup in (read(site, f"/intent/{intent_id}"), live_fragment(intent_id)):
        assert sentence in words(markup)
        assert f"{shown} on Arbitrum One" in words(markup)
    assert list_row(site, intent, "Sent").endswith(f"{shown}Arbitrum One")
    for row in export_rows(site, intent):
        assert (row["origin_base_units"], row["origin_note"]) == (amount, "")
    assert f"Your transfer of {shown} from Arbitrum One" in reply(site, intent_id)
    for name, transfer in api_transfers(site, intent_id).items():
        assert (transfer["sent"]["baseUnits"], transfer["sent"]["note"]) == (amount, None), name
    for path in (f"/embed/intent/{intent_id}", f"/intent/{intent_id}/feed.atom"):
        assert shown in words(read(site, path)), path


def test_every_digit_of_a_rounded_amount_is_on_hover_in_exports_and_in_the_api(
    service: Recorded, emulator: Emulator, site: Client
) -> None:
    intent = finished(emulator, SCENARIO)
    changed(service, deposited("1234565432"), RECEIPTS)
    intent_id, rounded = intent["intentId"], "1,234.57 USDC"
    for markup in (read(site, f"/intent/{intent_id}"), live_fragment(intent_id)):
        assert f'Received <span title="1,234.565432 USDC">{rounded}</span> at the deposit address' in markup
        assert {each for each in AMOUNT.findall(words(markup)) if each.startswith("1,234.")} == {rounded}
    shown = [read(site, f"/history?owner={intent['ownerAddress']}"), read(site, f"/intent/{intent_id}/feed.atom")]
    shown += [read(site, f"/embed/intent/{intent_id}"), reply(site, intent_id)]
    for markup in shown:
        assert {each for each in AMOUNT.findall(words(markup)) if each.startswith("1,234.")} == {rounded}
    assert {row["origin_amount"] for row in export_rows(site, intent)} == {"1234.565432"}
    for name, transfer in api_transfers(site, intent_id).items():
        assert transfer["sent"]["amount"] == "1234.565432", name


@pytest.mark.parametrize("amount", [pytest.param(None, id="absent"), pytest.param("a lot", id="unreadable")])
def test_no_surface_shows_a_requested_amount_as_one_that_arrived(
    service: Recorded, emulator: Emulator, site: Client, amount: object
) -> None:
    intent = finished(emulator, SCENARIO)
    changed(service, deposited(amount), RECEIPTS)
    intent_id = intent["intentId"]
    for markup in (read(site, f"/intent/{intent_id}"), live_fragment(intent_id)):
        assert "Received at the deposit address on Arbitrum One. Amount not reported." in words(markup)
        assert "Quoted: 100.00 USDC" in words(markup)
    assert list_row(site, intent, "Sent").endswith("100.00 USDCquoted on Arbitrum One")
    for row in export_rows(site, intent):
        assert (row["origin_base_units"], row["origin_note"]) == (str(REQUESTED), "quoted")
    assert "Your transfer from Arbitrum One to Base" in reply(site, intent_id)
    for name, transfer in api_transfers(site, intent_id).items():
        assert (transfer["sent"]["baseUnits"], transfer["sent"]["note"]) == (str(REQUESTED), "quoted"), name


# Decimals


NATIVE_TOKEN = 12  # 1 ETH
LEFT_OVER = 11  # 79.7123 USDC.e at the destination intent address
DESCRIBED = (*RECEIPTS, "GetIntent")


def described(decimals: int, *, of_balances: bool) -> Callable[[dict[str, Any]], object]:
    """Return a change after which tokens have these decimals: of balances, or of receipts and deposits."""

    def change(document: dict[str, Any]) -> None:
        if "decimals" in document and ("balance" in document) == of_balances:
            document["decimals"] = decimals

    return change


@pytest.mark.parametrize(
    ("scenario", "decimals", "shown", "units", "right"),
    [
        (SCENARIO, 18, "100.00 USDC", 10**8, 6),
        (NATIVE_TOKEN, 0, "1.00 ETH", 10**18, 18),
        *(pytest.param(SCENARIO, each, "100.00 USDC", 10**8, 6, marks=pytest.mark.slow) for each in (0, 8)),
        *(pytest.param(NATIVE_TOKEN, each, "1.00 ETH", 10**18, 18, marks=pytest.mark.slow) for each in (6, 8)),
    ],
)
def test_every_surface_shows_listed_decimals_and_that_a_receipt_contradicts_them(
    service: Recorded,
    emulator: Emulator,
    site: Client,
    scenario: int,
    decimals: int,
    shown: str,
    units: int,
    right: int,
) -> None:
    intent = finished(emulator, scenario)
    changed(service, described(decimals, of_balances=False), DESCRIBED)
    intent_id, raw = intent["intentId"], f"{units:,} base units"
    for markup in (read(site, f"/intent/{intent_id}"), live_fragment(intent_id)):
        assert f"{shown} ({DECIMALS}, {raw}" in words(markup)
        assert f"The amount as received: {raw}." in words(markup)
    assert f"{shown}" in list_row(site, intent, "Sent")
    assert DECIMALS in list_row(site, intent, "Sent")
    for row in export_rows(site, intent):
        assert (row["origin_base_units"], row["origin_decimals"]) == (str(units), str(right))
        assert row["origin_amount"] == str(units // 10**right)
        assert DECIMALS in row["origin_warnings"]
    assert f"{shown} ({DECIMALS}, {raw}" in reply(site, intent_id)
    for name, transfer in api_transfers(site, intent_id).items():
        assert transfer["sent"]["amount"] == str(units // 10**right), name
        assert transfer["sent"]["token"]["decimals"] == right, name
        assert DECIMALS in [each["word"] for each in transfer["sent"]["token"]["warnings"]], name
    for path in (f"/embed/intent/{intent_id}", f"/intent/{intent_id}/feed.atom"):
        assert DECIMALS in read(site, path), path
    description = re.search(r'<meta name="description" content="(.*?)">', read(site, f"/intent/{intent_id}"))
    assert description
    assert f"{shown} on" not in description[1]


@pytest.mark.parametrize("decimals", [0, 8, 18])
def test_a_balance_that_contradicts_the_listed_decimals_says_so(
    service: Recorded, emulator: Emulator, site: Client, decimals: int
) -> None:
    scenario = SCENARIOS[LEFT_OVER - 1]
    intent = play(emulator, scenario, next(each for each in moments(scenario) if each.name == "at its worst"))
    [row] = export_rows(site, intent)[:1]
    shown = row["balances"]
    assert re.fullmatch(r"79\.\d+ USDC\.e on Polygon.*", shown)
    changed(service, described(decimals, of_balances=True), ("GetIntentHistory",))
    amount, _, where = shown.partition(" on ")
    for row in export_rows(site, intent):
        assert re.fullmatch(rf"{re.escape(amount)} \({DECIMALS}, 79,[\d,]+ base units\) on {where}", row["balances"])
    markup = words(read(site, f"/intent/{intent['intentId']}"))
    assert f"79.7123 USDC.e ({DECIMALS}, 79," in markup
    assert "79.7123 USDC.e recoverable" in list_row(site, intent, "Balance")
    assert DECIMALS in list_row(site, intent, "Balance")
