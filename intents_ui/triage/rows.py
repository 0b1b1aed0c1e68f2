"""Triage rows: one per identifier of a ticket, in text that is safe to read. They are grouped by owner."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, IntEnum, auto

from intents_ui.formatting import failures, hashes, text, times
from intents_ui.search import candidates, empty_results, input_errors
from intents_ui.search import candidates as shortened
from intents_ui.search.candidates import Candidate
from intents_ui.search.identifiers import Finding, Kind
from intents_ui.service import results
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import Intent, IntentReceipt, IntentStatus, TokenInfo
from intents_ui.service.results import Hit, LookupQuestion, LookupResult
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import Names
from intents_ui.transfers import statuses, summary
from intents_ui.transfers.rules import Attention, Cause, Certainty, Help
from intents_ui.transfers.statuses import StatusLabel, Tone
from intents_ui.transfers.summary import waiting_on
from intents_ui.transfers.transfer import Transfer


class TriageOutcome(Enum):
    FOUND = auto()
    TOKEN = auto()
    NOTHING = auto()  # resembles an identifier but isn't one
    UNKNOWN = auto()
    UNCLEAR = auto()
    FAILED = auto()
    POSSIBLE = auto()  # shortened, with a possible match, or found by a transaction that the transfer doesn't have


SETTLED = StatusLabel("No open transfers", Tone.NEUTRAL, "check", "No open or failed transfers.")
TOKEN = StatusLabel("Token", Tone.NEUTRAL, "circle-dollar-sign", "A token contract, not a wallet.")
PAID = StatusLabel("Paid by others", Tone.NEUTRAL, "check", "It sent no transfer. Transfers of others paid it.")
NOTHING = StatusLabel("Not an identifier", Tone.NEUTRAL, "circle-dashed", "Neither a transaction nor an account.")
NOT_FOUND = StatusLabel("Not found", Tone.ATTENTION, "search", "Not found on the service.")
UNCLEAR = StatusLabel("Check it", Tone.ATTENTION, "circle-x", "Possible identifier.")
SHORTENED = StatusLabel("Shortened", Tone.ATTENTION, "search", "Only the first or last characters are known.")
NO_MATCH = StatusLabel("Not found", Tone.ATTENTION, "search", "No match.")
NOT_ANSWERED = StatusLabel("Lookup failed", Tone.ATTENTION, "triangle-alert", "Transfers in progress are not affected.")

LOOKS_LIKE = empty_results.LOOKS_LIKE | {
    Kind.SOLANA_SIGNATURE: "Solana signature",
    Kind.NEAR_MISS: "possible identifier",
}
COMPARE = "Compare it with the full value before you rely on it."
MAX_JUDGED = 8  # open and failed transfers of one row, of which the most urgent are listed
MAX_LISTED = 5  # possible matches, or open and failed transfers, in one row
ROLES = {results.DEPOSIT_ADDRESS: "deposit address", results.DELIVERY_ADDRESS: "destination intent address"}


@dataclass(frozen=True)
class Link:
    words: str
    path: str


@dataclass(frozen=True)
class TriageRow:
    """`address`: where the funds are, if known. `links`: the first leads to what the row is about, unless they
    are `alternatives`.

    `intent_id` is set when the row tells one transfer; `at` is when it was told. `candidates`: the values of all
    transfers that it leads to, for shortened IDs in other rows.

    `transfer` is the one that its text is about, and `others` are listed below it. `owner` is that of all its
    transfers. `same_as` is the row that has shown the transfer already. `is_incomplete`: some of its lookups failed."""

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
    candidates: tuple[Candidate, ...] = ()
    transfer: Transfer | None = None
    others: tuple[Transfer, ...] = ()
    owner: str = ""
    same_as: int = 0
    is_incomplete: bool = False

    @property
    def kind(self) -> Kind:
        return self.finding.kind

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        """Return the transfers that it shows."""
        return (self.transfer, *self.others) if self.transfer else ()

    @property
    def replied_about(self) -> tuple[Transfer, ...]:
        """Return the transfers for a reply to their owner: none of a possible match."""
        return () if self.outcome is TriageOutcome.POSSIBLE else self.transfers


@dataclass(frozen=True)
class Reading:
    """A transfer; `error` is why its receipt couldn't be loaded."""

    transfer: Transfer
    error: ServiceError | None = None


