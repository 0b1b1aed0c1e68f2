"""What an incident is, and when it opens and closes. Times are Unix seconds by the service's clock.

The limits come from a simulation, which shows what they cost and find: `python -m bench.incidents`.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, lgamma, log
from typing import NamedTuple

from intents_ui.mirror.figures.scopes import Level, ScopeName
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service.models import UNEXECUTED
from intents_ui.service.outcome import Outcome

KNOWN = 15 * MINUTE  # which must be known before anything is judged
WINDOWS = (5 * MINUTE, KNOWN, HOUR, 6 * HOUR)  # sudden outages, those of small routes, and slight ones
LONGEST = WINDOWS[-1]
ENOUGH = 500  # transfers of a window. Three times the usual is beyond chance by then
# Bad: so many owners, this share of them, and so many times the usual. Less is chance, or no outage.
MIN_OWNERS = 3
MIN_SHARE = 0.1
TIMES_USUAL = 3
# An incident opens if chance explains the counts of one window with less than this probability. Each bad transfer is
# another chance, so the probability is this one divided by the number of them in a usual week. A small service has few,
# and would believe two of three owners without the second limit. Incidents alert below a tenth of it.
CHANCE = 0.03
MAX_CHANCE = 5e-4
ALERTS = 0.1
# The addresses of one owner, such as a bot's, may all fail on one route for the same reason. Where more than half of
# what is bad may be that, chance must explain it with so many times less probability. No owner makes transfers late.
OWN_FAILURES = 100
# Nothing starts: in so many seconds or more, in which so many owners were expected.
SILENT_AFTER, EXPECTED_OWNERS = 15 * MINUTE, 20
# An incident closes after so many seconds and owners with at most twice the usual, and is recovering before that.
# A twentieth of the owners don't keep it open.
RECOVERING_AFTER, CLOSES_AFTER, CLOSES_WITH = 15 * MINUTE, 30 * MINUTE, 10
TIMES_USUAL_CALM, CALM_SHARE = 2, 0.05
# Nor does one owner, if the counts are so much likelier with the usual share than with the incident's (logarithm).
CALM_RATIO = 3.0
# An incident that closed so many seconds ago continues if its routes are bad again.
CONTINUES_WITHIN = 30 * MINUTE
# While an incident is this young, what it is of and since when may change.
YOUNG = HOUR
# Something else must explain the incident this much better (logarithm of the likelihood) to take it over.
BETTER = 3.0
# An incident's first day isn't usual. What lasts longer is.
UNUSUAL_FOR = DAY
MAX_LAG = 5 * MINUTE
MIN_CORRELATION, MAX_CORRELATION = 1e-5, 0.2
# To explain as much, the wider must be so much likelier (logarithm).
PENALTIES = dict(zip(Level, (0.0, 0.5, 0.5, 1.0, 1.0, 1.5), strict=True))
UNDECIDED = 0  # time of a decision that isn't made yet
DEPOSIT = 0  # the first step, which is the owner's


class Kind(StrEnum):
    UNDELIVERED = "undelivered"  # in time
    SILENT = "silent"


class State(StrEnum):
    OPEN = "open"
    RECOVERING = "recovering"
    OVER = "over"


class Begun(NamedTuple):
    """A transfer that has begun, in its `scopes`. All without an owner count as one.

    `at`: when it was decided. It is bad if it was late, or, if it `has_failed`, ended without delivery before.
    """

    scopes: tuple[ScopeName, ...]
    owner: Hashable
    began: int
    at: int = UNDECIDED
    is_bad: bool = False
    has_failed: bool = False

    @property
    def route(self) -> ScopeName:
        return self.scopes[0]

    def decided(
        self, outcome: str, status: str, failed_step: int | None, *, ended: int, limit: int, now: int
    ) -> "Begun | None":
        """Return this as it was decided, or None if it says nothing about its route.

        It is decided when it is delivered, when its route fails, or when it is still open after `limit` seconds, and
        then bad at once. `ended` doesn't matter while it is open. The route isn't to blame for rejected or missing
        deposits and for what the owner aborts in time, and nothing is known of unconfirmed ends.
        """
        late_at = self.began + limit
        match outcome:
            case Outcome.OPEN if status not in UNEXECUTED:
                return self._replace(at=late_at, is_bad=True) if late_at <= now else self
            case Outcome.DELIVERED:
                return self._replace(at=min(ended, late_at), is_bad=ended > late_at)
            case Outcome.REFUNDED | Outcome.FAILED if failed_step != DEPOSIT:
                return self._replace(at=min(ended, late_at), is_bad=True, has_failed=ended <= late_at)
            case Outcome.ABORTED if ended > late_at:
                return self._replace(at=late_at, is_bad=True)
        return None


@dataclass(frozen=True, kw_only=True)
class Incident:
    """Something that is worse than usual since a time.

    `bad` of its `owners` whose transfers began since then, at most in the last six hours, did not get them in time, and
    `usual` is the usual share. If nothing starts, it is the number of owners that were expected. `routes` are those
    where this was seen. `recovered`: since when it is not worse than usual. `folded_into` is the number of the incident
    that it became a part of. `is_alert`: chance explains it even less.
    """

    number: int
    scope: ScopeName
    kind: Kind
    state: State = State.OPEN
    since: int
    opened: int
    bad: int = 0
    owners: int = 0
    usual: float
    routes: frozenset[ScopeName]
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


@dataclass(frozen=True, slots=True)
class Knowledge:
    """How much the mirror knows: its lag in seconds, and the times that it read incompletely or not at all."""

    lag: int = 0
    holes: Sequence[tuple[int, int]] = ()

    def has_hole(self, since: int, until: int) -> bool:
        return any(start < until and end > since for start, end in self.holes)

    def unknown_since(self, now: int) -> int | None:
        """Return since when nothing can be said, or None."""
        if self.lag > MAX_LAG:
            return now - self.lag
        return min((start for start, end in self.holes if end > now - KNOWN and start < now), default=None)


class Evidence(NamedTuple):
    """How a scope compares with `usual`, its share or, if nothing starts, the number of owners that are expected.

    `ratio`: how much likelier the counts are otherwise (logarithm). `tail`: how likely chance alone makes them so bad.
    `since`: when the last transfer started, if nothing starts.
    """

    scope: ScopeName
    usual: float
    ratio: float = 0.0
    tail: float = 1.0
    since: int = 0


def odds_times(factor: int, share: float) -> float:
    """Return the share with odds that are so many times higher. It is about `factor` times a small share."""
    return factor * share / (1.0 + (factor - 1) * share)


def is_worse(bad: int, owners: int, usual: float) -> bool:
    """Return whether the share is far above the usual, however likely that is by chance."""
    return bad >= max(1.0, MIN_SHARE * owners, odds_times(TIMES_USUAL, usual) * owners)


def is_calm(bad: int, owners: int, usual: float, *, before: float) -> bool:
    """Return whether the share is near the usual one. `before` is the share that it was during the incident."""
    if bad <= max(CALM_SHARE, odds_times(TIMES_USUAL_CALM, usual)) * owners:
        return True
    preference = log(usual / before) + (owners - 1) * log((1 - usual) / (1 - before)) if usual < before < 1 else 0.0
    return bad == 1 and preference > CALM_RATIO


def tail(bad: int, owners: int, usual: float, correlation: float) -> float:
    """Return the probability of at least `bad` of `owners` by a beta-binomial distribution.

    `correlation` of two owners: how much the share itself varies from hour to hour.
    """
    a, b = (share * (1 - correlation) / correlation for share in (usual, 1 - usual))
    term = total = exp(
        lgamma(owners + 1) - lgamma(bad + 1) - lgamma(owners - bad + 1)
        + lgamma(bad + a) + lgamma(owners - bad + b) - lgamma(owners + a + b)
        + lgamma(a + b) - lgamma(a) - lgamma(b)
    )  # fmt: skip
    for number in range(bad, owners):
        term *= (owners - number) / (number + 1) * (number + a) / (owners - number - 1 + b)
        total += term
        if term < total * 1e-12:
            break
    return min(total, 1.0)


def likelihood_ratio(bad: int, owners: int, usual: float) -> float:
    """Return the logarithm of how much likelier the share that was found is than this lower one."""
    if bad <= owners * usual:
        return 0.0
    rest = owners - bad
    return bad * log(bad / (owners * usual)) + (rest * log(rest / (owners * (1.0 - usual))) if rest else 0.0)
