"""The response cache: lifetimes, refreshes, stale responses with their age, invalidation and size limits."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from intents_ui.service import client, operations
from intents_ui.service.cache import ResponseCache
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import (
    AccessDenied,
    Invalid,
    NotFound,
    Reason,
    ServiceError,
    StaleResponse,
    Unreachable,
)
from intents_ui.service.models import Page
from intents_ui.service.operations import ServiceCall
from intents_ui.service.request_context import collecting
from tests.service.clients import answered, config
from tests.service.scripted_server import Script, Visit, response
from tests.service.upstream import BAD, Clock, Upstream, good, intent, no
from tests.waiting import until

GET = operations.get_intent("0x1")
RECEIPT = operations.get_intent_receipt("0x1")
CHAINS = operations.get_chains()
SECOND_PAGE = Page(page_size=20, after=7)
TOKEN = {"chainId": 1, "address": "0x" + "1" * 40}
MINUTE, HOUR, DAY = 60, 3600, 86_400


def status_is(status: str, *, minutes_ago: float | None = None, **more: Any) -> Script:
    def answer(visit: Visit) -> None:
        changed = {} if minutes_ago is None else {"updatedAt": ago(minutes_ago)}
        of = {"intentId": json.loads(visit.body).get("intentId"), "status": status, **changed, **more}
        visit.send(response({"intent": of, "intentReceipt": of, "intents": [of], "tokens": [TOKEN]}))

    return answer


def ago(minutes: float) -> str:
    return (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()


def outcome(service: Upstream, call: ServiceCall[Any]) -> object:
    try:
        return service.service.ask(call)
    except ServiceError as error:
        return type(error)


def told_by(service: Upstream, call: ServiceCall[Any] = GET) -> tuple[Any, list[StaleResponse]]:
    with collecting("stale") as used:
        return service.service.ask(call), list(used.stale)


# How long


@pytest.mark.parametrize(
    ("call", "does", "seconds"),
    [
        pytest.param(CHAINS, good, HOUR, id="chains"),
        pytest.param(operations.get_token_list([1]), good, 15 * MINUTE, id="tokens"),
        pytest.param(operations.get_token_list([1], search_query="usd"), good, MINUTE, id="token search"),
        pytest.param(operations.get_exact_input_routes((1, "0x1")), status_is(""), MINUTE, id="routes"),
        pytest.param(operations.get_exact_output_routes((1, "0x1")), good, 30, id="no routes"),
        pytest.param(operations.get_token_prices([(1, "0x1")]), good, 90, id="prices"),
        pytest.param(GET, good, 2, id="open"),
        pytest.param(GET, status_is("FROZEN", minutes_ago=9999), 2, id="unknown status"),
        pytest.param(GET, status_is("SUCCEEDED", minutes_ago=50), 10 * MINUTE, id="ended lately"),
        pytest.param(GET, status_is("REFUNDED", minutes_ago=70), DAY, id="ended"),
        pytest.param(RECEIPT, status_is("FAILED", minutes_ago=20), 5, id="stopped lately"),
        pytest.param(GET, status_is("ABORTED", minutes_ago=40), 10 * MINUTE, id="stopped"),
        pytest.param(operations.get_intent_history(page=Page.first()), good, 2, id="history"),
        pytest.param(operations.get_intent_history(page=SECOND_PAGE), good, 10, id="older history"),
        pytest.param(
            operations.get_intent_history(page=SECOND_PAGE, include_balances=True), good, 15, id="history with balances"
        ),
        pytest.param(operations.search_intents(by_owner_address="0x1"), status_is("QUOTED"), 5, id="search"),
        pytest.param(operations.search_intents(by_owner_address="0x2"), good, 5, id="search without hits"),
        pytest.param(RECEIPT, no(8000, "NotFound", 400), 3, id="not found"),
    ],
)
def test_a_cached_response_is_fresh_for_its_lifetime(
    service: Upstream, call: ServiceCall[Any], does: Script, seconds: float
) -> None:
    service.does = does
    first = outcome(service, call)
    service.clock.now += 0.89 * seconds
    assert outcome(service, call) == first
    assert len(service.requested) == 1
    service.clock.now += 0.22 * seconds
    outcome(service, call)
    until(lambda: len(service.requested) == 2)


# While it is renewed


def test_an_open_transfer_waits_briefly_for_a_fresh_response(service: Upstream) -> None:
    service.service.ask(GET)
    service.clock.now += 5
    service.does = status_is("SUCCEEDED")
    assert service.service.ask(GET).status == "SUCCEEDED"


# Where the service fails


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
    assert outcome(service, GET) is kind


def test_a_response_past_its_maximum_age_is_not_served(service: Upstream) -> None:
    service.service.ask(GET)
    service.clock.now += 1.2 * DAY
    service.does = BAD
    assert outcome(service, GET) is Unreachable


def test_while_the_service_hangs_only_the_first_page_with_a_cached_copy_waits(
    service: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        service.service.ask(operations.get_intent(f"0x{number}"))
    service.clock.now += 300
    service.does = Visit.stay_silent
    monkeypatch.setattr(client, "STALE_WAIT", 0.3)
    for number in range(5):
        answer, (old,) = told_by(service, operations.get_intent(f"0x{number}"))
        monkeypatch.setattr(client, "STALE_WAIT", 600)  # one that waited would not come back
        assert answer.intent_id == f"0x{number}"
        assert isinstance(old.error, Unreachable)
        assert old.error.reason is Reason.TIMEOUT


# Which of two responses


def test_a_write_invalidates_every_cached_response_about_its_intent_in_any_letter_case(service: Upstream) -> None:
    service.does = status_is("QUOTED", intentId="0xAB")
    calls: list[ServiceCall[Any]] = [
        operations.get_intent("0xab"),
        operations.get_intent_receipt("0xab"),
        operations.search_intents(by_owner_address="0x9"),
        operations.get_intent_history(by_owner_address="0x9"),
    ]
    for call in calls:
        service.service.ask(call)
    service.service.forget("0xab")
    for call in calls:
        service.service.ask(call)
    assert len(service.requested) == 8


def test_a_call_during_shutdown_ends_in_an_error_of_ours(service: Upstream) -> None:
    service.service.ask(CHAINS)
    service.clock.now += 2 * HOUR
    service.service.threads.shutdown()
    assert service.service.ask(CHAINS)  # a refresh is pointless now
    assert service.is_quiet()
    assert service.service.threads.together(lambda: 1, lambda: 2) == [1, 2]


@pytest.mark.parametrize("late", [no(8000, "NotFound", 400), status_is("QUOTED")], ids=["an error", "an earlier state"])
def test_a_response_requested_before_a_write_is_not_served_after_it(service: Upstream, late: Script) -> None:
    arrived, may_answer = threading.Event(), threading.Event()

    def slowly(visit: Visit) -> None:
        arrived.set()
        assert may_answer.wait(60)
        late(visit)

    service.does = slowly
    with ThreadPoolExecutor(1) as threads:
        before = threads.submit(outcome, service, GET)
        assert arrived.wait(60)
        service.clock.now += 0.01
        service.service.forget("0x1")
        service.clock.now += 0.01
        service.does = lambda visit: visit.send(intent(visit, "COMMITTED"))
        assert service.service.ask(GET).status == "COMMITTED"
        may_answer.set()
        before.result(60)
    assert service.service.ask(GET).status == "COMMITTED"


@pytest.mark.parametrize("call", [GET, RECEIPT], ids=lambda call: call.operation)
def test_a_status_with_an_older_timestamp_never_replaces_a_newer_one(service: Upstream, call: ServiceCall[Any]) -> None:
    service.does = status_is("EXECUTING", minutes_ago=31)
    assert service.service.ask(call).status == "EXECUTING"
    service.does = status_is("COMMITTED", minutes_ago=40)
    for _ in range(3):
        service.clock.now += 900
        assert service.service.ask(call, newest=True).status == "EXECUTING"
    service.does = status_is("SUCCEEDED", minutes_ago=1)
    service.clock.now += HOUR
    assert service.service.ask(call, newest=True).status == "SUCCEEDED"


@pytest.mark.parametrize("ahead", [10, 60, 60 * 24 * 365])
def test_a_timestamp_in_the_future_does_not_freeze_a_status(service: Upstream, ahead: int) -> None:
    service.does = status_is("COMMITTED", minutes_ago=-ahead)
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


# How much


class Counted:
    """A service that knows the intents whose ID isn't bad."""

    def __init__(self, **limits: int) -> None:
        clock = Clock()
        cache = ResponseCache(config("http://x"), clock=clock, **limits)
        self.requests = 0
        self.service = ServiceClient(
            config("http://x", size=2**20), transport=httpx.MockTransport(self._answer), clock=clock, cache=cache
        )

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        intent_id = json.loads(request.content).get("intentId", "")
        if "bad" in intent_id:
            return answered({"error": "NotFound", "code": 8000, "msg": "?"}, status=400)
        return answered({"intent": {"intentId": intent_id, "new": "x" * 10_000}, "chains": [{"id": 1}]})

    def is_cached(self, call: ServiceCall[Any]) -> bool:
        before = self.requests
        self.service.ask(call)
        return self.requests == before


def test_the_cache_is_bounded_by_bytes() -> None:
    counted = Counted(max_bytes=2 * 20 * 63_500)
    calls = [operations.get_intent(f"0x{number}") for number in range(30)]
    for call in calls:
        counted.service.ask(call)
    assert all(counted.is_cached(call) for call in calls[-15:])
    assert not any(counted.is_cached(call) for call in calls[:5])


def test_made_up_ids_evict_no_data_and_transfers_evict_no_lists() -> None:
    counted = Counted(max_bytes=2 * 21 * 63_500)
    counted.service.ask(CHAINS)
    calls = [operations.get_intent(f"0x{number}") for number in range(20)]
    for call in calls:
        counted.service.ask(call)
    for number in range(50):
        with pytest.raises(NotFound):
            counted.service.ask(operations.get_intent(f"0xbad{number}"))
    assert all(counted.is_cached(call) for call in [*calls, CHAINS])
