"""The rows of a list, from which its table and its counts are derived."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, overload

from intents_ui.display.summary import glance
from intents_ui.display.summary.glance import Transfer
from intents_ui.display.transfers import statuses
from intents_ui.display.transfers.situation import Situation


@dataclass(frozen=True, eq=False)
class Rows(Sequence[Situation]):
    """Situations in the order of a list, all of the same time. `fragments`: what pages drew from the whole list."""

    situations: Sequence[Situation]
    now: datetime
    fragments: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def transfers(self) -> Sequence[Transfer]:
        return [glance.of(each) for each in self.situations]

    @cached_property
    def mix(self) -> Sequence[statuses.Share]:
        """The share of each status."""
        return statuses.mix(each.status for each in self.transfers)

    def __len__(self) -> int:
        return len(self.situations)

    def __iter__(self) -> Iterator[Situation]:
        return iter(self.situations)

    @overload
    def __getitem__(self, place: int) -> Situation: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Situation]: ...
    def __getitem__(self, place: int | slice) -> Situation | Sequence[Situation]:
        return self.situations[place]
