"""The parts that benchmarks rely on: identical or new rows, all clients, as many hits as requested, what is counted."""

import itertools
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench.fair import Result
from bench.load import Response
from bench.mirror import backfill
from bench.mirror.__main__ import Figures
from bench.pages.measuring import Loops, Measurement, Run, Target
from bench.processes import StubService, clients, stub_service
from bench.reference import Reference
from bench.stub_service import AGAIN, ALL, owner


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


def test_readers_count_every_response_and_time_the_successful_ones(service: StubService) -> None:
    before = service.counters["requests"]
    with clients() as running:
        port = int(service.url.rpartition(":")[2])
        result = running.run(port, ["/counters", "/rpc/Service/GetChains"], connections=3, seconds=0.1)
    assert result["statuses"].keys() == {"200", "400"}  # the second path needs POST
    assert result["statuses"]["200"] == len(result["milliseconds"]) > 1
    assert service.counters["requests"] - before == result["statuses"]["400"]


def test_readers_without_a_duration_request_each_path_once(service: StubService) -> None:
    before = service.counters["requests"]
    with clients() as running:
        port = int(service.url.rpartition(":")[2])
        running.run(port, ["/rpc/Service/GetChains"] * 7, connections=3)
    assert service.counters["requests"] - before == 7


PAGE = {"pageSize": 20, "sort": [{"column": "createdAt", "order": "DESC"}]}


def differing(some: list[dict[str, Any]], others: list[dict[str, Any]]) -> int:
    """Return in how many places the ID, the time and the amount differ. Fails if only some of them do.

    Amounts of less than five digits stay, because in JSON they can't be told from other numbers.
    """
    different = [
        [
            one["intentId"] != other["intentId"],
            one["createdAt"] != other["createdAt"],
            *([units(one) != units(other)] if int(units(one)) >= 10_000 else []),
        ]
        for one, other in zip(some, others, strict=True)
    ]
    assert all(len(set(each)) == 1 for each in different)
    return sum(all(each) for each in different)


def units(entry: dict[str, Any]) -> str:
    return str(entry["receipt"]["summary"]["originTokenAmount"])


@pytest.mark.parametrize("rows", [0, 2, 20])
def test_as_many_rows_of_each_response_are_new_as_asked_for(service: StubService, rows: int) -> None:
    service.change(0)
    known = service.call("GetIntentHistory", page=PAGE)["intents"]
    service.change(rows)
    first, second = (service.call("GetIntentHistory", page=PAGE)["intents"] for _ in range(2))
    service.change(0)
    assert differing(known, first) == differing(known, second) == differing(first, second) == rows
    assert service.call("GetIntentHistory", page=PAGE)["intents"] == known


def test_an_intent_with_another_number_is_a_new_one_with_its_receipt_and_balances(service: StubService) -> None:
    listed = service.call("GetIntentHistory", page={"pageSize": 20}, byStatuses=["SUCCEEDED"])["intents"]
    entry = next(each for each in listed if int(units(each)) >= 10_000)
    known = service.call("GetIntent", intentId=entry["intentId"])["intent"]
    service.call("GetIntentReceipt", intentId=entry["intentId"])
    fresh = f"{entry['intentId'][:-16]}{12345:016x}"
    new = service.call("GetIntent", intentId=fresh)["intent"]
    receipt = service.call("GetIntentReceipt", intentId=fresh)["intentReceipt"]
    owned = service.call("GetIntentHistory", page={"pageSize": 20}, byOwnerAddress=known["ownerAddress"])["intents"]
    assert new["intentId"] == receipt["intentId"] == fresh
    assert fresh in [each["intentId"] for each in owned]
    assert new["createdAt"] != known["createdAt"]
    assert int(new["depositTransaction"]["amount"]) == int(known["depositTransaction"]["amount"]) + 12345 % 9973
    assert service.call("GetIntent", intentId=entry["intentId"])["intent"] == known


