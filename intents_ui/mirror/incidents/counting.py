"""Owners whose transfers ended lately: on a route, with a provider, on a chain, in the whole service.

Owners are counted instead of transfers, because an owner whose transfer fails may try again many times. In each window,
an owner counts once, by its first ending. Times are Unix seconds by the service's clock.
"""

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from intents_ui.mirror.figures.scopes import Level
from intents_ui.mirror.windows import HOUR, MINUTE

WINDOWS = (15 * MINUTE, HOUR, 6 * HOUR)
LONGEST = WINDOWS[-1]
MOST_PROVIDERS = 8  # of a route
MOST_LEFT = 256  # endings that have left all windows, until they are deleted


class Scope(NamedTuple):
    """A route (by its key in the copy), a provider, a chain or the service, which has no name."""

    level: Level
    name: str


SERVICE = Scope(Level.SERVICE, "")


class Ending(NamedTuple):
    """A transfer that ended. Those without an owner count as one owner's."""

    route: int
    owner: Hashable
    at: int
    is_failed: bool
    is_late: bool = False


class Counts(NamedTuple):
    """Owners, and those of them whose first ending failed or was late."""

    owners: int = 0
    failed: int = 0
    late: int = 0


def route_scope(route: int) -> Scope:
    return Scope(Level.ROUTE, str(route))


class Routes:
    """The routes, and what each is a part of."""

    def __init__(self) -> None:
        self._scopes: dict[int, tuple[Scope, ...]] = {}
        self._within: dict[Scope, set[int]] = {}

    def __contains__(self, route: int) -> bool:
        return route in self._scopes

    def add(self, route: int, *, providers: Iterable[str], chains: Iterable[str]) -> None:
        named = list(dict.fromkeys(filter(None, providers)))[:MOST_PROVIDERS]
        self._scopes[route] = (
            route_scope(route),
            *(Scope(Level.PROVIDER, each) for each in named),
            *(Scope(Level.CHAIN, each) for each in dict.fromkeys(filter(None, chains))),
            SERVICE,
        )
        for scope in self._scopes[route]:
            self._within.setdefault(scope, set()).add(route)

    def scopes(self, route: int) -> tuple[Scope, ...]:
        """Return what a route is a part of, with itself."""
        if route not in self._scopes:
            self.add(route, providers=(), chains=())
        return self._scopes[route]

    def within(self, scope: Scope) -> set[int]:
        """Return the routes of a scope."""
        return self._within.get(scope, set())


class Ended:
    """An ending in the windows, and the next one of the same owner."""

    __slots__ = ("at", "is_failed", "is_late", "next", "owner")

    def __init__(self, ending: Ending) -> None:
        self.owner = ending.owner
        self.at = ending.at
        self.is_failed = ending.is_failed
        self.is_late = ending.is_late
        self.next: Ended | None = None


class _Window:
    """Counts of the endings from `start` on, the first of which has this `place`."""

    __slots__ = ("failed", "late", "owners", "place", "start")

    def __init__(self) -> None:
        self.start = self.place = self.owners = self.failed = self.late = 0

    def enter(self, ended: Ended) -> None:
        self.owners += 1
        self.failed += ended.is_failed
        self.late += ended.is_late

    def leave(self, ended: Ended) -> None:
        """Let the oldest ending leave. It is its owner's first one, and the next one takes its place."""
        self.place += 1
        self.owners -= 1
        self.failed -= ended.is_failed
        self.late -= ended.is_late
        if ended.next:
            self.enter(ended.next)


class OwnerCounts:
    """Owners of a scope in each of the windows. An ending costs the same, however many there are."""

    __slots__ = ("_ended", "_last", "_windows", "last_at")

    def __init__(self) -> None:
        self._ended: list[Ended] = []
        self._last: dict[Hashable, Ended] = {}
        self._windows = tuple(_Window() for _ in WINDOWS)
        self.last_at = 0

    def add(self, ending: Ending) -> None:
        """Count an ending that isn't older than those before, unless an owner's transfer has failed again."""
        self.last_at = ending.at
        before = self._last.get(ending.owner)
        if before and before.is_failed and ending.is_failed and ending.at - before.at < LONGEST:
            return
        ended = Ended(ending)
        if before:
            before.next = ended
        self._ended.append(ended)
        self._last[ending.owner] = ended
        for window in self._windows:
            if before is None or before.at < window.start:
                window.enter(ended)

    def counts(self, place: int, *, now: int) -> Counts:
        """Return the counts of a window that ends now."""
        window, ended = self._windows[place], self._ended
        window.start = now - WINDOWS[place]
        while window.place < len(ended) and ended[window.place].at < window.start:
            window.leave(ended[window.place])
        return Counts(window.owners, window.failed, window.late)

    def tidy(self, *, now: int) -> None:
        """Delete what has left all windows."""
        for place in range(len(WINDOWS)):
            self.counts(place, now=now)
        left = self._windows[-1].place
        if left < MOST_LEFT and left < len(self._ended):
            return
        for ended in self._ended[:left]:
            if self._last.get(ended.owner) is ended:
                del self._last[ended.owner]
        del self._ended[:left]
        for window in self._windows:
            window.place -= left

    def newest(self, *, since: int = 0) -> Iterator[Ended]:
        """Yield the endings from this time on, newest first."""
        for ended in reversed(self._ended):
            if ended.at < since:
                return
            yield ended
