"""Triage rows: one per identifier of a ticket, in text that is safe to read, for pages and as plain text."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, IntEnum
from functools import cached_property, partial
from typing import Any, NamedTuple

from django.urls import reverse

from intents_ui.formatting import failures, hashes, text, times
from intents_ui.search import empty_results, input_errors
from intents_ui.search.identifiers import ADDRESSES, Finding, Kind
from intents_ui.service import results
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import Intent, IntentReceipt, IntentStatus, TokenInfo
from intents_ui.service.results import Hit, LookupQuestion, LookupResult
from intents_ui.tokens import names, token_amounts
from intents_ui.transfers import statuses, summary
from intents_ui.transfers.rules import Attention, Cause, Certainty, Help
from intents_ui.transfers.statuses import StatusLabel
from intents_ui.transfers.transfer import Transfer
from intents_ui.web.links import intent_url
from intents_ui.web.search import Candidates


class TriageOutcome(Enum):
    """What became of a lookup, as counted: for one row, and for several."""

    FOUND = "found", "found"
    TOKEN = "token", "tokens"
    NOTHING = "not an identifier", "not identifiers"  # resembles one
    UNKNOWN = "not found", "not found"
    UNCLEAR = "to check", "to check"
    FAILED = "failed", "failed"
    # Shortened, with a possible match, or found by a transaction that the transfer doesn't have.
    POSSIBLE = "possible match", "with possible matches"


LABELS = {TriageOutcome[name]: label for name, label in statuses.labels("triage_outcomes").items()}
SETTLED, NOT_FOUND = LABELS[TriageOutcome.FOUND], LABELS[TriageOutcome.UNKNOWN]
SPECIAL = statuses.labels("triage_special")
OTHER_KINDS = {Kind.SOLANA_SIGNATURE: "Solana signature", Kind.NEAR_MISS: "possible identifier"}
LOOKS_LIKE = empty_results.LOOKS_LIKE | OTHER_KINDS
COMPARE = "Compare it with the full value before you rely on it."
MAX_LISTED = 5  # possible matches, or open and failed transfers, in one row
MAX_COMPARED = 100  # transfers of one row, with a shortened ID
ROLES = {results.DEPOSIT_ADDRESS: "deposit address", results.DELIVERY_ADDRESS: "destination intent address"}


class Link(NamedTuple):
    words: str
    path: str


class Value(NamedTuple):
    """A hash or an address, its role, and the ID of its transfer ("" if it has none)."""

    value: str
    what: str
    intent_id: str = ""


class Reading(NamedTuple):
    """A transfer that was found. `error` is why its receipt couldn't be loaded."""

    hit: Hit
    transfer: Transfer
    error: ServiceError | None = None

    @property
    def link(self) -> str:
        return intent_url(self.hit)

    @property
    def notes(self) -> tuple[str, ...]:
        if self.error is None:
            return ()
        title = failures.words(self.error).title
        return (f"Couldn't load the receipt ({title}). Showing the intent only, without progress.",)


