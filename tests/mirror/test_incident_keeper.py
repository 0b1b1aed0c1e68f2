"""The mirror's process finds the emulator's incidents in what it read, and pages can ask for them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from intents_ui.emulator import Emulator
from intents_ui.mirror import lease, models
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName
from intents_ui.mirror.incidents import queries
from intents_ui.mirror.incidents.counting import Scope
from intents_ui.mirror.incidents.keeper import Keeper, known, store, stored
from intents_ui.mirror.incidents.rules import Incident, Kind, State
from intents_ui.mirror.lease import LeaseLost
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.mirror.writer import Writer
from intents_ui.web.insight import incidents
from tests.mirror.conftest import on_each_engine

START = 1_800_000_000 // DAY * DAY + 9 * HOUR
RELAY = RouteKey("RELAY", "8453", "42161")
OTHER = RouteKey("RELAY;CCTP", "1", "10")


@pytest.fixture
def led(copy: object) -> Writer:
    """Lead a mirror without transfers, whose ledger of three days is complete."""
    epoch = lease.acquire(now=1)
    assert epoch is not None
    models.Window.objects.bulk_create(
        models.Window(start=start, end=start + HOUR, due=2**62, read_at=start + HOUR, is_sealed=True)
        for start in range(START - 3 * DAY, START + DAY, HOUR)
    )
    return Writer(epoch)


def route(key: RouteKey = RELAY) -> models.Route:
    found, _ = models.Route.objects.get_or_create(key="\n".join(key).encode()[:16], defaults=key._asdict())
    return found


def ended(number: int, at: int, on: models.Route, *, outcome: str = "delivered", seconds: int = 30) -> models.Transfer:
    """Return a transfer that ended then. It has an owner of its own."""
    return models.Transfer(
        intent_id=number.to_bytes(32), created=at * 1000, updated=at * 1000, started=(at - seconds) * 1000,
        ended=at * 1000, status="", outcome=outcome, rules=1, route=on, read_at=at * 1000, fingerprint=b"",
        owner=number.to_bytes(20), hour=at // HOUR * HOUR,
    )  # fmt: skip


def end(at: int, *, seconds: int = 30, on: RouteKey = RELAY) -> None:
    """Write a transfer that ended then."""
    ended(models.Transfer.objects.count() + 1, at, route(on), seconds=seconds).save()


def opened() -> list[queries.Incident]:
    return [each for each in queries.recent_incidents() if each.is_open]


def made(**columns: Any) -> Incident:
    given = {
        "number": 1, "scope": Scope(Level.ROUTE, str(route().pk)), "kind": Kind.FAILING, "state": State.FAILING,
        "since": START, "opened": START + 600, "bad": 6, "owners": 14, "usual": 0.02,
        "routes": frozenset([route().pk]),
    }  # fmt: skip
    return Incident(**given | columns)


def settle(kept: Keeper, led: Writer, *, since: int, until: int) -> None:
    for now in range(since, until, MINUTE):
        models.Window.objects.filter(start__lte=now, end__gt=now).update(read_at=now)
        for _ in range(20):
            kept.keep(led, now=now)


@pytest.fixture
def story(led: Writer) -> Writer:
    """Write three quiet days, and an hour in which half of a route's transfers fail."""
    on, quiet, hour = route(), range(START - 3 * DAY, START, 240), range(START, START + HOUR, 60)
    models.Transfer.objects.bulk_create(
        ended(number, at, on, outcome="refunded" if at in hour and at % 120 == 0 else "delivered")
        for number, at in enumerate([*quiet, *hour])
    )
    return led


@on_each_engine
def test_an_incident_is_written_and_found_by_pages(story: Writer) -> None:
    settle(Keeper(), story, since=START - 2 * MINUTE, until=START + 40 * MINUTE)
    [found] = opened()
    assert (found.level, found.kind, found.state) == (Level.ROUTE, Kind.FAILING, State.FAILING)
    assert found.since == datetime.fromtimestamp(START, UTC)
    assert found.opened - found.since < timedelta(minutes=20)
    assert found.routes == [RELAY]
    assert found.bad * 2 == pytest.approx(found.owners, abs=1)
    assert queries.incident(found.number) == found
    assert queries.incident(99) is None
    judged = queries.judgment()
    assert (judged.unknown_since, judged.is_learning) == (None, False)
    assert judged.at == datetime.fromtimestamp(START + 38 * MINUTE, UTC)


def test_another_leader_goes_on_with_the_incident(story: Writer) -> None:
    settle(Keeper(), story, since=START - 2 * MINUTE, until=START + 30 * MINUTE)
    [before] = stored()
    settle(Keeper(), story, since=START + 30 * MINUTE, until=START + 50 * MINUTE)
    [after] = stored()
    assert (after.number, after.since, after.opened) == (before.number, before.since, before.opened)
    assert after.owners > before.owners


