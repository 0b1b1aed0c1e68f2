from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import times
from tests.tables import rows

NOW = datetime(2026, 11, 21, 14, 3, 11, tzinfo=UTC)


@pytest.mark.parametrize(("what", "seconds", "shown"), rows(__file__, "ages_and_durations"))
def test_ages_have_one_unit_and_durations_two_at_most(what, seconds, shown):
    passed = timedelta(seconds=float(seconds))
    assert (times.ago(NOW - passed, now=NOW) if what == "age" else times.duration(passed)) == shown
    assert times.duration(None) == "—"


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
