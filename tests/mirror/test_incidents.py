"""Incidents open, change and close by their rules, whatever the endings are."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

import pytest

from intents_ui.mirror.figures.scopes import Level
from intents_ui.mirror.incidents.counting import WINDOWS, Counts, Ending, OwnerCounts, Routes, Scope
from intents_ui.mirror.incidents.detector import Detector
from intents_ui.mirror.incidents.likelihood import binomial_tail
from intents_ui.mirror.incidents.rules import Incident, Kind, Knowledge, State
from intents_ui.mirror.incidents.usual import DAYS, Usual
from intents_ui.mirror.windows import DAY, HOUR, MINUTE

START = 1_800_000_000 // DAY * DAY + 9 * HOUR
A, B, C, D, E = range(1, 6)
PLACES = {
    A: ("RELAY", "1", "10"),
    B: ("RELAY", "8453", "137"),
    C: ("RELAY", "56", "42161"),
    D: ("LIFI", "1", "8453"),
    E: ("LIFI", "10", "137"),
}
OWNERS = 30  # an hour, on each route


@dataclass
class Story:
    """Minutes of the routes above, one after the other. `shares` of owners fail or are late on each route."""

    usual: int = OWNERS
    failed: int = 0  # of the usual ones, 2% if 0
    places: dict[int, tuple[str, str, str]] = field(default_factory=lambda: dict(PLACES))
    now: int = START
    said: list[Incident] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.owners = count()
        routes = Routes()
        for route, (provider, *chains) in self.places.items():
            routes.add(route, providers=provider.split(";"), chains=chains)
        usual = Usual(routes)
        for hour in range(START // HOUR - DAYS * 24, START // HOUR):
            failed = self.failed or (hour % 5 < 3)  # of 30, which are 2%
            usual.learn(hour, {route: Counts(self.usual, failed) for route in self.places})
        self.detector = Detector(routes, usual, start=self.now - 6 * HOUR)

    def minutes(
        self,
        length: int,
        *,
        failing: Iterable[int] = (),
        slow: Iterable[int] = (),
        silent: Iterable[int] = (),
        knowledge: Knowledge | None = None,
        also: Callable[[int], Iterable[Ending]] = lambda number: (),
    ) -> "Story":
        """Let time pass. Of bad routes, each second ending is bad. A route has an ending in every second minute."""
        for number in range(length):
            endings = [
                Ending(route, next(self.owners), self.now + 5, *(route in bad and is_turn for bad in (failing, slow)))
                for route in self.places
                if route not in silent and number % 2 == 0
                for is_turn in [number % 4 == 0]
            ]
            self.tell([*endings, *also(number)], knowledge)
        return self

    def tell(self, endings: Iterable[Ending], knowledge: Knowledge | None = None) -> None:
        self.detector.observe(endings)
        self.now += MINUTE
        self.said += self.detector.judge(self.now, knowledge or Knowledge())

    @property
    def incidents(self) -> list[Incident]:
        return [each for each in self.detector.incidents if each.folded_into is None]

    @property
    def only(self) -> Incident:
        [found] = self.incidents
        return found


@pytest.fixture
def story() -> Story:
    return Story().minutes(2 * HOUR // MINUTE)


@pytest.mark.parametrize(
    ("found", "of", "share", "expected"),
    [
        pytest.param(1, 2, 0.5, 0.75, id="one of two"),
        pytest.param(12, 30, 0.02, 4.64e-13, id="very improbable"),
        pytest.param(1, 100, 0.02, 1 - 0.98**100, id="probable"),
        pytest.param(1_900, 100_000, 0.02, 0.9884, id="large counts"),
        pytest.param(90_000, 100_000, 0.02, 0.0, id="too small for a number"),
        pytest.param(3, 2, 0.5, 0.0, id="more than there are"),
    ],
)
def test_the_probability_of_counts_is_exact(found: int, of: int, share: float, expected: float) -> None:
    assert binomial_tail(found, of, share) == pytest.approx(expected, rel=1e-2)


# Counts


def test_counts_are_those_of_a_plain_count() -> None:
    endings = [Ending(A, number * 7919 % 23, number * 97, number % 5 == 0, number % 7 == 0) for number in range(600)]
    counts, kept = OwnerCounts(), list[Ending]()
    for ending in endings:
        before = next((each for each in reversed(kept) if each.owner == ending.owner), None)
        if not (before and before.is_failed and ending.is_failed):
            kept.append(ending)
        counts.add(ending)
        if ending.at % 5 == 0:
            counts.tidy(now=ending.at)
        for place, length in enumerate(WINDOWS):
            first: dict[object, Ending] = {}
            for each in kept:
                if each.at >= ending.at - length:
                    first.setdefault(each.owner, each)
            failed, late = (sum(getattr(each, name) for each in first.values()) for name in ("is_failed", "is_late"))
            assert counts.counts(place, now=ending.at) == (len(first), failed, late)


# What opens


@pytest.mark.parametrize(
    ("routes", "failures", "is_incident"),
    [
        pytest.param(0, 3, True, id="of a small service"),
        pytest.param(300, 4, False, id="too few of a busy one"),
        pytest.param(300, 5, True, id="of a busy one"),
    ],
)
def test_the_more_fails_in_a_week_the_less_may_chance_explain(routes: int, failures: int, is_incident: bool) -> None:
    story = Story(places={A: PLACES[A], D: PLACES[D], **dict.fromkeys(range(100, 100 + routes), PLACES[E])})
    for number in range(30):
        story.tell([Ending(A, f"{number}", story.now + 5, number % 2 == 1 and number < 2 * failures)])
    assert any(each.kind is Kind.FAILING for each in story.incidents) is is_incident


def test_a_failing_route_opens_an_incident_within_minutes(story: Story) -> None:
    began = story.now
    story.minutes(30, failing=[A])
    found = story.only
    assert (found.scope, found.kind, found.state) == ((Level.ROUTE, "1"), Kind.FAILING, State.FAILING)
    assert found.opened - began <= 25 * MINUTE
    assert found.routes == {A}
    assert (found.bad, found.owners) == (8, 15)
    assert found.usual == pytest.approx(0.02, rel=0.01)


def test_transfers_without_an_owner_count_as_one_owners(story: Story) -> None:
    story.minutes(60, also=lambda _: [Ending(A, None, story.now + 9, True)] * 3)
    assert story.said == []


def test_what_usually_fails_opens_none_until_more_fail() -> None:
    story = Story(failed=OWNERS // 2)
    story.minutes(180, failing=PLACES)
    assert story.said == []
    story.minutes(60, failing=PLACES, also=lambda _: [Ending(A, next(story.owners), story.now + 9, True)])
    assert (story.only.scope.name, story.only.kind) == ("1", Kind.FAILING)


# Silence


def test_a_route_is_silent_where_twenty_owners_were_expected(story: Story) -> None:
    last = story.now
    story.minutes(37, silent=[A])
    assert story.said == []
    story.minutes(5, silent=[A])
    found = story.only
    assert (found.scope.name, found.kind, found.state) == ("1", Kind.SILENT, State.SILENT)
    assert last - 3 * MINUTE < found.since <= last


def test_a_silent_service_is_one_incident(story: Story) -> None:
    story.minutes(60, silent=PLACES)
    assert story.only.scope.level is Level.SERVICE
    assert story.only.routes == set(PLACES)


def test_a_silence_closes_after_half_an_hour_and_ten_owners(story: Story) -> None:
    story.minutes(60, silent=[A])
    story.minutes(10)
    assert story.only.state is State.RECOVERING
    story.minutes(22)
    assert story.only.state is State.OVER


# Folding


def test_a_provider_that_fails_on_three_routes_is_one_incident(story: Story) -> None:
    story.minutes(45, failing=[A, B, C])
    assert story.only.scope == (Level.PROVIDER, "RELAY")
    assert story.only.routes == {A, B, C}
    assert len([each for each in story.incidents if each.is_open]) == 1


def test_routes_that_fail_one_after_the_other_fold_into_the_oldest_incident(story: Story) -> None:
    story.minutes(40, failing=[A])
    first = story.only
    story.minutes(40, failing=[A, B])
    story.minutes(60, failing=[A, B, C])
    assert story.only.scope == (Level.PROVIDER, "RELAY")
    assert (story.only.number, story.only.since) == (first.number, first.since)
    folded = [each for each in story.detector.incidents if each.folded_into]
    assert folded
    assert {each.folded_into for each in folded} == {first.number}
    assert all(each.state is State.OVER for each in folded)


# Since, closing, reopening


def test_an_incident_recovers_and_closes_within_45_minutes(story: Story) -> None:
    story.minutes(60, failing=[A])
    recovered = story.now
    story.minutes(20)
    assert story.only.state is State.RECOVERING
    story.minutes(25)
    assert story.only.state is State.OVER
    assert story.only.closed is not None
    assert story.only.recovered == recovered - 8 * MINUTE + 5  # the failure after it is one of 15 owners
    assert story.only.closed - story.only.recovered >= 30 * MINUTE
    assert story.only.closed - recovered <= 45 * MINUTE


def test_an_incident_without_further_endings_closes_after_six_hours(story: Story) -> None:
    story.minutes(60, failing=[A])
    story.minutes(6 * 60 + 2, silent=[A])
    assert story.incidents[0].state is State.OVER


def test_an_incident_that_comes_again_within_half_an_hour_goes_on(story: Story) -> None:
    story.minutes(60, failing=[A])
    first = story.only
    story.minutes(34)
    assert story.only.state is State.OVER
    story.minutes(20, failing=[A])
    assert (story.only.number, story.only.state, story.only.since) == (first.number, State.FAILING, first.since)
    assert story.only.closed is None


def test_the_time_of_an_incident_is_not_usual(story: Story) -> None:
    usual = story.detector.usual.share(Scope(Level.ROUTE, str(A)))
    story.minutes(60, failing=[A])
    story.detector.learn(START // HOUR + 1, {A: Counts(15, 7)})
    story.detector.learn(START // HOUR + 2, {A: Counts(15, 7), B: Counts(15)})
    assert story.detector.usual.share(Scope(Level.ROUTE, str(A))) == pytest.approx(usual, rel=0.05)


def test_what_lasts_longer_than_a_day_is_usual(story: Story) -> None:
    usual = story.detector.usual.share(Scope(Level.ROUTE, str(A)))
    story.minutes(60, failing=[A])
    for hour in range(30, 54):
        story.detector.learn(START // HOUR + hour, {A: Counts(15, 7)})
    assert story.detector.usual.share(Scope(Level.ROUTE, str(A))) > 1.5 * usual


# What is unknown


def test_nothing_opens_or_closes_while_the_mirror_lags(story: Story) -> None:
    lagging = Knowledge(lag=5 * MINUTE + 1)
    since = story.now + MINUTE - lagging.lag
    story.minutes(60, failing=[A], silent=[B], knowledge=lagging)
    assert story.said == []
    assert story.detector.unknown_since == since
    story.minutes(20, failing=[A])
    assert story.detector.unknown_since is None
    assert story.only.scope.name == "1"
    story.minutes(60, knowledge=lagging)
    assert story.only.is_open


def test_nothing_opens_or_closes_in_a_window_with_a_hole(story: Story) -> None:
    hole = (story.now, story.now + 10 * MINUTE)
    knowledge = Knowledge(holes=[hole])
    story.minutes(24, failing=[A], silent=[B], knowledge=knowledge)
    assert story.said == []
    story.minutes(60, failing=[A], silent=[B], knowledge=knowledge)
    assert {(each.scope.name, each.kind) for each in story.incidents} == {("1", Kind.FAILING), ("2", Kind.SILENT)}
    hole = (story.now + 10 * MINUTE, story.now + 12 * MINUTE)
    story.minutes(20)
    story.minutes(12, knowledge=Knowledge(holes=[hole]))
    assert all(each.is_open for each in story.incidents)


# Names


def test_hostile_names_of_providers_do_nothing() -> None:
    hostile = ["", ";;;", "\0", "'; DROP TABLE mirror_incident; --", "P" * 100_000, ";".join("abcdefghijkl")]
    places = {number: (name, "\u202e1", "") for number, name in enumerate(hostile)}
    story = Story(places=places).minutes(60)
    assert story.said == []
    story.minutes(60, failing=places)
    assert story.only.is_open
    assert len(story.detector.routes.scopes(len(hostile) - 1)) <= 12


def test_an_earlier_failure_of_another_cause_is_not_its_beginning(story: Story) -> None:
    story.minutes(120, also=lambda number: [Ending(A, "unlucky", story.now, True)] if number == 0 else [])
    began = story.now
    story.minutes(40, failing=[A])
    assert story.only.since == began + 5
