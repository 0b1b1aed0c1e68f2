"""Unusual values in responses, one by one, and what pages show in their place."""

import copy
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from intents_ui.emulator.app import Emulator
from intents_ui.transfers.rules import MESSAGES
from tests import exported
from tests.emulator.driving import request
from tests.faults.site import Dashboard
from tests.pages.reading import visible_text
from tests.service.scripted_server import answering

AMOUNT = ("intentReceipt", "summary", "originTokenAmount")


@dataclass
class Transfer:
    """One that has ended well, and the pages about it with something odd in an answer."""

    dashboard: Dashboard
    answers: dict[str, Any]

    @property
    def intent_id(self) -> str:
        return str(self.answers["GetIntent"]["intent"]["intentId"])

    def put(self, operation: str, *path: str | int, value: Any) -> None:
        """In the answer from now on."""
        *outer, last = path
        place = self.answers[operation]
        for step in outer:
            place = place[step]
        place[last] = value

    def amount(self, written: str) -> None:
        """As it is written in JSON."""
        self.put("GetIntentReceipt", *AMOUNT, value="AMOUNT")
        self.written = {"GetIntentReceipt": json.dumps(self.answers["GetIntentReceipt"]).replace('"AMOUNT"', written)}

    def __post_init__(self) -> None:
        self.written: dict[str, str | bytes] = {}

    def page(self, part: str = "", *, path: str = "", headers: dict[str, str] | None = None) -> Any:
        self.dashboard.service.clear_faults()
        for operation, document in self.answers.items():
            self.dashboard.service.inject(answering(self.written.get(operation, document), headers=headers), operation)
        return self.dashboard.open(path or f"/intent/{self.intent_id}{part}")

    def requested(self, *operations: str) -> int:
        return len(self.dashboard.service.requested(*operations))


@pytest.fixture
def transfer(dashboard: Dashboard, emulator: Emulator) -> Transfer:
    intent_id = emulator.finished(3)["intentId"]
    operations = ("GetIntent", "GetIntentReceipt")
    return Transfer(dashboard, {name: request(emulator, name, {"intentId": intent_id}).document for name in operations})


def field(answer: Any, name: str) -> str:
    """Return the text next to a field on the page of all fields; "" if the field is absent."""
    found = LexborHTMLParser(answer.body).css_first(f'[data-field="{name}"] dd')
    return re.sub(r"\s+", " ", found.text(separator=" ")).strip() if found else ""


# Unknown values


def test_an_unknown_status_is_shown_verbatim_and_logged(transfer, caplog):
    transfer.put("GetIntentReceipt", "intentReceipt", "status", value="FROZEN")
    transfer.put("GetIntentReceipt", "intentReceipt", "originTransaction", "status", value="MELTED")
    answer = transfer.page()
    tree = LexborHTMLParser(answer.body)
    badge = tree.css_first(".status")
    assert badge is not None
    assert badge.text(strip=True) == "FROZEN"
    assert badge.attributes["data-tone"] == "neutral"
    assert "MELTED" in visible_text(answer.body)
    assert MESSAGES["unknown.status"].sentence in visible_text(answer.body)
    assert "hx-sse:connect=" in answer.body, "it may still change"
    for kind, word in (("an intent", "FROZEN"), ("a transaction", "MELTED")):
        assert f"Unknown value of {kind} from the service: {word!r}" in caplog.messages


# Numbers