def begin(number: int, finding: Finding, *, now: datetime) -> TriageRow:
    """Return the row of an identifier that hasn't been looked up."""
    value, what = text.visible(finding.value), LOOKS_LIKE[finding.kind].format(chain=finding.chain)
    return TriageRow(number, finding, value, what, now, notes=(finding.warning,) if finding.warning else ())


def unasked(row: TriageRow) -> TriageRow | None:
    """Return the row of a possible identifier or of none, which needs no lookup."""
    problem, warning = row.finding.problem, row.finding.warning
    if problem:
        return replace(row, outcome=TriageOutcome.UNCLEAR, status=UNCLEAR, headline=problem)
    if warning in (input_errors.NATIVE, input_errors.PLACEHOLDER):
        return replace(row, outcome=TriageOutcome.NOTHING, status=NOTHING, headline=warning, notes=())
    return None


def one(row: TriageRow, found: LookupResult, reading: Reading, *, link: str) -> TriageRow:
    """Return the row of an identifier of one transfer."""
    transfer = reading.transfer
    result = summary.of(transfer)
    row = _with_summary(replace(row, at=transfer.now), reading)
    not_asked = empty_results.not_asked(found)
    row = replace(
        row,
        outcome=TriageOutcome.FOUND,
        status=result.status,
        headline=result.headline,
        what=" and ".join(dict.fromkeys(_role(reason, transfer.receipt) for reason in found.hits[0].reasons)),
        notes=(*row.notes, *not_asked),
        links=(Link("View transfer", link),),
        intent_id=transfer.intent.intent_id,
        owner=owner_of([transfer]),
        is_incomplete=bool(not_asked),
    )
    return _doubted(row, found.hits)


def _doubted(row: TriageRow, hits: Iterable[Hit]) -> TriageRow:
    """Return the row with the doubts about its hits. If one has no such transaction, it's only a possible match."""
    doubts = [doubt for hit in hits for doubt in hit.doubts]
    if not doubts:
        return row
    row = replace(row, notes=(*row.notes, *map(empty_results.warning, doubts)), is_incomplete=True)
    if not any(each.checked for each in doubts):
        return row
    return replace(row, outcome=TriageOutcome.POSSIBLE, intent_id="", owner="")


def again(row: TriageRow, *, first: int) -> TriageRow:
    """Return the row of a transfer that row `first` has shown already."""
    same = f"Same transfer as row {first}"
    row = replace(row, headline=same, details=(), where=f"See row {first}.", address="", next="", turn="", help=())
    return replace(row, same_as=first)


def several(row: TriageRow, found: LookupResult, listed: Sequence[Reading], *, links: Sequence[str]) -> TriageRow:
    """Return the row of an identifier of several transfers: their statuses, and the most urgent ones.

    `listed` are up to MAX_LISTED of these. `links` lead to each of them, and to all transfers."""
    count = f"{found.count} transfers{' or more' if found.may_be_capped else ''}"
    shown = [_status(hit.intent, now=row.at) for hit in found.hits]
    words = [
        "expired" if each is statuses.EXPIRED else each.word.lower() if each.known else each.word for each in shown
    ]
    mix = ", ".join(f"{count} {word}" for word, count in Counter(words).most_common())
    not_asked = empty_results.not_asked(found)
    # `owner of 12 transfers` or `owner of 11, deposit address of 1`.
    by_role = Counter(_role(reason, None) for hit in found.hits for reason in hit.reasons)
    roles = ", ".join(f"{role} of {intents}" for role, intents in by_role.most_common())
    row = replace(
        row,
        outcome=TriageOutcome.FOUND,
        status=SETTLED,
        headline=f"{count}: {mix}",
        what=roles if len(by_role) > 1 else f"{next(iter(by_role))} of {count}",
        links=(Link("View all", links[-1]),),
        owner=owner_of(Transfer.of(hit.intent, None, now=row.at, unread=True) for hit in found.hits),
        is_incomplete=bool(not_asked),
    )
    if not listed:
        row = replace(row, details=(SETTLED.meaning,), notes=(*row.notes, *not_asked))
        return _doubted(row, found.hits)
    first, *others = listed
    more = len(to_look_at(found.hits, now=row.at)) - 1
    said = "1 other transfer is open or failed." if more == 1 else f"{more} other transfers are open or failed."
    said = said if more == len(others) else f"{said} {len(others)} linked here."
    row = _with_summary(row, first)
    row = replace(
        row,
        status=summary.of(first.transfer).status,
        details=(
            f"Most urgent transfer: {_brief(first)}",
            *row.details,
            *((said,) if more else ()),
        ),
        notes=tuple(
            dict.fromkeys((*row.notes, *(note for each in others for note in _unread(each.error)), *not_asked))
        ),
        links=(
            Link("View the most urgent transfer", links[0]),
            *(Link(_brief(each), path) for each, path in zip(others, links[1:-1], strict=True)),
            *row.links,
        ),
        others=tuple(each.transfer for each in others),
    )
    return _doubted(row, found.hits)


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
    found = []
    for hit in hits:
        status = hit.intent.status
        is_offer = status == IntentStatus.QUOTED or _status(hit.intent, now=now) is statuses.EXPIRED
        if status == IntentStatus.FAILED or (statuses.is_open(status) and not is_offer):
            found.append(hit)
    return found


