"""The rows of a list, from which its table and its counts are derived."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, overload

from intents_ui.display.summary import glance
from intents_ui.display.summary.glance import Glance
from intents_ui.display.transfers.transfer import Transfer


@dataclass(frozen=True, eq=False)
class Rows(Sequence[Transfer]):
    """Transfers in the order of a list, all of the same time. `fragments`: what pages drew from the whole list."""

    transfers: Sequence[Transfer]
    now: datetime
    fragments: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def glances(self) -> Sequence[Glance]:
        return [glance.of(each) for each in self.transfers]

    def __len__(self) -> int:
        return len(self.transfers)

    def __iter__(self) -> Iterator[Transfer]:
        return iter(self.transfers)

    @overload
    def __getitem__(self, place: int) -> Transfer: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Transfer]: ...
    def __getitem__(self, place: int | slice) -> Transfer | Sequence[Transfer]:
        return self.transfers[place]
