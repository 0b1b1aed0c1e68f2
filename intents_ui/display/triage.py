"""What each identifier of a ticket leads to: one row, in text that is safe to read."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto

from intents_ui.display import (
    failures,
    hashes,
    misses,
    names,
    near_misses,
    statuses,
    story,
    text,
    times,
    tokens,
    transfer,
)
from intents_ui.display.names import Names
from intents_ui.display.pasted import Finding, Kind
from intents_ui.display.statuses import Shown, Tone
from intents_ui.display.story import Story
from intents_ui.display.transfer import Side, Transfer
from intents_ui.display.turns import whose
from intents_ui.service import lookup
from intents_ui.service.errors import ServiceError
from intents_ui.service.lookup import Found, Hit, Question
from intents_ui.service.wire import Intent, IntentReceipt, IntentStatus, TokenInfo


class Outcome(Enum):
    FOUND = auto()
    TOKEN = auto()
    NOTHING = auto()  # it looks like an identifier and stands for none
    UNKNOWN = auto()
    UNCLEAR = auto()
    FAILED = auto()


SETTLED = Shown("Nothing under way", Tone.NEUTRAL, "check", "None of the transfers is under way or failed.")
TOKEN = Shown("Token", Tone.NEUTRAL, "circle-dollar-sign", "The address of a token, not of an account.")
NOTHING = Shown("No identifier", Tone.NEUTRAL, "circle-dashed", "It stands for no transaction and no account.")
NOT_FOUND = Shown("Not found", Tone.ATTENTION, "search", "The service was asked and knows nothing of it.")
UNCLEAR = Shown("Check it", Tone.ATTENTION, "circle-x", "It is nearly an identifier.")
NOT_ANSWERED = Shown("Not answered", Tone.ATTENTION, "triangle-alert", "It says nothing about any transfer.")

LOOKS_LIKE = {
    Kind.HASH: "intent id or transaction hash",
    Kind.INTENT: "intent id",
    Kind.TRANSACTION: "transaction hash",
    Kind.ADDRESS: "address",
    Kind.SOLANA_ADDRESS: "Solana address",
    Kind.SOLANA_SIGNATURE: "Solana signature",
    Kind.WORDS: "text",
    Kind.NEAR_MISS: "nearly an identifier",
}
ROLES = {lookup.DEPOSIT_ADDRESS: "deposit address", lookup.DELIVERY_ADDRESS: "delivery address"}


@dataclass(frozen=True)
class Link:
    words: str
    path: str


@dataclass(frozen=True)
class Row:
    """`address`: where the money is, when that is known. `links`: the first leads to what the row tells.

    `intent_id` is set when the row tells one transfer; `at` is when it was told."""

    number: int
    value: str
    what: str
    outcome: Outcome
    status: Shown
    headline: str
    at: datetime
    details: tuple[str, ...] = ()
    where: str = ""
    address: str = ""
    next: str = ""
    turn: str = ""
    notes: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    intent_id: str = ""


@dataclass(frozen=True)
class Reading:
    """A transfer as it was read; `trouble` is what kept us from its receipt."""

    intent: Intent
    receipt: IntentReceipt | None
    trouble: ServiceError | None = None

    def told(self, *, using: Names, now: datetime) -> tuple[Transfer, Story]:
        unread = self.trouble is not None
        return (
            transfer.of_intent(self.intent, self.receipt, using=using, now=now, unread=unread),
            story.story(self.intent, self.receipt, using=using, now=now, unread=unread),
        )


def unasked(number: int, finding: Finding, *, now: datetime) -> Row | None:
    """The row of what needs no question: it is nearly an identifier, or stands for none."""
    if finding.problem:
        return _row(number, finding, Outcome.UNCLEAR, UNCLEAR, finding.problem, now)
    if finding.warning in (near_misses.NATIVE, near_misses.PLACEHOLDER):
        return replace(_row(number, finding, Outcome.NOTHING, NOTHING, finding.warning, now), notes=())
    return None


def one(
    number: int, finding: Finding, found: Found, reading: Reading, *, using: Names, now: datetime, link: str
) -> Row:
    """The row of what leads to one transfer."""
    shown, tale = reading.told(using=using, now=now)
    row = _row(number, finding, Outcome.FOUND, shown.status, tale.headline, now)
    row = _with_story(row, shown, tale, reading.trouble)
    return replace(
        row,
        what=" and ".join(dict.fromkeys(_role(reason, reading.receipt) for reason in found.hits[0].reasons)),
        notes=(*row.notes, *misses.not_asked(found)),
        links=(Link("Open the intent", link),),
        intent_id=reading.intent.intent_id,
    )


def again(row: Row, *, first: int) -> Row:
    """The row of a transfer that row `first` has told already."""
    same = f"Same transfer as row {first}"
    return replace(row, headline=same, details=(), where=f"See row {first}.", address="", next="", turn="")


def several(
    number: int,
    finding: Finding,
    found: Found,
    newest: Reading | None,
    *,
    using: Names,
    now: datetime,
    links: Sequence[str],
) -> Row:
    """The row of what leads to several transfers: how they stand, and the `newest` that needs a look.

    `links` lead to all of them, and before that to the newest."""
    count = f"{found.count} intents{' or more' if found.may_be_capped else ''}"
    row = _row(number, finding, Outcome.FOUND, SETTLED, f"{count}: {_mix(found.hits, now=now)}", now)
    row = replace(row, what=_roles(found, count), links=(Link("All of them", links[-1]),))
    not_asked = misses.not_asked(found)
    if newest is None:
        return replace(row, details=(SETTLED.meaning,), notes=(*row.notes, *not_asked))
    shown, tale = newest.told(using=using, now=now)
    row = _with_story(row, shown, tale, newest.trouble)
    name = hashes.short_id(newest.intent.intent_id)
    return replace(
        row,
        status=shown.status,
        details=(f"The newest that is under way or failed is {name}: {tale.headline}", *row.details),
        notes=(*row.notes, *not_asked),
        links=(Link("Open the newest that is under way or failed", links[0]), *row.links),
    )


def newest_to_look_at(hits: Sequence[Hit], *, now: datetime) -> Hit | None:
    """Of hits with the newest first: one that is under way or failed, which an offer is not."""
    return next((hit for hit in hits if _needs_a_look(hit.intent, now=now)), None)


def token(number: int, finding: Finding, found: Sequence[TokenInfo], *, using: Names, now: datetime) -> Row:
    """The row of an address that is a token's own: it has no transfers, and that is nothing to worry about."""
    chains = [names.chain(each.chain_id, info=using.chain(each.chain_id)) for each in found]
    *others, last = dict.fromkeys(chains)
    where = f"{', '.join(others)} and {last}" if others else last
    row = _row(number, finding, Outcome.TOKEN, TOKEN, f"{tokens.named(found[0], using=using)}, a token on {where}", now)
    details = ["The token's own contract and nobody's account: it has no transfers."]
    details += [mark.reason for mark in tokens.marks(tokens.money_of(found[0]), using=using)]
    return replace(row, what="token", details=tuple(details))