def test_an_earlier_leader_writes_no_incident(story: Writer) -> None:
    earlier = Writer(story.epoch - 1)
    with pytest.raises(LeaseLost):
        settle(Keeper(), earlier, since=START, until=START + 40 * MINUTE)
    assert not models.Incident.objects.exists()
    assert not models.State.objects.exists()


def test_nothing_opens_while_a_window_is_a_hole_or_was_not_read(story: Writer) -> None:
    kept = Keeper()
    settle(kept, story, since=START - 2 * MINUTE, until=START)
    hole = models.Window.objects.filter(start=START)
    hole.update(is_sealed=False, failures=1)
    settle(kept, story, since=START, until=START + 40 * MINUTE)
    assert queries.judgment().unknown_since == datetime.fromtimestamp(START, UTC)
    assert opened() == []
    hole.update(is_sealed=True, failures=0)
    settle(kept, story, since=START + 40 * MINUTE, until=START + 50 * MINUTE)
    assert queries.judgment().unknown_since is None
    assert len(opened()) == 1


@on_each_engine
def test_what_the_mirror_knows_of_the_last_hours(led: Writer) -> None:
    assert known(START).lag == 0
    assert known(START).holes == []
    models.Window.objects.filter(end__gt=START - 6 * HOUR).update(read_at=START - 400)
    assert known(START).lag == 400
    models.Window.objects.filter(start=START - 2 * HOUR).update(is_sealed=False, read_at=None)
    models.Window.objects.filter(start=START - 4 * HOUR).update(is_sealed=False, failures=2)
    models.Window.objects.filter(start__lt=START - 5 * HOUR).delete()
    assert sorted(known(START).holes) == [
        (START - 6 * HOUR, START - 5 * HOUR),
        (START - 4 * HOUR, START - 3 * HOUR),
        (START - 2 * HOUR, START - HOUR),
    ]


def test_an_incident_is_stored_as_it_is(led: Writer) -> None:
    first = made()
    store(first)
    assert list(stored()) == [first]
    later = made(routes=frozenset([route(OTHER).pk]), state=State.OVER, recovered=START + 900, closed=START + 3000)
    store(later)
    assert list(stored()) == [later]


def test_an_incident_that_became_a_part_of_another_one_is_not_listed(led: Writer) -> None:
    store(made(state=State.OVER, recovered=START + HOUR, closed=START + HOUR + 1800))
    store(made(number=2, state=State.OVER, closed=START + 700, recovered=START + 700, folded_into=1))
    store(made(number=3, scope=Scope(Level.CHAIN, "1"), since=START + 2 * HOUR, routes=frozenset([route(OTHER).pk])))
    assert [each.number for each in opened()] == [3]
    assert [each.number for each in queries.recent_incidents()] == [3, 1]


@pytest.mark.usefixtures("led")
def test_pages_of_what_an_incident_affects_have_it(mirrored: object, emulator: Emulator) -> None:
    store(made(state=State.OVER, recovered=START + HOUR, closed=START + HOUR + 1800))
    store(made(number=3, scope=Scope(Level.CHAIN, "1"), since=START + 2 * HOUR, routes=frozenset([route(OTHER).pk])))
    found = incidents.read()
    affected = (
        ScopeName(Level.ROUTE, *OTHER),
        ScopeName(Level.PROVIDER, "CCTP"),
        ScopeName(Level.CHAIN, "", "1"),
        ScopeName(Level.CHAIN, "", "10"),
        EVERYTHING,
    )
    others = (ScopeName(Level.ROUTE, *RELAY), ScopeName(Level.PROVIDER, "CCT"), ScopeName(Level.CHAIN, "", "8453"))
    assert [[each.facts.number for each in found.of(scope)] for scope in affected] == [[3]] * len(affected)
    assert [list(found.of(scope)) for scope in others] == [[]] * len(others)
    [over] = [each.facts for each in found.over]
    minutes = (-1, 1, 59, 61)
    assert [over.covers(datetime.fromtimestamp(START + each * MINUTE, UTC)) for each in minutes] == [
        False,
        True,
        True,
        False,
    ]


def test_a_transfer_is_late_after_the_limit_of_its_route_and_never_without_one(led: Writer) -> None:
    for at, seconds in ((START, 600), (START + 1, 601)):
        end(at, seconds=seconds)
        end(at, seconds=seconds, on=OTHER)
    models.Scope.objects.create(level=Level.ROUTE, route=route(), late_after=600_000)
    kept = Keeper()
    kept.keep(led, now=START)
    late = [(each.route, each.at) for each in kept._endings(START, START + MINUTE) if each.is_late]
    assert late == [(route().pk, START + 1)]


def test_a_transfer_without_a_time_of_its_end_ended_with_its_last_change(led: Writer) -> None:
    end(START + 5)
    models.Transfer.objects.update(ended=None)
    assert [each.at for each in Keeper()._endings(START, START + MINUTE)] == [START + 5]