@dataclass(frozen=True)
class TriageRow:
    """`address`: where the funds are, if known. `links`: the first leads to what the row is about, unless they
    are `alternatives`.

    `intent_id` is set when the row is about one transfer; `at` is when it was looked up. `hits` are all that it leads
    to, and `transfers` those that it shows: its text is about the first. `owner` is that of all its transfers.
    `same_as` is the row that has shown the transfer already. `is_incomplete`: some of its lookups failed.
    """

    number: int
    finding: Finding
    value: str
    what: str
    at: datetime
    outcome: TriageOutcome = TriageOutcome.UNKNOWN
    status: StatusLabel = NOT_FOUND
    headline: str = "Not found"
    details: tuple[str, ...] = ()
    where: str = ""
    address: str = ""
    next: str = ""
    turn: str = ""
    help: tuple[Help, ...] = ()
    notes: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    intent_id: str = ""
    alternatives: bool = False
    hits: tuple[Hit, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    owner: str = ""
    same_as: int = 0
    is_incomplete: bool = False

    @property
    def is_shortened(self) -> bool:
        return self.finding.kind is Kind.SHORTENED

    @property
    def transfer(self) -> Transfer | None:
        return self.transfers[0] if self.transfers else None

    @property
    def replied_about(self) -> tuple[Transfer, ...]:
        """Return the transfers for a reply to their owner: none of a possible match."""
        return () if self.outcome is TriageOutcome.POSSIBLE else self.transfers

    @property
    def search_url(self) -> str:
        return reverse("search", query={"q": self.finding.value})

    @cached_property
    def values(self) -> Sequence[Value]:
        """The values of all its transfers, or its own, for shortened IDs in other rows."""
        others = [Transfer(hit.intent, None, now=self.at, is_unread=True) for hit in self.hits[:MAX_COMPARED]]
        known = [value for each in (*self.transfers, *others) for value in values_of(each)]
        return known or _canonical({self.what: self.value}, intent_id="")


def _with_outcome(row: TriageRow, outcome: TriageOutcome, headline: str, **changes: Any) -> TriageRow:
    changes = {"status": LABELS[outcome], **changes}
    return replace(row, outcome=outcome, headline=headline, **changes)


def begin(number: int, finding: Finding, *, now: datetime) -> TriageRow:
    value, what = text.visible(finding.value), LOOKS_LIKE[finding.kind].format(chain=finding.chain)
    return TriageRow(number, finding, value, what, now, notes=(finding.warning,) if finding.warning else ())


def unasked(row: TriageRow) -> TriageRow | None:
    """Return the row of a possible identifier or of none, which needs no lookup."""
    problem, warning = row.finding.problem, row.finding.warning
    if problem:
        return _with_outcome(row, TriageOutcome.UNCLEAR, problem)
    if warning in (input_errors.NATIVE, input_errors.PLACEHOLDER):
        return _with_outcome(row, TriageOutcome.NOTHING, warning, notes=())
    return None


def one(row: TriageRow, found: LookupResult, reading: Reading) -> TriageRow:
    transfer = reading.transfer
    row = _with_summary(replace(row, at=transfer.now), reading)
    row = replace(
        row,
        headline=summary.of(transfer).headline,
        what=" and ".join(dict.fromkeys(_role(reason, transfer.receipt) for reason in reading.hit.reasons)),
        links=(Link("View transfer", reading.link),),
        intent_id=transfer.intent.intent_id,
        owner=owner_of([transfer]),
    )
    return _checked(row, found)


def _checked(row: TriageRow, found: LookupResult) -> TriageRow:
    """Return the row with what wasn't looked up, and doubts. A hit without the transaction is only a possible match."""
    doubts = [doubt for hit in found.hits for doubt in hit.doubts]
    not_asked = empty_results.not_asked(found) if found.failed or found.unreadable else ()
    notes = (*row.notes, *not_asked, *map(empty_results.warning, doubts))
    row = replace(row, hits=found.hits, notes=notes, is_incomplete=len(notes) > len(row.notes))
    if not any(each.checked for each in doubts):
        return row
    return replace(row, outcome=TriageOutcome.POSSIBLE, intent_id="", owner="")


def once(row: TriageRow, earlier: Sequence[TriageRow]) -> TriageRow:
    """Return the row, shortened if an earlier row has the same transfer."""
    first = next((each.number for each in earlier if each.intent_id.lower() == row.intent_id.lower() != ""), 0)
    if not first:
        return row
    row = replace(row, headline=f"Same transfer as row {first}", details=(), where=f"See row {first}.", same_as=first)
    return replace(row, address="", next="", turn="", help=())


def several(row: TriageRow, found: LookupResult, listed: Sequence[Reading]) -> TriageRow:
    """Return the row of an identifier of several transfers, of which the most urgent are `listed`."""
    count = f"{found.count} transfers{' or more' if found.may_be_capped else ''}"
    labels = Counter(_status(hit.intent, now=row.at) for hit in found.hits)
    mix = ", ".join(f"{n} {each.word.lower() if each.known else each.word}" for each, n in labels.most_common())
    # `owner of 12 transfers` or `owner of 11, deposit address of 1`.
    by_role = Counter(_role(reason, None) for hit in found.hits for reason in hit.reasons)
    roles = ", ".join(f"{role} of {intents}" for role, intents in by_role.most_common())
    own_page = reverse("address", args=[row.finding.value]) if row.finding.kind in ADDRESSES else row.search_url
    row = _with_outcome(
        row,
        TriageOutcome.FOUND,
        f"{count}: {mix}",
        what=roles if len(by_role) > 1 else f"{next(iter(by_role))} of {count}",
        details=(SETTLED.meaning,),
        links=(Link("View all", own_page),),
        owner=owner_of(Transfer(hit.intent, None, now=row.at, is_unread=True) for hit in found.hits),
    )
    return _checked(_with_most_urgent(row, found, listed) if listed else row, found)


def _with_most_urgent(row: TriageRow, found: LookupResult, listed: Sequence[Reading]) -> TriageRow:
    first, *others = listed
    more = len(to_look_at(found.hits, now=row.at)) - 1
    said = "1 other transfer is open or failed." if more == 1 else f"{more} other transfers are open or failed."
    said = said if more == len(others) else f"{said} {len(others)} linked here."
    shown = _with_summary(row, first)
    return replace(
        shown,
        headline=row.headline,
        details=(f"Most urgent transfer: {_brief(first)}", *shown.details, *((said,) if more else ())),
        notes=tuple(dict.fromkeys((*shown.notes, *(note for each in others for note in each.notes)))),
        links=(
            Link("View the most urgent transfer", first.link),
            *(Link(_brief(each), each.link) for each in others),
            *row.links,
        ),
        transfers=tuple(each.transfer for each in listed),
    )


def rank(transfer: Transfer) -> int:
    """Return how urgent a transfer is among those of its owner, 0 for the most urgent."""
    row = summary.of(transfer).row
    concerns = (
        row.cause in (Cause.RECOVERABLE, Cause.REFUND_FAILED),
        row.attention is Attention.ACT,
        transfer.is_stalled,
        transfer.is_late,
    )
    return concerns.index(True) if any(concerns) else len(concerns)


def _brief(reading: Reading) -> str:
    """Return `0x12…34 (Refund failed)`."""
    return f"{hashes.short_id(reading.transfer.intent.intent_id)} ({summary.of(reading.transfer).headline})"


def to_look_at(hits: Sequence[Hit], *, now: datetime) -> list[Hit]:
    """Return the open or failed transfers, in this order. A quote is neither."""
    unfinished = [
        hit for hit in hits if statuses.is_open(hit.intent.status) or hit.intent.status == IntentStatus.FAILED
    ]
    offers = (statuses.EXPIRED, statuses.INTENTS[IntentStatus.QUOTED])
    return [hit for hit in unfinished if _status(hit.intent, now=now) not in offers]


def token(row: TriageRow, found: Sequence[TokenInfo], *, using: names.Names) -> TriageRow:
    """Return the row of a token contract, which has no transfers."""
    contract = token_amounts.of_token(found[0], using=using)
    where = text.listed(list(dict.fromkeys(names.of_chain(each.chain_id, using=using) for each in found)))
    reasons = [mark.reason for mark in contract.token.marks]
    details = ("This is a token contract, not a wallet. It has no transfers.", *reasons)
    return _with_outcome(
        row, TriageOutcome.TOKEN, f"{contract.named}, a token on {where}", what="token", details=details
    )


def paid(row: TriageRow, counts: Sequence[tuple[str, str]]) -> TriageRow:
    """Return the row of an address that owns no transfers, but was paid by some. `counts`: how many, by how."""
    headline = ", ".join(f"{how}: {count}" for how, count in counts)
    links = (Link("View transfers", reverse("address", args=[row.finding.value])),)
    return _with_outcome(
        row, TriageOutcome.FOUND, headline, status=SPECIAL["paid"], details=(SPECIAL["paid"].meaning,), links=links
    )


def unknown(row: TriageRow, found: LookupResult) -> TriageRow:
    asked = [f"Searched as {words}: no matches." for words in empty_results.was_asked(found)]
    causes = ("Possible reasons:", *empty_results.likely_causes([row.finding]))
    return replace(row, details=(*asked, *causes), links=(Link("Search options", row.search_url),))


def in_ticket(row: TriageRow, others: Iterable[TriageRow]) -> TriageRow | None:
    """Return the row of a shortened ID that matches transfers of other rows, or None. Each transfer counts once."""
    fitting: dict[frozenset[str], tuple[TriageRow, list[Value]]] = {}
    for other in others:
        if found := matching(other.values, head=row.finding.head, tail=row.finding.tail):
            fitting.setdefault(frozenset(each.intent_id or each.value for each in found), (other, found))
    among = [each for _, found in fitting.values() for each in found]
    matched = [(other, _matched(found, among=among)) for other, found in fitting.values()]
    if len(matched) < 2:
        ids = {each.intent_id for each in among}
        same = "value" if ids == {""} else "transfer" if len(ids) == 1 else "transfers"
        for other, values in matched:
            headline, told = f"Possible match: same {same} as row {other.number}", (f"It matches {values}.", COMPARE)
            return _with_outcome(row, TriageOutcome.POSSIBLE, headline, details=told, links=other.links[-1:])
        return None
    headline, listed = f"{len(matched)} possible matches in other rows", matched[:MAX_LISTED]
    details = (*(f"Row {other.number}: it matches {values}." for other, values in listed), COMPARE)
    links = tuple(Link(f"Row {other.number}", other.links[-1].path) for other, _ in listed if other.links)
    return _with_outcome(row, TriageOutcome.POSSIBLE, headline, details=details, links=links, alternatives=True)


def in_mirror(row: TriageRow, found: Candidates, *, others: Sequence[TriageRow]) -> TriageRow:
    """Return the row of a shortened ID without a match in the ticket. `found` are the matches in the mirror."""
    if failed := [str(each.number) for each in others if each.outcome is TriageOutcome.FAILED]:
        rows = f"row {failed[0]}" if len(failed) == 1 else f"rows {', '.join(failed)}"
        row = replace(row, notes=(*row.notes, f"Not compared with {rows}, whose lookups failed."))
    listed, searched = found.listed, found.searched
    if not listed:
        return replace(
            row,
            status=SPECIAL["no_match"],
            headline="No match",
            next="Request the full ID.",
            details=(searched, *(("No match in the other rows.",) if others else ())),
            links=(Link("Search", row.search_url),),
        )
    possible = partial(_with_outcome, row, TriageOutcome.POSSIBLE)
    if len(listed) == 1:
        [only] = listed
        details, links = (only.brief, only.why, COMPARE, searched), [Link("View transfer", only.path)]
        return possible("Possible match in the local copy", details=details, links=tuple(links))
    links = [Link(each.brief, each.path) for each in listed[:MAX_LISTED]]
    links.append(Link("All possible matches", row.search_url))
    headline = f"{len(listed)} possible matches in the local copy"
    return possible(headline, details=(COMPARE, searched), links=tuple(links), alternatives=True)


def values_of(transfer: Transfer) -> list[Value]:
    """Return every value that a wallet or explorer may shorten: ID, transaction hashes and addresses."""
    intent_id, sent = transfer.intent.intent_id, transfer.receipt.transactions if transfer.receipt else {}
    hashes_of = {f"{step} transaction": each.txn_hash for step, each in sent.items()}
    named = {
        "intent ID": intent_id,
        **hashes_of,
        "owner": transfer.owner,
        "recipient": transfer.recipient,
        "deposit address": transfer.deposit_address,
        "destination intent address": transfer.delivery_address,
    }
    shown = {what: value for what, value in named.items() if value and not hashes.is_placeholder(value)}
    return [each for each in _canonical(shown, intent_id=intent_id) if not hashes.is_native(each.value)]


def _canonical(named: Mapping[str, str], *, intent_id: str) -> list[Value]:
    known = [(hashes.canonical_hash(value) or hashes.canonical_address(value), what) for what, value in named.items()]
    return [Value(value, what, intent_id) for value, what in known if value]


def matching(values: Iterable[Value], *, head: str, tail: str) -> list[Value]:
    """Return those with this beginning and end, case-insensitively."""
    start, end = f"0x{head}".lower(), tail.lower()
    long_enough = [each for each in values if len(start) + len(end) <= len(each.value)]
    return [each for each in long_enough if each.value.startswith(start) and each.value.endswith(end)]


def _matched(found: Iterable[Value], *, among: Iterable[Value]) -> str:
    """Return `the owner and recipient 0x12…34 and the deposit transaction 0x56…78`. Lookalikes aren't shortened."""
    roles: dict[str, dict[str, None]] = {}
    for each in found:
        roles.setdefault(each.value, {})[each.what] = None
    short = {each.value: hashes.short_id(each.value) for each in among}
    looks = Counter(short.values())
    shown = [(value if looks[short[value]] > 1 else short[value], what) for value, what in roles.items()]
    return " and ".join(f"the {' and '.join(what)} {value}" for value, what in shown)


def failed(row: TriageRow, error: ServiceError, *, found: LookupResult | None = None) -> TriageRow:
    words, links = failures.words(error), (Link("Look up individually", row.search_url),)
    details = (*(empty_results.not_asked(found) if found else ()), words.what)
    return _with_outcome(row, TriageOutcome.FAILED, words.title, details=details, next=words.todo, links=links)


def internal_error(row: TriageRow, *, reference: str) -> TriageRow:
    details = ("This is a dashboard error. Transfers in progress are not affected.",)
    todo = f"Try again. If it keeps happening, contact your administrator with the request ID {reference}."
    return _with_outcome(row, TriageOutcome.FAILED, "Something went wrong", details=details, next=todo)


def _with_summary(row: TriageRow, reading: Reading) -> TriageRow:
    transfer = reading.transfer
    result = summary.of(transfer)
    quoted = f", quoted {times.utc(transfer.quoted_at, now=row.at)}" if transfer.quoted_at else ""
    checked = (result.balance_note,) if result.balance_note else ()
    incident = (transfer.incident.membership,) if transfer.incident else ()
    return replace(
        row,
        outcome=TriageOutcome.FOUND,
        status=result.status,
        details=(f"{result.sent} → {result.returned or result.received}{quoted}", *checked, *incident),
        where=result.location,
        address=hashes.checksum(result.address) if result.address else "",
        next=result.instructions,
        turn=summary.waiting_on(result),
        help=result.help,
        transfers=(transfer,),
        notes=(*row.notes, *reading.notes),
    )


def owner_of(transfers: Iterable[Transfer]) -> str:
    """Return the owner of all these transfers, or "" if they have several or none."""
    owners = {hashes.checksum(each.owner) if each.owner else "" for each in transfers}
    return owners.pop() if len(owners) == 1 else ""


def _role(reason: LookupQuestion, receipt: IntentReceipt | None) -> str:
    """Return the role of an identifier in a transfer: `deposit transaction`, `owner`."""
    if reason.key == results.TRANSACTION_HASH:
        leg = receipt.step_of(reason.value) if receipt else None
        return f"{leg} transaction" if leg else "transaction"
    return ROLES.get(reason.key, reason.key)


def _status(intent: Intent, *, now: datetime) -> StatusLabel:
    return statuses.intent(intent.status, now=now, expires_at=intent.expires_at, updated_at=intent.updated_at)


class Urgency(IntEnum):
    """What support should do about a row, most urgent first."""

    ACT = 0
    CHECK = 1
    FINE = 2


URGENCIES = {Urgency[name]: label for name, label in statuses.labels("urgencies").items()}
FINE = (TriageOutcome.FOUND, TriageOutcome.TOKEN, TriageOutcome.NOTHING)
DOUBTFUL = (Certainty.UNKNOWN, Certainty.CONFLICTING)


@dataclass(frozen=True)
class OwnerGroup:
    """Rows of one owner, and all transfers for a reply to each owner, each once.

    `owner` is "" for rows without one, or with several, and for transfers of owners without rows of their own."""

    owner: str
    rows: tuple[TriageRow, ...]
    replies: Mapping[str, Sequence[Transfer]]


def groups(rows: Sequence[TriageRow]) -> tuple[OwnerGroup, ...]:
    """Group by owner, the most urgent first. A transfer's repetitions stand below its first row."""
    first = {row.number: row for row in rows}

    def place(row: TriageRow) -> tuple[Urgency, int, int]:
        leading = first.get(row.same_as, row)
        return urgency(leading), leading.number, row.number

    by_owner: dict[str, list[TriageRow]] = {}
    for row in sorted(rows, key=place):
        by_owner.setdefault(row.owner, []).append(row)
    shown: dict[str, dict[str, dict[str, Transfer]]] = {owner: {} for owner in by_owner}
    for row in (row for owned in by_owner.values() for row in owned):
        for each in row.replied_about:
            owner = owner_of([each])
            group = owner if owner in shown else row.owner
            shown[group].setdefault(group or owner, {}).setdefault(each.intent.intent_id.lower(), each)
    found = [
        OwnerGroup(group, tuple(owned), {owner: list(about.values()) for owner, about in shown[group].items()})
        for group, owned in by_owner.items()
    ]
    return tuple(sorted(found, key=lambda group: (urgency(group.rows[0]), not group.owner)))


def counts(groups: Iterable[OwnerGroup]) -> list[tuple[StatusLabel, int, int]]:
    """Return how many rows have each urgency, without repetitions, and the number of the first on the page, or 0."""
    rows = [row for group in groups for row in group.rows if not row.same_as]
    numbers = {each: [row.number for row in rows if urgency(row) is each] for each in Urgency}
    return [(URGENCIES[each], len(found), next(iter(found), 0)) for each, found in numbers.items()]


def urgency(row: TriageRow) -> Urgency:
    """Return the urgency of the most urgent transfer that the row shows, or else of its lookup."""
    shown = [summary.of(each) for each in row.transfers]
    if any(each.attention is Attention.ACT for each in shown):
        return Urgency.ACT
    if any(each.attention is Attention.WATCH or each.certainty in DOUBTFUL for each in shown):
        return Urgency.CHECK
    is_fine = row.outcome in FINE and not row.is_incomplete
    return Urgency.FINE if is_fine else Urgency.CHECK


# Rows as text


def total(rows: Sequence[TriageRow]) -> str:
    """Return `All 50 identifiers resolved: 48 found, 2 not found.`"""
    counted = Counter(row.outcome for row in rows)
    answered = len(rows) - counted.pop(TriageOutcome.FAILED, 0)
    counts = ", ".join(f"{counted[each]} {each.value[counted[each] > 1]}" for each in TriageOutcome if counted[each])
    if answered == len(rows):
        start = f"All {len(rows)} identifiers" if len(rows) > 1 else "1 identifier"
        return f"{start} resolved: {counts}."
    why = ", ".join(dict.fromkeys(row.headline for row in rows if row.outcome is TriageOutcome.FAILED))
    if not answered:
        start = f"0 of {len(rows)} identifiers" if len(rows) > 1 else "Identifier not"
        return f"{start} resolved: {why}."
    return f"{answered} of {len(rows)} identifiers resolved: {counts}. The others failed: {why}."


def cells(row: TriageRow, *, root: str) -> dict[str, str]:
    """Return what a row says, by column."""
    return {
        "Row": str(row.number),
        "Identifier": row.value,
        "Type": row.what,
        "Status": row.status.word,
        "Outcome": row.transfer.outcome.value if row.transfer and not row.transfer.is_unread else "",
        "Summary": row.headline,
        "Details": " ".join(line if line.endswith((".", ":")) else f"{line}." for line in row.details),
        "Where the funds are": f"{row.where} Address: {row.address}" if row.address else row.where,
        "Next step": " ".join(filter(None, (row.next, row.turn, *(each.words for each in row.help if not each.url)))),
        "Notes": " ".join(row.notes),
        "Links": " ".join(
            [*(root + each.path for each in row.links), *(each.address for each in row.help if each.url)]
        ),
        "As of": times.iso(row.at.replace(microsecond=0)),
    }


def lines(row: TriageRow, *, root: str) -> list[str]:
    """Return what a row says, without its links."""
    cell = {column: one_line(words) for column, words in cells(row, root=root).items()}
    status, summary = cell["Status"], cell["Summary"]
    labeled = {label: cell[label] for label in ("Where the funds are", "Next step")} | {"Note": cell["Notes"]}
    said = [
        f"{cell['Row']}. {cell['Identifier']} ({cell['Type']})",
        status if status == summary else f"{status}: {summary}",
        cell["Details"],
        *(f"{label}: {words}" for label, words in labeled.items() if words),
    ]
    return [line for line in said if line]


def one_line(words: str) -> str:
    return " ".join(words.split())
