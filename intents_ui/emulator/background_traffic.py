"""Background traffic: scenario, route and amount of the n-th intent, derived from n alone.

Incidents in its past: each week, a route fails, a provider is silent, and a chain is slow. `data/incidents.json` lists
them, with times in UTC. They change only the transfers that are quoted meanwhile. Traffic of the last two days before a
process lists its first transfers has none, and processes agree on all earlier ones.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

from intents_ui.emulator import documents, names
from intents_ui.emulator.catalog import Catalogue
from intents_ui.emulator.names import noise
from intents_ui.emulator.scenario_engine import MAIN, SCENARIOS, Deal, Scenario, scenario_named

_ORDINARY: Final = [scenario for scenario in SCENARIOS if scenario.weight]
_SCENARIO_SHARES: Final = list(accumulate(scenario.weight for scenario in _ORDINARY))
_DOLLARS: Final = ("USDC", "USDT", "DAI")
_MEMOS: Final = (
    "Invoice 2026-{0:04}",
    "Rent",
    "Thanks for lunch!",
    "Top-up {0}",
    "Order #{0:05}",
    "Gehalt November",
    "給料",
)
_BRIDGES: Final = ("RELAY", "RELAY", "RELAY", "LIFI", "HYPERLANE", "OIF", "GASZIP")
_EXCHANGES: Final = ("SUSHI", "ZEROX", "LIFI")
# How often each chain is origin or destination.
_CHAINS: Final = (8453,) * 9 + (42161,) * 7 + (137,) * 6 + (10,) * 5 + (1,) * 5 + (56,) * 4 + (43114,) * 3
_REMOTE_CHAINS: Final = (100, 42170, 33139, 8333, 1868, 747474, 42793, 80094, 146, 143, 5031, 999)
_CCTP_CHAINS: Final = (8453, 42161, 10, 137, 43114, 1)
_SLOW_CCTP: Final = 3
LONGEST_STRETCH: Final = 1.6  # limit on what `ordinary` draws


class Dice:
    """Pseudorandom numbers derived from one number, the same in every process."""

    def __init__(self, number: int) -> None:
        self._bytes = noise(number, "traffic", 64)
        self._at = 0

    def below(self, limit: int) -> int:
        self._at += 3
        return int.from_bytes(self._bytes[self._at - 3 : self._at]) * limit >> 24

    def one_of[T](self, choices: tuple[T, ...] | list[T]) -> T:
        return choices[self.below(len(choices))]


@dataclass(frozen=True, slots=True)
class Ordinary:
    """What an intent of background traffic is."""

    scenario: Scenario
    variant: str
    deal: Deal
    stretch: float


def ordinary(number: int, catalogue: Catalogue) -> Ordinary:
    dice = Dice(number)
    scenario, variant = _drawn(dice)
    deal = _deal(scenario, dice, catalogue)
    stretch = (70 + dice.below(90)) / 100
    return Ordinary(scenario, variant, deal, stretch)


@lru_cache(10_000)
def scenario_of(number: int) -> tuple[Scenario, str]:
    """Return the scenario and variant of an intent, without its deal."""
    return _drawn(Dice(number))


def _drawn(dice: Dice) -> tuple[Scenario, str]:
    scenario = _ORDINARY[bisect_right(_SCENARIO_SHARES, dice.below(_SCENARIO_SHARES[-1]))]
    return scenario, dice.one_of(scenario.variant_names)


def _deal(scenario: Scenario, dice: Dice, catalogue: Catalogue) -> Deal:
    deal = scenario.deal
    if deal.same_chain:
        origin, destination, providers = _swap(dice, catalogue)
    elif "CCTP" in deal.providers:
        origin, destination, providers = _cctp(scenario, dice)
    elif "LZ_OFT" in deal.providers:
        origin, destination, providers = (dice.one_of((137, 10, 42161, 1)), "USDT"), (747474, "USDT"), ("LZ_OFT",)
    else:
        origin, destination, providers = _crossing(deal, dice, catalogue)
    amount = None if deal.exact_output else _amount(origin, dice, catalogue)
    least = 30 if origin[0] == 1 else 8
    receive = _amount(destination, dice, catalogue, least=least) if deal.exact_output else None
    memo = deal.memo
    if memo or dice.below(18) == 0:
        memo = dice.one_of(_MEMOS).format(dice.below(9999))
    return replace(
        deal,
        origin=origin,
        destination=destination,
        providers=providers,
        amount=amount,
        receive=receive,
        minimum=None,
        memo=memo,
        duration=deal.duration if scenario.number == _SLOW_CCTP else None,
    )


type _Place = tuple[int, str]


def _swap(dice: Dice, catalogue: Catalogue) -> tuple[_Place, _Place, tuple[str, ...]]:
    chain_id = dice.one_of(_CHAINS)
    symbols = [token.symbol for token in catalogue.tradable[chain_id]]
    first = dice.below(len(symbols))
    second = (first + 1 + dice.below(len(symbols) - 1)) % len(symbols)
    native = catalogue.native(chain_id)
    pair = (symbols[first], symbols[second])
    if native and {f"W{native.symbol}", native.symbol} == set(pair):
        return (chain_id, pair[0]), (chain_id, pair[1]), ("WETH",)
    return (chain_id, pair[0]), (chain_id, pair[1]), (dice.one_of(_EXCHANGES),)


def _cctp(scenario: Scenario, dice: Dice) -> tuple[_Place, _Place, tuple[str, ...]]:
    origin = 1 if scenario.number == _SLOW_CCTP else dice.one_of(_CCTP_CHAINS)
    destination = dice.one_of([chain_id for chain_id in _CCTP_CHAINS if chain_id != origin])
    if len(scenario.deal.providers) == 1:
        return (origin, "USDC"), (destination, "USDC"), ("CCTP",)
    paying = {137: "POL", 43114: "USDT"}.get(origin, dice.one_of(("USDT", "DAI", "ETH")))
    return (origin, paying), (destination, "USDC"), (scenario.deal.providers[0], "CCTP")


def _crossing(deal: Deal, dice: Dice, catalogue: Catalogue) -> tuple[_Place, _Place, tuple[str, ...]]:
    origin = dice.one_of(_CHAINS)
    others = [chain_id for chain_id in set(_CHAINS) if chain_id != origin]
    destination = dice.one_of(_REMOTE_CHAINS) if dice.below(6) == 0 else dice.one_of(sorted(others))
    paying = "USDC" if deal.deposit == "gasless" else dice.one_of(_featured(origin, catalogue))
    receiving = dice.one_of(_featured(destination, catalogue))
    bridge = dice.one_of(_BRIDGES) if deal.providers == ("RELAY",) else deal.providers[-1]
    providers = (deal.providers[0], bridge) if len(deal.providers) > 1 else (bridge,)
    return (origin, paying), (destination, receiving), providers


def _featured(chain_id: int, catalogue: Catalogue) -> list[str]:
    return [token.symbol for token in catalogue.tradable[chain_id] if token.listing == "featured"]


def _amount(place: _Place, dice: Dice, catalogue: Catalogue, *, least: int = 8) -> str:
    """Return an amount worth tens or hundreds of USD, sometimes thousands. Usually round for stablecoins."""
    token = catalogue.named(*place)
    floor = max(least, 60) if place[0] == 1 else least
    dollars = floor * 2 ** (dice.below(9000) / 1000)
    if token.symbol in _DOLLARS and dice.below(3):
        return str(round(dollars / 5) * 5 or 5)
    tokens = dollars * 1_000_000 / token.price
    return f"{tokens:.{max(2, min(6, token.decimals or 0))}f}"


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
            transfer = _CHANGES[incident.what](transfer, number, **incident.change)
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
