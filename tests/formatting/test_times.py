from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import times
from tests.transfers.builders import named

NOW = datetime(2026, 11, 21, 14, 3, 11, tzinfo=UTC)

AGO = named(
    ("seconds", timedelta(seconds=42), "42 s ago"),
    ("minutes", timedelta(minutes=7, seconds=50), "7 min ago"),
    ("hours", timedelta(hours=3, minutes=59), "3 h ago"),
    ("one second before a day", timedelta(hours=23, minutes=59, seconds=59), "23 h ago"),
    ("a day", timedelta(hours=24), "1 d ago"),
    ("days", timedelta(days=400), "400 d ago"),
    ("now", timedelta(), "just now"),
    ("one second", timedelta(seconds=1), "1 s ago"),
    ("as far ahead as clocks may differ", -timedelta(minutes=2), "just now"),
    ("a little further ahead", -timedelta(minutes=2, seconds=1), "in 2 min"),
    ("a clock that runs ahead", -timedelta(minutes=1), "just now"),
    ("ahead", -timedelta(hours=3), "in 3 h"),
)


@pytest.mark.parametrize(("passed", "shown"), AGO)
def test_relative_times_are_short(passed, shown):
    assert times.ago(NOW - passed, now=NOW) == shown


DURATIONS = [
    (timedelta(), "0 s"),
    (timedelta(milliseconds=400), "<1 s"),
    (timedelta(seconds=42), "42 s"),
    (timedelta(minutes=7, seconds=12), "7 min 12 s"),
    (timedelta(minutes=19), "19 min"),
    (timedelta(hours=2, minutes=5, seconds=9), "2 h 5 min"),
    (timedelta(hours=24) - timedelta(seconds=1), "23 h 59 min"),
    (timedelta(hours=24), "1 d"),
    (timedelta(days=3, hours=4), "3 d 4 h"),
    (timedelta(seconds=-1), "—"),
    (None, "—"),
]


@pytest.mark.parametrize(("length", "words"), DURATIONS, ids=[row[1] + str(row[0]) for row in DURATIONS])
def test_durations_have_two_units_at_most(length, words):
    assert times.duration(length) == words


def test_the_date_is_included_if_it_is_not_today():
    assert times.utc(NOW, now=NOW) == "14:03:11 UTC"
    assert times.utc(NOW, now=NOW + timedelta(days=1)) == "2026-11-21 14:03:11 UTC"
    assert times.utc(NOW, now=NOW - timedelta(days=1)) == "2026-11-21 14:03:11 UTC"
    assert times.utc_minute(NOW, now=NOW) == "14:03 UTC"
    assert times.dated(NOW) == "2026-11-21 14:03:11 UTC"


def test_a_time_in_words_knows_its_time_and_how_exact_the_words_are():
    shown, rough, dated = times.utc(NOW, now=NOW), times.utc_minute(NOW, now=NOW), times.dated(NOW)
    assert [(each.at, each.is_rough) for each in (shown, rough, dated)] == [(NOW, False), (NOW, True), (NOW, False)]


def test_an_unknown_time_is_a_dash():
    assert times.ago(None, now=NOW) == times.utc(None, now=NOW) == times.utc_minute(None, now=NOW) == "—"
    assert times.dated(None) == "—"
    assert times.iso(None) == ""


@pytest.mark.parametrize(("passed", "shown"), [(61.9, 61), (60, 60), (0.5, 0), (-0.5, -1), (-3, -3)])
def test_the_time_that_has_passed_is_in_whole_seconds(passed, shown):
    assert times.elapsed(NOW - timedelta(seconds=passed), now=NOW) == timedelta(seconds=shown)


def test_times_of_every_zone_are_shown_in_utc():
    tokyo = NOW.astimezone(timezone(timedelta(hours=9)))
    assert times.utc(tokyo, now=NOW) == "14:03:11 UTC"
    assert times.dated(tokyo) == "2026-11-21 14:03:11 UTC"
    assert times.iso(tokyo) == "2026-11-21T14:03:11Z"


@pytest.mark.parametrize(("count", "length"), [(90, timedelta(seconds=90)), (None, None), (-1, None), (10**30, None)])
def test_seconds_of_the_api_are_converted(count, length):
    assert times.seconds(count) == length


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_any_two_times_can_be_formatted(at, now):
    assert times.ago(at, now=now)
    assert times.utc(at, now=now).endswith("UTC")
    assert datetime.fromisoformat(times.iso(at)) == at


@pytest.mark.parametrize(
    ("count", "moment"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1_795_269_791, datetime(2026, 11, 21, 14, 3, 11, tzinfo=UTC)),
        (None, None),
        (10**12, None),
        (10**30, None),
    ],
    ids=["the first moment", "a moment in 2026", "missing", "after the year 9999", "more than a duration can be"],
)
def test_unix_seconds_become_a_time(count, moment):
    assert times.since_1970(count) == moment


@pytest.mark.parametrize(
    ("moment", "later"),
    [(NOW, NOW + timedelta(hours=1)), (None, None), (datetime.max.replace(tzinfo=UTC), None)],
    ids=["an hour later", "missing", "the calendar ends before"],
)
def test_the_later_of_two_times_is_returned(moment, later):
    assert times.after(moment, timedelta(hours=1)) == later


def test_the_longest_possible_duration_is_formatted():
    longest = timedelta.max // timedelta(seconds=1)
    assert times.seconds(longest) == timedelta(seconds=longest)
    assert times.seconds(longest + 1) is None
    assert times.seconds(0) == timedelta()
