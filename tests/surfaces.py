"""Surfaces that show a transfer, parsed as users or programs read them, to compare with its `Summary`."""

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import cache, cached_property
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
import time_machine
from django.test import Client, RequestFactory

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import MAIN, Scenario
from intents_ui.emulator.transfers import OWNERS
from intents_ui.insight import route_stats
from intents_ui.live.snapshot import Snapshot
from intents_ui.service import operations
from intents_ui.service.errors import Reason, Unreachable
from intents_ui.service.operations import Kind
from intents_ui.settings import ENV
from intents_ui.share import views as share
from intents_ui.tokens import token_amounts
from intents_ui.transfers import summary as summaries
from intents_ui.transfers.rules import SECOND_DEPOSIT
from intents_ui.transfers.summary import Summary
from intents_ui.triage import lookup as triage
from intents_ui.triage.lookup import rows_of
from intents_ui.triage.rows import TriageRow
from intents_ui.web import customer_reply, reading
from intents_ui.web import intent as intent_page
from tests.fenced import data_of
from tests.helpdesk import signing
from tests.pages.reading import content
from tests.policies import NOT_CACHED, policies

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
HOUR = 3600.0
HOST = "localhost"
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
ATOM = "{http://www.w3.org/2005/Atom}"
FIELDS = ("status", "headline", "location", "next_step", "certainty", "reply")
# Surfaces made from a history entry, which has no quote, so they show less.
OF_ENTRIES = frozenset({"list row", "address row", "owner feed", "export row"})


@dataclass(frozen=True)
class Moment:
    """A moment of a scenario. `age` is in seconds since the quote."""

    name: str
    age: float
    variant: str = MAIN


