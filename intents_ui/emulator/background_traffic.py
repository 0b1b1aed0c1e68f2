"""Background traffic: scenario, route and amount of the n-th intent, derived from n alone, and outages of providers."""

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from intents_ui.emulator import documents
from intents_ui.emulator.catalog import TOKENS, known, wraps
from intents_ui.emulator.documents import MICROSECONDS
from intents_ui.emulator.names import noise
from intents_ui.emulator.scenario_engine import MAIN, SCENARIOS, Deal, Scenario, play, scenario_named
from intents_ui.emulator.transfers import Course, course_of

_ORDINARY: Final = [scenario for scenario in SCENARIOS if scenario.weight]
_SCENARIO_SHARES: Final = list(accumulate(scenario.weight for scenario in _ORDINARY))
# Its variants that end.
_ENDING: Final = {
    scenario.number: [
        variant for variant in scenario.variant_names if scenario.script_of(variant)[-1].status != "EXECUTING"
    ]
    for scenario in _ORDINARY
}
_DOLLARS: Final = ("USDC", "USDT", "DAI")
_TABLE: Final = documents.table("traffic.json")
# As often as each chain is origin or destination.
_CHAINS: Final = [int(chain_id) for chain_id, share in _TABLE["chains"].items() for _ in range(share)]
_PLACES: Final = {*_CHAINS, *_TABLE["remoteChains"]}
_OTHER_CHAINS: Final = {origin: sorted({*_CHAINS} - {origin}) for origin in _CHAINS}
_TRADABLE: Final = {origin: [each for each in TOKENS if each.chain_id == origin and each.price] for origin in _PLACES}
_FEATURED: Final = {
    origin: [each.symbol for each in tokens if each.listing == "featured"] for origin, tokens in _TRADABLE.items()
}
_SLOW_CCTP: Final = 3


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


def ordinary(*, number: int, born: int, owner: int) -> Course:
    dice = Dice(number)
    scenario = _ORDINARY[bisect_right(_SCENARIO_SHARES, dice.below(_SCENARIO_SHARES[-1]))]
    variant = dice.one_of(_ENDING[scenario.number])
    deal, stretch = _deal(scenario, dice), (70 + dice.below(90)) / 100
    return course_of(scenario, variant, deal, number=number, born=born, owner=owner, stretch=stretch)


def _deal(scenario: Scenario, dice: Dice) -> Deal:
    deal = scenario.deal
    if deal.same_chain:
        origin, destination, providers = _swap(dice)
    elif "CCTP" in deal.providers:
        origin, destination, providers = _cctp(scenario, dice)
    elif "LZ_OFT" in deal.providers:
        origin, destination, providers = (dice.one_of((137, 10, 42161, 1)), "USDT"), (747474, "USDT"), ("LZ_OFT",)
    else:
        origin, destination, providers = _crossing(deal, dice)
    amount = None if deal.exact_output else _amount(origin, dice)
    least = 30 if origin[0] == 1 else 8
    receive = _amount(destination, dice, least=least) if deal.exact_output else None
    memo = deal.memo
    if memo or dice.below(18) == 0:
        memo = dice.one_of(_TABLE["memos"]).format(dice.below(9999))
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


def _swap(dice: Dice) -> tuple[_Place, _Place, tuple[str, ...]]:
    chain_id = dice.one_of(_CHAINS)
    tokens = _TRADABLE[chain_id]
    first = dice.below(len(tokens))
    second = (first + 1 + dice.below(len(tokens) - 1)) % len(tokens)
    provider = "WETH" if wraps(tokens[first], tokens[second]) else dice.one_of(_TABLE["exchanges"])
    return (chain_id, tokens[first].symbol), (chain_id, tokens[second].symbol), (provider,)


