"""The work list: intents with a recoverable balance, what it comes to, and why it is stuck."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from intents_ui.display import amounts, balances, failures, text, tokens, transfer
from intents_ui.display.balances import Holding, Value
from intents_ui.display.names import Names
from intents_ui.display.situation import Situation
from intents_ui.service.recoverable import Read, Stop
from intents_ui.service.wire import IntentHistory

LAST = datetime.max.replace(tzinfo=UTC)


class Sort(StrEnum):
    """What waits longest first, or what is worth most."""

    AGE = "age"
    USD = "usd"


@dataclass(frozen=True)
class Row:
    """A transfer with what its intent addresses hold. `holdings` may be empty: the service did not say what."""

    transfer: transfer.Transfer
    holdings: tuple[Holding, ...]
    value: Value


@dataclass(frozen=True)
class Total:
    """All that is held of one token on one chain, in so many intents."""

    side: transfer.Side
    value: Value
    intents: int


@dataclass(frozen=True)
class Worklist:
    """`left_out`: entries of which the service says itself that they hold nothing (any more)."""

    rows: tuple[Row, ...]
    totals: tuple[Total, ...]
    value: Value
    left_out: int


def worklist(entries: Sequence[IntentHistory], *, sort: Sort, using: Names, now: datetime) -> Worklist:
    rows = [_row(entry, using=using, now=now) for entry in entries if _may_hold(entry)]
    return Worklist(
        rows=tuple(sorted(rows, key=_by_age if sort is Sort.AGE else _by_usd)),
        totals=_totals(rows),
        value=balances.value(holding for row in rows for holding in row.holdings),
        left_out=len(entries) - len(rows),
    )


def _may_hold(entry: IntentHistory) -> bool:
    held = any(token.balance != 0 for group in entry.balances for token in group.tokens)
    return held or entry.has_balance is not False


def _row(entry: IntentHistory, *, using: Names, now: datetime) -> Row:
    situation = Situation.of_entry(entry, now=now, names=using)
    held = tuple(balances.holdings(situation))
    return Row(transfer.of(situation), held, balances.value(held))


def _by_age(row: Row) -> tuple[datetime, str]:
    return row.transfer.created_at or LAST, row.transfer.intent_id


def _by_usd(row: Row) -> tuple[object, ...]:
    """What has no price is not known to be worth less; it stands at the end, where it is told as such."""
    return row.value.priced == 0, -row.value.usd, *_by_age(row)


def _totals(rows: Iterable[Row]) -> tuple[Total, ...]:
    """Only what is the same token on the same chain with the same decimals is added up. Most valuable first."""
    held: dict[tuple[object, ...], list[tuple[str, Holding]]] = {}
    for row in rows:
        for place, holding in enumerate(row.holdings):
            token = _token(holding) or (row.transfer.intent_id, place)
            held.setdefault(token, []).append((row.transfer.intent_id, holding))
    totals = (_total(found) for found in held.values())
    return tuple(sorted(totals, key=lambda each: (each.value.priced == 0, -each.value.usd, each.side.symbol)))


def _token(holding: Holding) -> tuple[object, ...] | None:
    """What tells one token from another; None for a holding that names none, and one of nobody knows how much."""
    side = holding.side
    if side.chain_id is None or not side.token_address or holding.units is None:
        return None
    return side.chain_id, tokens.key(side.token_address), holding.decimals


def _total(found: Sequence[tuple[str, Holding]]) -> Total:
    intents, holdings = {intent_id for intent_id, _ in found}, [holding for _, holding in found]
    first, value = holdings[0], balances.value(holdings)
    units = None if first.units is None else sum(each.units for each in holdings if each.units is not None)
    symbol = None if first.side.symbol == text.UNKNOWN else text.bare(first.side.symbol)
    amount = amounts.amount(units, decimals=first.decimals, symbol=symbol)
    amount = replace(amount, warning=first.side.amount.warning)
    return Total(replace(first.side, amount=amount, usd=value.usd if value.priced else None), value, len(intents))


def how_much(read: Read, *, is_beginning: bool) -> str:
    """How much of the list has been read, and whether that is all of it."""
    count = len(read.entries)
    counted = f"{count:,}{'' if is_beginning else ' more'} {'intent' if count == 1 else 'intents'} read"
    match read.stop:
        case Stop.END:
            return f"{counted}, {'all there are' if is_beginning else 'the last there are'}."
        case Stop.ENOUGH:
            return f"{counted}, there are older ones."
        case Stop.TIME:
            return f"{counted}, then the time of this page was over. There are older ones."
        case Stop.CIRCLES:
            return f"{counted}. The service says that there are more, and leads back to these: the list may lack some."
        case Stop.LOST:
            return f"{counted}. The service says that there are more, and not where: the list may lack some."
        case Stop.EMPTY_PAGE:
            return f"{counted}. The service says that there are more, and gave an empty page: the list may lack some."
        case Stop.TROUBLE:
            return f"{counted}, then: {_trouble(read)}. The list is not complete."


def nothing(read: Read, *, is_beginning: bool, is_narrowed: bool) -> str:
    """In place of a list without rows. Only a list that was read to its end can be said to be empty."""
    if read.stop is not Stop.END or read.unreadable:
        return "There is no recoverable balance in what was read. It is not all there is."
    none = "no recoverable balance" if is_beginning else "no further recoverable balance"
    here = " here" if is_narrowed else ""
    return f"There is {none}{here}, as far as the service says."


def _trouble(read: Read) -> str:
    title = failures.words(read.error).title if read.error else "the service did not answer"
    return title[0].lower() + title[1:]
