"""How long a transfer of a route takes before it is late: longer than 99% of the route's, and at least five minutes."""

from math import exp, log

from intents_ui.mirror.incidents.counting import Level, Routes, Scope

LEAST_LATE = 300_000  # milliseconds
WITHOUT_A_PAST = 3_600_000
LEAST_DELIVERIES = 200
ENOUGH = 20_000  # deliveries, then each counts half
STEPS = 10  # of a histogram, for each factor of e. A limit is at most 10% too long


class Lateness:
    """Histograms of how long deliveries took, by route and by what it is a part of."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self._histograms: dict[Scope, dict[int, float]] = {}
        self._totals: dict[Scope, float] = {}
        self._limits: dict[int, int] = {}

    def learn(self, route: int, milliseconds: int) -> None:
        """Count a delivery."""
        step = int(STEPS * log(max(1, milliseconds)))
        for scope in self._routes.scopes(route):
            histogram = self._histograms.setdefault(scope, {})
            histogram[step] = histogram.get(step, 0.0) + 1
            self._totals[scope] = self._totals.get(scope, 0.0) + 1
            if self._totals[scope] > ENOUGH:
                self._histograms[scope] = {each: count / 2 for each, count in histogram.items()}
                self._totals[scope] /= 2
        self._limits.clear()

    def is_late(self, route: int, milliseconds: int) -> bool:
        if milliseconds <= LEAST_LATE:
            return False
        if route not in self._limits:
            self._limits[route] = self._limit(route)
        return milliseconds > self._limits[route]

    def _limit(self, route: int) -> int:
        """Return the limit of the route or, if it has too few deliveries, of its first provider that has enough."""
        scopes = [each for each in self._routes.scopes(route) if each.level in (Level.ROUTE, Level.PROVIDER)]
        scope = next((each for each in scopes if self._totals.get(each, 0.0) >= LEAST_DELIVERIES), None)
        if scope is None:
            return WITHOUT_A_PAST
        left = self._totals[scope] * 0.01
        for step in sorted(self._histograms[scope], reverse=True):
            left -= self._histograms[scope][step]
            if left < 0:
                return max(LEAST_LATE, int(exp((step + 1) / STEPS)))
        return LEAST_LATE
