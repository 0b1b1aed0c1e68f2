"""What a client can choose of figures and lists: the time, the grouping, the order, the outcome."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest

from intents_ui.formatting import text
from intents_ui.mirror.figures.scopes import Level
from intents_ui.mirror.figures.snapshots import Order, Period

# The values of each choice with their words, the default first.
type Offered = Mapping[str, Mapping[str, str]]
type ChoiceLink = tuple[str, str, bool]  # a word, the page with this choice, and whether it is chosen

PERIODS: Final[Mapping[str, str]] = {
    Period.HOUR: "Last hour",
    Period.DAY: "24 hours",
    Period.WEEK: "7 days",
    Period.MONTH: "30 days",
    Period.QUARTER: "90 days",
}
LEVELS: Final[Mapping[str, str]] = {
    Level.ROUTE: "Routes",
    Level.PROVIDER: "Providers",
    Level.CHAIN: "Chains",
    Level.TOKEN: "Tokens",
}
ORDERS: Final[Mapping[str, str]] = {
    Order.MOST_USED: "Most used",
    Order.WORST: "Fewest in time",
    Order.SLOWEST: "Slowest",
}
OF_FIGURES: Final[Offered] = {"window": PERIODS, "by": LEVELS, "order": ORDERS}
DEFAULTS: Final[Mapping[str, str]] = {"window": Period.DAY}  # of a choice whose first value isn't the default
CALLED: Final = {"window": "time", "by": "grouping", "sort": "order"}


@dataclass(frozen=True)
class Choices:
    """What was chosen of each name, in the page at `path`. `problems`: why a value was replaced by the default.

    `others` are further parameters of the page.
    """

    path: str
    offered: Offered
    defaults: Mapping[str, str]
    values: Mapping[str, str]
    problems: Mapping[str, str]
    others: Mapping[str, str]

    @property
    def is_default(self) -> bool:
        return self.values == self.defaults

    def word(self, name: str) -> str:
        """Return the word of what was chosen: `24 hours`."""
        return self.offered[name][self.values[name]]

    def links(self, name: str) -> list[ChoiceLink]:
        current = self.values[name]
        return [(word, self.with_values({name: each}), each == current) for each, word in self.offered[name].items()]

    def with_values(self, changed: Mapping[str, str]) -> str:
        """Return the URL of the page with these changes."""
        values = {**self.others, **self.values, **changed}
        query = {name: value for name, value in values.items() if value != self.defaults.get(name)}
        return f"{self.path}?{urlencode(query)}" if query else self.path


def read(request: HttpRequest, offered: Offered = OF_FIGURES, *, others: Mapping[str, str] | None = None) -> Choices:
    """Return the choices of a query string. Unknown values are replaced by the defaults, and named."""
    defaults = {name: DEFAULTS.get(name, next(iter(words))) for name, words in offered.items()}
    values, problems = dict(defaults), {}
    for name, words in offered.items():
        written = request.GET.get(name, "")
        if written in words:
            values[name] = written
        elif written:
            problems[name] = f"Unknown {CALLED.get(name, name)} “{text.name(written).shown}”."
    return Choices(request.path, offered, defaults, values, problems, others or {})