def moments(scenario: Scenario) -> Iterator[Moment]:
    """Yield six moments of a scenario."""
    script = scenario.script
    funded = next((step.at for step in script if step.legs[0] == "SUCCEEDED"), script[min(1, len(script) - 1)].at)
    yield Moment("quoted", 0.5)
    yield Moment("funded", funded + 0.5)
    yield Moment("mid-way", script[len(script) // 2].at + 0.5)
    yield Moment("at its worst", scenario.worst.at + 0.5, scenario.worst.variant)
    yield Moment("ended", script[-1].at + 1)
    yield Moment("an hour later", script[-1].at + HOUR)


def play(emulator: Emulator, scenario: Scenario, moment: Moment) -> dict[str, Any]:
    """Return the Intent document of a new copy at this moment. Its owner has no transfers of other scenarios."""
    owner = OWNERS + scenario.number
    return emulator.play(scenario.number, variant=moment.variant, age=moment.age, owner=owner)


NOTES = ("quoted", "expected")
MARKS = re.compile(rf"\b(?:{token_amounts.DECIMALS}|{token_amounts.UNLISTED}|looks like \w+)\b")
_SIDE = r"(?:\w+: )?[\d,]+(?:\.\d+)? \S+(?: \([^()]*\))? on [^→()<.,·\n]+?(?: \(\w+\))?"
LINE = re.compile(rf"({_SIDE}) → ({_SIDE})(?=[.,<\n]| ·|$)")
AMOUNT = re.compile(r"(?<![\w.,$])(\d[\d,]*(?:\.\d+)?) ([^\s,.()]+)")


@dataclass(frozen=True)
class Amount:
    """An amount as shown. `note`: why it was not seen to move. `marks`: warnings about it."""

    value: str
    symbol: str
    note: str = ""
    marks: frozenset[str] = frozenset()

    def shows(self, whole: "Amount") -> bool:
        """Return whether this is the whole amount, or its rounded first digits, with the same note and marks."""
        shown, full = Decimal(self.value), Decimal(whole.value)
        is_rounded = len(shown.as_tuple().digits) >= 6  # shorter ones are exact
        same = shown == (full.quantize(shown, ROUND_HALF_UP) if is_rounded else full)
        return same and replace(self, value="") == replace(whole, value="")


@dataclass(frozen=True)
class Said:
    """What a surface shows, None if it doesn't show a field. `reply`: the sentences for the owner.

    `warns`: whether it doubts the identifier by which the transfer was found. `changed`: time of the last change.
    """

    status: str | None = None
    headline: str | None = None
    location: str | None = None
    next_step: str | None = None
    certainty: str | None = None
    reply: str | None = None
    sent: Amount | None = None
    received: Amount | None = None
    warns: bool | None = None
    changed: str | None = None


@dataclass
class Transfer:
    """One transfer at one moment, on every surface.

    `given`: the identifier that is looked up, if it isn't the intent ID.
    """

    intent_id: str
    owner: str
    site: Client
    given: str = ""

    def get(self, path: str, **headers: str) -> str:
        return self._body(path, self.site.get(path, headers=headers))

    def post(self, path: str, data: Any, kind: str = JSON, **headers: str) -> str:
        return self._body(path, self.site.post(path, data, content_type=kind, headers=headers))

    def tool(self, name: str, **arguments: str) -> str:
        """Return the answer of an assistant's tool."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        return data_of(str(json.loads(self.post("/mcp", message))["result"]["content"][0]["text"]))

    def _body(self, path: str, answer: Any) -> str:
        assert answer.status_code == 200, f"{path}: {answer.status_code}"
        return content(answer)

    @property
    def wanted(self) -> str:
        return self.given or self.intent_id

    @cached_property
    def summary(self) -> Summary:
        return summaries.of(reading.read(self.intent_id))

    @property
    def filters(self) -> str:
        """Return the query of a list that has this transfer and few others."""
        at = self.summary.transfer.quoted_at
        assert at
        return f"owner={self.owner}&from={int(at.timestamp()) - 1}&to={int(at.timestamp()) + 1}"

    @cached_property
    def page(self) -> str:
        return self.get(f"/intent/{self.intent_id}{'?tx=' if self.given else ''}{self.given}")

    @cached_property
    def replies(self) -> list[str]:
        found = re.findall(r"<textarea[^>]*>(.*?)</textarea>", self.get(f"/intent/{self.intent_id}/reply"), re.DOTALL)
        return [html.unescape(each) for each in found]

    @cached_property
    def triage_row(self) -> TriageRow:
        return rows_of(self.intent_id, RequestFactory().get("/")).rows[0]


def spaced(markup: str) -> str:
    """Return text with a space for each tag, also what only screen readers read."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def words(markup: str) -> str:
    """Return visible text."""
    seen = re.sub(r'<span class="visually-hidden">.*?</span>', "", markup, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", seen)).split())


def _found(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text, re.DOTALL)
    return words(found[1]) if found else None


def of_answer_card(markup: str) -> Said:
    """Return what the status card of a transfer's page shows, also in a live fragment."""
    points = [words(each) for each in re.findall(r'<p class="answer-point">(.*?)</p>', markup, re.DOTALL)]
    spoken = _found(r'<p class="visually-hidden" role="status">(.*?)</p>', markup) or ""
    sides = re.findall(r'<div class="money">(.*?)</div>', markup, re.DOTALL)
    sent, received = (amount(spaced(each)) for each in sides) if len(sides) == 2 else (None, None)
    return Said(
        spoken.partition(": ")[0],
        _found(r"<h1>(.*?)</h1>", markup),
        points[0],
        points[1],
        _found(r'data-certainty="(\w+)"', markup),
        sent=sent,
        received=received,
    )


def amount(shown: str) -> Amount | None:
    """Return the first amount of a text about one side of a transfer, None if it has none."""
    found = AMOUNT.search(shown)
    if found is None:
        return None
    about = shown.partition("$")[0].partition(", quoted ")[0].lower()
    note = next((each for each in NOTES if re.search(rf"\b{each}\b", about)), "")
    return Amount(found[1].replace(",", ""), found[2], note, frozenset(MARKS.findall(shown)))


def amounts(shown: str) -> dict[str, Amount | None]:
    """Return both sides of a line like `100 USDC on Base → 99.9 USDC on Arbitrum One`."""
    found = LINE.search(shown)
    return {"sent": amount(found[1]), "received": amount(found[2])} if found else {}


def page(transfer: Transfer) -> Said:
    return replace(of_answer_card(transfer.page), warns=warns(transfer.page))


def warns(shown: str) -> bool:
    """Return whether a text doubts the identifier of a lookup."""
    return "isn't one of the transactions of transfer" in html.unescape(shown)


def live_fragment(transfer: Transfer) -> Said:
    shown = reading.read(transfer.intent_id)
    if shown.receipt is None:
        return polled_fragment(transfer)
    snapshot = Snapshot(transfer.intent_id, shown.receipt, learned_at=datetime.now(UTC))
    return of_answer_card(intent_page.receipt_fragment(snapshot))


def polled_fragment(transfer: Transfer) -> Said:
    return of_answer_card(transfer.get(f"/intent/{transfer.intent_id}/receipt"))


def of_row(markup: str, intent_id: str) -> Said:
    """Return what a row of a table of transfers shows. Without a headline, the status is the headline."""
    row = _found_raw(rf'<tr id="row-{intent_id}">(.*?)</tr>', markup)
    status = words(re.search(r'<span class="status"[^>]*>(.*?)</span>', row, re.DOTALL)[1])  # type: ignore[index]
    sent, received = (
        amount(spaced(_found_raw(rf'<td data-label="{label}">(.*?)<(?:td|/tr)', row))) for label in ("Sent", "Received")
    )
    return Said(status, _found(r'row-headline"[^>]*>(.*?)</', row) or status, sent=sent, received=received)


def _found_raw(pattern: str, markup: str) -> str:
    found = re.search(pattern, markup, re.DOTALL)
    assert found, pattern
    return found[1]


def list_row(transfer: Transfer) -> Said:
    return of_row(transfer.get(f"/history?{transfer.filters}"), transfer.intent_id)


def search_row(transfer: Transfer) -> Said:
    return of_row(transfer.get(f"/search?owner={transfer.owner}"), transfer.intent_id)


def address_row(transfer: Transfer) -> Said:
    return of_row(transfer.get(f"/address/{transfer.owner}"), transfer.intent_id)


def triage_row(transfer: Transfer) -> Said:
    row = transfer.triage_row
    shown = html.unescape(str(triage.macros().triage_row(row)))
    assert words(row.headline) in words(shown)
    assert words(row.next) in words(shown)
    return Said(row.status.word, row.headline, row.where, row.next.removesuffix(f" {SECOND_DEPOSIT}"))


def reply(transfer: Transfer) -> Said:
    return _of_reply(transfer.replies[0])


def _of_reply(text: str) -> Said:
    return Said(reply=text.partition("\n\nIntent ID: ")[0].removesuffix(f"\n\n{customer_reply.SCAM_WARNING}"))


def escalation(transfer: Transfer) -> Said:
    facts = dict(line.partition(": ")[::2] for line in transfer.replies[1].splitlines() if ": " in line)
    return Said(
        facts["Status"].partition(". ")[0],
        facts.get("Problem") or facts["Summary"],
        facts["Where the funds are"],
        sent=amount(facts.get("Sent", "")),
        received=amount(facts.get("Received", "")),
    )


def mcp(transfer: Transfer) -> Said:
    return _of_api(json.loads(transfer.tool("explain_transfer", intent_id=transfer.intent_id)))


def mcp_lookup(transfer: Transfer) -> Said:
    answer = transfer.tool("look_up", text=transfer.wanted)
    [told] = json.loads(answer)["matches"]
    return Said(told["status"], told["headline"], told["location"], told["nextStep"], warns=warns(answer))


def mcp_triage(transfer: Transfer) -> Said:
    answer = transfer.tool("triage_ticket", text=transfer.wanted)
    [told] = json.loads(answer)["rows"]
    return Said(told["status"], told["headline"], warns=warns(answer), **amounts(told["details"]))


def mcp_reply(transfer: Transfer) -> Said:
    return _of_reply(transfer.tool("customer_reply", intent_id=transfer.intent_id))


def triage_page(transfer: Transfer) -> Said:
    shown = transfer.post("/triage", urlencode({"q": transfer.wanted}), FORM)
    row = _found_raw(r'<tr id="row-1">(.*?)</tr>', shown)
    return Said(
        _found(r'<span class="status"[^>]*>(.*?)</span>', row),
        _found(r'class="row-link"[^>]*>(.*?)</a>', row),
        warns=warns(row),
        **amounts(spaced(row)),
    )


def side_bar(transfer: Transfer) -> Said:
    bar = _found_raw(
        r'(<article class="card side-bar-row".*?</article>)', transfer.get(signing.url_of(transfer.wanted))
    )
    return Said(
        _found(r'<span class="status"[^>]*>(.*?)</span>', bar),
        _found(r'<h2 id="row-1">(.*?)</h2>', bar),
        warns=warns(bar),
        **amounts(_found(r"<div><p>(.*?)</p>", bar) or ""),
    )


def slack(transfer: Transfer) -> Said:
    sent = urlencode({"command": "/intents", "text": transfer.wanted, "team_id": "T1"})
    answer = json.loads(transfer.post("/slack/command", sent, FORM, **signing.slack_headers(sent)))
    said = answer["blocks"][0]["text"]["text"]
    status, _, headline = said.splitlines()[1].partition(": ")
    return Said(status, headline, warns=warns(said), **amounts(said))


def link_preview(transfer: Transfer) -> Said:
    """The title and the description of the link, and the picture's text."""
    title, about, picture = (
        html.unescape(_found_raw(rf'<meta property="og:{name}" content="(.*?)">', transfer.page))
        for name in ("title", "description", "image:alt")
    )
    status, headline, *_ = title.split(" · ")
    assert about.startswith(f"{status} · {headline}.")
    assert picture.startswith(f"{status} · {headline}.")
    assert amounts(about) == amounts(picture)
    changed = re.search(r"last change (\S+) (\S+) UTC", picture)
    return Said(status, headline, changed=changed and f"{changed[1]}T{changed[2]}", **amounts(about))


def tab(transfer: Transfer) -> Said:
    title = _found(r"<title>(.*?)</title>", transfer.page) or ""
    return Said(title.partition(" · ")[0], **amounts(title))


def card(transfer: Transfer) -> Said:
    drawn, _ = share.card_of(transfer.intent_id)
    return Said(drawn.status.word, drawn.headline, drawn.sentence)


def _of_title(title: str, transfer: Transfer) -> Said:
    """`Failed · Refund failed · At the deposit address …`; without the status if the headline begins with it."""
    summary = transfer.summary
    lead = summary.headline_with_status
    rest = title.removeprefix(lead)
    if rest == title:  # less, or something else
        status, _, headline = title.partition(" · ")
        return Said(status, headline or status)
    return Said(summary.status.word, summary.headline, rest.removeprefix(" · ").rstrip("…") or None)


def embed(transfer: Transfer) -> Said:
    markup = transfer.get(f"/embed/intent/{transfer.intent_id}")
    points = [words(each) for each in re.findall(r'<div class="embed-where"><h2>[^<]*</h2><p>(.*?)</p>', markup)]
    spoken = _found(r'<p class="visually-hidden" role="status">(.*?)</p>', markup) or ""
    money = _found_raw(r'<div class="embed-money">(.*?)</div>', markup)
    sides = re.findall(r'<span class="token">(.*?)(?=<span class="token">|$)', money, re.DOTALL)
    sent, received = (amount(spaced(each)) for each in sides)
    changed = re.search(r'Changed <span data-ago>[^<]*</span> <time class="sub" datetime="(\S+?)[.Z"]', markup)
    return Said(
        spoken.partition(": ")[0],
        _found(r"<h1>(.*?)</h1>", markup),
        points[0],
        points[1],
        sent=sent,
        received=received,
        changed=changed and changed[1],
    )


def description(transfer: Transfer) -> Said:
    said = _found(r'<meta name="description" content="(.*?)">', transfer.page) or ""
    summary = transfer.summary
    lead = f"{summary.status.word} · {summary.headline}. "
    rest = said.removeprefix(lead if said.startswith(lead) else f"{summary.headline}. ")
    is_whole = rest.startswith(summary.location)
    return Said(
        summary.status.word,
        summary.headline if rest != said else said,
        summary.location if is_whole else rest[:40],
        **amounts(said),
    )


def feed_atom(transfer: Transfer) -> Said:
    feed = ElementTree.fromstring(transfer.get(f"/intent/{transfer.intent_id}/feed.atom"))  # noqa: S314 - our own
    newest = feed.find(f"{ATOM}entry")
    assert newest is not None
    return replace(_of_title(_undated(feed.findtext(f"{ATOM}subtitle") or ""), transfer), **_of_end(newest))


def _of_end(entry: ElementTree.Element) -> dict[str, Any]:
    """Return what the entry about a transfer's end says. Those about its steps have no amounts of both sides."""
    both = amounts(spaced(entry.findtext(f"{ATOM}summary") or ""))
    return {**both, "changed": (entry.findtext(f"{ATOM}updated") or "")[:19]} if both else {}


def owner_feed(transfer: Transfer) -> Said:
    feed = ElementTree.fromstring(transfer.get(f"/address/{transfer.owner}/feed.atom"))  # noqa: S314 - our own
    entries = {each.find(f"{ATOM}link").get("href"): each for each in feed.findall(f"{ATOM}entry")}  # type: ignore[union-attr]
    [found] = [each for link, each in entries.items() if transfer.intent_id in str(link)]
    return replace(_of_title(_undated(found.findtext(f"{ATOM}title") or ""), transfer), **_of_end(found))


def _undated(said: str) -> str:
    """Return text of a feed without dates. Feeds are read on other days, so their times have dates."""
    return said.replace(f"{NOW.date().isoformat()} ", "")


def export_row(transfer: Transfer) -> Said:
    text = transfer.get(f"/export/history.csv?{transfer.filters}")
    rows = {row["intent_id"]: row for row in csv.DictReader(io.StringIO(text.lstrip("\ufeff")))}
    row = rows[transfer.intent_id]
    return _of_export(row)


def export_line(transfer: Transfer) -> Said:
    lines = transfer.get(f"/export/history.ndjson?{transfer.filters}").splitlines()
    [row] = [row for row in map(json.loads, lines) if row.get("intent_id") == transfer.intent_id]
    return _of_export(row)


def _of_export(row: Mapping[str, Any]) -> Said:
    sent, received = (
        Amount(
            str(row[f"{side}_amount"]),
            row[f"{side}_symbol"],
            row.get(f"{side}_note") or "",
            frozenset(filter(None, (row[f"{side}_warnings"] or "").split("; "))),
        )
        if row[f"{side}_amount"]
        else None
        for side in ("origin", "destination")
    )
    changed = (row["updated_at"] or "")[:19] or None
    return Said(
        None,
        row["headline"],
        row["location"],
        row["next_step"],
        row["certainty"],
        sent=sent,
        received=received,
        changed=changed,
    )


def saved_row(transfer: Transfer) -> Said | None:
    answer = transfer.site.get(f"/saved/status?id={transfer.intent_id}")
    if answer.status_code == 404:
        return None
    markup: str = answer.content.decode()
    status = _found(r'<span class="status"[^>]*>(.*?)</span>', markup) or ""
    both = amounts(_found(r"<span data-amounts>(.*?)</span>", markup) or "")
    return Said(status, _found(r'row-headline"[^>]*>(.*?)</', markup) or status, **both)


def api_transfer(transfer: Transfer) -> Said:
    return _of_api(json.loads(transfer.get(f"/api/v1/transfers/{transfer.intent_id}")))


def api_list(transfer: Transfer) -> Said:
    return _among(json.loads(transfer.get(f"/api/v1/transfers?{transfer.filters}"))["transfers"], transfer)


def api_lookup(transfer: Transfer) -> Said:
    answer = transfer.get(f"/api/v1/lookup?q={transfer.wanted}")
    said = _among([each["transfer"] for each in json.loads(answer)["matches"]], transfer)
    return replace(said, warns=warns(answer))


def api_triage(transfer: Transfer) -> Said:
    answer = transfer.post("/api/v1/triage", {"text": transfer.wanted})
    [row] = json.loads(answer)["rows"]
    assert row["headline"] == row["transfers"][0]["summary"]["headline"]
    return replace(_among(row["transfers"], transfer), warns=warns(answer))


def api_reply(transfer: Transfer) -> Said:
    return _of_reply(json.loads(transfer.get(f"/api/v1/reply/{transfer.intent_id}"))["plain"])


def _among(transfers: list[dict[str, Any]], transfer: Transfer) -> Said:
    [found] = [each for each in transfers if each["intentId"] == transfer.intent_id]
    return _of_api(found)


def _of_api(transfer: dict[str, Any]) -> Said:
    told = transfer["summary"]
    sent, received = (
        Amount(
            each["amount"],
            each["token"]["symbol"],
            each["note"] or "",
            frozenset(mark["word"] for mark in each["token"]["warnings"]),
        )
        for each in (transfer["sent"], transfer["received"])
    )
    return Said(
        told["status"],
        told["headline"],
        told["location"],
        told["nextStep"],
        told["certainty"],
        sent=sent if sent.value else None,
        received=received if received.value else None,
    )


SURFACES: Mapping[str, Callable[[Transfer], Said | None]] = {
    "page": page,
    "live fragment": live_fragment,
    "description": description,
    "list row": list_row,
    "search row": search_row,
    "address row": address_row,
    "triage row": triage_row,
    "reply": reply,
    "MCP": mcp,
    "card": card,
    "embed": embed,
    "feed": feed_atom,
    "owner feed": owner_feed,
    "export row": export_row,
    "saved row": saved_row,
    "API, transfer": api_transfer,
    "API, list": api_list,
    "API, lookup": api_lookup,
    "API, triage": api_triage,
    "API, reply": api_reply,
}
# Others, which no test asks at all moments of all scenarios.
OTHERS: Mapping[str, Callable[[Transfer], Said | None]] = {
    "polled fragment": polled_fragment,
    "tab": tab,
    "link preview": link_preview,
    "triage page": triage_page,
    "side bar": side_bar,
    "Slack": slack,
    "escalation": escalation,
    "export, NDJSON": export_line,
    "MCP, look_up": mcp_lookup,
    "MCP, triage_ticket": mcp_triage,
    "MCP, customer_reply": mcp_reply,
}


def differences(name: str, said: Said | None, summary: Summary) -> list[str]:
    """Return the differences between a surface and the summary. The start of the same words is no difference."""
    if said is None:
        return []
    full = {
        "status": summary.status.word,
        "headline": summary.headline,
        "location": summary.location,
        "next_step": summary.next_step,
        "certainty": summary.certainty.value,
        "reply": customer_reply.body(summary.transfer),
    }
    found = []
    for field_name in FIELDS:
        shown, expected = getattr(said, field_name), words(full[field_name])
        if shown is not None and not _agrees(name, field_name, words(shown), expected, summary):
            found.append(f"{field_name}: {shown!r} instead of {expected!r}")
    return found


def _agrees(name: str, field_name: str, shown: str, expected: str, summary: Summary) -> bool:
    if expected.startswith(shown) or (field_name == "headline" and shown == summary.status.word):
        return True
    # Without a quote, chains, recipient, amounts and estimates may be unknown. Then other words show less.
    return name in OF_ENTRIES and field_name in ("location", "next_step", "certainty") and _knows_less(summary)


def _knows_less(summary: Summary) -> bool:
    return summary.transfer.receipt is None or summary.row.place in ("provider", "last-confirmed")


@contextmanager
def world(*, checked: bool = True) -> Iterator[tuple[Emulator, Client]]:
    """Yield an emulator at one moment, and a client of a site that can be embedded. Only names and the
    newest transfers of each route are cached.

    `checked`: balances are available.
    """
    from tests.pages.conftest import CACHED_KINDS, fresh

    others = [kind for kind in Kind if kind not in CACHED_KINDS]
    with pytest.MonkeyPatch.context() as patch, time_machine.travel(NOW, tick=False):
        patch.setattr(operations, "POLICIES", policies(*others, **NOT_CACHED))
        patch.setattr(ENV, "intents_embed_hosts", ["https://other.example"])
        if not checked:
            patch.setattr(reading, "look_up_balances", _unreachable)
        for emulator in fresh():
            # The clock is stopped, so cache entries don't age.
            patch.setattr(app.current().service.cache, "clock", lambda: 0.0)
            # The newest transfers of a route stay the same, and reading them is most of a page's work.
            patch.setattr(route_stats, "newest", cache(route_stats.newest))
            yield emulator, Client(headers={"host": HOST})


def problems(emulator: Emulator, site: Client, scenario: Scenario, moment: Moment) -> list[str]:
    """Return the differences of all surfaces at a moment of a scenario."""
    emulator.play(scenario.number, owner=OWNERS + scenario.number)  # a search with one match shows no rows
    played = play(emulator, scenario, moment)
    transfer = Transfer(played["intentId"], played["ownerAddress"], site)
    return [
        f"{name}: {difference}"
        for name, surface in SURFACES.items()
        for difference in differences(name, surface(transfer), transfer.summary)
    ]


def _unreachable(*_: Any, **__: Any) -> None:
    raise Unreachable(reason=Reason.TIMEOUT)
