"""The world of a demo: traffic like that of a service, with outages around its start."""

from collections.abc import Iterator

import pytest

from intents_ui.emulator import Emulator
from intents_ui.emulator.documents import MICROSECONDS
from intents_ui.emulator.population import Entry, Reach
from tests.emulator.driving import NOW, Clock, call
from tests.emulator.test_history import ids, read

HOUR = 3600


@pytest.fixture
def demo(clock: Clock) -> Emulator:
    return Emulator(now=clock, started=NOW)


def entries(demo: Emulator, *, since: float, until: float = NOW) -> Iterator[Entry]:
    reach = Reach(round(since * MICROSECONDS), latest=round(until * MICROSECONDS))
    return demo.ledger.entries(round(demo.now() * MICROSECONDS), descending=False, reach=reach)


def test_a_provider_hangs_at_the_start_and_delivers_when_its_outage_is_over(demo: Emulator, clock: Clock) -> None:
    outage = demo.world.outages[0]
    start, end = outage.start / MICROSECONDS, outage.end / MICROSECONDS
    assert (NOW - start, end > NOW) == (35 * 60, True)

    def over_it() -> dict[int, str]:
        return {
            each.transfer.number: each.scene.status
            for each in entries(demo, since=start, until=NOW - 5 * 60)
            if outage.provider in each.transfer.deal.providers
        }

    found = over_it()
    hanging = {number for number, status in found.items() if status == "EXECUTING"}
    assert 0.4 < len(hanging) / len(found) < 0.65
    clock.now = end + 300
    assert {over_it()[number] for number in hanging} == {"SUCCEEDED"}


def test_opened_scenarios_are_in_no_list_but_their_owners(demo: Emulator) -> None:
    before = ids(read(demo, int(NOW) - HOUR, int(NOW)))
    worst = demo.worst("stuck-recoverable")
    assert demo.scenarios()
    assert ids(read(demo, int(NOW) - HOUR, int(NOW))) == before
    assert worst["id"] in ids(read(demo, int(NOW) - HOUR, int(NOW), byOwnerAddress=worst["ownerAddress"]))
    assert call(demo, "GetIntent", {"intentId": worst["intentId"]})["intent"]["status"] == "FAILED"
