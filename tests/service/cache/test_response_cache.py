"""The response cache: lifetimes, refreshes, stale responses with their age, invalidation and size limits."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from intents_ui.service import caching_client
from intents_ui.service.cache.response_cache import ENTRY_BYTES, WEIGHT, ResponseCache
from intents_ui.service.caching_client import RENEWALS
from intents_ui.service.context.request_context import collecting_stale
from intents_ui.service.counters import Event
from intents_ui.service.errors import (
    AccessDenied,
    Invalid,
    NotFound,
    Overloaded,
    Reason,
    ServiceError,
    StaleResponse,
    Unreachable,
)
from intents_ui.service.operations import config, operations
from intents_ui.service.operations.config import LIFETIMES, CacheKind, Lifetime
from intents_ui.service.operations.operations import ServiceCall
from intents_ui.service.wire.models import Intent, IntentReceipt, Page
from tests.service.scripted_server import Script, Visit, response
from tests.service.upstream import BAD, Clock, Upstream, good, intent, no, upstream
from tests.waiting import until

GET = operations.get_intent("0x1")
SECOND_PAGE = Page(page_size=20, after=7)
TOKEN = {"chainId": 1, "address": "0x" + "1" * 40}


@pytest.fixture
def service() -> Iterator[Upstream]:
    with upstream() as service:
        yield service


def status_is(status: str, *, minutes_ago: float | None = None, **more: Any) -> Script:
    def answer(visit: Visit) -> None:
        changed = {} if minutes_ago is None else {"updatedAt": ago(minutes_ago)}
        of = {"intentId": json.loads(visit.body).get("intentId"), "status": status, **changed, **more}
        visit.send(response({"intent": of, "intentReceipt": of, "intents": [of], "tokens": [TOKEN]}))

    return answer


def ago(minutes: float) -> str:
    return (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()


# How long


KINDS: dict[CacheKind, tuple[ServiceCall[Any], Script]] = {
    CacheKind.CHAINS: (operations.get_chains(), good),
    CacheKind.TOKENS: (operations.get_token_list([1]), good),
    CacheKind.TOKEN_SEARCH: (operations.get_token_list([1], search_query="usd"), good),
    CacheKind.ROUTES: (operations.get_exact_input_routes(1, "0x1"), status_is("")),
    CacheKind.NO_ROUTES: (operations.get_exact_output_routes(1, "0x1"), good),
    CacheKind.MOVING: (GET, good),
    CacheKind.ENDED_LATELY: (GET, status_is("SUCCEEDED", minutes_ago=50)),
    CacheKind.ENDED: (GET, status_is("REFUNDED", minutes_ago=70)),
    CacheKind.STOPPED_LATELY: (operations.get_intent_receipt("0x1"), status_is("FAILED", minutes_ago=20)),
    CacheKind.STOPPED: (GET, status_is("ABORTED", minutes_ago=40)),
    CacheKind.HISTORY: (operations.get_intent_history(page=Page.first()), good),
    CacheKind.OLDER_HISTORY: (operations.get_intent_history(page=SECOND_PAGE), good),
    CacheKind.BALANCES: (operations.get_intent_history(page=SECOND_PAGE, include_balances=True), good),
    CacheKind.SEARCH: (operations.search_intents(by_owner_address="0x1"), status_is("QUOTED")),
    CacheKind.NO_HITS: (operations.search_intents(by_owner_address="0x2"), good),
    CacheKind.UNKNOWN: (operations.get_intent_receipt("0x1"), no(8000, "NotFound", 400)),
    CacheKind.INVALID: (GET, no(2000, "InvalidArgument", 400)),
}


def outcome(service: Upstream, call: ServiceCall[Any]) -> object:
    try:
        return service.service.ask(call)
    except ServiceError as error:
        return type(error)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cached_response_is_fresh_for_its_lifetime_give_or_take_a_tenth(service: Upstream, kind: CacheKind) -> None:
    call, service.does = KINDS[kind]
    first = outcome(service, call)
    service.clock.now += 0.89 * LIFETIMES[kind].fresh
    assert outcome(service, call) == first
    assert len(service.requested) == 1
    service.clock.now += 0.22 * LIFETIMES[kind].fresh
    outcome(service, call)
    until(lambda: len(service.requested) == 2)


def test_every_kind_of_response_is_covered() -> None:
    assert set(CacheKind) - KINDS.keys() == {CacheKind.OFTEN_UNKNOWN}


def test_an_unknown_status_has_the_shortest_lifetime() -> None:
    assert config.kind_of_intent("FROZEN", datetime(2020, 1, 1, tzinfo=UTC)) is CacheKind.MOVING
    assert config.kind_of_intent(None, None) is CacheKind.MOVING


def test_a_lifetime_of_zero_turns_caching_off() -> None:
    with upstream(lifetimes={**LIFETIMES, CacheKind.MOVING: Lifetime(0, 0, 0)}) as service:
        service.service.ask(GET)
        service.service.ask(GET)
        service.does = BAD
        with pytest.raises(Unreachable):
            service.service.ask(GET)


# While it is renewed


def test_a_list_is_refreshed_in_the_background_for_the_next_reader(service: Upstream) -> None:
    chains = operations.get_chains()
    before = service.service.ask(chains)
    service.clock.now += 2 * 3600
    go_on = threading.Event()

    def later(visit: Visit) -> None:
        assert go_on.wait(60)
        visit.send(response({"chains": [{"id": 2}]}))

    service.does = later
    with collecting_stale() as result:
        for _ in range(5):
            assert service.service.ask(chains) is before
    go_on.set()
    until(lambda: service.service.ask(chains).chains[0].id == 2)
    assert service.requested == ["GetChains"] * 2
    assert result == []


def test_an_open_transfer_waits_briefly_for_a_fresh_response(service: Upstream) -> None:
    service.service.ask(GET)
    service.clock.now += 5
    service.does = status_is("SUCCEEDED")
    assert service.service.ask(GET).status == "SUCCEEDED"


def test_a_request_for_the_newest_response_gets_none_past_its_lifetime(service: Upstream) -> None:
    chains = operations.get_chains()
    service.service.ask(chains)
    service.clock.now += 2 * 3600
    service.does = lambda visit: visit.send(response({"chains": [{"id": 2}]}))
    assert service.service.ask(chains, newest=True).chains[0].id == 2


def test_background_refreshes_leave_threads_free_for_pages(service: Upstream) -> None:
    searches = [operations.get_token_list([1], search_query=f"{number}") for number in range(40)]
    for call in searches:
        service.service.ask(call)
    service.clock.now += 120
    go_on = threading.Event()
    service.does = lambda visit: good(visit) if go_on.wait(60) else None
    for call in searches:
        service.service.ask(call)
    until(lambda: len(service.requested) >= 40 + 16)
    go_on.set()
    until(lambda: not service.service._guard._pending)
    assert len(service.requested) == 40 + 16


def test_a_page_gets_its_stale_copy_while_all_background_refreshes_are_taken() -> None:
    intents = [operations.get_intent(f"0x{number}") for number in range(RENEWALS + 1)]
    with upstream(total=60.0) as service:
        for call in intents:
            service.service.ask(call)
        service.clock.now += 60
        go_on = threading.Event()
        service.does = lambda visit: good(visit) if go_on.wait(60) else None
        for call in intents[:-1]:
            service.service.ask(call)
        answer, stale = told_by(service, intents[-1])
        go_on.set()
        until(lambda: not service.service._guard._pending)
        assert len(service.requested) == 2 * RENEWALS + 1
    assert answer.intent_id == f"0x{RENEWALS}"
    assert [type(old.error) for old in stale] == [Overloaded]


# Where the service fails


def told_by(service: Upstream, call: ServiceCall[Any] = GET) -> tuple[Any, list[StaleResponse]]:
    with collecting_stale() as result:
        return service.service.ask(call), result


@pytest.mark.parametrize(
    "does",
    [
        pytest.param(BAD, id="it fails"),
        pytest.param(Visit.reset, id="connection reset"),
        pytest.param(lambda visit: visit.send(response("{")), id="no JSON"),
        pytest.param(no(1201, "QuotaRateLimit", 429), id="it wants quiet"),
        pytest.param(no(1101, "AccessKeyNotFound", 401), id="it takes no key"),
        pytest.param(no(9000, "IntentsDisabled", 400), id="Service paused"),
        pytest.param(lambda visit: visit.send(response({"intent": {"intentId": "0x2"}})), id="another intent"),
    ],
)
def test_a_stale_response_is_served_with_its_age_and_the_reason(service: Upstream, does: Script) -> None:
    known = service.service.ask(GET)
    service.clock.now += 300
    service.does = does
    answer, (old,) = told_by(service)
    assert answer is known
    assert old.operation == "GetIntent"
    assert abs(datetime.now(UTC) - timedelta(seconds=300) - old.learned_at) < timedelta(seconds=2)
    assert isinstance(old.error, ServiceError)
    assert old.again_in is not None
    assert service.service.health.tally[Event.OLD] == 1


@pytest.mark.parametrize(
    ("does", "kind"),
    [
        (no(8000, "NotFound", 400), NotFound),
        (no(2000, "InvalidArgument", 400), Invalid),
        (no(1006, "Geoblocked", 451), AccessDenied),
    ],
)
def test_an_error_about_the_resource_itself_is_raised_despite_a_cached_copy(
    service: Upstream, does: Script, kind: type[ServiceError]
) -> None:
    service.service.ask(GET)
    service.clock.now += 300
    service.does = does
    with pytest.raises(kind):
        service.service.ask(GET)


def test_a_response_past_its_maximum_age_is_not_served(service: Upstream) -> None:
    service.service.ask(GET)
    service.clock.now += 1.2 * 86400
    service.does = BAD
    with pytest.raises(Unreachable):
        service.service.ask(GET)


def test_a_failed_refresh_is_not_repeated_by_each_page_and_soon_succeeds(
    service: Upstream,
) -> None:
    service.service.ask(GET)
    service.clock.now += 300
    service.does = BAD
    _, (old,) = told_by(service)
    until(lambda: len(service.requested) == 3)
    until(lambda: told_by(service)[1][0].again_in)  # and it is known what came of it
    for _ in range(5):
        _, (old,) = told_by(service)
    assert len(service.requested) == 3
    assert old.again_in is not None
    assert 0 < old.again_in <= 5
    service.does = status_is("SUCCEEDED")
    service.clock.now += 5
    answer, result = told_by(service)
    assert (answer.status, result) == ("SUCCEEDED", [])


def test_a_failed_background_refresh_is_reported_to_the_next_reader(service: Upstream) -> None:
    call, service.does = KINDS[CacheKind.CHAINS]
    service.service.ask(call)
    service.clock.now += 2 * LIFETIMES[CacheKind.CHAINS].fresh
    service.does = BAD
    assert told_by(service, call)[1] == []
    until(lambda: len(service.requested) == 3)
    until(lambda: [old.operation for old in told_by(service, call)[1]] == ["GetChains"])


def test_while_the_service_hangs_only_the_first_page_with_a_cached_copy_waits(
    service: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        service.service.ask(operations.get_intent(f"0x{number}"))
    service.clock.now += 300
    service.does = Visit.stay_silent
    monkeypatch.setattr(caching_client, "COPY_PATIENCE", 0.3)
    for number in range(5):
        answer, (old,) = told_by(service, operations.get_intent(f"0x{number}"))
        monkeypatch.setattr(caching_client, "COPY_PATIENCE", 600)  # one that waited would not come back
        assert answer.intent_id == f"0x{number}"
        assert isinstance(old.error, Unreachable)
        assert old.error.reason is Reason.TIMEOUT


# Who is told what


def test_an_error_response_is_cached_briefly_and_longer_under_repeated_requests(service: Upstream) -> None:
    service.does = no(8000, "NotFound", 400)
    for asked in (1, 2, 3):
        for _ in range(3):
            assert outcome(service, GET) is NotFound
        assert len(service.requested) == asked
        service.clock.now += 3.5
    assert outcome(service, GET) is NotFound
    assert len(service.requested) == 3  # by now for half a minute
    service.clock.now += 31
    service.does = good
    assert service.service.ask(GET).intent_id == "0x1"


def test_a_write_invalidates_every_cached_response_about_its_intent(service: Upstream) -> None:
    service.does = status_is("QUOTED", intentId="0x1")
    calls: list[ServiceCall[Any]] = [
        GET,
        operations.get_intent_receipt("0x1"),
        operations.search_intents(by_owner_address="0x9"),
        operations.get_intent_history(by_owner_address="0x9"),
    ]
    for call in calls:
        service.service.ask(call)
    service.service.forget("0x1")
    for call in calls:
        service.service.ask(call)
    assert len(service.requested) == 8


def test_a_response_requested_before_a_write_is_not_served_after_it(service: Upstream) -> None:
    arrived, may_answer = threading.Event(), threading.Event()

    def slowly(visit: Visit) -> None:
        arrived.set()
        assert may_answer.wait(60)
        visit.send(intent(visit, "QUOTED"))

    service.does = slowly
    with ThreadPoolExecutor(1) as threads:
        before = threads.submit(service.service.ask, GET)
        assert arrived.wait(60)
        service.clock.now += 0.01
        service.service.forget("0x1")
        service.clock.now += 0.01
        service.does = lambda visit: visit.send(intent(visit, "COMMITTED"))
        assert service.service.ask(GET).status == "COMMITTED"
        may_answer.set()
        assert before.result(60).status == "COMMITTED", "what came last was asked first"
    assert service.service.ask(GET).status == "COMMITTED"


def test_a_forced_read_bypasses_the_cache(service: Upstream) -> None:
    service.service.ask(GET)
    service.does = status_is("COMMITTED")
    assert service.service.ask_uncached(GET).status == "COMMITTED"
    assert service.service.ask(GET).status == "COMMITTED"


def test_an_error_of_a_request_sent_before_a_write_is_not_cached() -> None:
    clock = Clock()
    kept, call = ResponseCache(LIFETIMES, clock=clock), operations.get_intent("0x1")
    kept.forget("0x1")
    kept.refuse(call, NotFound("no such intent", code=8000), asked_at=clock.now - 1)
    assert kept.refusal(call.question) is None
    kept.refuse(call, NotFound("no such intent", code=8000), asked_at=clock.now + 1)
    assert kept.refusal(call.question) is not None


def test_an_older_response_does_not_replace_a_newer_one() -> None:
    clock = Clock()
    kept, call = ResponseCache(LIFETIMES, clock=clock), operations.get_intent_receipt("0x1")
    newer, older = (IntentReceipt(intent_id="0x1", status=status) for status in ("SUCCEEDED", "EXECUTING"))
    kept.put(call, newer, 100, asked_at=999, learned_at=999)
    kept.put(call, older, 100, asked_at=990, learned_at=990)
    copy = kept.copy(call.question)
    assert copy is not None
    assert copy.answer is newer


def test_equal_calls_share_a_cache_key_and_different_ones_do_not() -> None:
    assert operations.get_intent("0x1").question == operations.get_intent("0x1").question
    assert operations.get_intent("0x1").question != operations.get_intent_receipt("0x1").question
    assert operations.get_intent("0x1").question == ("GetIntent", b'{"intentId":"0x1"}')


# How much


def put(kept: ResponseCache, number: int, size: int = 100) -> ServiceCall[Intent]:
    call = operations.get_intent(f"0x{number}")
    kept.put(call, Intent(intent_id=f"0x{number}"), size, asked_at=1000)
    return call


def test_the_cache_is_bounded_by_bytes_and_by_entries() -> None:
    one = 10_000 * WEIGHT + ENTRY_BYTES
    kept = ResponseCache(LIFETIMES, clock=Clock(), most_bytes=2 * 10 * one, most=1000)
    calls = [put(kept, number, 10_000) for number in range(30)]
    assert [kept.copy(call.question) is not None for call in calls] == [False] * 20 + [True] * 10
    assert kept.copy(put(kept, 99, 10**6).question) is None
    kept = ResponseCache(LIFETIMES, clock=Clock(), most=20)
    calls = [put(kept, number) for number in range(30)]
    assert [kept.copy(call.question) is not None for call in calls] == [False] * 10 + [True] * 20


def test_made_up_ids_evict_only_each_other() -> None:
    kept = ResponseCache(LIFETIMES, clock=Clock(), most=100)
    good_ones = [put(kept, number) for number in range(100)]
    made_up = [operations.get_intent(f"0xbad{number}") for number in range(500)]
    for call in made_up:
        kept.refuse(call, NotFound(), asked_at=1000)
    assert all(kept.copy(call.question) for call in good_ones)
    assert sum(kept.refusal(call.question) is not None for call in made_up) == 10


def test_no_requests_evict_the_catalog_lists() -> None:
    kept = ResponseCache(LIFETIMES, clock=Clock(), most_bytes=10**6)
    lists = operations.get_token_list([1])
    kept.put(lists, operations.get_token_list([1]).read, 1000, asked_at=1000)
    for number in range(1000):
        put(kept, number, 1000)
    assert kept.copy(lists.question)


def test_cached_errors_hold_no_stack_frames() -> None:
    kept = ResponseCache(LIFETIMES, clock=Clock())
    call = put(kept, 1)
    with pytest.raises(NotFound) as caught:
        raise NotFound
    kept.fail(call.question, caught.value)
    copy = kept.copy(call.question)
    assert copy
    assert copy.trouble
    assert copy.trouble.__traceback__ is None
    kept.refuse(call, caught.value, asked_at=1000)
    refusal = kept.refusal(call.question)
    assert refusal
    assert refusal.__traceback__ is None


# Many at once


def test_l3_500_concurrent_cold_reads_of_one_intent_send_one_request(service: Upstream) -> None:
    everybody = threading.Barrier(50)

    def reader(_: int) -> str:
        everybody.wait(60)
        return service.service.ask(GET).intent_id

    with ThreadPoolExecutor(50) as threads:
        assert set(threads.map(reader, range(500))) == {"0x1"}
    assert service.requested == ["GetIntent"]


@pytest.mark.slow
def test_l4_fifty_keys_at_100_reads_per_second_send_one_request_each_per_lifetime(service: Upstream) -> None:
    """Ten minutes by the clock; nobody waits, because a copy is at hand."""
    calls = [operations.get_token_list([1], search_query=f"{number}") for number in range(50)]
    seconds, step = 600, 2.0
    for _ in range(int(seconds / step)):
        for call in calls:
            service.service.ask(call)
        until(lambda: not service.service._guard._pending)
        service.clock.now += step
    assert len(service.requested) <= 1.1 * 50 * (seconds / LIFETIMES[CacheKind.TOKEN_SEARCH].fresh + 1)
    assert service.service.health.tally[Event.MISS] == 50


@pytest.mark.parametrize("does", [BAD, Visit.reset], ids=["it fails", "it is away"])
def test_l12_a_one_minute_outage_leaves_warm_pages_and_spares_the_service(service: Upstream, does: Script) -> None:
    warm = [operations.get_intent(f"0x{number}") for number in range(20)]
    for call in warm:
        service.service.ask(call)
    service.clock.now += 20
    service.does, cold = does, 0
    before = len(service.requested)
    for second in range(60):
        for call in warm:
            assert told_by(service, call)[1]
        cold += outcome(service, operations.get_intent(f"0xcold{second}")) is Unreachable
        until(lambda: not service.service._guard._pending)
        service.clock.now += 1
    assert cold == 60
    # What runs into the outage at its first moment, then a try every few seconds.
    assert len(service.requested) - before <= 60 * 2
    service.does = good
    waited, before = 0.0, len(service.requested)
    while told_by(service, warm[0])[1]:
        service.clock.now += 0.2
        waited += 0.2
    assert waited <= 6
    for _ in range(10):
        for call in warm:
            service.service.ask(call)
        service.clock.now += 1
    until(lambda: not service.service._guard._pending)
    assert len(service.requested) - before <= 10 * 20
    assert [result for call in warm for result in told_by(service, call)[1]] == []


@pytest.mark.slow
def test_l13_in_a_brownout_warm_pages_show_no_errors_and_the_request_rate_stays_flat(
    service: Upstream,
) -> None:
    """Three answers in ten fail."""
    warm = [operations.get_intent(f"0x{number}") for number in range(15)]
    for call in warm:
        service.service.ask(call)
    turn = iter(range(10**6))
    service.does = lambda visit: BAD(visit) if next(turn) % 10 in (2, 5, 8) else good(visit)
    before, wanted = len(service.requested), 0
    rounds, seconds = 10, 2.5
    for _ in range(rounds):
        service.clock.now += seconds
        for call in warm:
            wanted += 1
            assert isinstance(outcome(service, call), Intent)
        until(lambda: not service.service._guard._pending)
    assert len(service.requested) - before <= 1.1 * wanted + rounds * seconds  # one retry a second is always allowed


def test_l14_a_60_second_retry_after_is_obeyed_and_pages_are_fresh_within_70_seconds(
    service: Upstream,
) -> None:
    service.service.ask(GET)
    service.clock.now += 20
    service.does = no(1201, "QuotaRateLimit", 429, **{"Retry-After": "60"})
    assert told_by(service)[1]
    before, service.does, waited = len(service.requested), good, 0
    while told_by(service)[1]:
        assert len(service.requested) == before
        service.clock.now += 1
        waited += 1
    assert 60 <= waited <= 70


@pytest.mark.parametrize("call", [GET, operations.get_intent_receipt("0x1")], ids=lambda call: call.operation)
@pytest.mark.parametrize(("newer", "older"), [("EXECUTING", "COMMITTED"), ("FAILED", "EXECUTING")])
def test_a_status_with_an_older_timestamp_never_replaces_a_newer_one(
    service: Upstream, call: ServiceCall[Any], newer: str, older: str
) -> None:
    service.does = status_is(newer, minutes_ago=31)
    assert service.service.ask(call).status == newer
    service.does = status_is(older, minutes_ago=40)
    for _ in range(3):
        service.clock.now += 900
        assert service.service.ask(call, newest=True).status == newer
    assert service.service.health.tally[Event.OLDER] == 3
    service.does = status_is("SUCCEEDED", minutes_ago=1)
    service.clock.now += 3600
    assert service.service.ask(call, newest=True).status == "SUCCEEDED"


def test_a_timestamp_far_in_the_future_does_not_freeze_a_status(service: Upstream) -> None:
    service.does = status_is("COMMITTED", minutes_ago=-60 * 24 * 365)
    assert service.service.ask(GET).status == "COMMITTED"
    service.does = status_is("EXECUTING", minutes_ago=1)
    service.clock.now += 60
    assert service.service.ask(GET, newest=True).status == "EXECUTING"


def test_a_read_after_our_own_write_is_accepted_whatever_its_timestamp(service: Upstream) -> None:
    service.does = status_is("QUOTED", minutes_ago=1)
    assert service.service.ask(GET).status == "QUOTED"
    service.service.forget("0x1")
    service.does = status_is("COMMITTED", minutes_ago=2)
    assert service.service.ask(GET).status == "COMMITTED"