def test_another_list_has_the_rows_of_a_list_by_its_number(service: StubService) -> None:
    listed = service.call("GetIntentHistory", page=PAGE)["intents"]
    number = next(
        place for place, (_, body) in enumerate(service.counters["distinct"]) if json.loads(body) == {"page": PAGE}
    )
    assert service.call("GetIntentHistory", page=PAGE, fromTime=AGAIN + number)["intents"] == listed


def test_each_search_of_an_owner_finds_other_transfers_when_all_rows_are_new(service: StubService) -> None:
    service.change(ALL)
    found = [service.call("SearchIntents", byOwnerAddress=owner(30, 1))["intents"] for _ in range(2)]
    service.change(0)
    assert len({hit["intentId"] for hits in found for hit in hits}) == 60
    assert {hit["ownerAddress"] for hits in found for hit in hits} == {owner(30, 1)}


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b"HTTP/1.1 200 OK\r\ncontent-le", b"ngth: 5\r\n\r\nab", b"cde"], id="with its length"),
        pytest.param(
            [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", b"0\r\n\r\n"], id="in chunks"
        ),
    ],
)
def test_a_response_is_complete_with_its_last_byte(pieces: list[bytes]) -> None:
    response = Response()
    for piece in pieces:
        assert not response.is_complete
        response.add(piece)
    assert response.is_complete
    assert (response.status, response.bytes) == ("200", sum(map(len, pieces)))


def test_a_ratio_compares_each_run_with_the_loops_around_it() -> None:
    def runs(*costs: float) -> list[Run]:
        return [Run([1.0] * 10, seconds=1 + cost, processor=cost) for cost in costs]

    loops = list(itertools.starmap(Loops, itertools.pairwise(runs(0.01, 0.01, 0.03, 0.05))))
    measured = Measurement("history", "unseen", 1, 0.0, "", runs(0.03, 0.08, 0.06), loops)
    assert measured.ratio == pytest.approx(3.0)  # 3, 4 and 1.5
    assert measured.spread == pytest.approx(100 * 2.5 / 3)
    other = Measurement("empty", "", 1, 0.0, "", runs(1.06, 0.08, 1.12), loops)
    assert measured.rate_relative_to(other) == pytest.approx(2.0)  # 2, 1 and 2


@pytest.mark.parametrize(
    ("figure", "least", "word"), [(1.5, False, "met"), (1.7, False, "**missed**"), (1.7, True, "met")]
)
def test_a_result_over_its_limit_is_reported(figure: float, least: bool, word: str) -> None:
    assert f"| {word} |" in Target("a page", figure, 1.6, "times", least=least).line()


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


def test_the_mirrors_freshness_and_calls_are_measured_on_a_clock_of_its_own() -> None:
    figures = Figures(entries=1000, minutes=3, turns=1, seconds=1)
    targets = {target.what.rpartition(" ")[2]: target.figure for target in figures.fresh()}
    assert 0 < targets["p50"] < targets["p95"] <= targets["p99"]
    assert 0 < figures.followed["calls"] < 1
    assert 10 < figures.followed["burst"] <= 50


def test_a_backfill_is_measured_to_its_end() -> None:
    found = backfill.whole(300, days=1)
    assert 200 < found.transfers <= 300
    assert 0 < found.first <= found.seconds
    assert min(found.processor, found.megabytes, found.size) > 0


def test_a_read_that_the_ledger_lacks_counts_as_lost(tmp_path: Path) -> None:
    database = backfill.Database(tmp_path / "mirror.sqlite3")
    with closing(sqlite3.connect(database.path)) as made:
        made.execute('CREATE TABLE mirror_window (start, "end", is_sealed, read_at)')
        made.execute("INSERT INTO mirror_window VALUES (0, 60, 1, 5), (60, 120, 0, 5), (120, 180, 0, NULL)")
        made.commit()
    recorded = [(0, 60), (0, 120)]
    assert backfill.lost(database, recorded, before=180) == 0
    assert backfill.lost(database, [*recorded, (60, 120), (120, 180)], before=180) == 2
    assert backfill.lost(database, [*recorded, (60, 120), (120, 180)], before=120) == 1
