"""Triage page: look up every identifier of a ticket, and stream a line for each as soon as it's known.

The text is sent by POST, to keep it out of URLs and browser history. It is neither stored nor logged. The page streams
its head at once, then a line for each in the order of the text, then the rows by owner and the summary.
"""

import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.template import engines
from django.template.backends.jinja2 import Jinja2
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods

from intents_ui import app
from intents_ui.formatting import hashes, text
from intents_ui.formatting.hashes import ShortForms
from intents_ui.formatting.text import bare
from intents_ui.http import client_ip, marks
from intents_ui.search.facts import TicketFacts
from intents_ui.search.identifiers import Kind, ParsedText
from intents_ui.triage import lookup, rows
from intents_ui.triage.lookup import Ticket, TicketLookup, charge, too_many
from intents_ui.triage.rows import TriageRow
from intents_ui.web import candidates, links
from intents_ui.web.candidates import Candidates
from intents_ui.web.frame import render

log = logging.getLogger(__name__)

# Marks where the rows and the summary go in the template. User input can't contain it, because `<` is escaped.
PLACE = "<!-- here -->"


@marks.Marks(body="triage")
@require_http_methods(["GET", "HEAD", "POST"])
@cache_control(no_store=True)
def view(request: HttpRequest) -> HttpResponseBase:
    if request.method != "POST":
        return form(request)
    received = request.POST.get("q", "")
    read = lookup.read(received)
    if wait := charge(request, read):
        status = HTTPStatus.TOO_MANY_REQUESTS
        return form(request, received=received, problem=too_many(wait), status=status, retry_after=wait)
    facts = candidates.facts_of(received, ParsedText(read.findings))
    if read.problem:
        possible = candidates.of_facts(request, facts)
        status = HTTPStatus.OK if possible and possible.count else HTTPStatus.BAD_REQUEST
        told = None if read.problem == lookup.EMPTY else facts
        return form(request, received=received, problem=read.problem, possible=possible, told=told, status=status)
    root = client_ip.root(request)
    # A URL that reproduces the case. A fragment is sent to no server, and is in no log.
    link = f"{root}{reverse('triage')}#ids={','.join(read.linked)}" if read.linked else ""
    context = {"ticket": read, "received": received, "link": link}
    page = render_to_string("triage/triage_results.html", context, request)
    answers = TriageBody(read, TicketLookup(read, request, facts), page=page, root=root)
    # A buffering proxy would delay all rows until the last one.
    return StreamingHttpResponse(answers, headers={"X-Accel-Buffering": "no"})


def form(
    request: HttpRequest,
    *,
    received: str = "",
    problem: str = "",
    possible: Candidates | None = None,
    told: TicketFacts | None = None,
    **response: Any,
) -> HttpResponse:
    context = {
        "received": received,
        "problem": problem,
        "possible": possible,
        "told": told,
        "most": lookup.MOST,
        "longest": lookup.LONGEST,
    }
    return render(request, "triage/triage.html", context, **response)


class TriageBody:
    """Streamed body of the page. `close` ends it, from any thread."""

    def __init__(self, read: Ticket, found: TicketLookup, *, page: str, root: str) -> None:
        self._found = found
        self._head, self._between, self._foot = page.split(PLACE)
        self._root = root
        self._forms = ShortForms()
        # A sent row can't change, so find the values that look alike before the first row.
        for each in read.findings:
            if each.kind is not Kind.SHORTENED:
                self._forms.of(each.value, hashes.short_hash(each.value))

    def close(self) -> None:
        self._found.close()

    async def __aiter__(self) -> AsyncIterator[str]:
        yield self._head
        sent: list[TriageRow] = []
        async with aclosing(aiter(self._found)) as found:
            async for row in found:
                sent.append(row)
                yield self._forms.draw(partial(macros().triage_line, row))
        yield self._between + await app.current().executor.run(partial(self._ended, sent)) + self._foot

    def _ended(self, sent: list[TriageRow]) -> str:
        possible = self._found.candidates(sent)
        return self._forms.draw(lambda: ended(sent, possible, root=self._root))


