"""Triage: one line for each identifier of a ticket, sent as soon as it's known, then its rows by owner."""

import csv
import html
import io
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlencode

import httpx
import pytest
from django.test import Client, RequestFactory
from selectolax.lexbor import LexborHTMLParser

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.transfers import OWNERS
from intents_ui.search.identifiers import Finding
from intents_ui.service import operations
from intents_ui.service.models import IntentHistory, Page
from intents_ui.triage import lookup, rows
from intents_ui.triage.lookup import rows_of
from intents_ui.triage.rows import TriageRow
from tests.pages.asgi import ask
from tests.pages.doors import Doors, ids
from tests.pages.reading import visible_text
from tests.service.scripted_server import ScriptedServer, serving
from tests.serving import dashboard
from tests.waiting import PATIENCE, until

NOTHING = "0x" + "12" * 32
UNUSED_ADDRESS = "0x" + "34" * 20


@dataclass(frozen=True)
class Answer:
    status: int
    headers: httpx.Headers
    page: str

    @property
    def rows(self) -> list[str]:
        """Return the rows in the order of the text."""
        found = re.findall(r'<tr id="row-\d+">.*?</tr>', self.page, re.DOTALL)
        return sorted(found, key=lambda row: int(re.findall(r"\d+", row)[0]))

    @property
    def groups(self) -> list[tuple[str, list[int]]]:
        """Return the owner ("" for none) and the numbers of the rows of each group."""
        return [
            (
                owner.attributes["title"] or "" if (owner := body.css_first("tr.owner p bdi")) else "",
                [int((row.id or "").removeprefix("row-")) for row in body.css("tr[id]")],
            )
            for body in LexborHTMLParser(self.page).css("tbody")
        ]

    @property
    def replies(self) -> dict[str, str]:
        """Return the replies by their labels."""
        found = re.findall(r'aria-label="Reply ([^"]*)">\n(.*?)</textarea>', self.page, re.DOTALL)
        return {label: html.unescape(text) for label, text in found}

    @property
    def texts(self) -> list[str]:
        return [visible_text(row) for row in self.rows]

    @property
    def total(self) -> str:
        found = re.search(r'<h2 id="total"[^>]*>([^<]*)</h2>', self.page)
        return html.unescape(found[1]) if found else ""

    def copied(self, name: str) -> str:
        found = re.search(rf'aria-label="All rows as {name}">\n(.*?)</textarea>', self.page, re.DOTALL)
        assert found
        return html.unescape(found[1])


