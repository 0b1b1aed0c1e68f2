"""What keeps the benchmarks honest: each response counts whole, limits decide, and the stub's history has no gaps."""

import asyncio
import json
from typing import Any

import pytest

from bench import history_stub
from bench.history_stub import History
from bench.journeys import JOURNEYS, measured
from bench.load import Load, response
from bench.pages import Case
from bench.processes import Server
from bench.report import Target
from tests.emulator.driving import NOW, Clock


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b"HTTP/1.1 200 OK\r\ncontent-le", b"ngth: 5\r\n\r\nab", b"cde"], id="with its length"),
        pytest.param(
            [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", b"0\r\n\r\n"], id="in chunks"
        ),
    ],
)
async def test_a_response_is_complete_with_its_last_byte(pieces: list[bytes]) -> None:
    reader = asyncio.StreamReader()
    reading = asyncio.create_task(response(reader))
    for piece in pieces:
        await asyncio.sleep(0)
        assert not reading.done()
        reader.feed_data(piece)
    head, body = await reading
    assert head + body == b"".join(pieces)


def test_rates_of_the_same_turn_are_compared() -> None:
    def measured(*seconds: float) -> Case:
        runs = [Load(each, [1.0] * 10, processor=each / 100) for each in seconds]
        return Case("history", "cached", Server(0, 0, 0.0, is_arbiter=True), ["/"], runs=runs)

    one, other = measured(1, 3, 2), measured(2, 3, 6)
    assert one.rate_relative_to(other) == pytest.approx(2.0)  # 2, 1 and 3
    assert (one.processor, one.spread) == (pytest.approx(2.0), pytest.approx(100.0))


@pytest.mark.parametrize(
    ("figure", "least", "word"), [(1.5, False, "met"), (1.7, False, "**missed**"), (1.7, True, "met")]
)
def test_a_result_over_its_limit_is_reported(figure: float, least: bool, word: str) -> None:
    assert f"| {word} |" in Target("a page", figure, 1.6, "times", least=least).line()


def listed(history: History, **asked: Any) -> list[dict[str, Any]]:
    """Return all entries of a list, of all of its pages."""
    page: Any = {"pageSize": 100}
    rows: list[dict[str, Any]] = []
    while page:
        body = json.dumps({"page": page, **asked})
        head, _, answer = history.reply("/rpc/Service/GetIntentHistory", body).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), answer
        found = json.loads(answer)
        rows += found["intents"]
        page = found["nextPage"]
    return rows


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def history(clock: Clock) -> History:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_stub, "KINDS", 48)  # of 128 transfers, which take longer to record
        return History(entries=600, days=2, rate=4, now=clock)


def test_windows_of_the_stubs_history_have_each_entry_once(history: History) -> None:
    hour, start = 3600, int(NOW) - 49 * 3600
    whole = {row["intentId"] for row in listed(history, toTime=int(NOW))}
    windows = [listed(history, fromTime=start + n * hour, toTime=start + (n + 1) * hour) for n in range(49)]
    assert len(whole) == 600
    assert {row["intentId"] for window in windows for row in window} == whole


def test_entries_of_the_stub_are_executed_and_ended_while_time_passes(history: History, clock: Clock) -> None:
    clock.now = NOW + 60
    born = {row["intentId"]: row["status"] for row in listed(history, fromTime=int(NOW) + 1)}
    assert len(born) == pytest.approx(4 * 60, abs=8)
    assert {"QUOTED", "COMMITTED", "EXECUTING", "SUCCEEDED"} <= set(born.values())
    clock.now = NOW + 3 * 3600
    ended = listed(history, fromTime=int(NOW) + 1, toTime=int(NOW) + 60)
    assert {row["intentId"] for row in ended} <= born.keys()
    assert "EXECUTING" not in {row["status"] for row in ended}


@pytest.mark.programs
@pytest.mark.parametrize("name", JOURNEYS)
def test_each_journey_can_be_measured(name: str) -> None:
    figures = measured(name)
    assert figures["status"] in (200, 302)
    assert {"application.py", "service/client.py"} <= {*figures["files"]}
