"""Transfers with a recoverable balance, and what they hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from intents_ui.display.lists import balances
from intents_ui.display.lists.balances import AddressHolding, Value
from intents_ui.display.summary import glance
from intents_ui.display.transfers.situation import Balances, Situation, derived

LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class RecoverableRow:
    """A transfer and the balances at its intent addresses. `holdings` is empty if the service reported no amounts."""

    transfer: glance.Transfer
    holdings: tuple[AddressHolding, ...]
    value: Value


@dataclass(frozen=True)
class Worklist:
    """Transfers with a recoverable balance, oldest first, and the sum of their balances."""

    rows: tuple[RecoverableRow, ...]
    value: Value


def worklist(found: Sequence[Situation]) -> Worklist:
    """Return the worklist of a list's rows, which have their balances."""
    rows = tuple(sorted((row(situation) for situation in found if _may_hold(situation.balances)), key=by_age))
    return Worklist(rows, balances.value(holding for row in rows for holding in row.holdings))


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