# All notations: `tests/service/test_fields.py`.
MAX_AMOUNT = str(2**256 - 1)
EXACT = (str(2**53 + 1), f'"{MAX_AMOUNT}"')


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        *((each, rf"(.* )?{each.strip('"')}( .*)?") for each in EXACT),
        ("1e18", r"(.* )?1000000000000000000( .*)?"),
        ('"01"', "(.* )?1( .*)?"),
        *((each, f"out of range {each.strip('"')[:100]}") for each in (str(2**256), "-5", "9" * 5000, '"-1"')),
        *((each, "unreadable .*") for each in ("1.5", "1e1000000000")),
    ],
    ids=lambda text: text[:20],
)
def test_an_amount_is_exact_to_the_last_digit_or_marked(transfer, written, shown):
    transfer.amount(written)
    assert re.fullmatch(shown, field(transfer.page("/proof"), "receipt.summary.originTokenAmount"))
    if written in EXACT:
        assert written.strip('"') in transfer.page(".json").body


@pytest.mark.parametrize("kind", ["csv", "json", "ndjson"])
def test_an_amount_is_exact_to_the_last_digit_in_a_file(transfer, emulator, kind):
    listed = request(emulator, "GetIntentHistory", {"page": {"pageSize": 10}}).document
    listed["nextPage"] = None
    entry = next(each for each in listed["intents"] if each.get("receipt"))
    entry["receipt"]["summary"]["originTokenAmount"] = int(MAX_AMOUNT)
    transfer.answers = {"GetIntentHistory": listed}
    rows = exported.read(kind, transfer.page(path=f"/export/history.{kind}").body.encode()).rows
    row = next(each for each in rows if each["intent_id"] == entry["intentId"])
    assert row["origin_base_units"] == MAX_AMOUNT


@pytest.mark.parametrize("decimals", [None, -1, 255, 10**9, "eighteen"])
def test_an_amount_of_unknown_decimals_is_shown_in_base_units(transfer, decimals):
    receipt = transfer.answers["GetIntentReceipt"]["intentReceipt"]
    summary, deposit = receipt["summary"], receipt["depositTransaction"]
    token = summary["originTokenMetadata"]
    unlisted = "0x" + "5a" * 20
    deposit |= {"tokenAddress": unlisted, "tokenAmount": "123456789012"}
    summary["originTokenAddress"] = token["tokenAddress"] = unlisted
    token["decimals"] = decimals
    transfer.put("GetIntent", "intent", "depositTransaction", "decimals", value=None)
    transfer.put("GetIntent", "intent", "depositTransaction", "tokenAddress", value=unlisted)
    transfer.amount("123456789012")
    assert "123,456,789,012 base units" in visible_text(transfer.page().body)


# Long texts and lists


def test_a_thousand_unknown_members_have_no_effect(transfer):
    extra = {f"zz-extra-{number}": number for number in range(1000)}
    plain = {part: transfer.page(part) for part in ("/receipt", "/reply", "/feed.atom")}
    transfer.answers = copy.deepcopy(transfer.answers)
    transfer.answers["GetIntent"]["intent"] |= extra
    transfer.answers["GetIntentReceipt"]["intentReceipt"] |= extra
    transfer.answers["GetIntentReceipt"]["intentReceipt"]["summary"] |= extra
    for part, before in plain.items():
        answer = transfer.page(part)
        assert answer.status_code == 200
        assert "zz-extra" not in answer.body
        assert abs(len(answer.body) - len(before.body)) < 200, part
    assert not any("zz-extra" in line for line in transfer.dashboard.log.lines)


LONG = "\u202e\u200bA" * 10_000  # 130 kB of JSON


PLACES: list[tuple[str, ...]] = [
    ("summary", "memo"),
    ("summary", "originTokenMetadata", "symbol"),
    ("originTransaction", "statusReason"),
    ("originTransaction", "txnHash"),
    ("ownerAddress",),
]


def test_a_very_long_text_is_truncated_wherever_it_is_shown(transfer):
    plain = {part: len(transfer.page(part).body) for part in ("", "/proof", "/feed.atom")}
    usual = transfer.answers
    for place in PLACES:
        transfer.answers = copy.deepcopy(usual)
        transfer.put("GetIntentReceipt", "intentReceipt", *place, value=LONG)
        for part, before in plain.items():
            answer = transfer.page(part)
            assert answer.status_code == 200, (place, part)
            raw = sum(len(each.html or "") for each in LexborHTMLParser(answer.body).css("#raw, [data-raw]"))
            assert len(answer.body) - raw < before + 60_000, (place, part)
            assert "\u202e" not in visible_text(answer.body), (place, part)


def owned(count: int) -> dict[str, Any]:
    return {"intents": [{"intentId": f"0x{number:064x}", "status": "FAILED"} for number in range(count)]}


def test_a_search_with_many_hits_says_how_many_are_omitted(transfer):
    transfer.answers = {"SearchIntents": owned(5_000)}
    answer = transfer.page(path=f"/search?owner=0x{'4b' * 20}")
    assert answer.status_code == 200
    assert "Showing 1 to 20 of 5,000." in visible_text(answer.body)
    assert len(answer.body) < 500_000


def test_an_oversized_history_page_says_how_many_rows_are_omitted(transfer):
    transfer.answers = {"GetIntentHistory": owned(3_000) | {"nextPage": None}}
    answer = transfer.page(path="/history")
    assert answer.status_code == 200
    hidden = "2500 entries are hidden because they couldn't be read or don't match the filter."
    assert hidden in visible_text(answer.body)
    assert len(re.findall("<tr id=.?row-", answer.body)) == 500


# Unreadable entries of a list are counted, and the others shown


@pytest.mark.parametrize("broken", [{"status": "FAILED"}, None, "text", {"intentId": 7}], ids=repr)
def test_a_search_reports_unreadable_hits(transfer, broken):
    owner = "0x" + "4b" * 20
    good = owned(2)["intents"]
    transfer.answers = {"SearchIntents": {"intents": [good[0], broken, good[1]]}}
    answer = transfer.page(path=f"/search?owner={owner}")
    assert "2 transfers found" in visible_text(answer.body)
    assert "1 entry in the response couldn't be read" in visible_text(answer.body)
    transfer.answers = {"SearchIntents": {"intents": [broken]}}
    answer = transfer.page(path=f"/search?owner={owner}")
    assert "failed: unexpected response." in visible_text(answer.body), "no matches would be a guess"
    assert answer.status_code == 503


# Where a list continues

NO_CURSORS = ["abc", 10**100, -1, 1.5, True, [5]]


@pytest.mark.parametrize("cursor", NO_CURSORS, ids=lambda cursor: repr(cursor)[:12])
@pytest.mark.parametrize("path", ["/history", "/export/history.csv"])
def test_an_invalid_cursor_is_not_linked_and_never_sent(transfer, path, cursor):
    following = {"column": "id", "after": cursor, "more": True}
    transfer.answers = {"GetIntentHistory": owned(2) | {"nextPage": following}}
    answer = transfer.page(path=path)
    assert answer.status_code == 200
    asked = transfer.dashboard.service.requested("GetIntentHistory")
    assert all("after" not in (each.body.get("page") or {}) for each in asked)
    assert 'rel="next"' not in answer.body
    assert re.search("exist but couldn&#39;t be loaded|its cursor could not be read", answer.body)


def test_each_click_costs_one_request_however_the_list_continues(transfer):
    transfer.answers = {"GetIntentHistory": owned(2) | {"nextPage": {"column": "id", "after": 7, "more": True}}}
    answer = transfer.page(path="/history")
    assert transfer.requested("GetIntentHistory") == 1
    for fresh in (8, 9, 10):
        link = LexborHTMLParser(answer.body).css_first('a[rel="next"]')
        assert link is not None
        transfer.answers["GetIntentHistory"]["nextPage"]["after"] = fresh
        answer = transfer.page(path=link.attributes["href"] or "")
        assert transfer.requested("GetIntentHistory") == 1


# Times. All formats: `tests/service/test_fields.py`.


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2026-11-21T11:00:00.123456789Z", "2026-11-21T11:00:00.123456Z"),
        ("1795258800", "2026-11-21T11:00:00Z"),
        (0, ""),
        ("9999-12-31T23:59:59Z", "unreadable"),
        (1e40, "unreadable"),
    ],
)
def test_a_time_is_read_or_marked(transfer, written, shown):
    transfer.put("GetIntentReceipt", "intentReceipt", "updatedAt", value=written)
    answer = transfer.page("/proof")
    time = LexborHTMLParser(answer.body).css_first('[data-field="receipt.updatedAt"] time')
    read = time.attributes["datetime"] if time else field(answer, "receipt.updatedAt")
    assert read.startswith(shown)
    assert bool(read) is bool(shown)


