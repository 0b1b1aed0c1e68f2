"""Incidents open, change and close by their rules, whatever happens to the transfers."""

import copy
import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from intents_ui.mirror.entry import RouteKey, TokenKey
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scope_of_token, scopes_of
from intents_ui.mirror.incidents.detector import (
    LONGEST,
    Begun,
    Detector,
    Incident,
    Kind,
    Spans,
    State,
    is_calm,
    is_worse,
    tail,
)
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, NEVER
from intents_ui.service.outcome import Outcome

START = 1_800_000_000 // DAY * DAY + 9 * HOUR
LIMIT = 5 * MINUTE
A, B, C, D, E = range(1, 6)
PLACES = {
    A: ("RELAY", "1", "10"),
    B: ("RELAY", "8453", "137"),
    C: ("RELAY", "56", "42161"),
    D: ("LIFI", "1", "8453"),
    E: ("LIFI", "10", "137"),
}
TOKENS = ("USDC", "ETH")
ROUTE = ScopeName(Level.ROUTE, *PLACES[A])
PARTS = scopes_of(RouteKey(*PLACES[A]))


@dataclass
class Story:
    """Minutes of the routes above, after a day of them. A route has a transfer in each minute."""

    places: dict[int, tuple[str, str, str]] = field(default_factory=lambda: dict(PLACES))
    usual: int = 30  # transfers until one fails
    now: int = START - DAY
    said: list[Incident] = field(default_factory=list)
    number: int = -1
    transfers: dict[int, Begun] = field(default_factory=dict)  # as last read

    def __post_init__(self) -> None:
        self.late: dict[int, tuple[int, Begun]] = {}
        self.detector = Detector()
        while self.now < START:
            self.transfers |= self.read()
            if self.now % HOUR == 0:
                self.learn(self.now // HOUR - 1)

    def learn(self, hour: int) -> None:
        self.detector.learn([hour], self.transfers.values())

    def read(
        self,
        failing: Iterable[int] = (),
        hanging: Iterable[int] = (),
        silent: Iterable[int] = (),
        tokens: Iterable[str] = TOKENS,
    ) -> dict[int, Begun]:
        """Return what begins in the next minute, and what hung until its limit. Half of what is bad is."""
        found: dict[int, Begun] = {}
        for route in self.places:
            self.number += 1
            key = self.number
            token = TOKENS[self.now // MINUTE // 2 % 2]
            is_turn = self.now // MINUTE % 2 == 0 and token in tokens
            if route in silent:
                continue
            place = RouteKey(*self.places[route])
            scopes = scopes_of(place, (TokenKey(place.origin_chain, token, token),))
            began = Begun(scopes, f"owner {key}", self.now + 5)
            if route in hanging and is_turn:
                found[key] = began
                self.late[key] = self.now + 5 + LIMIT, began
            else:
                is_bad = is_turn if route in failing else key // len(self.places) % self.usual == route
                found[key] = began._replace(at=self.now + 20, is_bad=is_bad, has_failed=is_bad)
        self.now += MINUTE
        for key, (at, _) in list(self.late.items()):
            if at <= self.now:
                found[key] = self.late.pop(key)[1]._replace(at=at, is_bad=True)
        return found

    def minutes(self, length: int, *, holes: Spans = (), **bad: Iterable[int | str]) -> "Story":
        for _ in range(length):
            self.transfers |= self.read(**bad)  # type: ignore[arg-type]
            recent = [each for each in self.transfers.values() if (each.at or each.began) > self.now - LONGEST]
            self.said += self.detector.judge(self.now, recent, holes)
        return self

    @property
    def incidents(self) -> list[Incident]:
        return [each for each in self.detector.incidents.values() if each.folded_into is None]

    @property
    def only(self) -> Incident:
        [found] = self.incidents
        return found


@functools.cache
def quiet() -> Story:
    return Story().minutes(60)


@pytest.fixture
def story() -> Story:
    return copy.deepcopy(quiet())


@pytest.mark.parametrize(
    ("bad", "owners", "share", "correlation", "expected"),
    [
        pytest.param(1, 2, 0.5, 1e-6, 0.75, id="one of two"),
        pytest.param(12, 30, 0.02, 1e-9, 4.64e-13, id="very improbable"),
        pytest.param(1, 100, 0.02, 1e-8, 1 - 0.98**100, id="probable"),
        pytest.param(3, 3, 0.5, 1 / 3, 0.25, id="shares between 0 and 1 are equally likely"),
        pytest.param(1900, 100_000, 0.02, 1e-9, 0.9884, id="less than usual"),
    ],
)
def test_the_probability_of_counts_is_exact(
    bad: int, owners: int, share: float, correlation: float, expected: float
) -> None:
    assert tail(bad, owners, share, correlation) == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize(
    ("usual", "calm", "worse"),
    [
        pytest.param(0.01, 5, 10, id="a twentieth and a tenth"),
        pytest.param(0.2, 33, 43, id="twice and three times the odds"),
    ],
)
def test_of_a_hundred_owners_so_many_are_calm_and_so_many_worse(usual: float, calm: int, worse: int) -> None:
    assert max(bad for bad in range(101) if is_calm(bad, 100, usual, before=0.0)) == calm
    assert min(bad for bad in range(101) if is_worse(bad, 100, usual)) == worse


# What counts

BEGUN = Begun(PARTS, "owner", 0)
LATE = BEGUN._replace(at=LIMIT, is_bad=True)


@pytest.mark.parametrize(
    ("outcome", "took", "expected"),
    [
        pytest.param(Outcome.OPEN, 0, None, id="open"),
        pytest.param(Outcome.DELIVERED, 40, BEGUN._replace(at=40), id="delivered"),
        pytest.param(Outcome.DELIVERED, 900, LATE, id="delivered late"),
        pytest.param(Outcome.FAILED, 40, BEGUN._replace(at=40, is_bad=True, has_failed=True), id="failed"),
        pytest.param(Outcome.REFUNDED, 9000, LATE, id="refunded late"),
        pytest.param(Outcome.ABORTED, 40, None, id="aborted by the owner"),
        pytest.param(Outcome.ABORTED, 900, LATE, id="aborted because it was late"),
        pytest.param(Outcome.REJECTED, 900, None, id="a deposit that was rejected"),
        pytest.param(Outcome.NO_DEPOSIT, 900, None, id="a deposit that never came"),
        pytest.param(Outcome.UNCONFIRMED, 40, None, id="unconfirmed"),
    ],
)
def test_a_transfer_is_decided_by_its_end_or_its_limit(outcome: Outcome, took: int, expected: Begun | None) -> None:
    found = BEGUN.decided(outcome, "", 1, ended=took, limit=LIMIT, now=LIMIT - 1)
    assert found == (BEGUN if outcome is Outcome.OPEN else expected)
    assert BEGUN.decided(Outcome.OPEN, "EXECUTING", None, ended=0, limit=LIMIT, now=LIMIT) == LATE
    assert BEGUN.decided(Outcome.OPEN, "COMMITTED", None, ended=0, limit=LIMIT, now=LIMIT) is None
    assert BEGUN.decided(Outcome.FAILED, "FAILED", 0, ended=40, limit=LIMIT, now=LIMIT) is None


# What opens


@pytest.mark.parametrize(
    ("bad", "scope"),
    [
        pytest.param({"failing": [A]}, ROUTE, id="route"),
        pytest.param({"hanging": [A, B, C]}, ScopeName(Level.PROVIDER, "RELAY"), id="provider"),
        pytest.param({"hanging": [A, D]}, ScopeName(Level.CHAIN, "", "1"), id="chain"),
        pytest.param({"hanging": [A, D], "tokens": ["USDC"]}, scope_of_token("1", "USDC"), id="token"),
        pytest.param({"hanging": PLACES}, EVERYTHING, id="service"),
    ],
)
def test_an_outage_is_one_incident_of_what_explains_it(
    story: Story, bad: dict[str, list[int]], scope: ScopeName
) -> None:
    began = story.now
    story.minutes(45, **bad)
    assert (story.only.scope, story.only.kind, story.only.state) == (scope, Kind.UNDELIVERED, State.OPEN)
    assert story.only.opened - began <= 20 * MINUTE
    assert 0 <= story.only.since - began <= 2 * MINUTE + LIMIT  # not with an earlier failure of another cause


@pytest.mark.parametrize(
    ("bad_per_week", "bad", "owners", "alerts"),
    [
        pytest.param(0, 2, 2, [], id="two owners, by chance 1 in 3,400"),
        pytest.param(0, 3, 16, [], id="1 in 1,960"),
        pytest.param(0, 3, 15, [False], id="1 in 2,400"),
        pytest.param(0, 3, 8, [False], id="1 in 18,000"),
        pytest.param(0, 3, 7, [True], id="1 in 29,000"),
        pytest.param(5_000, 3, 5, [], id="busy, 1 in 101,000"),
        pytest.param(5_000, 3, 4, [False], id="busy, 1 in 251,000"),
        pytest.param(5_000, 3, 3, [False], id="busy, 1 in 1,000,000"),
        pytest.param(5_000, 4, 4, [True], id="busy, 1 in 100,000,000"),
    ],
)
def test_three_owners_open_an_incident_or_an_alert_if_chance_rarely_explains_it(
    bad_per_week: int, bad: int, owners: int, alerts: list[bool]
) -> None:
    """A hundredth is usually bad. Limits are 1 in 2,000 and, with 5,000 in a week, 1 in 170,000. Alerts: a tenth."""
    detector = Detector()
    in_service = round(bad_per_week / (7 * 24) * 100)
    detector.usual.learn(START // HOUR - 1, {ROUTE: (0, 1_000, 0), EVERYTHING: (0, in_service, 0)})
    late = (Begun(PARTS, f"owner {each}", START - LIMIT, START, each < bad) for each in range(owners))
    detector.judge(START, late)
    assert [each.is_alert for each in detector.incidents.values()] == alerts


def test_a_provider_may_be_bad_on_one_chain_only() -> None:
    places = {A: ("RELAY", "1", "10"), B: ("RELAY", "1", "137"), C: ("RELAY", "56", "137"), D: ("LIFI", "1", "10")}
    story = Story(places={**places, E: ("LIFI", "1", "137")}).minutes(15)
    story.minutes(45, hanging=[A, B])
    assert story.only.scope == ScopeName(Level.PROVIDER_ON_CHAIN, "RELAY", "1")


def test_more_traffic_of_a_bad_route_is_not_an_incident_of_all() -> None:
    story = Story()
    usual = {ROUTE: (30, 60, 0), EVERYTHING: (30, 900, 0)}
    for hour in range(1, 25):
        story.detector.usual.learn(-hour, usual)
    for number in range(60):
        each = Begun(PARTS, f"more {number}", story.now, story.now, number % 2 == 0)
        story.transfers[-number - 1] = each
        story.minutes(1, silent=[B, C, D, E])
    assert [each for each in story.said if each.kind is Kind.UNDELIVERED] == []


@pytest.mark.parametrize(
    ("owners", "has_failed", "opened"),
    [
        pytest.param([None] * 60, False, 0, id="one owner again and again"),
        pytest.param(map(str, range(6)), True, 0, id="what fails may be the doing of an owner of six addresses"),
        pytest.param(map(str, range(6)), False, 1, id="what is late may not"),
    ],
)
def test_few_owners_open_an_incident_only_by_what_is_late(
    story: Story, owners: Iterable[str | None], has_failed: bool, opened: int
) -> None:
    for number, owner in enumerate(owners, 1):
        story.transfers[-number] = Begun(PARTS, owner, story.now, story.now, True, has_failed)
        story.minutes(2)
    assert len(story.incidents) == opened


def test_what_usually_fails_opens_none() -> None:
    story = Story(usual=6).minutes(90)
    assert story.said == []


def test_an_incident_whose_transfers_are_forgotten_keeps_its_counts(story: Story) -> None:
    story.minutes(30, failing=[A])
    for _ in range(20):  # judged every 20 minutes
        for _ in range(19):
            story.transfers |= story.read(silent=[A])
        story.minutes(1, silent=[A])
    [found] = [each for each in story.incidents if each.kind is Kind.UNDELIVERED]
    assert found.state is State.OVER
    assert 0 < found.bad <= found.owners


# Nothing starts


def test_nothing_starts_where_twenty_owners_were_expected_until_half_an_hour_after_it_ended(story: Story) -> None:
    last = story.now
    story.minutes(19, silent=[A])
    assert story.said == []
    story.minutes(4, silent=[A])
    assert (story.only.kind, story.only.is_alert, last - MINUTE < story.only.since <= last) == (Kind.SILENT, True, True)
    assert story.only.usual == pytest.approx(20, abs=2)  # owners
    story.minutes(34)
    assert story.only.state is State.OVER


# Changes


def test_routes_that_hang_one_after_the_other_become_one_incident(story: Story) -> None:
    story.minutes(30, failing=[A])
    first = story.only
    story.minutes(30, failing=[A, B, C])
    assert story.only.scope == ScopeName(Level.PROVIDER, "RELAY")
    assert story.only.number == first.number
    assert all(each.state is State.OVER for each in story.detector.incidents.values() if each.folded_into)


def test_an_incident_recovers_closes_within_35_minutes_and_goes_on_if_it_comes_again(story: Story) -> None:
    story.minutes(30, failing=[A])
    first, recovered = story.only, story.now
    story.minutes(20)
    assert story.only.state is State.RECOVERING
    story.minutes(15)
    assert story.only.state is State.OVER
    closed = story.only.closed or 0
    assert (closed - (story.only.recovered or 0) >= 30 * MINUTE, closed - recovered <= 35 * MINUTE) == (True, True)
    story.minutes(20, failing=[A])
    again = story.only
    assert (again.number, again.state, again.since, again.closed) == (first.number, State.OPEN, first.since, None)


def test_the_time_of_an_incident_is_not_usual(story: Story) -> None:
    hour = story.now // HOUR
    usual = story.detector.usual.share(ROUTE)
    story.minutes(60, failing=[A])
    story.learn(hour)
    assert story.detector.usual.share(ROUTE) == pytest.approx(usual, rel=0.05)


def test_shares_that_vary_by_hour_make_chance_explain_more() -> None:
    steady, varying = Detector(), Detector()
    for hour in range(100):
        steady.usual.learn(hour, {ROUTE: (2, 50, 0)})
        varying.usual.learn(hour, {ROUTE: (8 if hour % 4 == 0 else 0, 50, 0)})
    found = []
    for each in (steady, varying):
        each.usual.estimate()
        found.append(each.usual.correlations[Level.ROUTE])
    assert found[0] < 1e-3 < 0.05 < found[1]


# What is unknown


def test_nothing_opens_or_closes_while_the_mirror_lags_or_in_a_window_with_a_hole(story: Story) -> None:
    since = story.now - 4 * MINUTE
    story.minutes(24, failing=[A], silent=[B], holes=[(since, NEVER)])
    assert (story.said, story.detector.unknown_since) == ([], since)
    hole = (story.now - 24 * MINUTE, story.now)
    story.minutes(5, failing=[A], silent=[B], holes=[hole])
    assert story.said == []
    story.minutes(75, failing=[A], silent=[B], holes=[hole])
    assert story.detector.unknown_since is None
    opened = {(PLACES[A], Kind.UNDELIVERED), (PLACES[B], Kind.SILENT)}
    assert {(each.scope.route, each.kind) for each in story.incidents} == opened
    hole = (story.now + 10 * MINUTE, story.now + 12 * MINUTE)
    story.minutes(20)
    story.minutes(12, holes=[hole])
    assert all(each.is_open for each in story.incidents)
    story.minutes(60, holes=[(story.now, NEVER)])
    assert all(each.is_open for each in story.incidents)


# Names


def test_a_route_of_many_providers_is_a_part_of_few_scopes() -> None:
    assert len(scopes_of(RouteKey(";".join("abcdefghijkl"), "1", "10"))) == 1 + 16 + 8 + 2 + 1
