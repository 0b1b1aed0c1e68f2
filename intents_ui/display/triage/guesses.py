"""Guesses: which of the newest transfers a description fits. They are not identified, and nothing counts them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

from intents_ui.display.formatting import amounts
from intents_ui.display.formatting.amounts import EXACT
from intents_ui.display.summary import glance
from intents_ui.display.summary.glance import Transfer
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.situation import Situation
from intents_ui.display.triage.description import Description

MOST = 5
# Customers round amounts, and leave out fees. Dollars are compared at the current price.
TOLERANCE, TOLERANCE_OF_USD = Decimal("0.005"), Decimal("0.02")
# A day in an unknown time zone begins up to 14 hours earlier than in UTC, and ends up to 14 hours later.
BEGINNING, END = timedelta(hours=-14), timedelta(hours=24 + 14)
ABOUT = "about the amount"

type Usd = Mapping[tuple[int, str], Decimal]


@dataclass(frozen=True)
class Guess:
    """A transfer with what fits the description, in words."""

    transfer: Transfer
    reasons: tuple[str, ...]


def best(described: Description, transfers: Iterable[Situation], *, prices: Usd) -> tuple[Guess, ...]:
    """Return the transfers that fit best, the best and newest first. `transfers` are the newest, newest first.

    The amount must fit, and all but one of the other facts, at least one.
    """
    found = [(fit, each) for each in transfers if (fit := _fit(described, each, prices))]
    found.sort(key=lambda pair: (pair[0].missed, not pair[0].is_exact))
    return tuple(Guess(glance.of(each), fit.reasons) for fit, each in found[:MOST])


def tokens(transfers: Iterable[Situation]) -> set[tuple[int, str]]:
    """Return the tokens whose prices are needed to compare dollars."""
    moved = (money for each in transfers for money in _moved(each))
    return {(each.chain_id, each.token_address) for each in moved if each.chain_id is not None and each.token_address}


@dataclass(frozen=True)
class Fit:
    """How a transfer fits: what matches in words, and the number of facts that don't."""

    is_exact: bool
    reasons: tuple[str, ...]
    missed: int


def _fit(described: Description, situation: Situation, prices: Usd) -> Fit | None:
    """Return how a transfer fits, or None."""
    sides = [side for money in _moved(situation) if (side := _side(described, money, situation, prices))]
    if not sides:
        return None
    has_token, is_exact = max(sides)
    facts = situation.facts
    chains = {
        "origin chain": described.origin and described.origin.id == facts.origin_chain_id,
        "destination chain": described.destination and described.destination.id == facts.destination_chain_id,
        "chain": described.chain and described.chain.id in (facts.origin_chain_id, facts.destination_chain_id),
    }
    others = {
        "token": has_token if described.token else None,
        **({"both chains": True} if chains["origin chain"] and chains["destination chain"] else chains),
        "date": _is_on(described, facts.quoted_at) if described.day else None,
    }
    known = {what: fits for what, fits in others.items() if fits is not None}
    reasons = tuple(what for what, fits in known.items() if fits)
    missed = len(known) - len(reasons)
    return Fit(is_exact, ("amount" if is_exact else ABOUT, *reasons), missed) if reasons and missed <= 1 else None


def _moved(situation: Situation) -> tuple[Money, ...]:
    """Return what was requested, what arrived, and what was or should be received. Customers mention any of them."""
    facts = situation.facts
    return facts.requested, facts.sent, facts.received if facts.received.value is not None else facts.expected


def _side(described: Description, money: Money, situation: Situation, prices: Usd) -> tuple[bool, bool] | None:
    """Return whether the token matches, and whether the amount is exact; None if the amount doesn't match."""
    using = situation.names
    decimals = token_amounts.decimals(money, using=using)
    if money.value is None or decimals is None or not 0 <= decimals <= amounts.MOST_DECIMALS:
        return None
    value, tolerance = Decimal(amounts.plain(money.value, decimals=decimals)), TOLERANCE
    if described.in_usd:
        price = prices.get((money.chain_id or 0, money.token_address or ""))
        if price is None:
            return None
        value, tolerance = EXACT.multiply(value, price), TOLERANCE_OF_USD
    difference = EXACT.abs(EXACT.subtract(value, described.amount))
    if difference > EXACT.multiply(described.amount, tolerance):
        return None
    symbol = token_amounts.symbol_of(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    return (symbol or "").casefold() == described.token.casefold(), not (difference or described.in_usd)


def _is_on(described: Description, at: datetime | None) -> bool:
    if at is None or described.day is None:
        return False
    return BEGINNING <= at - datetime.combine(described.day, time(), UTC) < END