def token(row: TriageRow, found: Sequence[TokenInfo], *, using: Names) -> TriageRow:
    """Return the row of a token contract, which has no transfers."""
    contract = token_amounts.of_token(found[0], using=using)
    where = text.listed(list(dict.fromkeys(names.of_chain(each.chain_id, using=using) for each in found)))
    details = ["This is a token contract, not a wallet. It has no transfers."]
    details += [mark.reason for mark in contract.token.marks]
    headline = f"{contract.named}, a token on {where}"
    return replace(
        row, outcome=TriageOutcome.TOKEN, status=TOKEN, headline=headline, what="token", details=tuple(details)
    )


def paid(row: TriageRow, counts: Sequence[tuple[str, str]], *, link: str) -> TriageRow:
    """Return the row of an address that owns no transfers, but was paid by some. `counts`: how many, by how."""
    told = ", ".join(f"{how}: {count}" for how, count in counts)
    row = replace(row, outcome=TriageOutcome.FOUND, status=PAID, headline=told)
    return replace(row, details=(PAID.meaning,), links=(Link("View transfers", link),))


def unknown(row: TriageRow, found: LookupResult, *, link: str) -> TriageRow:
    """Return the row of an identifier that no lookup found."""
    asked = [f"Searched as {words}: no matches." for words in empty_results.was_asked(found)]
    causes = ("Possible reasons:", *empty_results.likely_causes([row.finding]))
    return replace(row, details=(*asked, *causes), links=(Link("Search options", link),))


def in_ticket(row: TriageRow, told: Iterable[TriageRow]) -> TriageRow | None:
    """Return the row of a shortened ID that matches transfers of other rows, or None. Each transfer counts once."""
    fitting: dict[frozenset[str], tuple[TriageRow, tuple[Candidate, ...]]] = {}
    for other in told:
        value = shortened.canonical(other.value)
        known = other.candidates or ((Candidate(value, other.what),) if value else ())
        if found := shortened.matching(known, head=row.finding.head, tail=row.finding.tail):
            fitting.setdefault(frozenset(each.intent_id or each.value for each in found), (other, found))
    if len(fitting) > 1:
        return _several_in_ticket(row, list(fitting.values()))
    for other, found in fitting.values():
        ids = {each.intent_id for each in found}
        same = "value" if ids == {""} else "transfer" if len(ids) == 1 else "transfers"
        row = _possible(row, f"Possible match: same {same} as row {other.number}")
        return replace(row, details=(f"It matches {_matched(found)}.", COMPARE), links=other.links[-1:])
    return None


