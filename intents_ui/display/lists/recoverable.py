"""Transfers with a recoverable balance, their totals and the reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from intents_ui.display import failures
from intents_ui.display.formatting import amounts, text
from intents_ui.display.lists import balances
from intents_ui.display.lists.balances import AddressHolding, Value
from intents_ui.display.summary import glance
from intents_ui.display.tokens import token_amounts
from intents_ui.display.transfers.situation import Balances, Situation, derived
from intents_ui.service.wire.results import Read, Stop

LAST = datetime.max.replace(tzinfo=UTC)


class Sort(StrEnum):
    """Oldest first, or largest value first."""

    AGE = "age"
    USD = "usd"


@dataclass(frozen=True)
class RecoverableRow:
    """A transfer and the balances at its intent addresses. `holdings` is empty if the service reported no amounts."""

    transfer: glance.Transfer
    holdings: tuple[AddressHolding, ...]
    value: Value


@dataclass(frozen=True)
class Total:
    """The total balance of one token on one chain, and the number of transfers with it."""

    side: glance.Side
    value: Value
    intents: int


@dataclass(frozen=True)
class Worklist:
    """`left_out`: the number of entries that no longer hold a balance, according to the service."""

    rows: tuple[RecoverableRow, ...]
    totals: tuple[Total, ...]
    value: Value
    left_out: int


def worklist(found: Sequence[Situation], *, sort: Sort) -> Worklist:
    """Return the worklist of a list's rows, which have their balances."""
    rows = [row(situation) for situation in found if _may_hold(situation.balances)]
    return Worklist(
        rows=tuple(sorted(rows, key=by_age if sort is Sort.AGE else _by_usd)),
        totals=_totals(rows),
        value=balances.value(holding for row in rows for holding in row.holdings),
        left_out=len(found) - len(rows),
    )


def _may_hold(found: Balances) -> bool:
    held = any(token.balance != 0 for group in found.groups for token in group.tokens)
    return held or found.has_balance is not False


@derived
def row(situation: Situation) -> RecoverableRow:
    """Return a transfer as a row, with its holdings."""
    held = tuple(balances.holdings(situation))
    return RecoverableRow(glance.of(situation), held, balances.value(held))


def by_age(row: RecoverableRow) -> tuple[datetime, str]:
    """Sort the oldest first."""
    return row.transfer.created_at or LAST, row.transfer.intent_id


def _by_usd(row: RecoverableRow) -> tuple[object, ...]:
    """Sort unpriced rows last."""
    return row.value.priced == 0, -row.value.usd, *by_age(row)


def _totals(rows: Iterable[RecoverableRow]) -> tuple[Total, ...]:
    """Add up equal tokens (same chain, address and decimals), most valuable first."""
    held: dict[tuple[object, ...], list[tuple[str, AddressHolding]]] = {}
    for row in rows:
        for place, holding in enumerate(row.holdings):
            token = _token(holding) or (row.transfer.intent_id, place)
            held.setdefault(token, []).append((row.transfer.intent_id, holding))
    totals = (_total(found) for found in held.values())
    return tuple(sorted(totals, key=lambda each: (each.value.priced == 0, -each.value.usd, each.side.symbol)))


def _token(holding: AddressHolding) -> tuple[object, ...] | None:
    """Return the identity of a holding's token; None if its token or amount is unknown."""
    side = holding.side
    if side.chain_id is None or not side.token_address or holding.units is None:
        return None
    return side.chain_id, token_amounts.key(side.token_address), holding.decimals


def _total(found: Sequence[tuple[str, AddressHolding]]) -> Total:
    intents, holdings = {intent_id for intent_id, _ in found}, [holding for _, holding in found]
    first, value = holdings[0], balances.value(holdings)
    units = None if first.units is None else sum(each.units for each in holdings if each.units is not None)
    symbol = None if first.side.symbol == text.UNKNOWN else text.bare(first.side.symbol)
    amount = amounts.amount(units, decimals=first.decimals, symbol=symbol)
    amount = replace(amount, warning=first.side.amount.warning)
    return Total(replace(first.side, amount=amount, usd=value.usd if value.priced else None), value, len(intents))


def how_much(read: Read, *, is_beginning: bool) -> str:
    """Return how much of the list was loaded, and whether that is all of it."""
    count = len(read.entries)
    counted = f"{count:,}{'' if is_beginning else ' more'} {'transfer' if count == 1 else 'transfers'}"
    match read.stop:
        case Stop.END:
            return f"{counted} ({'all' if is_beginning else 'end of list'})."
        case Stop.ENOUGH:
            return f"{counted}. Load older ones to continue."
        case Stop.TIME:
            return f"Loaded {counted} before the time limit. Load older ones to continue."
        case Stop.CIRCLES:
            return f"Loaded {counted}. The service returned the same page twice. The list may be incomplete."
        case Stop.LOST:
            return f"Loaded {counted}. More transfers exist but couldn't be loaded."
        case Stop.EMPTY_PAGE:
            return f"Loaded {counted}. The service returned an empty page. The list may be incomplete."
        case Stop.TROUBLE:
            return f"Loaded {counted}, then a request failed: {_trouble(read)}. The list is incomplete."


def nothing(read: Read, *, is_beginning: bool, is_narrowed: bool) -> str:
    """Return the text of an empty list. Only a list loaded to its end is known to be empty."""
    if read.stop is not Stop.END or read.unreadable:
        return "No recoverable balances in the transfers loaded so far. The list is incomplete."
    none = "No recoverable balances" if is_beginning else "No more recoverable balances"
    return f"{none} match the filters." if is_narrowed else f"{none}."


def _trouble(read: Read) -> str:
    title = failures.words(read.error).title if read.error else "no response from the service"
    return title[0].lower() + title[1:]
