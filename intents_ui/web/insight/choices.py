"""What a client can choose of figures: the time, the grouping, the order."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlencode

from intents_ui.display.formatting import text
from intents_ui.mirror.figures.scopes import Level
from intents_ui.mirror.figures.snapshots import Order, Period

PERIODS: Final[Mapping[StrEnum, str]] = {
    Period.HOUR: "Last hour",
    Period.DAY: "24 hours",
    Period.WEEK: "7 days",
    Period.MONTH: "30 days",
    Period.QUARTER: "90 days",
}
LEVELS: Final[Mapping[StrEnum, str]] = {
    Level.ROUTE: "Routes",
    Level.PROVIDER: "Providers",
    Level.CHAIN: "Chains",
    Level.TOKEN: "Tokens",
}
ORDERS: Final[Mapping[StrEnum, str]] = {
    Order.MOST_USED: "Most used",
    Order.WORST: "Fewest in time",
    Order.SLOWEST: "Slowest",
}
OFFERED: Final = {"window": PERIODS, "by": LEVELS, "order": ORDERS}
DEFAULTS: Final[Mapping[str, StrEnum]] = {"window": Period.DAY, "by": Level.ROUTE, "order": Order.MOST_USED}
CALLED: Final = {"window": "time", "by": "grouping", "order": "order"}


@dataclass(frozen=True)
class ChoiceLink:
    """A link that changes one choice."""

    word: str
    path: str
    is_current: bool


@dataclass(frozen=True)
class Choices:
    """What was chosen of each name, in the page at `path`. `problems`: why a value was replaced by the default."""

    path: str
    values: Mapping[str, StrEnum]
    problems: Mapping[str, str]

    @property
    def window(self) -> Period:
        return Period(self.values["window"])

    @property
    def by(self) -> Level:
        return Level(self.values["by"])

    @property
    def order(self) -> Order:
        return Order(self.values["order"])

    @property
    def is_default(self) -> bool:
        return self.values == DEFAULTS

    @property
    def period(self) -> str:
        """Return `24 hours`."""
        return PERIODS[self.window]

    def links(self, name: str) -> list[ChoiceLink]:
        current = self.values[name]
        return [ChoiceLink(word, self._path(name, each), each is current) for each, word in OFFERED[name].items()]

    def _path(self, name: str, value: StrEnum) -> str:
        values = {**self.values, name: value}
        query = urlencode({each: chosen for each, chosen in values.items() if chosen is not DEFAULTS[each]})
        return f"{self.path}?{query}" if query else self.path


def read(given: Mapping[str, str], *, path: str) -> Choices:
    """Return the choices of a query string. Unknown values are replaced by the defaults, and named."""
    values, problems = dict(DEFAULTS), {}
    for name, words in OFFERED.items():
        written = given.get(name, "")
        found = next((each for each in words if each == written), None)
        if written and found is None:
            problems[name] = f"Unknown {CALLED[name]} “{text.name(written).shown}”."
        values[name] = found or values[name]
    return Choices(path, values, problems)
