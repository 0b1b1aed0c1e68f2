"""What happened, where the money is, what to do now and who must act: in words, from explanations.json."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from importlib import resources

from intents_ui.display import hashes, names, patience, providers, rules, statuses, text, times, tokens
from intents_ui.display.facts import Facts, Money
from intents_ui.display.legs import Leg
from intents_ui.display.names import NO_NAMES, Names
from intents_ui.display.statuses import Tone
from intents_ui.service.wire import BalanceGroup, Intent, IntentReceipt


class Who(StrEnum):
    NOBODY = "nobody"
    PAYER = "payer"
    OWNER = "owner"
    SUPPORT = "support"


class Place(StrEnum):
    OWNER = "owner"
    DEPOSIT_ADDRESS = "deposit-address"
    PROVIDER = "provider"
    DELIVERY_ADDRESS = "delivery-address"
    RECIPIENT = "recipient"
    RETURNING = "returning"
    RETURNED = "returned"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Story:
    """`key` names the row that decided; `contact` is empty when nobody needs to be asked."""

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


LAST_CONFIRMED = "last-confirmed"
EXPLANATIONS: Mapping[str, Mapping[str, str]] = {
    row["key"]: row for row in json.loads(resources.files(__package__).joinpath("explanations.json").read_text("utf-8"))
}
NOT_REPORTED = "amount not reported"


def story(
    intent: Intent | None,
    receipt: IntentReceipt | None,
    *,
    now: datetime,
    using: Names = NO_NAMES,
    has_balance: bool | None = None,
    balances: Sequence[BalanceGroup] = (),
) -> Story:
    """The answer for any combination of states, with either object missing and with every part of them missing.

    `has_balance` and `balances` are those of the history entry; None says that nobody looked."""
    held = _first_held(balances)
    situation = rules.Situation(Facts.of(intent, receipt), now, has_balance, held.chain_id if held else None)
    key = rules.key(situation)
    return _told(key, _words(situation, held=held, using=using), situation)


def not_found() -> Story:
    return _told("notfound", {}, None)


def stale(*, answered_at: datetime, now: datetime) -> Story:
    """To stand above the last known state while the service does not answer."""
    return _told("stale", {"age": times.duration(max(now - answered_at, now - now))}, None)


def _told(key: str, words: Mapping[str, str], situation: rules.Situation | None) -> Story:
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
        place=_place(row["place"], situation),
        deadline=_deadline(key, situation) if situation else None,
    )


def _place(place: str, situation: rules.Situation | None) -> Place:
    return Place(place) if place != LAST_CONFIRMED or situation is None else _last_confirmed(situation.facts)


def _last_confirmed(facts: Facts) -> Place:
    """After the last step that succeeded (domain.md section 6)."""
    deposit, origin, destination = facts.legs
    if destination is Leg.DONE or (origin is Leg.DONE and facts.is_same_chain):
        return Place.RECIPIENT
    if origin is Leg.DONE:
        return Place.PROVIDER
    return Place.DEPOSIT_ADDRESS if deposit is Leg.DONE else Place.OWNER


def _deadline(key: str, situation: rules.Situation) -> datetime | None:
    facts = situation.facts
    match key:
        case "quoted.open" | "committed.open":
            return _execute_by(facts)
        case "executing.crossing":
            return patience.due_at(facts)
        case "executing.crossing_slow" | "executing.crossing_late":
            return patience.stalled_at(facts)
        case _:
            return None


def _execute_by(facts: Facts) -> datetime | None:
    return statuses.execute_by(facts.status, expires_at=facts.expires_at, updated_at=facts.updated_at)


def _words(situation: rules.Situation, *, held: Money | None, using: Names) -> dict[str, str]:
    """Everything that a row may name. Text of strangers has been made visible before it comes here."""
    return {
        **_places(situation, using=using),
        **_moments(situation),
        **_sums(situation.facts, held=held, using=using),
        "raw": text.name(situation.facts.status or "none given").shown,
        "statusWord": statuses.intent(situation.facts.status, now=situation.now).word,
    }


def _places(situation: rules.Situation, *, using: Names) -> dict[str, str]:
    facts = situation.facts
    refund = facts.refund
    origin = _chain(facts.origin_chain_id, "the origin chain", using)
    destination = _chain(facts.destination_chain_id, "the destination chain", using)
    last_confirmed = {
        Place.OWNER: f"In your own wallet on {origin}, or on the way from it.",
        Place.DEPOSIT_ADDRESS: f"At the deposit address on {origin}.",
        Place.PROVIDER: f"Inside the bridge, between {origin} and {destination}.",
        Place.RECIPIENT: f"With the recipient on {destination}.",
    }
    return {
        "originChain": origin,
        "destinationChain": destination,
        "eitherChain": origin if facts.is_same_chain else f"{origin} or {destination}",
        "refundChain": _chain(refund.chain_id if refund else None, "the chain of the return", using),
        "balanceChain": _chain(situation.balance_chain_id, "the chain shown below", using),
        "provider": " and ".join(providers.labels(facts.providers)) or "the route provider",
        "lastConfirmedPlace": last_confirmed[_last_confirmed(facts)],
        "refundTo": hashes.short_address(refund.to_address) if refund and refund.to_address else "the owner wallet",
        "to": hashes.short_address(facts.recipient),
    }


def _moments(situation: rules.Situation) -> dict[str, str]:
    facts, now = situation.facts, situation.now
    unchanged = now - facts.last_change if facts.last_change else None
    return {
        "expiresAt": _at(facts.expires_at, now, "a time that was not given"),
        "executeBy": _at(_execute_by(facts), now, "the offer runs out"),
        "eta": _at(patience.due_at(facts), now, "the time of the estimate"),
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


def _first_held(balances: Sequence[BalanceGroup]) -> Money | None:
    for group in balances:
        for token in group.tokens:
            if token.balance:
                chain_id = group.chain_id if token.chain_id is None else token.chain_id
                return Money(token.balance, chain_id, token.contract_address, None, token.decimals)
    return None