@pytest.fixture
def quote(dashboard: Dashboard, emulator: Emulator) -> Transfer:
    """An offer that is open for five minutes from its moment on."""
    intent_id = emulator.play("expired-quote")["intentId"]
    found = request(emulator, "GetIntent", {"intentId": intent_id}).document
    ends = datetime.now(UTC) + timedelta(minutes=5)
    found["intent"]["expiresAt"] = found["intent"]["expiresAt"] and ends.isoformat().replace("+00:00", "Z")
    return Transfer(dashboard, {"GetIntent": found})


@pytest.mark.parametrize(
    ("ahead", "least", "most"),
    [(0, 290, 300), (90, 200, 215), (-90, 380, 395), (86_400, 0, 0), (-86_400, 86_400, 86_700)],
)
def test_time_left_is_measured_by_the_services_clock(quote, ahead, least, most):
    result = format_datetime(datetime.now(UTC) + timedelta(seconds=ahead), usegmt=True)
    answer = quote.page(headers={"Date": result})
    left = LexborHTMLParser(answer.body).css("time[data-until]")
    if most == 0:
        assert all(each.text() == "0 s" for each in left)
    else:
        assert left
    for each in left:
        assert least <= seconds(each.text()) <= most + 1
        assert abs(int(each.attributes.get("data-ahead") or 0) - ahead) <= 5
    fields = quote.page("/proof", headers={"Date": result})
    at = LexborHTMLParser(fields.body).css_first('[data-field="intent.expiresAt"] time')
    assert at is not None
    assert at.attributes["datetime"] == quote.answers["GetIntent"]["intent"]["expiresAt"], "a moment stays"


