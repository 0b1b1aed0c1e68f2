"""The tools, as clients list and call them, with the answers of pages. None of them changes anything."""

import json
from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from pydantic import BaseModel, Field

from intents_ui.api import transfers
from intents_ui.formatting import hashes, text
from intents_ui.http import client_ip
from intents_ui.http.json_rpc import ToolError, fenced, fenced_json
from intents_ui.search import empty_results, identifiers, input_errors
from intents_ui.search.identifiers import ParsedText
from intents_ui.service.lookup import MAX_RECEIPTS
from intents_ui.service.results import Hit, LookupResult
from intents_ui.transfers import summary
from intents_ui.transfers.transfer import Transfer
from intents_ui.triage import lookup, rows
from intents_ui.triage.lookup import rows_of
from intents_ui.triage.rows import TriageRow
from intents_ui.web import links, reading, search
from intents_ui.web.customer_reply import Reply
from intents_ui.web.search import CHECK, Candidates

ANNOTATIONS: Final = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True}
NO_COPY: Final = (
    "This dashboard has no local copy of the service's history, so it knows nothing about many transfers. Its"
    " administrator can turn it on: docs/mirror.md."
)
LONGEST_NAME: Final = 200
MAX_BYTES: Final = 1_750  # of a lookup, as JSON. With the rest of its response, 2 KB
MAX_LISTED: Final = MAX_RECEIPTS
MAX_NAMED: Final = 4  # identifiers, as many as are looked up
MAX_ROWS: Final = 20  # identifiers of a ticket, for which the time of a page suffices
NAMES: Final = (
    *("row", "identifier", "type", "status", "outcome", "headline", "details", "location", "nextStep", "notes"),
    *("links", "asOf"),
)


class TextArguments(BaseModel):
    """Text to look up."""

    text: str = Field(
        min_length=1,
        max_length=identifiers.LONGEST,
        description="Any text with intent IDs, transaction hashes, addresses or links",
    )


def look_up(request: HttpRequest, given: TextArguments) -> str:
    """Find transfers by any text with intent IDs, transaction hashes, addresses or links.

    Returns the intent ID, status and headline of the newest matches, and of a single match where the funds are and what
    to do.
    """
    read = identifiers.read(given.text)
    found = search.of_text(read) if read.lookups else LookupResult()
    if found.error:
        raise found.error
    possible = search.possible_transfers(request, given.text, read, found)
    if not read.lookups and not (possible and possible.transfers):
        raise ToolError(read.refusal or input_errors.NOTHING)
    hits = found.hits[:MAX_LISTED]
    only = [reading.read(found.only.intent.intent_id)] if found.only else []
    listed = only or reading.from_search([each.intent for each in hits])
    matches = [_match(hit, each, found, details=bool(only)) for hit, each in zip(hits, listed, strict=True)]
    longest = max(len(matches), len(possible.transfers) if possible else 0)
    shown = (
        fenced_json(_lookup(read, found, matches[:most]) | _possible(possible, most)) for most in range(longest, -1, -1)
    )
    return next(each for each in shown if len(json.dumps(each)) <= MAX_BYTES)


def _lookup(read: ParsedText, found: LookupResult, matches: list[dict[str, Any]]) -> dict[str, Any]:
    named = read.lookups[:MAX_NAMED]
    return {
        "identifiers": [
            {"value": hashes.short_id(each.value), "kind": each.kind.value}
            | ({"warning": each.warning} if each.warning else {})
            for each in named
        ],
        "transfers": found.count,
        "matches": matches,
        "isComplete": not found.failed and not found.unreadable,
        "mayBeMore": found.may_be_capped or found.count > len(matches) or len(read.lookups) > len(named),
        "possibleReasons": [] if found.hits else empty_results.likely_causes(named),
    }


def _match(hit: Hit, transfer: Transfer, found: LookupResult, *, details: bool) -> dict[str, Any]:
    told = summary.of(transfer)
    match = {
        "intentId": hit.intent.intent_id,
        "foundBy": [empty_results.reason(question, found=found) for question in hit.reasons],
        "status": told.status.word,
        "headline": told.headline,
    }
    if hit.doubts:
        match["warnings"] = [empty_results.warning(each) for each in hit.doubts]
    if not details:
        return match
    return match | {
        "location": told.location,
        "nextStep": told.next_step,
        "warnSecondDeposit": told.row.warn_second_deposit,
    }


def _possible(found: Candidates | None, most: int = search.PER_PAGE) -> dict[str, Any]:
    """Return what the text may be about, which isn't an answer."""
    if not found:
        return {}
    shown = [
        {
            "intentId": each.transfer.intent.intent_id,
            "headline": each.headline,
            "sent": str(each.sent),
            "why": " ".join(found.reasons[each.transfer.intent.intent_id]),
        }
        for each in found.transfers[:most]
    ]
    return {"candidates": {"note": CHECK, "count": found.count, "searched": found.searched, "shown": shown}}


