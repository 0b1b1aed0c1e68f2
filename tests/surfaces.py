"""Surfaces that show a transfer, parsed as users or programs read them, to compare with its `Summary`."""

import asyncio
import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any
from xml.etree import ElementTree

import pytest
import time_machine
from django.http import StreamingHttpResponse
from django.test import Client

from intents_ui import wiring
from intents_ui.display.search.identifiers import read as read_pasted
from intents_ui.display.sharing.customer_reply import to_the_owner
from intents_ui.display.sharing.preview import state
from intents_ui.display.summary import summary as summaries
from intents_ui.display.summary.rules import SECOND_DEPOSIT
from intents_ui.display.summary.summary import Summary
from intents_ui.display.triage.rows import TriageRow
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import MAIN, Scenario
from intents_ui.emulator.transfers import OWNERS
from intents_ui.live.snapshot import Snapshot
from intents_ui.pages import intent as intent_page
from intents_ui.pages import route_stats, share, triage
from intents_ui.service.errors import Reason, Unreachable
from intents_ui.service.operations.config import LIFETIMES, Lifetime
from intents_ui.settings import ENV
from intents_ui.web.transfers import balance_cache, situations
from intents_ui.web.triage import answers
from tests import command_line
from tests.fenced import json_of

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
HOUR = 3600.0
HOST = "localhost"
PARTIAL = {"HX-Request-Type": "partial"}
ATOM = "{http://www.w3.org/2005/Atom}"
FIELDS = ("status", "headline", "location", "next_step", "certainty")
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


@dataclass(frozen=True)
class Said:
    """What a surface shows, None if it doesn't show a field. `to_owner`: it addresses the owner."""

    status: str | None = None
    headline: str | None = None
    location: str | None = None
    next_step: str | None = None
    certainty: str | None = None
    to_owner: bool = False


@dataclass
class Transfer:
    """One transfer at one moment, on every surface. `root` is the URL of the same site over TCP."""

    intent_id: str
    owner: str
    site: Client
    root: str = ""

    def get(self, path: str, **headers: str) -> str:
        answer = self.site.get(path, headers=headers)
        assert answer.status_code == 200, f"{path}: {answer.status_code}"
        return text_of(answer)

    @cached_property
    def summary(self) -> Summary:
        return summaries.of(situations.read(self.intent_id))

    @property
    def filters(self) -> str:
        """Return the query of a list that has this transfer and few others."""
        at = self.summary.situation.facts.quoted_at
        assert at
        return f"owner={self.owner}&from={int(at.timestamp()) - 1}&to={int(at.timestamp()) + 1}"

    @cached_property
    def page(self) -> str:
        return self.get(f"/intent/{self.intent_id}")

    @cached_property
    def replies(self) -> list[str]:
        found = re.findall(r"<textarea[^>]*>(.*?)</textarea>", self.get(f"/intent/{self.intent_id}/reply"), re.DOTALL)
        return [html.unescape(each) for each in found]

    @cached_property
    def triage_row(self) -> TriageRow:
        (finding,) = read_pasted(self.intent_id).lookups
        return answers.answer(answers.ClientService(wiring.service()), 1, finding, answers.resolved)


def text_of(answer: Any) -> str:
    """Return the body of a response, also of a streaming one."""
    content = b"".join(asyncio.run(_read(answer))) if isinstance(answer, StreamingHttpResponse) else answer.content
    return str(content.decode())


async def _read(answer: StreamingHttpResponse) -> list[bytes]:
    return [piece async for piece in answer] if answer.is_async else list(answer)


