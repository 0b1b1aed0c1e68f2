"""Triage rows of a text that a helpdesk or Slack sends."""

from dataclasses import dataclass, replace

from django.http import HttpRequest

from intents_ui.display.triage import ticket
from intents_ui.display.triage.rows import TriageRow
from intents_ui.web.triage.allowance import Allowance, too_many
from intents_ui.web.triage.ticket_lookup import TicketLookup

MORE = "Only the first {most} of {found} identifiers were looked up. Triage looks up all of them."


@dataclass(frozen=True)
class HelpdeskRows:
    """`problem`: why there are no rows. `wait`: seconds until a retry can succeed, 0 if that isn't the problem."""

    rows: tuple[TriageRow, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    wait: int = 0


def of_text(written: str, request: HttpRequest, *, most: int) -> HelpdeskRows:
    """Look up at most this many identifiers of a text, as triage does."""
    read = ticket.read(written)
    if read.problem:
        return HelpdeskRows(problem=read.problem)
    if len(read.findings) > most:
        note = MORE.format(most=most, found=len(read.findings))
        read = replace(read, findings=read.findings[:most], notes=(*read.notes, note))
    allowance = Allowance(len(read.findings))
    if wait := allowance.spend():
        return HelpdeskRows(problem=too_many(wait), wait=wait)
    found = TicketLookup(read, request, allowance=allowance).all_rows()
    return HelpdeskRows(rows=tuple(found), notes=read.notes)