class TransferArguments(BaseModel):
    """A transfer."""

    intent_id: str = Field(min_length=1, max_length=LONGEST_NAME, description="Intent ID, 0x and 64 hex characters")


def explain_transfer(request: HttpRequest, given: TransferArguments) -> str:
    """Explain one transfer by its intent ID: what happened, where the funds are, what to do next, how certain that is,
    exact amounts, its steps, and how it compares with its quote.
    """
    transfer = reading.read(links.canonical(given.intent_id))
    told = transfers.whole(transfer, root=client_ip.root(request))
    return fenced_json({**told.model_dump(mode="json", by_alias=True), "asReceived": as_received(transfer)})


def as_received(transfer: Transfer) -> dict[str, list[str]]:
    """Return text that strangers wrote, which the other texts of an answer shorten or make visible: each once."""
    moneys = (transfer.requested, transfer.sent, transfer.expected, transfer.received, transfer.refunded)
    steps = (transfer.deposit, transfer.origin, transfer.destination, transfer.refund)
    written = {
        "tokenSymbols": [each.symbol for each in moneys],
        "tokenNames": [each.name for each in moneys],
        "reasons": [step.status_reason for step in steps if step],
        "memo": [transfer.summary.memo],
    }
    return {
        name: list(dict.fromkeys(each[: text.LONGEST] for each in found if each)) for name, found in written.items()
    }


class TicketArguments(BaseModel):
    """Text of a ticket."""

    text: str = Field(min_length=1, max_length=lookup.LONGEST, description="A support ticket, unedited")


def triage_ticket(request: HttpRequest, given: TicketArguments) -> str:
    """Look up all identifiers of a support ticket, 20 at most.

    Returns a row for each: the status, where the funds are, the next step, and how urgent it is.
    """
    found, root = rows_of(given.text, request, most=MAX_ROWS), client_ip.root(request)
    if found.problem and not (found.candidates and found.candidates.transfers):
        raise ToolError(found.problem)
    told = [_as_json(row, root=root) for row in found.rows]
    answer = {"total": rows.total(found.rows), "rows": told, "notes": found.notes}
    return fenced_json(answer | _possible(found.candidates))


def _as_json(row: TriageRow, *, root: str) -> dict[str, str]:
    """Return what the row says when it is copied, and how urgent it is, without what is empty."""
    cells = dict(zip(NAMES, rows.cells(row, root=root).values(), strict=True))
    found = cells | {"intentId": row.intent_id, "owner": row.owner, "urgency": rows.URGENCIES[rows.urgency(row)].word}
    return {name: value for name, value in found.items() if value}


class RouteArguments(BaseModel):
    """Routes between two chains."""

    origin: str = Field(
        min_length=1, max_length=LONGEST_NAME, description="ID or name of the origin chain", examples=["8453", "Base"]
    )
    destination: str = Field(
        min_length=1, max_length=LONGEST_NAME, description="ID or name of the destination chain", examples=["42161"]
    )
    provider: str = Field(
        "", max_length=LONGEST_NAME, description="Route provider. Without one, all of them", examples=["RELAY"]
    )


def route_health(request: HttpRequest, given: RouteArguments) -> str:
    """Tell how many transfers between two chains were delivered in 24 hours and how long they took, by route provider,
    with open incidents. Needs a local copy of the history in the dashboard.
    """
    if settings.MIRROR_DATABASE is None:
        raise ToolError(NO_COPY)
    from intents_ui.mcp import routes  # imported only when used, because it needs the mirror's tables

    return routes.health(request, (given.origin, given.destination), given.provider)


def customer_reply(request: HttpRequest, given: TransferArguments) -> str:
    """Write the reply about a transfer that a support agent can send to its owner unedited, as plain text."""
    intent_id = links.canonical(given.intent_id)
    return fenced(Reply([reading.read(intent_id)], client_ip.root(request)).written())


# By name: title, arguments and function, whose docstring clients read.
TOOLS: Final[dict[str, tuple[str, type[BaseModel], Callable[[HttpRequest, Any], str]]]] = {
    "look_up": ("Look up", TextArguments, look_up),
    "explain_transfer": ("Explain a transfer", TransferArguments, explain_transfer),
    "triage_ticket": ("Triage a ticket", TicketArguments, triage_ticket),
    "route_health": ("Health of a route", RouteArguments, route_health),
    "customer_reply": ("Customer reply", TransferArguments, customer_reply),
}


def described() -> list[dict[str, Any]]:
    """Return the tools as clients list them."""
    return [
        {
            "name": name,
            "title": title,
            "description": " ".join((answer.__doc__ or "").split()),
            "inputSchema": arguments.model_json_schema(),
            "annotations": ANNOTATIONS,
        }
        for name, (title, arguments, answer) in TOOLS.items()
    ]
