"""What an incident is, and when it opens and closes. Times are Unix seconds by the service's clock.

The limits are of a simulation, which shows what they cost and find: `python -m bench.incidents`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from intents_ui.mirror.incidents.counting import Scope
from intents_ui.mirror.incidents.likelihood import binomial_tail, likelihood_ratio, preference, times
from intents_ui.mirror.windows import DAY, HOUR, MINUTE

# Failing or slow: so many owners, this share of them, and so many times the usual.
LEAST_OWNERS = 3
LEAST_SHARE = 0.1
TIMES_USUAL = 3
# Silent: nothing ended in so many seconds or more, in which so many owners were expected.
SILENT_AFTER, EXPECTED_OWNERS = 15 * MINUTE, 20
# A provider, a chain or the service has an incident instead of its routes from so many routes on.
LEAST_ROUTES = 3
# An incident closes after so many seconds and owners with at most twice the usual, and is recovering before that.
# A twentieth of the owners don't keep it open.
RECOVERING_AFTER, CLOSES_AFTER, CLOSES_WITH = 15 * MINUTE, 30 * MINUTE, 10
TIMES_USUAL_CALM, CALM_SHARE = 2, 0.05
# Nor does one owner, if the counts are so much likelier with the usual share than with the incident's (logarithm).
CALM_RATIO = 3.0
# An incident that closed so many seconds ago continues if what failed since its recovery is less probable than this.
CONTINUES_WITHIN, CONTINUES = 30 * MINUTE, 1e-3
# While an incident is this young, what it is of and since when may change.
YOUNG = HOUR
# Another scope must explain the incident this much better (logarithm of the likelihood) to take it over.
BETTER = 3.0
# An incident's first day isn't usual. What lasts longer is.
UNUSUAL_FOR = DAY
MOST_LAG = 5 * MINUTE


class Kind(StrEnum):
    FAILING = "failing"
    SLOW = "slow"
    SILENT = "silent"


# An incident opens if chance explains what is bad with less than this probability, in one window. Each bad ending is
# another chance, so the probability is this one divided by the number of them in a usual week. Incidents alert below a
# tenth of it.
CHANCE = {Kind.FAILING: 0.1, Kind.SLOW: 0.005}
MOST_CHANCE = 5e-4
ALERTS = 0.1


class State(StrEnum):
    FAILING = "failing"
    SLOW = "slow"
    SILENT = "silent"
    RECOVERING = "recovering"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Something that is worse than usual since a time.

    `bad` of its `owners` failed or were late since then, at most in the last six hours, and `usual` is the usual share.
    `routes` are those where this was seen. `recovered`: since when it is not worse than usual. `folded_into` is the
    number of the incident that it became a part of. `is_alert`: chance explains it even less.
    """

    number: int
    scope: Scope
    kind: Kind
    state: State
    since: int
    opened: int
    bad: int
    owners: int
    usual: float
    routes: frozenset[int]
    is_alert: bool = False
    recovered: int | None = None
    closed: int | None = None
    folded_into: int | None = None

    @property
    def share(self) -> float:
        return self.bad / self.owners if self.owners else 0.0

    @property
    def is_open(self) -> bool:
        return self.state is not State.OVER

    def lasts_after(self, moment: int) -> bool:
        """Return whether there was something worse than usual after this time."""
        return self.is_open or (self.folded_into is None and (self.recovered or 0) > moment)

    def is_unusual(self, hour: int) -> bool:
        """Return whether this hour (since 1970) is to be left out of what is usual."""
        end = self.recovered if not self.is_open and self.recovered else self.since + UNUSUAL_FOR
        return self.kind is not Kind.SILENT and self.since // HOUR <= hour <= min(end, self.since + UNUSUAL_FOR) // HOUR


@dataclass(frozen=True, slots=True)
class Knowledge:
    """How much the mirror knows: its lag in seconds, and the times that it read incompletely or not at all."""

    lag: int = 0
    holes: Sequence[tuple[int, int]] = ()

    def has_hole(self, since: int, until: int) -> bool:
        return any(start < until and end > since for start, end in self.holes)

    def unknown_since(self, *, now: int, shortest: int) -> int | None:
        """Return since when nothing can be said about the last `shortest` seconds, or None."""
        if self.lag > MOST_LAG:
            return now - self.lag
        return min((start for start, end in self.holes if end > now - shortest and start < now), default=None)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts that are worse than usual. `tail` is their probability by chance, `ratio` by how much they are worse."""

    scope: Scope
    place: int  # of the window
    tail: float
    ratio: float


def chance(kind: Kind, bad_per_week: float) -> float:
    """Return the probability by chance below which an incident opens, of a service with so many bad endings a week."""
    return min(MOST_CHANCE, CHANCE[kind] / max(1.0, bad_per_week))


def is_worse(bad: int, owners: int, usual: float) -> bool:
    """Return whether the share is far above the usual, however likely that is by chance."""
    return bad > 0 and bad >= LEAST_SHARE * owners and bad >= times(TIMES_USUAL, usual) * owners


def is_calm(bad: int, owners: int, usual: float, *, before: float) -> bool:
    """Return whether the share is near the usual one. `before` is the share that it was during the incident."""
    if bad <= max(CALM_SHARE, times(TIMES_USUAL_CALM, usual)) * owners:
        return True
    return bad == 1 and usual < before and preference(bad, owners, usual, before) > CALM_RATIO


def weighed(scope: Scope, place: int, *, bad: int, owners: int, usual: float, limit: float) -> Evidence | None:
    """Return the evidence of these counts for an incident, or None if chance explains them."""
    if bad < LEAST_OWNERS or not is_worse(bad, owners, usual):
        return None
    tail = binomial_tail(bad, owners, usual)
    return Evidence(scope, place, tail, likelihood_ratio(bad, owners, usual)) if tail < limit else None