def send(text: str | None, **headers: str) -> Answer:
    """Post a text. Without one, the form has no field."""
    sent = {"Content-Type": "application/x-www-form-urlencoded"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    answer = ask("POST", "/triage", content=urlencode({"q": text} if text is not None else {}), headers=sent)
    return Answer(answer.status_code, answer.headers, answer.text)


@dataclass(frozen=True)
class Known:
    """An identifier as written in the ticket, and the expected row."""

    written: str
    value: str
    what: str
    intent_id: str = ""


def legs(site: Client, intent_id: str) -> dict[str, str]:
    """Return the hashes of a transfer's transactions, by step."""
    receipt = site.get(f"/intent/{intent_id}/raw/receipt.json").json()
    sent = {
        leg: (receipt.get(f"{leg}Transaction") or {}).get("txnHash")
        for leg in ("deposit", "origin", "destination", "refund")
    }
    return {leg: each for leg, each in sent.items() if each and each.lower().strip("0xf")}


def forty_eight(site: Client, emulator: Emulator) -> list[Known]:
    """Return identifiers of all kinds and spellings, of transfers with all outcomes."""
    known: list[Known] = []
    for scenario in (1, 2, 3, 4, 8, 9, 10, 12):
        intent = emulator.finished(scenario)
        intent_id = intent["intentId"]
        hashes = legs(site, intent_id)
        known.append(Known(f"{intent_id[2:].upper()}", intent_id, "intent ID", intent_id))
        for leg, sent in hashes.items():
            link = f"<https://etherscan.io/tx/{sent}#eventlog>" if leg == "deposit" else f"({sent})"
            known.append(Known(link, sent, f"{leg} transaction", intent_id))
        deposit = intent["originIntentAddress"]
        delivery = intent.get("destinationIntentAddress") or deposit
        if delivery != deposit:
            known.append(Known(f"base:{delivery}", delivery, "destination intent address", intent_id))
            known.append(Known(f"https://basescan.org/address/{deposit}", deposit, "deposit address", intent_id))
    for scenario in (13, 14, 16, 20):
        owner = emulator.finished(scenario)["ownerAddress"]
        known.append(Known(f"“{owner}”", owner, "owner"))
    for scenario in (5, 6, 7, 11, 15, 19, 21, 22, 23, 24, 25, 26):
        intent_id = emulator.finished(scenario)["intentId"]
        known.append(Known(f"http://dash.example/intent/{intent_id}", intent_id, "intent ID", intent_id))
    unique = list({each.value.lower(): each for each in known}.values())
    assert len(unique) >= 48
    return unique[:24] + unique[-24:]


NOISE = (
    "Hello team, order 4711 of 2026-11-20, 1,250.00 USD!",
    "> On Friday somebody wrote: <b>urgent</b> & \u202eodd\u202c",
    "call me at +49 30 1234567, jane@shop.example",
    "",
)


@pytest.mark.usefixtures("still")
def test_a_ticket_of_fifty_gives_forty_eight_right_rows_and_two_explained_misses(site, emulator):
    known = forty_eight(site, emulator)
    lines = [f"{NOISE[number % len(NOISE)]} {each.written}, thanks" for number, each in enumerate(known)]
    lines.insert(10, f"and {NOTHING}?")
    lines.insert(30, f"wallet {UNUSED_ADDRESS}")
    again = [f"again {each.value.upper().replace('0X', '0x')} and {each.written}" for each in known[::5]]
    answer = send("\r\n".join([*lines, *again]))
    assert answer.status == 200
    assert "50 identifiers found" in visible_text(answer.page)
    assert answer.total == "All 50 identifiers resolved: 48 found, 2 not found."
    expected: list[Known | None] = list(known)
    expected.insert(10, None)
    expected.insert(30, None)
    assert len(answer.rows) == len(expected) == 50
    first: dict[str, int] = {}
    wrong = [
        f"{number}: {each and each.what} {visible_text(row)}"
        for number, (each, row) in enumerate(zip(expected, answer.rows, strict=True), start=1)
        if not (is_right(site, each, row, number, first) if each else is_explained(row))
    ]
    assert not wrong
    assert len([words for words in answer.texts if "Same transfer as row" in words]) > 10


def is_right(site: Client, known: Known, row: str, number: int, first: dict[str, int]) -> bool:
    """Return whether the row shows the summary of the transfer's page, or refers to the row that does."""
    if f'title="{known.value}"' not in row or f'id="row-{number}"' not in row:
        return False
    if known.what == "owner" and " transfers" in row:
        return is_owner(site, known.value, row)
    if known.what not in visible_text(row) or f'href="/intent/{known.intent_id}' not in row:
        return False
    copied_row = first.setdefault(known.intent_id, number)
    if copied_row != number:
        return f"Same transfer as row {copied_row}" in row
    page = visible_text(site.get(f"/intent/{known.intent_id}").content.decode())
    headline = re.search(r'class="row-link"[^>]*>([^<]*)<', row)
    where = re.search(r'data-label="Where the funds are">([^<]*)', row)
    return bool(headline and where) and all(html.unescape(each[1].strip()) in page for each in (headline, where))


def is_owner(site: Client, owner: str, row: str) -> bool:
    found = re.search(r"(\d+) transfers found", visible_text(site.get("/search", {"owner": owner}).content.decode()))
    return bool(found) and f"owner of {found[1]} transfers" in visible_text(row)


def is_explained(row: str) -> bool:
    words = visible_text(row)
    return all(each in words for each in ("Not found", "Searched as", "Possible reasons"))


def test_the_copies_have_the_same_rows(emulator):
    intent_id = emulator.finished(8)["intentId"]
    answer = send(f"{intent_id} {NOTHING}")
    first, second = csv.DictReader(io.StringIO(answer.copied("CSV"), newline=""))
    assert first["Identifier"] == intent_id
    assert first["Links"] == f"http://localhost/intent/{intent_id}"
    assert first["As of"].startswith("2026-11-21T12:0")
    assert second["Status"] == "Not found"
    for copied_row in (first, second):
        said = [copied_row[column] for column in ("Type", "Status", "Summary", "Next step")]
        assert all(each in answer.texts[int(copied_row["Row"]) - 1].replace("  ", " ") for each in said)
        assert all(f" {each}" in re.sub(r"\s+", " ", answer.copied("Plain text")) for each in said if each)
    assert f"[View transfer](<http://localhost/intent/{intent_id}>)" in answer.copied("Markdown")
    assert answer.page.count("Row,Identifier,Type") == 1  # one page of 200 rows is enough
    forms = re.findall(r'data-copy-of="([^"]+)"', answer.page)
    assert forms == re.findall(r'<textarea class="copied" id="([^"]+)"', answer.page)
    assert forms[-3:] == ["copy-1", "copy-2", "copy-3"]


@pytest.mark.usefixtures("still")
def test_a_ticket_is_grouped_by_owner_with_the_most_urgent_first(site, emulator):
    text = " ".join([NOTHING, *(each.written for each in forty_eight(site, emulator)[::2]), UNUSED_ADDRESS])
    told = {row.number: row for row in told_rows(lookup.read(text).findings)}
    answer = send(text)
    assert sorted(number for _, group in answer.groups for number in group) == list(range(1, 27))
    owners = [owner for owner, _ in answer.groups]
    assert len(owners) == len(set(owners)) > 3
    places = []
    for owner, numbers in answer.groups:
        assert {told[number].owner for number in numbers} == {owner}
        leading = [told[number] for number in numbers if "Same transfer as row" not in answer.texts[number - 1]]
        assert [rows.urgency(row) for row in leading] == sorted(rows.urgency(row) for row in leading)
        places.append(rows.urgency(leading[0]))
        for above, number in pairwise(numbers):
            same = re.search(r"Same transfer as row (\d+)", answer.texts[number - 1])
            assert not same or int(same[1]) == above or f"{same[0]} " in answer.texts[above - 1]
        ids_of_owner = {each.intent.intent_id for row in leading for each in row.transfers}
        if owner and ids_of_owner:
            reply = answer.replies[f"to owner {owner}"]
            assert set(re.findall(r"Intent ID: (\S+)", reply)) == ids_of_owner
            assert all(f"http://localhost/intent/{each}" in reply for each in ids_of_owner)
            told_first = {row.transfer.intent.intent_id for row in leading if row.transfer}
            assert all(f'href="/intent/{each}/reply"' in answer.page for each in told_first)
    assert places == sorted(places)
    assert {rows.Urgency.ACT, rows.Urgency.CHECK, rows.Urgency.FINE} == set(places)
    assert any(re.search(r"Transfer 2 of \d\n", reply) for reply in answer.replies.values())
    every = [each for reply in answer.replies.values() for each in re.findall(r"Intent ID: (\S+)", reply)]
    assert sorted(every) == sorted({each.intent.intent_id for row in told.values() for each in row.transfers})


@pytest.mark.usefixtures("still")
def test_an_owners_reply_covers_the_transfers_that_are_named_and_those_listed_for_an_address(site):
    history = app.current().service.ask(operations.get_intent_history(page=Page.first(size=100))).intents
    by_owner: dict[str, list[IntentHistory]] = {}
    for each in history:
        if each.receipt and each.receipt.owner_address:
            by_owner.setdefault(each.receipt.owner_address, []).append(each)
    for owner, owned in by_owner.items():
        (row,) = told_rows(lookup.read(owner).findings)
        listed = {each.intent.intent_id for each in row.transfers}
        others = [each.intent_id for each in owned if each.intent_id not in listed]
        if len(listed) > 1 and others and row.owner:
            break
    else:
        pytest.fail("no owner has several transfers to check, and others")
    answer = send(f"{owner} asks about {others[0]}")
    assert [each for each, _ in answer.groups] == [row.owner]
    assert set(re.findall(r"Intent ID: (\S+)", answer.replies[f"to owner {row.owner}"])) == {*listed, others[0]}
    shown = LexborHTMLParser(answer.page).css_first("tr#row-1")
    paths = {link.attributes["href"] for link in shown.css("a.row-link, a.sub")}
    assert {f"/intent/{each}" for each in listed} <= {(path or "").partition("?")[0] for path in paths}
    assert f"about {len(listed) + 1} transfers" in visible_text(answer.page)


def told_rows(findings: Sequence[Finding]) -> list[TriageRow]:
    return list(rows_of(" ".join(each.value for each in findings), RequestFactory().get("/")).rows)


def test_the_count_of_an_urgency_links_to_its_first_row_on_the_page(emulator):
    fine, check = emulator.finished(22)["intentId"], emulator.finished(18)["intentId"]
    page = LexborHTMLParser(send(f"{fine} {check}").page)
    act, watch, done = page.css(".counts > *")
    assert (act.tag, act.text().strip()) == ("span", "Needs action 0")
    rows_of_page = [f"#{row.id}" for row in page.css("tbody tr[id]")]
    assert [each.attributes["href"] for each in (watch, done)] == [*rows_of_page]


def test_a_single_transfer_has_the_reply_of_its_page(site, emulator):
    intent_id = emulator.finished(8)["intentId"]
    [reply] = send(f"{intent_id} {NOTHING}").replies.values()
    page = LexborHTMLParser(site.get(f"/intent/{intent_id}/reply").content.decode())
    own = next(each.text() for each in page.css("textarea") if "Intent ID:" in each.text())
    assert re.sub("Status as of.*", "", reply) == re.sub("Status as of.*", "", own.lstrip("\n"))


def test_a_case_is_checked_again_with_the_same_text(emulator):
    text = f'Order "4711" &amp; <b>{emulator.finished(8)["intentId"]}</b>\r\n\u202eand {NOTHING}, thanks'
    page = LexborHTMLParser(send(text).page)
    again = page.css_first('form[action="/triage"] input[name="q"]').attributes["value"]
    assert (again or "").splitlines() == text.splitlines()
    assert page.css_first('form[action="/triage"] button').text() == "Re-check"


def test_an_owners_row_has_the_most_urgent_transfer_first_and_the_reply_speaks_of_it(emulator):
    recoverable = emulator.play("stuck-recoverable", age=86_400, owner=OWNERS)
    for age in (60, 30, 20, 10):
        newer = emulator.play("cctp-slow", age=age, owner=OWNERS)
    answer = send(recoverable["ownerAddress"])
    row = answer.rows[0]
    links = re.findall(r'<a [^>]*href="([^"]+)"[^>]*>([^<]*)', row)
    assert links[0][0] == f"/intent/{recoverable['intentId']}"
    assert (f"/address/{recoverable['ownerAddress']}", "View all") in links
    assert re.search(r"owner of \d+ transfers", row)
    assert "Most urgent transfer: " in row
    assert "Needs action" in answer.page
    (reply,) = answer.replies.values()
    assert reply.index(recoverable["intentId"]) < reply.index(newer["intentId"])


def test_an_internal_error_costs_one_row_and_reveals_nothing(emulator, monkeypatch, caplog):
    def break_(row: TriageRow, *rest: object, **how: object) -> None:
        raise ValueError(row.value)

    monkeypatch.setattr(rows, "one", break_)
    intent_id = emulator.finished(8)["intentId"]
    answer = send(f"{intent_id} {NOTHING}")
    assert "Something went wrong" in answer.texts[0]
    assert "Not found" in answer.texts[1]
    reference = re.search(r"request ID ([0-9a-f]{12})", answer.texts[0])
    assert reference
    assert f"Unhandled ValueError, request ID {reference[1]}" in caplog.text
    assert intent_id not in caplog.text


def test_the_page_is_streamed_and_not_cached(site):
    answer = send(f"{NOTHING} {UNUSED_ADDRESS}")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-accel-buffering"] == "no"
    assert "set-cookie" not in answer.headers
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.page.count('<li id="line-') == answer.page.count('<tr id="row-') == 2
    assert answer.page.rstrip().endswith("</html>")


def test_a_form_without_its_field_has_no_text(emulator):
    answer = send(None)
    assert answer.status == 400
    assert "Paste some text." in answer.page


def test_a_search_passes_hidden_characters_to_triage_which_ignores_them(site):
    requested = f"{NOTHING[:20]}\u200b{NOTHING[20:]} or {UNUSED_ADDRESS}"
    tree = LexborHTMLParser(site.get("/search", {"q": requested}).content.decode())
    passed_on = tree.css_first('form[action="/triage"] input[name="q"]').attributes["value"]
    assert passed_on == requested
    assert "Ignored invisible characters in or around identifiers" in send(passed_on).page


def test_pasted_text_is_never_logged(emulator, caplog):
    caplog.set_level(logging.DEBUG)
    emulator.inject("GetIntent", "failing-500")
    canary = "0xca7a" + "7e" * 30
    answer = send(f"canary@shop.example {canary} 0x{canary[-40:]} https://canary.example/tx/{canary}?canary=1")
    assert len(answer.rows) == 2
    assert caplog.records
    assert not any(word in caplog.text.lower() for word in ("canary", "ca7a", "7e7e7e"))


@pytest.mark.slow
def test_pasted_text_never_reaches_the_servers_output(capfd):
    canary = "0xca7a" + "7e" * 30
    with dashboard() as root, httpx.Client(base_url=root, trust_env=False, timeout=30) as client:
        assert client.post("/triage", data={"q": f"canary@shop.example {canary}"}).status_code == 200
        assert client.post("/triage", files={"q": (None, f"canary {canary}")}).status_code == 200
        assert client.post("/triage", data={"q": f"canary {canary}"}, headers={"Origin": "null"}).status_code == 403
        assert client.post("/triage", data={"q": "canary" * 150_000}).status_code == 413
    copied_row = capfd.readouterr()
    assert "ready on" in copied_row.out
    assert not any(word in (copied_row.out + copied_row.err).lower() for word in ("canary", "ca7a", "7e7e7e"))


@pytest.fixture
def doors() -> Doors:
    return Doors()


@pytest.fixture(scope="module")
def slow_service() -> Iterator[tuple[ScriptedServer, str]]:
    key = "a key of the test"
    with serving(Doors()) as service, dashboard(INTENTS_SERVICE_URL=service.url, SECRET_KEY=key) as root:
        yield service, root


@pytest.fixture
def behind_doors(slow_service: tuple[ScriptedServer, str], doors: Doors) -> str:
    service, root = slow_service
    service.script = doors
    return root


class Reader:
    """A client that reads the page as it arrives. `page`: what it has so far."""

    def __init__(self, answer: httpx.Response) -> None:
        self._pieces = answer.iter_text()
        self.page = ""

    def until(self, words: str) -> str:
        while words not in self.page:
            self.page += next(self._pieces)
        return self.page


@contextmanager
def reading(root: str, text: str) -> Iterator[Reader]:
    with httpx.stream("POST", f"{root}/triage", data={"q": text}, trust_env=False, timeout=PATIENCE) as answer:
        yield Reader(answer)


def test_each_line_is_sent_as_soon_as_it_and_all_before_it_are_known(behind_doors, doors):
    first, second, *_ = known = ids(6)
    with reading(behind_doors, " ".join(f"/intent/{each}" for each in known)) as reader:
        assert "6 identifiers found" in reader.until("<ol>")
        assert "line-1" not in reader.page
        until(lambda: len(doors.intents()) == 4)  # at once, and no more
        doors.open |= {second}
        until(lambda: ("GetIntentReceipt", second) in doors.requests)
        doors.open |= {first}
        assert "line-3" not in reader.until("line-2")
        assert 'id="total"' not in reader.page
        until(lambda: doors.intents() == known)
        doors.all_open.set()
        reader.until("All 6 identifiers resolved: 6 found.")


def test_after_a_disconnect_nothing_more_is_requested(behind_doors, doors):
    known = ids(80)[40:]  # none of another test, which the dashboard may have cached
    with reading(behind_doors, " ".join(f"/intent/{each}" for each in known)) as reader:
        reader.until("<ol>")
        until(lambda: len(doors.intents()) == 4)
    with httpx.Client(base_url=behind_doors, trust_env=False, timeout=30) as client:
        for _ in range(5):
            client.get("/healthz")
        doors.all_open.set()
        another = "0x" + "99" * 32
        for _ in range(3):
            assert client.get(f"/intent/{another}").status_code == 200
    assert sorted(each for each in doors.requests if each[1] != another) == [("GetIntent", each) for each in known[:4]]


UNKNOWN = "0x12ab…34cd"


def short(value: str, *, head: int = 4, tail: int = 4) -> str:
    return f"{value[: head + 2]}…{value[-tail:]}"


def test_a_ticket_with_two_full_hashes_says_which_one_a_shortened_id_matches(site, emulator):
    first, second = emulator.finished(3)["intentId"], emulator.finished(8)["intentId"]
    deposit = legs(site, second)["deposit"]
    ends = f"**{short(second, head=8, tail=6)}**, also `{short(deposit, head=6, tail=6)}`, …{deposit[-5:]}"
    answer = send(f"> {first}\n> {second}\nand {ends}")
    assert len(answer.rows) == 5
    for row, said in zip(answer.rows[2:], answer.texts[2:], strict=True):
        assert "Possible match: same transfer as row 2" in said
        assert f'class="row-link" href="/intent/{second}"' in row
    assert "It matches the intent ID" in answer.texts[2]
    assert "It matches the deposit transaction" in answer.texts[3]
    assert answer.total == "All 5 identifiers resolved: 2 found, 3 with possible matches."
    assert "lookalike" not in answer.page


def test_a_shortened_id_before_the_others_waits_for_them_and_keeps_its_place(emulator):
    intent_id = emulator.finished(8)["intentId"]
    answer = send(f"{short(intent_id)} is {intent_id}")
    assert "Possible match: same transfer as row 2" in answer.texts[0]
    assert [row.startswith(f'<tr id="row-{number}"') for number, row in enumerate(answer.rows, start=1)] == [True, True]


def test_an_owner_in_the_ticket_matches_the_same_transfers(emulator):
    owner = emulator.finished(18)["ownerAddress"]
    answer = send(f"{owner} or {short(owner)}")
    assert "Possible match: same transfers as row 1" in answer.texts[1]
    assert f'href="/address/{owner}"' in answer.rows[1]


def test_several_matching_rows_are_a_list_without_a_default(emulator):
    first, second = emulator.finished(3)["intentId"], emulator.finished(8)["intentId"]
    tail = "0x" + "5" * 56 + first[-8:]
    answer = send(f"{first} {second} {tail[:2]}{'a' * 56}{first[-8:]} …{first[-8:]}")
    row, said = answer.rows[3], answer.texts[3]
    assert "2 possible matches in other rows" in said
    assert "Row 1: it matches the intent ID" in said
    assert "Row 3: it matches the" in said
    assert 'class="row-link"' not in row
    assert f'href="/intent/{first}"' in row
