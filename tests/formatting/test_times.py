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


DURATIONS = {
    timedelta(): "0 s",
    timedelta(milliseconds=400): "<1 s",
    timedelta(seconds=42): "42 s",
    timedelta(minutes=7, seconds=12): "7 min 12 s",
    timedelta(minutes=19): "19 min",
    timedelta(hours=2, minutes=5, seconds=9): "2 h 5 min",
    timedelta(hours=24) - timedelta(seconds=1): "23 h 59 min",
    timedelta(hours=24): "1 d",
    timedelta(days=3, hours=4): "3 d 4 h",
    timedelta(seconds=-1): "—",
    None: "—",
}


def test_durations_have_two_units_at_most():
    assert {length: times.duration(length) for length in DURATIONS} == DURATIONS


def test_the_date_is_included_if_it_is_not_today():
    assert times.utc(NOW, now=NOW) == "14:03:11 UTC"
    assert times.utc(NOW, now=NOW + timedelta(days=1)) == "2026-11-21 14:03:11 UTC"
    assert times.utc(NOW, now=NOW - timedelta(days=1)) == "2026-11-21 14:03:11 UTC"
    assert times.utc_minute(NOW, now=NOW) == "14:03 UTC"
    assert times.dated(NOW) == "2026-11-21 14:03:11 UTC"


def test_a_time_in_words_knows_its_time_and_how_exact_the_words_are():
    shown = [times.utc(NOW, now=NOW), times.utc_minute(NOW, now=NOW), times.dated(NOW)]
    assert [(each.at, each.is_rough) for each in shown] == [(NOW, False), (NOW, True), (NOW, False)]


def test_an_unknown_time_is_a_dash():
    assert times.ago(None, now=NOW) == times.utc(None, now=NOW) == times.utc_minute(None, now=NOW) == "—"
    assert times.dated(None) == "—"
    assert times.iso(None) == ""


def test_times_of_every_zone_are_shown_in_utc():
    tokyo = NOW.astimezone(timezone(timedelta(hours=9)))
    assert times.utc(tokyo, now=NOW) == "14:03:11 UTC"
    assert times.dated(tokyo) == "2026-11-21 14:03:11 UTC"
    assert times.iso(tokyo) == "2026-11-21T14:03:11Z"


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_any_two_times_can_be_formatted(at, now):
    assert times.ago(at, now=now)
    assert times.utc(at, now=now).endswith("UTC")
    assert datetime.fromisoformat(times.iso(at)) == at


def test_unix_seconds_become_a_time():
    known = {0: datetime(1970, 1, 1, tzinfo=UTC), 1_795_269_791: NOW, None: None}
    # After the year 9999, and more than a duration can be.
    known |= dict.fromkeys((10**12, 10**30))
    assert {count: times.since_1970(count) for count in known} == known


def test_a_later_time_ends_with_the_calendar():
    later = {NOW: NOW + timedelta(hours=1), None: None, datetime.max.replace(tzinfo=UTC): None}
    assert {moment: times.after(moment, timedelta(hours=1)) for moment in later} == later


def test_seconds_of_the_api_are_converted_unless_no_duration_is_as_long():
    longest = timedelta.max // timedelta(seconds=1)
    for count in (0, 90, longest):
        assert times.seconds(count) == timedelta(seconds=count)
    for count in (None, -1, longest + 1, 10**30):
        assert times.seconds(count) is None
