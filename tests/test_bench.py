"""The parts that `make bench` relies on: identical rows, all clients, and as many hits as requested."""

from collections.abc import Iterator

import pytest

from bench.fair import Result
from bench.pages import Reach
from bench.processes import StubService, clients, stub_service
from bench.reference import Reference
from bench.stub_service import owner


@pytest.fixture(scope="module")
def service() -> Iterator[StubService]:
    with stub_service() as started:
        yield started


def test_the_reference_loop_renders_the_same_rows_as_the_dashboard(service: StubService) -> None:
    page = {"pageSize": 20, "sort": [{"column": "createdAt", "order": "DESC"}]}
    listed = service.call("GetIntentHistory", page=page)["intents"]
    reference = Reference(service.url)
    with reference.http:
        (question,) = reference.questions()
        html = reference.page(question)
    assert [entry["intentId"] for entry in listed] == [row.partition('"')[0] for row in html.split('<tr id="row-')[1:]]
    assert service.call("GetIntentHistory", page=page)["intents"] == listed


def test_an_owner_of_the_test_service_has_as_many_hits_as_its_address_says(service: StubService) -> None:
    hits = service.call("SearchIntents", byOwnerAddress=owner(43, 7))["intents"]
    assert len({hit["intentId"] for hit in hits}) == 43
    assert service.call("SearchIntents", byOriginIntentAddress=owner(43, 7))["intents"] == []


def test_readers_count_every_response_they_received(service: StubService) -> None:
    before = service.counters["requests"]
    with clients() as running:
        port = int(service.url.rpartition(":")[2])
        result = running.run(port, ["/counters", "/rpc/Service/GetChains"], connections=3, seconds=0.1)
    assert sum(result["statuses"].values()) == len(result["milliseconds"]) > 3
    assert service.counters["requests"] > before


@pytest.mark.parametrize(
    ("figure", "least", "word"), [(1.5, False, "met"), (1.7, False, "**missed** (A)"), (1.7, True, "met")]
)
def test_a_result_over_its_limit_is_reported_with_its_reason(figure: float, least: bool, word: str) -> None:
    assert f"| {word} |" in Reach("a page", figure, 1.6, "times", least=least, reason="A").line()


@pytest.mark.parametrize(
    ("statuses", "megabytes", "quiet", "meets"),
    [
        pytest.param({200: 100}, 100, 10.0, "yes", id="all served"),
        pytest.param({200: 98, 429: 2}, 100, 10.0, "no", id="two of a hundred refused"),
        pytest.param({200: 100}, 300, 10.0, "no", id="too much memory"),
        pytest.param({200: 100}, 100, 3.0, "no", id="too slow"),
    ],
)
def test_an_attack_passes_when_other_clients_are_served_in_time_and_memory_is_bounded(
    statuses: dict[int, int], megabytes: float, quiet: float, meets: str
) -> None:
    result = Result()
    result.statuses.update(statuses)
    result.milliseconds = [10.0] * 100
    result.megabytes = megabytes
    assert result.row("triage", quiet).endswith(f"| {meets} |")
