"""Transfers that have begun, by what they are a part of. Times are Unix seconds by the service's clock.

A transfer is decided when it is delivered, when its route fails, or when it is still open at its limit, and then bad at
once. Owners are counted instead of transfers, because an owner whose transfer fails may try again many times.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from intents_ui.mirror.incidents.rules import ENOUGH_OWNERS, LONGEST, MAX_PROVIDERS, SERVICE, WINDOWS, Level, Scope
from intents_ui.service.models import IntentStatus
from intents_ui.service.wire.outcome import Outcome

WITHOUT_DEPOSIT = (IntentStatus.QUOTED, IntentStatus.COMMITTED)
UNDECIDED = 0  # time of a decision that isn't made yet
DEPOSIT = 0  # the first step, which is the owner's

type Skip = Callable[["Begun"], bool]


class Begun(NamedTuple):
    """A transfer that has begun. `at`: when it was decided. All without an owner count as one."""

    route: int
    scopes: tuple[Scope, ...]
    owner: Hashable
    began: int
    at: int = UNDECIDED
    is_bad: bool = False


class Counts(NamedTuple):
    bad: int = 0
    owners: int = 0


def scopes_of(
    route: int, providers: Iterable[str], chains: Iterable[str], tokens: Iterable[tuple[str, str]]
) -> tuple[Scope, ...]:
    """Return what a transfer is a part of, by its route's key in the copy. Tokens are pairs of chain and address."""
    chains = list(dict.fromkeys(filter(None, chains)))
    providers = list(dict.fromkeys(filter(None, providers)))[:MAX_PROVIDERS]
    return (
        Scope(Level.ROUTE, str(route)),
        *(Scope(Level.PROVIDER_ON_CHAIN, f"{chain}/{each}") for each in providers for chain in chains),
        *(Scope(Level.TOKEN, f"{chain}/{address}") for chain, address in dict.fromkeys(tokens)),
        *(Scope(Level.PROVIDER, each) for each in providers),
        *(Scope(Level.CHAIN, each) for each in chains),
        SERVICE,
    )


def decided(
    outcome: str, status: str, failed_step: int | None, *, began: int, ended: int, limit: int, now: int
) -> tuple[int, bool] | None:
    """Return when a transfer was decided and whether it is bad, or None if it says nothing about its route.

    `limit`: after how many seconds it is late. `ended` doesn't matter while it is open. The route isn't to blame for
    rejected or missing deposits and for what the owner aborts in time, and nothing is known of unconfirmed ends.
    """
    late_at = began + limit
    match outcome:
        case Outcome.OPEN if status not in WITHOUT_DEPOSIT:
            return (late_at, True) if late_at <= now else (UNDECIDED, False)
        case Outcome.DELIVERED:
            return (ended, False) if ended <= late_at else (late_at, True)
        case Outcome.REFUNDED | Outcome.FAILED if failed_step != DEPOSIT:
            return min(ended, late_at), True
        case Outcome.ABORTED if ended > late_at:
            return late_at, True
    return None


class Cohort:
    """Decided transfers of a scope in the last hours, in the order of their decision.

    A bad one whose owner's last one was bad, too, isn't counted.
    """

    def __init__(self) -> None:
        self._decided: list[Begun] = []
        self._last: dict[Hashable, Begun] = {}

    def add(self, each: Begun) -> None:
        last = self._last.get(each.owner)
        if last and last.is_bad and each.is_bad and 0 <= each.at - last.at < LONGEST:
            return
        if not self._decided or each.at >= self._decided[-1].at:
            self._decided.append(each)
        else:
            insort(self._decided, each, key=_at)
        if not last or last.at <= each.at:
            self._last[each.owner] = each

    def remove(self, each: Begun) -> None:
        if each in self._decided[(place := bisect_left(self._decided, each.at, key=_at)) :]:
            del self._decided[self._decided.index(each, place)]
        if self._last.get(each.owner) == each:
            del self._last[each.owner]

    def forget(self, *, until: int) -> None:
        for each in self._decided[: bisect_left(self._decided, until, key=_at)]:
            if self._last.get(each.owner) is each:
                del self._last[each.owner]
        del self._decided[: bisect_left(self._decided, until, key=_at)]

    def newest(self, *, since: int, skip: Skip | None = None) -> Iterator[Begun]:
        """Yield what was decided from this time on, newest first."""
        for each in reversed(self._decided):
            if each.at < since:
                return
            if not (skip and skip(each)):
                yield each

    def counts(self, *, now: int, skip: Skip | None = None) -> Sequence[Counts]:
        """Return the counts of each window, of the newest owners if there are very many.

        An owner counts once in a window, by the first transfer.
        """
        owners: dict[Hashable, bool] = {}
        found, bad, place = [], 0, len(self._decided)
        for length in WINDOWS:
            start = now - length
            while place and len(owners) < ENOUGH_OWNERS and (each := self._decided[place - 1]).at >= start:
                place -= 1
                if skip and skip(each):
                    continue
                owner, is_bad = each.owner, each.is_bad
                if is_bad or owner in owners:
                    bad += is_bad - owners.get(owner, False)
                owners[owner] = is_bad
            found.append(Counts(bad, len(owners)))
        return found


_at = attrgetter("at")
