"""Transfers with a recoverable balance, and what they hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from intents_ui.display.lists import balances
from intents_ui.display.lists.balances import AddressHolding, Value
from intents_ui.display.summary import glance
from intents_ui.display.transfers.situation import Balances, Situation, derived

LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class RecoverableRow:
    """A transfer and the balances at its intent addresses, each derived on first use: counts need neither."""

    situation: Situation

    @property
    def transfer(self) -> glance.Transfer:
        return glance.of(self.situation)

    @cached_property
    def holdings(self) -> tuple[AddressHolding, ...]:
        """The balances above 0. Empty if the service reported no amounts."""
        return tuple(balances.holdings(self.situation))

    @cached_property
    def value(self) -> Value:
        return balances.value(self.holdings)

    @property
    def intent_id(self) -> str:
        return self.situation.intent.intent_id

    @property
    def created_at(self) -> datetime | None:
        return self.situation.facts.quoted_at


@dataclass(frozen=True)
class Worklist:
    """Transfers with a recoverable balance, oldest first, and the sum of their balances."""

    rows: tuple[RecoverableRow, ...]
    value: Value


def worklist(found: Sequence[Situation]) -> Worklist:
    """Return the worklist of a list's rows, which have their balances."""
    rows = tuple(sorted((row(each) for each in found if _may_hold(each.balances)), key=by_age))
    return Worklist(rows, balances.value(holding for row in rows for holding in row.holdings))


def _may_hold(found: Balances) -> bool:
    held = any(token.balance != 0 for group in found.groups for token in group.tokens)
    return held or found.has_balance is not False


@derived
def row(situation: Situation) -> RecoverableRow:
    """Return a transfer as a row, the same one for the same situation."""
    return RecoverableRow(situation)


def by_age(row: RecoverableRow) -> tuple[datetime, str]:
    """Sort the oldest first."""
    return row.created_at or LAST, row.intent_id