def words(markup: str) -> str:
    """Return visible text."""
    seen = re.sub(r'<span class="unseen">.*?</span>', "", markup, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", seen)).split())


def _found(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text, re.DOTALL)
    return words(found[1]) if found else None


def of_answer_card(markup: str) -> Said:
    """Return what the status card of a transfer's page shows, also in a live fragment."""
    points = [words(each) for each in re.findall(r'<p class="answer-point">(.*?)</p>', markup, re.DOTALL)]
    spoken = _found(r'<p class="unseen" role="status">(.*?)</p>', markup) or ""
    return Said(
        spoken.partition(": ")[0],
        _found(r"<h1>(.*?)</h1>", markup),
        points[0],
        points[1],
        _found(r'data-certainty="(\w+)"', markup),
    )


def page(transfer: Transfer) -> Said:
    return of_answer_card(transfer.page)


def live_fragment(transfer: Transfer) -> Said:
    situation = situations.read(transfer.intent_id)
    if situation.receipt is None:
        return of_answer_card(transfer.get(f"/intent/{transfer.intent_id}/receipt"))
    snapshot = Snapshot(transfer.intent_id, situation.receipt, learned_at=datetime.now(UTC))
    return of_answer_card(intent_page.receipt_fragment(snapshot))


def of_row(markup: str, intent_id: str) -> Said:
    """Return what a row of a table of transfers shows. Without a headline, the status is the headline."""
    row = _found_raw(rf'<tr id="row-{intent_id}">(.*?)</tr>', markup)
    status = words(re.search(r'<span class="status"[^>]*>(.*?)</span>', row, re.DOTALL)[1])  # type: ignore[index]
    return Said(status, _found(r"data-headline[^>]*>(.*?)</", row) or status)


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


def reply_text(transfer: Transfer) -> Said:
    return _of_reply(transfer.replies[0])


def reply_markdown(transfer: Transfer) -> Said:
    return _of_reply(re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", transfer.replies[1]).replace("\n- ", "\n"))


def _of_reply(text: str) -> Said:
    facts = dict(line.partition(": ")[::2] for line in text.splitlines() if ": " in line)
    return Said(
        headline=facts["Status"], location=facts["Where the funds are"], next_step=facts["Next step"], to_owner=True
    )


def reply_json(transfer: Transfer) -> Said:
    reply = json.loads(transfer.replies[2])
    return Said(reply["status"], reply["headline"], reply["location"], reply["nextStep"], reply["certainty"])


def mcp(transfer: Transfer) -> Said:
    call = {"name": "explain_transfer", "arguments": {"intent_id": transfer.intent_id}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    answer = transfer.site.post("/mcp", message, content_type="application/json").json()
    told = json_of(answer["result"]["content"][0]["text"])["summary"]
    return Said(told["status"], told["headline"], told["location"], told["nextStep"], told["certainty"])


def card(transfer: Transfer) -> Said:
    drawn = share.glance(transfer.intent_id).card
    return Said(drawn.status.word, drawn.headline, drawn.sentence)


def badge(transfer: Transfer) -> Said:
    title = _found(r"<title>transfer: (.*?)</title>", transfer.get(f"/intent/{transfer.intent_id}/badge.svg")) or ""
    return _of_title(title, transfer)


def _of_title(title: str, transfer: Transfer) -> Said:
    """`Failed · Refund failed · At the deposit address …`; without the status if the headline begins with it."""
    summary = transfer.summary
    lead = state(summary.status.word, summary.headline)
    rest = title.removeprefix(lead)
    if rest == title:  # less, or something else
        status, _, headline = title.partition(" · ")
        return Said(status, headline or status)
    return Said(summary.status.word, summary.headline, rest.removeprefix(" · ").rstrip("…") or None)


def embed(transfer: Transfer) -> Said:
    markup = transfer.get(f"/embed/intent/{transfer.intent_id}")
    points = [words(each) for each in re.findall(r'<div class="embed-where"><h2>[^<]*</h2><p>(.*?)</p>', markup)]
    spoken = _found(r'<p class="unseen" role="status">(.*?)</p>', markup) or ""
    return Said(spoken.partition(": ")[0], _found(r"<h1>(.*?)</h1>", markup), points[0], points[1])


def description(transfer: Transfer) -> Said:
    said = _found(r'<meta name="description" content="(.*?)">', transfer.page) or ""
    summary = transfer.summary
    lead = f"{summary.status.word} · {summary.headline}. "
    rest = said.removeprefix(lead if said.startswith(lead) else f"{summary.headline}. ")
    is_whole = rest.startswith(summary.location)
    return Said(
        summary.status.word, summary.headline if rest != said else said, summary.location if is_whole else rest[:40]
    )


def oembed(transfer: Transfer) -> Said:
    url = f"http://{HOST}/intent/{transfer.intent_id}"
    return _of_title(json.loads(transfer.get(f"/oembed?url={url}"))["title"], transfer)


def feed_json(transfer: Transfer) -> Said:
    feed = json.loads(transfer.get(f"/intent/{transfer.intent_id}/feed.json"))
    return _of_title(_undated(feed["description"]), transfer)


def feed_atom(transfer: Transfer) -> Said:
    feed = ElementTree.fromstring(transfer.get(f"/intent/{transfer.intent_id}/feed.atom"))  # noqa: S314 - our own
    return _of_title(_undated(feed.findtext(f"{ATOM}subtitle") or ""), transfer)


def owner_feed(transfer: Transfer) -> Said:
    feed = json.loads(transfer.get(f"/address/{transfer.owner}/feed.json"))
    [found] = [item for item in feed["items"] if transfer.intent_id in item["url"]]
    return _of_title(_undated(found["title"]), transfer)


def _undated(said: str) -> str:
    """Return text of a feed without dates. Feeds are read on other days, so their times have dates."""
    return said.replace(f"{NOW.date().isoformat()} ", "")


def export_row(transfer: Transfer) -> Said:
    text = transfer.get(f"/export/history.csv?{transfer.filters}")
    rows = {row["intent_id"]: row for row in csv.DictReader(io.StringIO(text.lstrip("\ufeff")))}
    row = rows[transfer.intent_id]
    return Said(None, row["headline"], row["location"], row["next_step"], row["certainty"])


def saved_row(transfer: Transfer) -> Said | None:
    answer = transfer.site.get(f"/saved/status?id={transfer.intent_id}")
    if answer.status_code == 404:
        return None
    markup = answer.content.decode()
    status = _found(r'<span class="status"[^>]*>(.*?)</span>', markup) or ""
    return Said(status, _found(r"data-headline[^>]*>(.*?)</", markup) or status)


def api_transfer(transfer: Transfer) -> Said:
    return _of_api(json.loads(transfer.get(f"/api/v1/transfers/{transfer.intent_id}")))


def api_list(transfer: Transfer) -> Said:
    return _among(json.loads(transfer.get(f"/api/v1/transfers?{transfer.filters}"))["transfers"], transfer)


def api_lookup(transfer: Transfer) -> Said:
    matches = json.loads(transfer.get(f"/api/v1/lookup?q={transfer.intent_id}"))["matches"]
    return _among([each["transfer"] for each in matches], transfer)


def api_triage(transfer: Transfer) -> Said:
    answer = transfer.site.post("/api/v1/triage", {"text": transfer.intent_id}, content_type="application/json")
    [row] = json.loads(answer.content)["rows"]
    assert row["headline"] == row["transfers"][0]["summary"]["headline"]
    return _among(row["transfers"], transfer)


def api_reply(transfer: Transfer) -> Said:
    return _of_reply(json.loads(transfer.get(f"/api/v1/reply/{transfer.intent_id}"))["plain"])


def _among(transfers: list[dict[str, Any]], transfer: Transfer) -> Said:
    [found] = [each for each in transfers if each["intentId"] == transfer.intent_id]
    return _of_api(found)


def _of_api(transfer: dict[str, Any]) -> Said:
    told = transfer["summary"]
    return Said(told["status"], told["headline"], told["location"], told["nextStep"], told["certainty"])


def printed(transfer: Transfer) -> Said:
    answer = json.loads(command_line.run("lookup", "--json", transfer.intent_id, root=transfer.root).out)
    return _among([each["transfer"] for each in answer["matches"]], transfer)


SURFACES: Mapping[str, Callable[[Transfer], Said | None]] = {
    "page": page,
    "live fragment": live_fragment,
    "description": description,
    "list row": list_row,
    "search row": search_row,
    "address row": address_row,
    "triage row": triage_row,
    "reply, text": reply_text,
    "reply, Markdown": reply_markdown,
    "reply, JSON": reply_json,
    "MCP": mcp,
    "card": card,
    "badge": badge,
    "embed": embed,
    "oEmbed": oembed,
    "feed, Atom": feed_atom,
    "feed, JSON": feed_json,
    "owner feed": owner_feed,
    "export row": export_row,
    "saved row": saved_row,
    "API, transfer": api_transfer,
    "API, list": api_list,
    "API, lookup": api_lookup,
    "API, triage": api_triage,
    "API, reply": api_reply,
    "command line": printed,
}


def differences(name: str, said: Said | None, summary: Summary) -> list[str]:
    """Return the differences between a surface and the summary. The start of the same words is no difference."""
    if said is None:
        return []
    facts = summary.situation.facts
    full = {
        "status": summary.status.word,
        "headline": summary.headline,
        "location": summary.location,
        "next_step": summary.next_step,
        "certainty": summary.certainty.value,
    }
    found = []
    for field_name in FIELDS:
        shown, expected = getattr(said, field_name), words(full[field_name])
        if said.to_owner and field_name in ("location", "next_step"):
            expected = to_the_owner(expected, facts)
        if shown is not None and not _agrees(name, field_name, words(shown), expected, summary):
            found.append(f"{field_name}: {shown!r} instead of {expected!r}")
    return found


def _agrees(name: str, field_name: str, shown: str, expected: str, summary: Summary) -> bool:
    if expected.startswith(shown) or (field_name == "headline" and shown == summary.status.word):
        return True
    # Without a quote, chains, recipient, amounts and estimates may be unknown. Then other words show less.
    return name in OF_ENTRIES and field_name in ("location", "next_step", "certainty") and _knows_less(summary)


def _knows_less(summary: Summary) -> bool:
    return summary.situation.receipt is None or summary.row.place in ("provider", "last-confirmed")


@contextmanager
def world(*, checked: bool = True) -> Iterator[tuple[Emulator, Client]]:
    """Yield an emulator at one moment, and a client of a site that can be embedded. Only names and the
    newest transfers of each route are cached.

    `checked`: balances are available.
    """
    from tests.pages.conftest import CACHED_KINDS, fresh

    others = {kind: Lifetime(0, 0, 0) for kind in LIFETIMES if kind not in CACHED_KINDS}
    with pytest.MonkeyPatch.context() as patch, time_machine.travel(NOW, tick=False):
        patch.setattr(ENV, "intents_cache_ttl", {**LIFETIMES, **others})
        patch.setattr(ENV, "intents_embed_hosts", ["https://other.example"])
        if not checked:
            patch.setattr(balance_cache, "entry_of", _unreachable)
        for emulator in fresh():
            # The clock is stopped, so cache entries don't age.
            patch.setattr(wiring.current().response_cache, "_clock", lambda: 0.0)
            patch.setattr(wiring.service()._guard, "_clock", lambda: 0.0)
            # The newest transfers of a route stay the same, and reading them is most of a page's work.
            patch.setattr(route_stats, "newest", cache(route_stats.newest))
            yield emulator, Client(headers={"host": HOST})


def problems(emulator: Emulator, site: Client, scenario: Scenario, moment: Moment) -> list[str]:
    """Return the differences of all surfaces at a moment of a scenario."""
    emulator.play(scenario.number, owner=OWNERS + scenario.number)  # a search with one match shows no rows
    played = play(emulator, scenario, moment)
    with command_line.listening() as root:
        transfer = Transfer(played["intentId"], played["ownerAddress"], site, root)
        return [
            f"{name}: {difference}"
            for name, surface in SURFACES.items()
            for difference in differences(name, surface(transfer), transfer.summary)
        ]


def _unreachable(*_: Any, **__: Any) -> None:
    raise Unreachable.because(Reason.TIMEOUT)
