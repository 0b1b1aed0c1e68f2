"""Incidents in the past of background traffic: each week, a route fails, a provider is silent, and a chain is slow.

`data/incidents.json` lists them, with times in UTC. They change only the transfers that are quoted meanwhile. Traffic
of the last two days before a process lists its first transfers has none, and processes agree on all earlier ones.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from intents_ui.emulator import documents, names
from intents_ui.emulator.background_traffic import Ordinary
from intents_ui.emulator.scenario_engine import MAIN, Deal
from intents_ui.emulator.scenarios import scenario_named

_WEEKDAYS: Final = ("Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday")  # from 1970-01-01 on
_MICROSECOND: Final = timedelta(microseconds=1)
_WEEK: Final = timedelta(weeks=1) // _MICROSECOND
# Those that take longer would start after their quotes expire.
_SLOWED_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident of each week. Times are in microseconds, `phase` is from the start of a week of Unix time.

    - `failing`: `percent_moved` of all transfers take the route instead, and `percent_failing` of the route's fail
    - `silent`: a provider has no transfers, and another one has them `instead`
    - `slow`: the chain's transfers take `times` as long
    """

    what: str
    phase: int
    duration: int
    change: dict[str, Any]

    def began(self, moment: int) -> int:
        """Return when it last began."""
        return moment - (moment - self.phase) % _WEEK

    def affects(self, moment: int, until: int) -> bool:
        """Return whether it lasts at a moment, and has ended by `until`."""
        end = self.began(moment) + self.duration
        return moment < end <= until

    def applied(self, transfer: Ordinary, number: int) -> Ordinary:
        return _CHANGES[self.what](transfer, number, **self.change)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that an incident happened. `start` and `end` are in Unix seconds."""

    what: str
    start: float
    end: float


def _incident(row: dict[str, Any]) -> Incident:
    hours, minutes = map(int, row.pop("start").split(":"))
    phase = timedelta(days=_WEEKDAYS.index(row.pop("weekday")), hours=hours, minutes=minutes)
    duration = timedelta(minutes=row.pop("minutes"))
    return Incident(row.pop("what"), phase // _MICROSECOND, duration // _MICROSECOND, row)


def affected(transfer: Ordinary, number: int, born: int, until: int) -> Ordinary:
    """Return what a transfer is, considering the incidents that ended by `until`."""
    for incident in INCIDENTS:
        if incident.affects(born, until):
            transfer = incident.applied(transfer, number)
    return transfer


def may_affect(born: int, until: int) -> bool:
    """Return whether any incident may change a transfer that was quoted then."""
    return any(incident.affects(born, until) for incident in INCIDENTS)


def occurrences(since: int, until: int) -> Iterator[Occurrence]:
    """Yield the occurrences that began after `since` and ended by `until`, latest first for each incident."""
    for incident in INCIDENTS:
        start = incident.began(until - incident.duration)
        while start > since:
            yield Occurrence(incident.what, start * 1e-6, (start + incident.duration) * 1e-6)
            start -= _WEEK


def _fail(
    transfer: Ordinary,
    number: int,
    *,
    route: dict[str, list[Any]],
    percent_moved: int,
    percent_failing: int,
    scenario: str,
) -> Ordinary:
    moved, failing, amount = names.noise(number, "incident", 3)
    places: dict[str, Any] = {name: tuple(value) for name, value in route.items()}
    if moved * 100 < percent_moved * 256:
        usual = scenario_named("cross-chain-fast")
        deal = replace(usual.deal, **places, amount=str(5 + 5 * amount))
        transfer = replace(transfer, scenario=usual, variant=MAIN, deal=deal)
    if failing * 100 >= percent_failing * 256 or _path(transfer.deal) != _path(replace(transfer.deal, **places)):
        return transfer
    return replace(transfer, scenario=scenario_named(scenario), variant=MAIN)


def _path(deal: Deal) -> tuple[tuple[str, ...], int, int]:
    return deal.providers, deal.origin[0], deal.destination[0]


def _silence(transfer: Ordinary, _: int, *, providers: list[str], instead: str) -> Ordinary:
    deal = transfer.deal
    others = tuple(instead if provider in providers else provider for provider in deal.providers)
    return replace(transfer, deal=replace(deal, providers=others))


def _slow_down(transfer: Ordinary, _: int, *, chain: int, times: int) -> Ordinary:
    is_there = chain in (transfer.deal.origin[0], transfer.deal.destination[0])
    if not is_there or transfer.scenario.lasts > _SLOWED_SECONDS:
        return transfer
    return replace(transfer, stretch=transfer.stretch * times)


_CHANGES: Final[dict[str, Callable[..., Ordinary]]] = {"failing": _fail, "silent": _silence, "slow": _slow_down}
INCIDENTS: Final = [_incident(dict(row)) for row in documents.table("incidents.json")]