def _several_in_ticket(row: TriageRow, fitting: Sequence[tuple[TriageRow, Sequence[Candidate]]]) -> TriageRow:
    among = [each for _, found in fitting for each in found]
    listed = fitting[:MAX_LISTED]
    details = [f"Row {other.number}: it matches {_matched(found, among=among)}." for other, found in listed]
    links = [Link(f"Row {other.number}", other.links[-1].path) for other, _ in listed if other.links]
    row = _possible(row, f"{len(fitting)} possible matches in other rows")
    return replace(row, details=(*details, COMPARE), links=tuple(links), alternatives=True)


def elsewhere(
    row: TriageRow,
    fitting: Sequence[candidates.PossibleTransfer],
    *,
    searched: str,
    told: Sequence[TriageRow],
    link: str,
) -> TriageRow:
    """Return the row of a shortened ID without a match in the ticket.

    `fitting` are in the mirror. `searched` says where it was looked for. `link` leads to its own search.
    """
    notes = []
    if failed := [str(each.number) for each in told if each.outcome is TriageOutcome.FAILED]:
        rows = f"row {failed[0]}" if len(failed) == 1 else f"rows {', '.join(failed)}"
        notes = [f"Not compared with {rows}, whose lookups failed."]
    details: tuple[str, ...]
    if len(fitting) == 1:
        (only,) = fitting
        row = _possible(row, "Possible match in the local copy")
        details = (only.brief, only.why, COMPARE, searched)
        links = [Link("View transfer", only.path)]
    elif fitting:
        row = replace(_possible(row, f"{len(fitting)} possible matches in the local copy"), alternatives=True)
        links = [Link(each.brief, each.path) for each in fitting[:MAX_LISTED]]
        details, links = (COMPARE, searched), [*links, Link("All possible matches", link)]
    else:
        row = replace(row, status=NO_MATCH, headline="No match", next="Request the full ID.")
        details = (searched, *(("No match in the other rows.",) if told else ()))
        links = [Link("Search", link)]
    return replace(row, details=details, notes=(*row.notes, *notes), links=tuple(links))


def _possible(row: TriageRow, headline: str) -> TriageRow:
    return replace(row, outcome=TriageOutcome.POSSIBLE, status=SHORTENED, headline=headline)


def _matched(found: Sequence[Candidate], among: Sequence[Candidate] = ()) -> str:
    """Return `the owner 0x12…34 and the deposit transaction 0x12…34`, each value once."""
    alone = [replace(each, intent_id="") for each in found]
    values = shortened.by_transfer(alone)[""]
    return " and ".join(f"the {shortened.named(each, among=among or alone)}" for each in values)


def failed(row: TriageRow, error: ServiceError, *, found: LookupResult | None = None, link: str) -> TriageRow:
    """Return the row of a failed lookup."""
    words = failures.words(error)
    return replace(
        row,
        outcome=TriageOutcome.FAILED,
        status=NOT_ANSWERED,
        headline=words.title,
        details=(*(empty_results.not_asked(found) if found else ()), words.what),
        next=words.todo,
        links=(Link("Look up individually", link),),
    )


def internal_error(row: TriageRow, *, reference: str) -> TriageRow:
    return replace(
        row,
        outcome=TriageOutcome.FAILED,
        status=NOT_ANSWERED,
        headline="Something went wrong",
        details=("This is a dashboard error. Transfers in progress are not affected.",),
        next=f"Try again. If it keeps happening, contact your administrator with the request ID {reference}.",
    )


def _with_summary(row: TriageRow, reading: Reading) -> TriageRow:
    result, created_at = summary.of(reading.transfer), reading.transfer.quoted_at
    quoted = f", quoted {times.utc(created_at, now=row.at)}" if created_at else ""
    checked = (result.balance_note,) if result.balance_note else ()
    incident = (reading.transfer.incident.membership,) if reading.transfer.incident else ()
    return replace(
        row,
        details=(f"{result.sent} → {result.returned or result.received}{quoted}", *checked, *incident),
        where=result.location,
        address=hashes.checksum(result.address) if result.address else "",
        next=result.instructions,
        turn=waiting_on(result),
        help=result.help,
        transfer=reading.transfer,
        notes=(*row.notes, *_unread(reading.error)),
    )


def owner_of(transfers: Iterable[Transfer]) -> str:
    """Return the owner of all these transfers, or "" if they have several or none."""
    owners = {hashes.checksum(each.owner) if each.owner else "" for each in transfers}
    return owners.pop() if len(owners) == 1 else ""


