"""What happened, where the money is, what to do now and who must act: in words, from explanations.json."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from importlib import resources

from intents_ui.display import (
    hashes,
    names,
    patience,
    places,
    providers,
    rules,
    statuses,
    text,
    times,
    tokens,
    watching,
)
from intents_ui.display.facts import Facts, Money
from intents_ui.display.legs import RUNNING, UNDER_WAY, Leg
from intents_ui.display.names import NO_NAMES, Names
from intents_ui.display.places import Place
from intents_ui.display.statuses import Tone
from intents_ui.service.wire import BalanceGroup, Intent, IntentReceipt


class Who(StrEnum):
    NOBODY = "nobody"
    PAYER = "payer"
    OWNER = "owner"
    SUPPORT = "support"


@dataclass(frozen=True)
class Story:
    """`key` names the row that decided; `contact` is empty when nobody needs to be asked.

    `address` on `address_chain_id` is where the money is, when that is an address and known. `is_over`: nothing more is
    to happen on the way to the recipient."""

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
    is_over: bool = False


# Places that depend on the transfer: after the last step that worked, where the balance is, where the return began.
LAST_CONFIRMED, BALANCE, REFUND = "last-confirmed", "balance", "refund"
EXPLANATIONS: Mapping[str, Mapping[str, str]] = {
    row["key"]: row for row in json.loads(resources.files(__package__).joinpath("explanations.json").read_text("utf-8"))
}
NOT_REPORTED = "amount not reported"


def story(
    intent: Intent | None,
    receipt: IntentReceipt | None,
    *,
    now: datetime,
    unread: bool = False,
    using: Names = NO_NAMES,
    has_balance: bool | None = None,
    balances: Sequence[BalanceGroup] = (),
) -> Story:
    """The answer for any combination of states, with either object missing and with every part of them missing.

    `unread`: a receipt of None could not be read, which is not the same as that there is none. `has_balance` and
    `balances` are those of the history entry; None says that nobody looked."""
    held = _most_held(balances)
    facts = Facts.of(intent, receipt, unread=unread)
    situation = rules.Situation(facts, now, has_balance, held.chain_id if held else None)
    key = rules.key(situation)
    told = _told(key, _words(situation, held=held, using=using), place=_place(key, situation))
    # On its way back the money is at no address.
    address = None if told.place is Place.RETURNING else places.address_of(told.place, facts)
    return replace(
        told,
        deadline=_deadline(key, situation),
        address=address,
        address_chain_id=places.chain_of(told.place, facts) if address else None,
        is_over=facts.is_over(now=now),
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


def not_found() -> Story:
    return _told("notfound", {}, place=Place.UNKNOWN)


def stale(*, answered_at: datetime, now: datetime) -> Story:
    """To stand above the last known state while the service does not answer."""
    return _told("stale", {"age": times.duration(max(now - answered_at, now - now))}, place=Place.UNKNOWN)


def _told(key: str, words: Mapping[str, str], *, place: Place) -> Story:
    row = EXPLANATIONS[key]
    return Story(
        key=key,
        headline=row["headline"].format_map(words),
        sentence=row["sentence"].format_map(words),
        where=row["where"].format_map(words),
        next=row["next"].format_map(words),
        who=Who(row["who"]),
        contact=row["contact"],
        tone=Tone(row["tone"]),
        place=place,
    )


def _place(key: str, situation: rules.Situation) -> Place:
    facts, place = situation.facts, EXPLANATIONS[key]["place"]
    if place == LAST_CONFIRMED:
        return _last_confirmed(facts)
    if place == BALANCE:
        return _side_of(situation.balance_chain_id, facts)
    if place == REFUND:
        return _start_of_the_return(facts)
    # A payment that was reported, and not confirmed, may still be anywhere.
    arrived = facts.has_arrived or situation.has_balance
    return Place.UNKNOWN if place == Place.DEPOSIT_ADDRESS and not arrived else Place(place)


def _side_of(chain_id: int | None, facts: Facts) -> Place:
    """Which of its two addresses a transfer has on that chain."""
    if chain_id is None or chain_id not in (facts.origin_chain_id, facts.destination_chain_id):
        return Place.UNKNOWN
    return Place.DEPOSIT_ADDRESS if chain_id == facts.origin_chain_id else Place.DELIVERY_ADDRESS


def _start_of_the_return(facts: Facts) -> Place:
    """Where money is whose return failed: on the side of the return, unless the steps say otherwise."""
    _, origin, destination = facts.legs
    side = _side_of(facts.refund.chain_id if facts.refund else None, facts)
    crossed = destination in UNDER_WAY | {Leg.REJECTED} or (origin is Leg.DONE and not facts.is_same_chain)
    is_elsewhere = destination is Leg.DONE or (crossed and side is Place.DEPOSIT_ADDRESS)
    return Place.UNKNOWN if is_elsewhere else side


def _last_confirmed(facts: Facts) -> Place:
    """After the last step that succeeded, by itself or because a later one is under way (domain.md section 6)."""
    deposit, origin, destination = facts.legs
    if facts.is_delivered:
        return Place.RECIPIENT
    came_over = origin is Leg.DONE and (facts.is_same_chain or destination is Leg.QUEUED)
    if came_over or destination in (Leg.MOVING, Leg.REJECTED):
        return Place.DELIVERY_ADDRESS
    if origin is Leg.DONE or destination is Leg.RETRYING:
        return Place.DELIVERY_ADDRESS if facts.is_same_chain else Place.PROVIDER
    is_paid = deposit is Leg.DONE or origin in UNDER_WAY | {Leg.REJECTED}
    return Place.DEPOSIT_ADDRESS if is_paid else Place.OWNER


def _deadline(key: str, situation: rules.Situation) -> datetime | None:
    facts, now = situation.facts, situation.now
    match key:
        case "quoted.open" | "committed.open":
            return facts.execute_by
        case "executing.crossing":
            is_due = patience.has_come(patience.due_at(facts), now=now)
            return patience.late_at(facts) if is_due else patience.due_at(facts)
        case "executing.crossing_slow" | "executing.crossing_late":
            return patience.stalled_at(facts)
        case _:
            return None


def _words(situation: rules.Situation, *, held: Money | None, using: Names) -> dict[str, str]:
    """Everything that a row may name. Text of strangers has been made visible before it comes here."""
    return {
        **_places(situation, using=using),
        **_moments(situation),
        **_sums(situation.facts, held=held, using=using),
        "raw": text.name(situation.facts.status or "none given").shown,
        "statusWord": situation.facts.shown_status(now=situation.now).word,
    }


def _places(situation: rules.Situation, *, using: Names) -> dict[str, str]:
    facts = situation.facts
    refund = facts.refund
    origin = _chain(facts.origin_chain_id, "the origin chain", using)
    destination = _chain(facts.destination_chain_id, "the destination chain", using)
    either = origin if facts.is_same_chain else f"{origin} or {destination}"
    addresses = {
        Place.DEPOSIT_ADDRESS: f"deposit address on {origin}",
        Place.DELIVERY_ADDRESS: f"delivery address on {destination}",
        Place.UNKNOWN: f"deposit or delivery address on {either}",
    }
    last_confirmed = {
        Place.OWNER: f"In your own wallet on {origin}, or on the way from it.",
        Place.DEPOSIT_ADDRESS: f"At the deposit address on {origin}.",
        Place.PROVIDER: f"Inside the bridge, between {origin} and {destination}.",
        Place.DELIVERY_ADDRESS: f"At the delivery address on {destination}.",
        Place.RECIPIENT: f"With the recipient on {destination}.",
    }
    return {
        "originChain": origin,
        "destinationChain": destination,
        "eitherChain": either,
        "refundChain": _chain(refund.chain_id if refund else None, "the chain of the return", using),
        "refundAddress": addresses[_start_of_the_return(facts)],
        "balanceAddress": addresses[_side_of(situation.balance_chain_id, facts)],
        "provider": " and ".join(providers.labels(facts.providers)) or "the route provider",
        "lastConfirmedPlace": last_confirmed[_last_confirmed(facts)],
        "refundTo": hashes.short_address(refund.to_address) if refund and refund.to_address else "the owner wallet",
        "to": hashes.short_address(facts.recipient),
    }


def _moments(situation: rules.Situation) -> dict[str, str]:
    facts, now = situation.facts, situation.now
    unchanged = now - facts.last_change if facts.last_change else None
    eta = _at(patience.due_at(facts), now, "the time of the estimate")
    is_due = patience.has_come(patience.due_at(facts), now=now)
    return {
        "expiresAt": _at(facts.expires_at, now, "a time that was not given"),
        "executeBy": _at(facts.execute_by, now, "the offer runs out"),
        "eta": eta,
        "expectedBy": f"It was expected by {eta} and is not late yet." if is_due else f"Expected by about {eta}.",
        "slowUntil": _at(patience.stalled_at(facts), now, "it has had its usual time"),
        "slowMax": times.duration(patience.allowance(facts)),
        "age": times.duration(unchanged) if unchanged else "a long time",
    }


def _sums(facts: Facts, *, held: Money | None, using: Names) -> dict[str, str]:
    return {
        "received": _sum(facts.received, using),
        "expected": f"; about {_sum(facts.expected, using)} was expected" if facts.expected.value is not None else "",
        "refundAmount": _sum(facts.refunded, using),
        "balance": _sum(held, using) if held else NOT_REPORTED,
        "symbol": _symbol(facts.received, using),
    }


def _sum(money: Money, using: Names) -> str:
    return NOT_REPORTED if money.value is None else str(tokens.amount(money, using=using))


def _symbol(money: Money, using: Names) -> str:
    known = tokens.symbol_of(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    return text.symbol(known).shown if known else "you received"


def _chain(chain_id: int | None, unknown: str, using: Names) -> str:
    return names.chain(chain_id, info=using.chain(chain_id), unknown=unknown)


def _at(moment: datetime | None, now: datetime, unknown: str) -> str:
    return times.utc_minute(moment, now=now) if moment else unknown


def _most_held(balances: Sequence[BalanceGroup]) -> Money | None:
    """Where several are held: the one of most value, then of most units, as the service itself returns them first."""
    held = [(token, tokens.held(token, inside=group)) for group in balances for token in group.tokens if token.balance]
    most = max(held, key=lambda each: (each[0].balance_usd or 0, each[0].balance or 0), default=None)
    return most[1] if most else None