def ended(sent: list[TriageRow], possible: Candidates | None, *, root: str) -> str:
    """Render the rows by owner, each with a reply, what the text may be about, and the summary."""
    at = datetime.now(UTC)
    by_owner = rows.groups(sent)
    groups = [
        (group, [(owner, links.reply_about(about, root=root)) for owner, about in group.replies.items()])
        for group in by_owner
    ]
    failed = [row.value for row in sent if row.outcome is rows.TriageOutcome.FAILED]
    case = macros().triage_case(groups, rows.counts(by_owner))
    end = macros().triage_end(rows.total(sent), at, failed, copies(sent, root=root, now=at))
    return f"{case}{macros().possible_transfers(possible)}{end}"


def macros() -> Any:
    return cast(Jinja2, engines["jinja2"]).env.get_template("triage/rows.html").module


# Copies of all rows: plain, Markdown and CSV, with the same content

# Markup, mentions, HTML and links, wherever it is pasted.
MARKDOWN = re.compile(r"[\\`*_{}\[\]#~|!$@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
NOT_IN_A_TABLE = ("Outcome", "Notes", "As of")


def copies(found: Sequence[TriageRow], *, root: str, now: datetime) -> tuple[tuple[str, str, str], ...]:
    """Return the name, use and text of each form. `root`: scheme and host of the links."""
    return (
        ("Plain text", "for a reply or a note", bare(plain(found, root=root, now=now))),
        ("Markdown", "for an issue or a wiki", bare(markdown(found, root=root, now=now))),
        ("CSV", "for a spreadsheet", comma_separated(found, root=root)),
    )


def plain(found: Sequence[TriageRow], *, root: str, now: datetime) -> str:
    paragraphs = [_heading(found, now=now)]
    for row in found:
        links = [*(root + link.path for link in row.links), *(each.written for each in row.help if each.url)]
        paragraphs.append("\n   ".join([*rows.lines(row, root=root), *links]))
    return "\n\n".join(paragraphs) + "\n"


def _heading(found: Sequence[TriageRow], *, now: datetime) -> str:
    return f"As of {now:%Y-%m-%d %H:%M:%S} UTC. {rows.total(found)}"


def markdown(found: Sequence[TriageRow], *, root: str, now: datetime) -> str:
    """Return a table in which untrusted text is escaped."""
    table = [_row_of_table(row, root=root) for row in found]
    columns = [*table[0]]
    head = [_escaped(_heading(found, now=now)), "", f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    return "\n".join([*head, *(f"| {' | '.join(row.values())} |" for row in table)]) + "\n"


def _row_of_table(row: TriageRow, *, root: str) -> dict[str, str]:
    said = rows.cells(row, root=root)
    said["Details"] = f"{said['Details']} {said['Notes']}".strip()
    # `reverse` has escaped whatever could end the link or the cell in a path.
    links = [f"[{_escaped(link.words)}](<{root}{link.path}>)" for link in row.links]
    links += [f"[{each.words}](<{each.url}>)" for each in row.help if each.url]
    shown = {column: _escaped(words) for column, words in said.items() if column not in NOT_IN_A_TABLE}
    return shown | {"Links": ", ".join(links)}


def literal(words: str) -> str:
    """Escape text for Markdown."""
    return MARKDOWN.sub(r"\\\g<0>", words).translate(ENTITIES)


def _escaped(words: str) -> str:
    return literal(rows.one_line(words))


def comma_separated(found: Sequence[TriageRow], *, root: str) -> str:
    table = [rows.cells(row, root=root) for row in found]
    records = [[*table[0]], *(row.values() for row in table)]
    return "".join(text.csv_line(map(text.csv_cell, record)) for record in records)
