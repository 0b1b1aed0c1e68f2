"""The thirty scenarios, step by step."""

import pytest

from intents_ui.emulator import Emulator
from intents_ui.emulator.documents import MICROSECONDS
from intents_ui.emulator.population import Reach
from intents_ui.emulator.scenario_engine import SCENARIOS, scenario_named
from tests.emulator.driving import NOW, call, receipt_at
from tests.emulator.test_history import ids, read

LEGS = ("deposit", "origin", "destination", "refund")
MINUTE = 60


def leg_statuses(receipt):
    return [(receipt[f"{leg}Transaction"] or {}).get("status") for leg in LEGS]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.slug)
def test_every_step_is_there_at_its_time_and_not_before(emulator, clock, scenario):
    for variant in scenario.variant_names:
        intent, before = emulator.newest(scenario.slug, variant=variant), None
        asked = {"intentId": intent["intentId"]}
        for step in scenario.script_of(variant):
            if before:
                receipt = receipt_at(emulator, clock, intent, step.at - 0.001)
                assert (receipt["status"], tuple(leg_statuses(receipt))) == (before.status, before.legs)
            receipt, before = receipt_at(emulator, clock, intent, step.at), step
            states = call(emulator, "WaitIntentReceipt", asked | {"lastReceiptStates": ["NEW"]})["receiptStates"]
            assert (receipt["status"], tuple(leg_statuses(receipt))) == (step.status, step.legs)
            assert receipt["summary"]["status"] == step.status
            assert call(emulator, "GetIntent", asked)["intent"]["status"] == step.status
            assert [state for state in states if state != "UNKNOWN"] == [leg for leg in step.legs if leg]


def test_there_is_always_a_fresh_and_a_finished_copy_of_each(emulator, clock):
    for _ in range(4):
        clock.forward(431.7)
        copies = {number: (emulator.newest(number), emulator.finished(number)) for number in range(1, 31)}
        assert all(clock.now - fresh["id"] / 1_000_000 < 15 * MINUTE for fresh, _ in copies.values())
    for number, (fresh, finished) in copies.items():
        assert finished["status"] == scenario_named(number).script[-1].status
        for intent in (fresh, finished):
            assert intent["intentId"] in record(emulator, intent)["history"]


def record(emulator, intent):
    """Everything that the service says about an intent, through every operation that reads one."""
    intent_id, seconds = intent["intentId"], intent["id"] // 1_000_000
    around = {"fromTime": seconds, "toTime": seconds + 1, "includeBalances": True}
    rows = call(emulator, "GetIntentHistory", around | {"byOwnerAddress": intent["ownerAddress"]})["intents"]
    return {
        "intent": call(emulator, "GetIntent", {"intentId": intent_id})["intent"],
        "receipt": call(emulator, "GetIntentReceipt", {"intentId": intent_id})["intentReceipt"],
        "history": {row["intentId"]: row for row in rows if row["intentId"] == intent_id},
        "search": call(emulator, "SearchIntents", {"byIntentId": intent_id})["intents"],
        "wait": call(emulator, "WaitIntentReceipt", {"intentId": intent_id, "lastReceiptStates": ["NEW"]}),
    }


@pytest.mark.parametrize("slug", ["stuck-recoverable", "relayer-retries", "refunded-on-destination", "expired-quote"])
def test_a_held_copy_stays_at_the_worst_step_of_its_script(emulator, clock, slug):
    """Two emulators give their first copy the same number at the same moment, so the records can be compared whole."""
    scenario = scenario_named(slug)
    step = [step for step in scenario.script_of(scenario.worst.variant) if step.at <= scenario.worst.at][-1]
    moving = Emulator(now=clock, hold=0.0)
    expected = record(moving, moving.play(slug, variant=scenario.worst.variant, age=scenario.worst.at))
    clock_at_first = clock.now

    held = emulator.worst(slug)

    assert clock_at_first - held["id"] / 1_000_000 == pytest.approx(scenario.worst.at, abs=0.002)
    assert record(emulator, held) == expected
    assert (expected["receipt"]["status"], tuple(leg_statuses(expected["receipt"]))) == (step.status, step.legs)
    assert len(expected["history"]) == len(expected["search"]) == 1
    for later in (600, 86_400):
        clock.now = clock_at_first + later
        assert record(emulator, held) == expected


def test_a_held_copy_is_replaced_after_ten_minutes_and_stays_available(emulator, clock):
    first = emulator.worst("stuck-recoverable")
    clock.forward(590)
    assert emulator.worst("stuck-recoverable") == first
    clock.forward(20)
    assert emulator.worst("stuck-recoverable")["intentId"] != first["intentId"]
    assert call(emulator, "GetIntent", {"intentId": first["intentId"]})["intent"] == first
    clock.forward(-3600)  # it was set back
    assert emulator.worst("stuck-recoverable")["id"] < first["id"]


def test_opened_scenarios_are_in_no_list_but_their_owners(clock):
    demo, hour = Emulator(now=clock, started=NOW), (int(NOW) - 3600, int(NOW))
    before = ids(read(demo, *hour))
    worst = demo.worst("stuck-recoverable")
    assert demo.scenarios()
    assert ids(read(demo, *hour)) == before
    assert worst["id"] in ids(read(demo, *hour, byOwnerAddress=worst["ownerAddress"]))
    assert call(demo, "GetIntent", {"intentId": worst["intentId"]})["intent"]["status"] == "FAILED"


def test_a_provider_hangs_at_the_start_of_a_demo_and_delivers_when_its_outage_is_over(clock):
    demo = Emulator(now=clock, started=NOW)
    outage = demo.world.outages[0]
    assert (outage.start, outage.end > NOW * MICROSECONDS) == ((NOW - 35 * 60) * MICROSECONDS, True)

    def over_it():
        reach = Reach(outage.start, latest=round((NOW - 5 * 60) * MICROSECONDS))
        listed = demo.ledger.entries(round(clock() * MICROSECONDS), descending=False, reach=reach)
        of_provider = (each for each in listed if outage.provider in each.transfer.deal.providers)
        return {each.transfer.number: each.scene.status for each in of_provider}

    found = over_it()
    hanging = {number for number, status in found.items() if status == "EXECUTING"}
    assert 0.4 < len(hanging) / len(found) < 0.65
    clock.now = outage.end / MICROSECONDS + 300
    assert {over_it()[number] for number in hanging} == {"SUCCEEDED"}
