"""Scenario engine: turns a script and an age into a scene. Pure functions.

data/scenarios.json has the thirty scenarios. Times are seconds after the quote. A `note` is for readers of the file.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from intents_ui.emulator import documents


@dataclass(frozen=True, slots=True)
class Deal:
    """Requested transfer: tokens as (chain ID, symbol or address), amounts in whole tokens.

    - `amount`: None if it follows from `receive`. If both are given, the difference is market impact.
    - `minimum`: the minimum received
    - `deposit`: `wallet` is sent by the owner, `gasless` is relayed with the owner's signature, `watched` is detected
      at the address
    - `payee`: recipient other than the owner
    - `calls`: the payee is a contract to call
    - `free`: without fees
    - `edge`: the origin chain isn't EVM, and the documents have fields outside of the schema
    """

    origin: tuple[int, str]
    destination: tuple[int, str]
    providers: tuple[str, ...]
    amount: str | None = None
    receive: str | None = None
    minimum: str | None = None
    exact_output: bool = False
    deposit: str = "wallet"
    fund_method: str = "WALLET"
    payee: str | None = None
    calls: bool = False
    memo: str | None = None
    duration: int | None = None
    protocol: str = "v1"
    free: bool = False
    edge: bool = False

    @property
    def same_chain(self) -> bool:
        return self.origin[0] == self.destination[0]


MAIN: Final = "A"
LEGS: Final = ("deposit", "origin", "destination", "refund")
PENDING_STATUSES: Final = frozenset({"QUOTED", "COMMITTED", "EXECUTING"})
MINED: Final = frozenset({"SUCCEEDED", "FAILED", "REVERTED", "RELAYED"})
UNSENT: Final = frozenset({"UNKNOWN", "ON_HOLD", "PENDING", "ABORTED", "QUEUED"})
UNPUBLISHED: Final = UNSENT | {"RELAYING", "ERRORED"}
ARRIVED: Final = frozenset({"SUCCEEDED", "RELAYED"})

# Values of `<leg>.txnHash` in a script: a meaningless hash, and the one that follows from the intent's number.
PLACEHOLDER: Final = "placeholder"
OWN: Final = "own"


@dataclass(frozen=True, slots=True)
class Step:
    """From `at` seconds after the quote on: status of the intent and of its transactions (None: no transaction).

    `sets` has other changes, by `leg.field`, `summary.field`, `intent.field` or `balance`. They last until set again.
    """

    at: float
    status: str
    legs: tuple[str | None, ...]
    sets: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leg:
    """State of a transaction. Times are seconds after the quote."""

    status: str
    born: float
    updated: float
    mined: float | None
    sent: bool
    published: bool
    marks: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scene:
    """State of a transfer from `at` on. Times are seconds after the quote."""

    at: float
    status: str
    legs: tuple[Leg | None, ...]
    updated: float
    started: float | None
    finished: float | None
    marks: Mapping[str, Any]

    @property
    def receipt_states(self) -> list[str]:
        """The cursor of WaitIntentReceipt by position: deposit, origin, destination, refund."""
        statuses = [leg.status if leg else None for leg in self.legs]
        while statuses and statuses[-1] is None:
            statuses.pop()
        return [status or "UNKNOWN" for status in statuses]


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment in a scenario: seconds after the quote, in one of its variants."""

    at: float
    variant: str = MAIN


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario.

    - `variants`: other courses, `variant_deals`: other amounts. The main variant `A` is `script`.
    - `title`, `why`: for support agents and owners, what happens and what it teaches
    - `worst`: the moment that shows what the title says. A scene begins there or long before, so that a page about a
      copy held there stays the same for 15 minutes, apart from ages and estimates.
    - `weight`: share of ordinary traffic. 0: only the scenario's own copies.
    """

    number: int
    slug: str
    title: str
    why: str
    route: str
    deal: Deal
    script: tuple[Step, ...]
    worst: Moment
    variants: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    variant_deals: Mapping[str, Deal] = field(default_factory=dict)
    weight: int = 0
    scenes: dict[str, tuple[Scene, ...]] = field(default_factory=dict)  # by variant

    def script_of(self, variant: str) -> tuple[Step, ...]:
        return self.variants.get(variant, self.script)

    def deal_of(self, variant: str) -> Deal:
        return self.variant_deals.get(variant, self.deal)

    @property
    def variant_names(self) -> list[str]:
        return sorted({MAIN, *self.variants, *self.variant_deals})

    @property
    def lasts(self) -> float:
        """Seconds until nothing changes anymore, in the longest variant."""
        return max(self.script_of(variant)[-1].at for variant in self.variant_names)


def steps(script: Iterable[str | Mapping[str, Any]]) -> tuple[Step, ...]:
    """Parse a script: lines of `seconds status deposit origin destination refund`. Missing transactions are left out.

    A mapping after a line has what that step `sets`.
    """
    parsed: list[Step] = []
    for entry in script:
        if isinstance(entry, str):
            at, status, *legs = entry.split()
            parsed.append(Step(float(at), status, (*legs, *[None] * (len(LEGS) - len(legs)))))
        else:
            parsed[-1] = replace(parsed[-1], sets=entry)
    return tuple(parsed)


def play(script: tuple[Step, ...]) -> tuple[Scene, ...]:
    """Return the scenes of a script. Creation, send and mining times of transactions follow from their statuses."""
    scenes: list[Scene] = []
    before = Scene(0.0, "", (None, None, None, None), 0.0, None, None, {})
    for step in script:
        before = _next_scene(before, step)
        scenes.append(before)
    return tuple(scenes)


def scene_at(scenes: tuple[Scene, ...], age: float) -> Scene:
    return scenes[max(0, bisect_right(scenes, age, key=lambda scene: scene.at) - 1)]


def _next_scene(before: Scene, step: Step) -> Scene:
    mined_at = _mining_times(before, step)
    # Transactions that appear in a later step were created together, shortly before the first of them was mined.
    born = (before.at + min(mined_at.values())) / 2 if mined_at and before.at < step.at else step.at
    legs = tuple(_next_leg(before.legs[index], step, index, born, mined_at.get(index)) for index in range(len(LEGS)))
    marks = {**before.marks, **{key: value for key, value in step.sets.items() if key.split(".")[0] not in LEGS}}
    # A balance is read from the chain, so its change doesn't update the record.
    recorded = {key for key in step.sets if key != "balance"}
    changed = step.status != before.status or legs != before.legs or bool(recorded)
    is_returning = legs[3] is not None and legs[3].status not in MINED
    is_over = step.status not in PENDING_STATUSES and not is_returning
    finished = step.at if before.finished is None else before.finished
    return Scene(
        at=step.at,
        status=step.status,
        legs=legs,
        updated=step.at if changed else before.updated,
        started=legs[0].born if legs[0] else None,
        finished=finished if is_over else None,
        marks=marks,
    )


def _mining_times(before: Scene, step: Step) -> dict[int, float]:
    """Return the mining times of transactions that this step reports as mined: evenly spaced, the last at the step."""
    mined = []
    for index, name in enumerate(LEGS):
        was = before.legs[index]
        on_chain = step.legs[index] in MINED and step.sets.get(f"{name}.mined", True)
        if on_chain and (was is None or was.status != step.legs[index]):
            mined.append(index)
    span = step.at - before.at
    return {index: step.at - span * (len(mined) - 1 - place) / len(mined) for place, index in enumerate(mined)}


def _next_leg(was: Leg | None, step: Step, index: int, born: float, mined_at: float | None) -> Leg | None:
    status = step.legs[index]
    if status is None:
        return None
    own = {key.partition(".")[2]: value for key, value in step.sets.items() if key.startswith(LEGS[index] + ".")}
    on_chain = own.pop("mined", True)
    if was and was.status == status and not own:
        return was
    mined = mined_at if mined_at is not None else (was.mined if was and status in MINED else None)
    return Leg(
        status=status,
        born=was.born if was else born,
        updated=mined_at if mined_at is not None else step.at,
        mined=mined,
        sent=bool(was and was.sent) or status not in UNSENT,
        published=bool(was and was.published) or (status not in UNPUBLISHED and on_chain),
        marks={**(was.marks if was else {}), **own},
    )


def _scenario(row: dict[str, Any]) -> Scenario:
    typed = {
        "deal": _deal(row["deal"]),
        "script": steps(row["script"]),
        "worst": Moment(**row["worst"]),
        "variants": {name: steps(script) for name, script in row.get("variants", {}).items()},
        "variant_deals": {name: _deal(deal) for name, deal in row.get("variant_deals", {}).items()},
    }
    made = Scenario(**{name: value for name, value in row.items() if name != "note"} | typed)
    made.scenes.update((variant, play(made.script_of(variant))) for variant in made.variant_names)
    return made


def _deal(row: dict[str, Any]) -> Deal:
    typed: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    if isinstance(memo := row.get("memo"), dict):  # a text to repeat until it has a length
        typed["memo"] = (memo["text"] * memo["length"])[: memo["length"]]
    return Deal(**typed)


SCENARIOS: Final = tuple(map(_scenario, documents.table("scenarios.json")))

# Courses of an executed intent without a scenario: a quick success, on one chain or across two.
EXECUTED: Final = {name: steps(script) for name, script in documents.table("executed.json").items()}


def scenario_named(which: int | str) -> Scenario:
    """Return a scenario by number or slug. Raises KeyError."""
    for scenario in SCENARIOS:
        if which in (scenario.number, scenario.slug, str(scenario.number)):
            return scenario
    raise KeyError(which)