def unknown(number: int, finding: Finding, found: Found, *, now: datetime, link: str) -> Row:
    """The row of what the service was asked for in every way and does not know."""
    row = _row(number, finding, Outcome.UNKNOWN, NOT_FOUND, "Nothing found", now)
    asked = [f"The service was asked for {words} and has none." for words in misses.was_asked(found)]
    causes = ("Why there may be nothing:", *misses.likely_causes([finding]))
    return replace(row, details=(*asked, *causes), links=(Link("Look further", link),))


def as_of(row: Row, old: failures.Old | None) -> Row:
    """What the row says, if that is old because the service fails."""
    return replace(row, notes=(*row.notes, old.sentence)) if old else row


def failed(
    number: int, finding: Finding, error: ServiceError, *, found: Found | None = None, now: datetime, link: str
) -> Row:
    """The row of what could not be asked; it says nothing about any transfer."""
    words = failures.words(error)
    row = _row(number, finding, Outcome.FAILED, NOT_ANSWERED, words.title, now)
    details = (*(misses.not_asked(found) if found else ()), words.what)
    return replace(row, details=details, next=words.todo, links=(Link("Look it up by itself", link),))


def our_fault(number: int, finding: Finding, *, reference: str, now: datetime) -> Row:
    row = _row(number, finding, Outcome.FAILED, NOT_ANSWERED, "Something went wrong in this dashboard", now)
    return replace(
        row,
        details=("This is our mistake. It says nothing about any transfer.",),
        next=f"Try again. If it stays, tell whoever runs this dashboard, with the reference {reference}.",
    )


