"""Incidents in the emulator's past, as a client sees them in the history."""

from collections import Counter
from datetime import UTC, datetime
from statistics import median

import pytest

from intents_ui.emulator import Emulator
from tests.emulator.driving import NOW, Clock
from tests.emulator.test_past import DAY, read

WEEK = 7 * DAY


def latest(emulator, what):
    return next(each for each in emulator.incidents() if each.what == what)


def receipts(emulator, since, until, **filters):
    rows = read(emulator, int(since), int(until), size=100, **filters)
    return [row["receipt"] for row in rows]


def on_the_failing_route(emulator, since, until):
    found = receipts(emulator, since, until, originChainId=8453, destinationChainId=42161)
    return [each for each in found if each["summary"]["routeProviders"] == ["RELAY"]]


def seconds_of(receipt):
    summary = receipt["summary"]
    start, end = (datetime.fromisoformat(summary[name]) for name in ("startedAt", "finishedAt"))
    return (end - start).total_seconds()


def test_each_kind_of_incident_happened_in_each_week_of_the_past(emulator):
    assert Counter(each.what for each in emulator.incidents()) == {"failing": 6, "silent": 5, "slow": 5}
    for each in emulator.incidents():
        assert NOW - 40 * DAY < each.start < each.end <= NOW - 2 * DAY


def test_two_in_five_transfers_of_a_route_fail_with_their_reason(emulator):
    failing = latest(emulator, "failing")
    assert (failing.end - failing.start) / 60 == 75
    found = on_the_failing_route(emulator, failing.start, failing.end)
    failed = [each for each in found if each["status"] in ("FAILED", "REFUNDED")]
    assert len(found) > 100
    assert len(failed) / len(found) == pytest.approx(0.4, abs=0.08)
    assert len({each["ownerAddress"] for each in failed}) > 20
    assert {each["originTransaction"]["statusReason"] for each in failed} == {
        "execution reverted: INSUFFICIENT_OUTPUT_AMOUNT"
    }
    before = on_the_failing_route(emulator, failing.start - DAY, failing.end - DAY)
    assert len(before) > 20
    assert not [each for each in before if each["status"] in ("FAILED", "REFUNDED")]


def test_a_provider_has_no_transfers_for_an_hour(emulator):
    silent = latest(emulator, "silent")
    assert silent.end - silent.start == 3600
    providers = [
        Counter(
            provider
            for each in receipts(emulator, silent.start + shift, silent.end + shift - 1)
            for provider in each["summary"]["routeProviders"]
        )
        for shift in (-3600, 0, 3600)
    ]
    before, meanwhile, after = providers
    assert meanwhile["HYPERLANE"] == 0
    assert meanwhile["OIF"] > 20
    assert min(before["HYPERLANE"], after["HYPERLANE"]) > 20


def test_transfers_of_a_chain_take_three_times_as_long(emulator):
    slow = latest(emulator, "slow")

    def usual(since, until, chain):
        found = receipts(emulator, since, until, originChainId=chain, byStatus="SUCCEEDED")
        return median(map(seconds_of, found))

    hour = slow.start, slow.start + 3600
    day_before = slow.start - DAY, slow.start - DAY + 3600
    assert usual(*hour, 137) > 2.5 * usual(*day_before, 137)
    assert usual(*hour, 43114) < 1.5 * usual(*day_before, 43114)


def test_the_last_two_days_before_a_start_are_quiet():
    tuesday = datetime(2026, 11, 17, 11, 30, tzinfo=UTC).timestamp()
    quiet, affected = Emulator(now=Clock(tuesday)), Emulator(now=Clock(tuesday), incidents_until=tuesday)
    since = affected.incidents()[0].start
    assert since == tuesday - 85 * 60
    assert not [each for each in on_the_failing_route(quiet, since, tuesday) if each["status"] == "REFUNDED"]
    assert [each for each in on_the_failing_route(affected, since, tuesday) if each["status"] == "REFUNDED"]
