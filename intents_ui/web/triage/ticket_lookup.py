"""Rows of a ticket: one for each identifier, looked up a few at a time, in the order of the text."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.http import HttpRequest

from intents_ui import app
from intents_ui.display.formatting import text
from intents_ui.display.search.facts import TicketFacts
from intents_ui.display.search.identifiers import Finding, Kind, Pasted
from intents_ui.display.triage import rows, ticket
from intents_ui.display.triage.rows import TriageOutcome, TriageRow
from intents_ui.display.triage.ticket import Ticket
from intents_ui.http import limits
from intents_ui.service.errors import ServiceError
from intents_ui.web.transfers import candidates, lookups, mirrored
from intents_ui.web.transfers.candidates import Candidates
from intents_ui.web.triage.answers import ClientService, answer, elsewhere, now, resolved, search_url


def charge(request: HttpRequest, read: Ticket) -> int:
    """Charge a ticket's identifiers. Returns the seconds to wait, 0 if none."""
    return app.current().rate_limiter.charge(request, limits.SEARCH * len(read.findings))


def too_many(wait: int) -> str:
    """Return the sentence about a rate limit that is reached for these seconds."""
    return (
        "Tickets from your IP address have reached the rate limit. Nothing was looked up. Try again in"
        f" {text.counted(wait, 'second')}, or with fewer identifiers."
    )


MOST_AT_ONCE = 4  # identifiers of one ticket
MORE = "Only the first {most} of {found} identifiers were looked up."


class TicketLookup:
    """The rows of a ticket, each as soon as it and those before are known. `close` ends it, from any thread."""

    def __init__(self, read: Ticket, request: HttpRequest, facts: TicketFacts) -> None:
        self._request, self._facts = request, facts
        self._numbered = list(enumerate(read.findings, start=1))
        compares = any(each.kind is Kind.SHORTENED for each in read.findings)
        self._service = ClientService(
            app.current().service,
            compares=compares,
            search_mirror=self._search_mirror,
            find_paid=partial(mirrored.that_paid, request),
        )
        self._at_once = asyncio.Semaphore(MOST_AT_ONCE)

    def close(self) -> None:
        self._service.leave()

    def candidates(self, found: Sequence[TriageRow]) -> Candidates | None:
        """Return the transfers that the text may be about if no identifier leads to a single one."""
        if any(row.intent_id or row.outcome is TriageOutcome.POSSIBLE for row in found):
            return None
        return candidates.of_facts(self._request, self._facts)

    def _search_mirror(self, finding: Finding) -> Candidates | None:
        return candidates.of_facts(self._request, replace(self._facts, pasted=Pasted((finding,))))

    async def __aiter__(self) -> AsyncGenerator[TriageRow]:
        found: list[TriageRow] = []
        tasks = self._tasks()
        try:
            for each in tasks:
                # Unshielded, canceling the page would cancel this task first, and free its slot for the next lookup.
                found.append(once(await asyncio.shield(each), found))
                yield found[-1]
        finally:
            self.close()
            for each in tasks:
                each.cancel()

    def all_rows(self) -> list[TriageRow]:
        """Look up all identifiers and wait for their rows, at most until the deadline of the page."""
        whole = [each for each in self._numbered if each[1].kind is not Kind.SHORTENED]
        answers = self._service.threads.together(*(partial(self._looked_up, *each) for each in whole))
        known = {
            number: self._late(number, finding, row) if isinstance(row, ServiceError) else row
            for (number, finding), row in zip(whole, answers, strict=True)
        }
        found: list[TriageRow] = []
        for number, finding in self._numbered:
            found.append(once(known.get(number) or self._compared(number, finding, list(known.values())), found))
        return found

    def _late(self, number: int, finding: Finding, error: ServiceError) -> TriageRow:
        return rows.failed(number, finding, error, now=now(), link=search_url(finding))

    def _tasks(self) -> list[asyncio.Task[TriageRow]]:
        """Return a task for each row, in the order of the text. A shortened ID waits for the other rows."""
        whole = {
            number: asyncio.create_task(self._in_turn(partial(self._looked_up, number, finding)))
            for number, finding in self._numbered
            if finding.kind is not Kind.SHORTENED
        }
        others = list(whole.values())
        return [
            whole.get(number) or asyncio.create_task(self._after(others, number, finding))
            for number, finding in self._numbered
        ]

    async def _after(self, others: Sequence[asyncio.Task[TriageRow]], number: int, finding: Finding) -> TriageRow:
        if others:
            await asyncio.wait(others)
        return await self._in_turn(partial(self._compared, number, finding, [each.result() for each in others]))

    async def _in_turn(self, do: Callable[[], TriageRow]) -> TriageRow:
        async with self._at_once:
            return await app.current().executor.run(do)

    def _looked_up(self, number: int, finding: Finding) -> TriageRow:
        return answer(self._service, number, finding, resolved)

    def _compared(self, number: int, finding: Finding, known: Sequence[TriageRow]) -> TriageRow:
        """Compare a shortened ID with the transfers of the other rows, then with those of the mirror."""
        row = rows.in_ticket(number, finding, known, now=now())
        return row or answer(self._service, number, finding, partial(elsewhere, known=known))


@dataclass(frozen=True)
class TicketRows:
    """`problem`: why there are no rows. `wait`: seconds until a retry can succeed, 0 if that isn't the problem.
    `candidates`: what the text may be about if no row has a single transfer.
    """

    rows: Sequence[TriageRow] = ()
    candidates: Candidates | None = None
    notes: tuple[str, ...] = ()
    problem: str = ""
    wait: int = 0


def rows_of(written: str, request: HttpRequest, *, most: int = ticket.MOST) -> TicketRows:
    """Look up at most this many identifiers of a text, and wait for all. Not for a thread with an event loop."""
    read = ticket.read(written)
    facts = lookups.facts_of(written, Pasted(read.findings))
    if read.problem:
        return TicketRows(problem=read.problem, candidates=candidates.of_facts(request, facts))
    if len(read.findings) > most:
        note = MORE.format(most=most, found=len(read.findings))
        read = replace(read, findings=read.findings[:most], notes=(*read.notes, note))
    if wait := charge(request, read):
        return TicketRows(problem=too_many(wait), wait=wait)
    lookup = TicketLookup(read, request, facts)
    found = lookup.all_rows()
    return TicketRows(found, lookup.candidates(found), read.notes)


def once(row: TriageRow, sent: list[TriageRow]) -> TriageRow:
    """Return the row, shortened if an earlier row has the same transfer."""
    first = next((each for each in sent if each.intent_id.lower() == row.intent_id.lower() != ""), None)
    return rows.again(row, first=first.number) if first else row