def _cctp(scenario: Scenario, dice: Dice) -> tuple[_Place, _Place, tuple[str, ...]]:
    origin = 1 if scenario.number == _SLOW_CCTP else dice.one_of(_TABLE["cctpChains"])
    destination = dice.one_of([chain_id for chain_id in _TABLE["cctpChains"] if chain_id != origin])
    if len(scenario.deal.providers) == 1:
        return (origin, "USDC"), (destination, "USDC"), ("CCTP",)
    paying = {137: "POL", 43114: "USDT"}.get(origin, dice.one_of(("USDT", "DAI", "ETH")))
    return (origin, paying), (destination, "USDC"), (scenario.deal.providers[0], "CCTP")


def _crossing(deal: Deal, dice: Dice) -> tuple[_Place, _Place, tuple[str, ...]]:
    origin = dice.one_of(_CHAINS)
    destination = dice.one_of(_TABLE["remoteChains"]) if dice.below(6) == 0 else dice.one_of(_OTHER_CHAINS[origin])
    paying = "USDC" if deal.deposit == "gasless" else dice.one_of(_FEATURED[origin])
    receiving = dice.one_of(_FEATURED[destination])
    bridge = dice.one_of(_TABLE["bridges"]) if deal.providers == ("RELAY",) else deal.providers[-1]
    providers = (deal.providers[0], bridge) if len(deal.providers) > 1 else (bridge,)
    return (origin, paying), (destination, receiving), providers


def _amount(place: _Place, dice: Dice, *, least: int = 8) -> str:
    """Return an amount worth tens or hundreds of USD, sometimes thousands. Usually round for stablecoins."""
    token = known(*place)
    floor = max(least, 60) if place[0] == 1 else least
    dollars = floor * 2 ** (dice.below(9000) / 1000)
    if token.symbol in _DOLLARS and dice.below(3):
        return str(round(dollars / 5) * 5 or 5)
    tokens = dollars * 1_000_000 / token.price
    return f"{tokens:.{max(2, min(6, token.decimals or 0))}f}"


_MINUTE: Final = 60 * MICROSECONDS
_HOUR: Final = 60 * _MINUTE
_FAST: Final = scenario_named("cross-chain-fast")
_BRIDGED: Final = 35  # seconds, when its bridge delivers
_REFUNDED: Final = scenario_named("refunded-on-origin")
# Seven of nine transfers of rarer owners, in fixed places of the traffic, so that the counts of an outage are nearly
# the same at any time.
_HIT, _HIT_OF, _RARER_OWNERS = 7, 9, 20
_LONGEST_REST: Final = 240  # seconds from the end of an outage until the bridge delivers


@dataclass(frozen=True, slots=True)
class Outage:
    """A time, in microseconds, in which transfers over a provider hang until its end, or fail and are refunded.

    It has more transfers than usual meanwhile.
    """

    provider: str
    start: int
    end: int
    hangs: bool

    def hits(self, k: int, owner: int, born: int) -> bool:
        """Return whether an owner's transfer, the k-th of the traffic and quoted then, is affected."""
        return self.start <= born < self.end and owner >= _RARER_OWNERS and k % _HIT_OF < _HIT

    def course(self, *, number: int, born: int, owner: int) -> Course:
        """Return a transfer that is affected."""
        dice = Dice(number)
        scenario = _FAST if self.hangs else _REFUNDED
        deal = replace(_deal(scenario, dice), providers=(self.provider,))
        course = course_of(scenario, MAIN, deal, number=number, born=born, owner=owner)
        if not self.hangs:
            return course
        delay = (self.end - born) / MICROSECONDS + dice.below(_LONGEST_REST)
        late = [replace(step, at=step.at + delay) if step.at >= _BRIDGED else step for step in scenario.script]
        return replace(course, scenes=play(tuple(late)))


def outages_around(started: int) -> tuple[Outage, ...]:
    """Return the outages of a demo that starts then: one that lasts for some minutes more, and two of the past."""
    return (
        Outage("RELAY", started - 35 * _MINUTE, started + 5 * _MINUTE, hangs=True),
        Outage("HYPERLANE", started - 21 * _HOUR, started - 21 * _HOUR + 40 * _MINUTE, hangs=True),
        Outage("OIF", started - 51 * _HOUR, started - 50 * _HOUR, hangs=False),
    )