def _row(number: int, finding: Finding, outcome: Outcome, status: Shown, headline: str, now: datetime) -> Row:
    notes = (finding.warning,) if finding.warning else ()
    value = text.visible(finding.value)
    return Row(number, value, LOOKS_LIKE[finding.kind], outcome, status, headline, now, notes=notes)


def _with_story(row: Row, shown: Transfer, tale: Story, trouble: ServiceError | None) -> Row:
    quoted = f", quoted {times.utc(shown.created_at, now=row.at)}" if shown.created_at else ""
    return replace(
        row,
        details=(f"{_side(shown.sent)} → {_side(shown.received)}{quoted}",),
        where=tale.where,
        address=hashes.checksum(tale.address) if tale.address else "",
        next=tale.next,
        turn=whose(tale),
        notes=(*row.notes, *_unread(trouble)),
    )


def _side(side: Side) -> str:
    note = f" {side.note}" if side.note else ""
    return f"{side.amount}{note} on {side.chain}"


def _unread(trouble: ServiceError | None) -> tuple[str, ...]:
    if trouble is None:
        return ()
    title = failures.words(trouble).title
    return (f"The receipt could not be read ({title}), so this does not say how far the transfer has come.",)


def _role(reason: Question, receipt: IntentReceipt | None) -> str:
    """What an identifier is of a transfer: `deposit transaction`, `owner`."""
    if reason.key == lookup.TRANSACTION_HASH:
        leg = lookup.leg_of(receipt, reason.value) if receipt else None
        return f"{leg} transaction" if leg else "transaction"
    return ROLES.get(reason.key, reason.key)


def _roles(found: Found, count: str) -> str:
    """`owner of 12 intents`; `owner of 11, deposit address of 1`."""
    counted = Counter(_role(reason, None) for hit in found.hits for reason in hit.reasons)
    if len(counted) == 1:
        return f"{next(iter(counted))} of {count}"
    return ", ".join(f"{role} of {intents}" for role, intents in counted.most_common())


def _mix(hits: Iterable[Hit], *, now: datetime) -> str:
    """`9 succeeded, 2 in progress`; a status that nobody knows keeps its own spelling."""
    counted = Counter(_word(_status(hit.intent, now=now)) for hit in hits)
    return ", ".join(f"{count} {word}" for word, count in counted.most_common())


def _word(shown: Shown) -> str:
    if shown is statuses.EXPIRED:
        return "expired"
    return shown.word.lower() if shown.known else shown.word


def _needs_a_look(intent: Intent, *, now: datetime) -> bool:
    is_offer = intent.status == IntentStatus.QUOTED or _status(intent, now=now) is statuses.EXPIRED
    return intent.status == IntentStatus.FAILED or (statuses.is_open(intent.status) and not is_offer)


def _status(intent: Intent, *, now: datetime) -> Shown:
    return statuses.intent(intent.status, now=now, expires_at=intent.expires_at, updated_at=intent.updated_at)