def _unread(error: ServiceError | None) -> tuple[str, ...]:
    if error is None:
        return ()
    title = failures.words(error).title
    return (f"Couldn't load the receipt ({title}). Showing the intent only, without progress.",)


def _role(reason: LookupQuestion, receipt: IntentReceipt | None) -> str:
    """Return the role of an identifier in a transfer: `deposit transaction`, `owner`."""
    if reason.key == results.TRANSACTION_HASH:
        leg = receipt.step_of(reason.value) if receipt else None
        return f"{leg} transaction" if leg else "transaction"
    return ROLES.get(reason.key, reason.key)


def _status(intent: Intent, *, now: datetime) -> StatusLabel:
    return statuses.intent(intent.status, now=now, expires_at=intent.expires_at, updated_at=intent.updated_at)


# A case: the rows of a ticket by owner, with the most urgent first.


class Urgency(IntEnum):
    """What support should do about a row, most urgent first."""

    ACT = 0
    CHECK = 1
    FINE = 2


LABELS = {
    Urgency.ACT: StatusLabel("Needs action", Tone.BAD, "triangle-alert", "Support or the owner must act."),
    Urgency.CHECK: StatusLabel("Check", Tone.ATTENTION, "search", "Watch it, or find out more."),
    Urgency.FINE: StatusLabel("Fine", Tone.GOOD, "check", "No action needed."),
}
FINE = (TriageOutcome.FOUND, TriageOutcome.TOKEN, TriageOutcome.NOTHING)
DOUBTFUL = (Certainty.UNKNOWN, Certainty.CONFLICTING)


@dataclass(frozen=True)
class OwnerGroup:
    """Rows of one owner, and all transfers of the owner for a reply, each once.

    `owner` is "" for rows without one, or with several, and for transfers of owners without rows of their own."""

    owner: str
    rows: tuple[TriageRow, ...]
    transfers: tuple[Transfer, ...]


def groups(rows: Sequence[TriageRow]) -> tuple[OwnerGroup, ...]:
    """OwnerGroup by owner. A transfer's repetitions stand below its first row."""
    first = {row.number: row for row in rows}

    def place(row: TriageRow) -> tuple[Urgency, int, int]:
        leading = first.get(row.same_as, row)
        return urgency(leading), leading.number, row.number

    by_owner: dict[str, list[TriageRow]] = {}
    for row in sorted(rows, key=place):
        by_owner.setdefault(row.owner, []).append(row)
    shown: dict[str, dict[str, Transfer]] = {owner: {} for owner in by_owner}
    for group, each in (
        (row.owner, each) for owned in by_owner.values() for row in owned for each in row.replied_about
    ):
        owner = owner_of([each])
        shown[owner if owner in shown else group].setdefault(each.intent.intent_id.lower(), each)
    found = [OwnerGroup(owner, tuple(owned), tuple(shown[owner].values())) for owner, owned in by_owner.items()]
    return tuple(sorted(found, key=lambda group: (urgency(group.rows[0]), not group.owner)))


def counts(groups: Iterable[OwnerGroup]) -> list[tuple[StatusLabel, int, int]]:
    """Return the number of rows of each urgency, without repetitions, and the number of the first, 0 if none has it.

    The first row is that of the page, in the order of the groups.
    """
    numbers: dict[Urgency, list[int]] = {each: [] for each in Urgency}
    for row in (row for group in groups for row in group.rows if not row.same_as):
        numbers[urgency(row)].append(row.number)
    return [(LABELS[each], len(found), next(iter(found), 0)) for each, found in numbers.items()]


def urgency(row: TriageRow) -> Urgency:
    """Return the urgency of the most urgent transfer that the row shows, or else of its lookup."""
    told = [summary.of(each) for each in row.transfers]
    if any(each.attention is Attention.ACT for each in told):
        return Urgency.ACT
    if any(each.attention is Attention.WATCH or each.certainty in DOUBTFUL for each in told):
        return Urgency.CHECK
    is_fine = row.outcome in FINE and not row.is_incomplete
    return Urgency.FINE if is_fine else Urgency.CHECK