def seconds(written: str) -> int:
    units = {"d": 86_400, "h": 3600, "min": 60, "s": 1}
    return sum(int(count) * units[unit] for count, unit in re.findall(r"(\d+) (d|h|min|s)\b", written))


@pytest.mark.parametrize("date", ["", "yesterday", "Thu, 01 Jan 1970 00:00:00 GMT", "Sat, 99 Nov 2026 12:00:00 GMT"])
def test_an_invalid_date_header_changes_nothing(quote, date):
    answer = quote.page(headers={"Date": date} if date else {})
    left = LexborHTMLParser(answer.body).css("time[data-until]")
    assert left
    assert all("data-ahead" not in each.attributes and 290 <= seconds(each.text()) <= 300 for each in left)


def test_a_quote_that_expired_before_its_creation_has_no_time_left(quote):
    quote.put("GetIntent", "intent", "expiresAt", value="2020-01-01T00:00:00Z")
    answer = quote.page()
    assert answer.status_code == 200
    assert not LexborHTMLParser(answer.body).css("time[data-until]")
    assert not re.search(r"-\d+ (s|min|h|d)\b", visible_text(answer.body))


# Responses about another intent

OTHER = "0x" + "77" * 32


def test_a_receipt_of_another_intent_is_ignored_in_a_list(transfer):
    receipt = transfer.answers["GetIntentReceipt"]["intentReceipt"] | {"status": "SUCCEEDED"}
    entry = {"intentId": OTHER, "status": "FAILED", "receipt": receipt}
    transfer.answers = {"GetIntentHistory": {"intents": [entry], "nextPage": None}}
    row = LexborHTMLParser(transfer.page(path="/history").body).css_first(f"#row-{OTHER}")
    assert row is not None
    result = row.text(separator=" ")
    assert "Failed" in result
    assert "Succeeded" not in result


# Contradictions


def test_an_unreadable_amount_is_not_treated_as_zero(transfer):
    """A request has 0 in the place of the amount that it asks for."""
    transfer.put("GetIntent", "intent", "quote", "toAmount", value="1e400")
    transfer.put("GetIntent", "intent", "quoteRequest", "destinationTokenAmount", value="0")
    transfer.put("GetIntentReceipt", "intentReceipt", "status", value="EXECUTING")
    transfer.put("GetIntentReceipt", "intentReceipt", "destinationTransaction", value=None)
    transfer.put("GetIntentReceipt", "intentReceipt", "summary", "destinationTokenAmount", value=None)
    part = LexborHTMLParser(transfer.page().body).css_first("#receipt")
    assert part is not None
    result = re.sub(r"\s+", " ", part.text(separator=" "))
    assert "5,000.00 USDC" in result
    assert not re.search(r"(?<![\d.,])0 USDC", result)
