"""What happened, where the money is, what to do now and who must act: in words, from explanations.json."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from intents_ui.display import holdings, locator, patience, places, rules, statuses, watching
from intents_ui.display.explanations import EXPLANATIONS, Who
from intents_ui.display.facts import Facts
from intents_ui.display.gaps import Gaps
from intents_ui.display.legs import RUNNING
from intents_ui.display.locator import NOT_LOCATED, Located
from intents_ui.display.names import NO_NAMES, Names
from intents_ui.display.places import Place
from intents_ui.display.statuses import Tone
from intents_ui.service.wire import BalanceGroup, Intent, IntentReceipt, IntentStatus


@dataclass(frozen=True)
class Story:
    """`key` names the row that decided; `contact` is empty when nobody needs to be asked.

    `address` on `address_chain_id` is where the money is, when that is an address and known; `located` is how much of
    it, and whether the chains agree. `is_over`: nothing more is to happen on the way to the recipient. `status`: the
    one that explains the row; None for rows that belong to none."""

    key: str
    headline: str
    sentence: str
    where: str
    next: str
    who: Who
    contact: str
    tone: Tone
    place: Place
    deadline: datetime | None = None
    address: str | None = None
    address_chain_id: int | None = None
    located: Located = NOT_LOCATED
    is_over: bool = False
    status: IntentStatus | None = None


def story(
    intent: Intent | None,
    receipt: IntentReceipt | None,
    *,
    now: datetime,
    unread: bool = False,
    using: Names = NO_NAMES,
    has_balance: bool | None = None,
    balances: Sequence[BalanceGroup] = (),
    checked_at: datetime | None = None,
) -> Story:
    """The answer for any combination of states, with either object missing and with every part of them missing.

    `unread`: a receipt of None could not be read, which is not the same as that there is none. `has_balance` and
    `balances` are those of the history entry, read at `checked_at`; None says that nobody looked."""
    facts = Facts.of(intent, receipt, unread=unread)
    situation = rules.Situation(facts, now, has_balance, tuple(balances), holdings.holdings(balances, facts))
    key, gaps = rules.key(situation), Gaps(situation, using=using)
    place = _place(key, situation)
    # On its way back the money is at no address.
    address = None if place is Place.RETURNING else places.address_of(place, facts)
    return _told(
        key,
        gaps,
        place=place,
        deadline=_deadline(key, situation),
        address=address,
        address_chain_id=places.chain_of(place, facts) if address else None,
        located=locator.located(place, situation, gaps, checked_at=checked_at),
        is_over=facts.is_over(now=now),
        status=_explained(key, facts),
    )


def changes_at(
    intent: Intent | None, receipt: IntentReceipt | None, *, now: datetime, unread: bool = False
) -> datetime | None:
    """The next moment at which the clock alone may change what is said of the same receipt; None: never again.

    Between two such moments the story's row, the shown status and `late` and `stalled` of the timeline stay."""
    facts = Facts.of(intent, receipt, unread=unread)
    return min((at for at in _turning_points(facts) if at and at > now), default=None)


def _turning_points(facts: Facts) -> Iterator[datetime | None]:
    if statuses.is_open(facts.status):
        yield from (facts.expires_at, facts.execute_by)
        yield from (patience.due_at(facts), patience.late_at(facts), patience.stalled_at(facts))
    if facts.returning in RUNNING or facts.status in rules.STOPPED:
        yield patience.return_overdue_at(facts)
        yield watching.ends_at(facts)


def _told(key: str, words: Gaps | Mapping[str, str], *, place: Place, **more: Any) -> Story:
    row = EXPLANATIONS[key]
    return Story(
        key=key,
        headline=row.headline.format_map(words),
        sentence=row.sentence.format_map(words),
        where=row.where.format_map(words),
        next=row.next.format_map(words),
        who=row.who,
        contact=row.contact,
        tone=row.tone,
        place=place,
        **more,
    )


def _place(key: str, situation: rules.Situation) -> Place:
    facts, place = situation.facts, EXPLANATIONS[key].place
    match place:
        case "last-confirmed":
            return situation.reached
        case "balance":
            return situation.held_at if situation.has_balance else Place.DEPOSIT_ADDRESS
        case "refund":
            held_at = situation.held_at
            return places.start_of_the_return(facts) if held_at is Place.UNKNOWN else held_at
        case Place.RETURNED:
            is_named = facts.refund and facts.refund.to_address and facts.refund.chain_id and facts.owner
            return Place.RETURNED if is_named else Place.UNKNOWN
        case Place.DEPOSIT_ADDRESS:
            # A payment that was reported, and not confirmed, may still be anywhere.
            arrived = facts.has_arrived or situation.has_balance
            return Place.DEPOSIT_ADDRESS if arrived else Place.UNKNOWN
        case _:
            return Place(place)


def _deadline(key: str, situation: rules.Situation) -> datetime | None:
    facts, now = situation.facts, situation.now
    match key:
        case "quoted.open" | "committed.open" | "quoted.funded" | "committed.funded":
            return facts.execute_by
        case "executing.crossing":
            is_due = patience.has_come(patience.due_at(facts), now=now)
            return patience.late_at(facts) if is_due else patience.due_at(facts)
        case "executing.crossing_slow" | "executing.crossing_late":
            return patience.stalled_at(facts)
        case (
            "executing.refunding"
            | "failed.origin_pending_refund"
            | "failed.destination_pending_refund"
            | "stopped.last_step"
        ):
            return patience.return_overdue_at(facts)
        case _:
            return None


def _explained(key: str, facts: Facts) -> IntentStatus | None:
    """Which status's page of `/help` has the row."""
    return next((status for status in EXPLANATIONS[key].statuses if status == facts.status), None)
