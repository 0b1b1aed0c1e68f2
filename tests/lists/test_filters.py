"""Filters entered in a list's URL or form, and the resulting request."""

import zoneinfo
from datetime import UTC, datetime
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as some

from intents_ui.search import filters
from intents_ui.search.filters import IN_FLIGHT, Filters, ListQuery
from intents_ui.service.models import ChainInfo, IntentStatus
from tests.transfers.builders import OWNER, named

NOW = datetime(2026, 11, 21, 14, 3, 11, tzinfo=UTC)
CHAINS = (ChainInfo(id=8453, name="Base"), ChainInfo(id=42161, name="Arbitrum One"), ChainInfo(id=7))
MOMENT = 1_795_269_791  # NOW


def read(query: str) -> ListQuery:
    return filters.read(parse_qs(query, keep_blank_values=True), chains=CHAINS)


WRONG = [
    ("status=failed&status=%E2%80%AEx", "status", "⟨U+202E⟩"),
    ("origin=-1", "origin", "Unknown chain"),
    ("origin=%EF%BC%98", "origin", "whole number"),
    ("origin=99999999999999999999", "origin", "A chain ID must be at most 18446744073709551615."),
    ("status=EXPIRED", "status", "no status for an expired quote. Filter by QUOTED or COMMITTED"),
    ("project=-1", "project", "whole number"),
    ("size=101", "size", "between 1 and 100"),
    ("balances=maybe", "balances", "1 (on) or 0 (off)"),
    ("from=1795269791000", "since", "milliseconds"),
    ("from=yesterday", "since", "whole number"),
    ("from_at=1969-12-31T23:59", "since", "valid date range"),
    ("from_at=2026-11-21T10:00&zone=../../etc/passwd", "since", "time zone"),
    ("from_at=2026-03-29T02:30&zone=Europe/Berlin", "since", "daylight saving change"),
    ("to_at=2026-03-29T02:30&zone=Europe/Berlin", "until", "daylight saving change"),
    ("to_at=9999-12-31", "until", "valid date range"),
]


@pytest.mark.parametrize(("query", "name", "words"), WRONG, ids=[query[:44] for query, *_ in WRONG])
def test_invalid_filters_get_a_message_and_no_request(query: str, name: str, words: str) -> None:
    asked = read(query)
    assert list(asked.problems) == [name]
    assert words in asked.problems[name]


def test_invalid_input_stays_in_its_field_and_the_rest_is_used() -> None:
    asked = read("owner=0x12&origin=base&status=failed")
    assert asked.field("owner") == "0x12"
    assert asked.field("origin") == "8453"
    assert asked.filters.status == (IntentStatus.FAILED,)


def test_an_unlisted_chain_id_is_accepted_with_and_without_the_catalog() -> None:
    assert read("origin=1").filters.origin == 1
    assert filters.read({"origin": ["1"]}).filters.origin == 1
    assert "Enter a chain ID." in filters.read({"origin": ["base"]}).problems["origin"]


NEW_YORK, BERLIN, CAIRO = "America/New_York", "Europe/Berlin", "Africa/Cairo"
DAY = MOMENT - MOMENT % 86_400


def day(written: str, zone: str) -> str:
    return f"from_at={written}&to_at={written}&zone={zone}"


# Times as typed, in the zone of the user, and those of the list.
TYPED = named(
    ("Berlin", f"from_at=2026-11-21T15:03:11&zone={BERLIN}", MOMENT, None),
    ("UTC", "from_at=2026-11-21T14:03:11&zone=UTC", MOMENT, None),
    ("Kathmandu", "from_at=2026-11-21T19:48:11&zone=Asia/Kathmandu", MOMENT, None),
    ("with UTC", f"from_at=2026-11-21T14:03:11Z&zone={BERLIN}", MOMENT, None),
    ("summer time", f"from_at=2026-07-01T12:00&zone={NEW_YORK}", 1_782_921_600, None),
    ("a day alone", "from_at=2026-11-21&zone=UTC", DAY, None),
    # Of a doubled hour, a range includes both readings.
    ("doubled hour", day("2026-11-01T01:30", NEW_YORK), 1_793_511_000, 1_793_514_600),
    ("doubled hour, Berlin", day("2026-10-25T02:30", BERLIN), 1_792_888_200, 1_792_891_800),
    ("with its offset", f"to_at=2026-11-01T01:30-04:00&zone={NEW_YORK}", None, 1_793_511_000),
    # A time of a doubled hour stays when the form is sent without a change.
    *(
        (f"unchanged, {at}", f"from={at}&to={at}&{day('2026-11-01T01:30:15', NEW_YORK)}", at, at)
        for at in (1_793_511_015, 1_793_514_615)
    ),
    # A day without a time is the whole day in its zone.
    ("a day", day("2026-11-27", "UTC"), 1_795_737_600, 1_795_823_999),
    ("a day without dashes", day("20261127", "UTC"), 1_795_737_600, 1_795_823_999),
    ("a day, its zone", day("2026-11-27", NEW_YORK), 1_795_755_600, 1_795_841_999),
    ("a day of 25 hours", day("2026-11-01", NEW_YORK), 1_793_505_600, 1_793_595_599),
    ("a day of 23 hours", day("2026-03-08", NEW_YORK), 1_772_946_000, 1_773_028_799),
    ("a day without midnight", day("2026-04-24", CAIRO), 1_776_981_600, 1_777_064_399),
    ("before a day without midnight", day("2026-04-23", CAIRO), 1_776_895_200, 1_776_981_599),
    ("midnight twice", day("2026-11-01", "America/Havana"), 1_793_505_600, 1_793_595_599),
    # A typed time replaces the former one, and a cleared field removes it.
    ("another second", f"from={MOMENT}&from_at=2026-11-21T14:03:12&zone=UTC", MOMENT + 1, None),
    ("another zone", f"from={MOMENT}&from_at=2026-11-21T14:03:11&zone={BERLIN}", MOMENT - 3600, None),
    ("another day", f"to_at=2026-11-27&zone=UTC&to={DAY}", None, 1_795_823_999),
    ("cleared", f"from={MOMENT}&to={MOMENT}&from_at=&to_at=&zone=UTC", None, None),
)


@pytest.mark.parametrize(("query", "since", "until"), TYPED)
def test_times_are_typed_in_the_users_zone_and_stored_as_seconds(
    query: str, since: int | None, until: int | None
) -> None:
    asked = read(query)
    assert (asked.problems, asked.filters) == ({}, Filters(since=since, until=until))


def test_typed_times_stay_as_they_were_typed_while_something_is_wrong() -> None:
    asked = read("from_at=2026-11-21T15:03&to_at=2026-11-21T14:00&zone=Europe/Berlin")
    assert list(asked.problems) == ["until"]
    assert (asked.field("since"), asked.field("until")) == ("2026-11-21T15:03", "2026-11-21T14:00")
    assert asked.zone == "Europe/Berlin"


@given(
    some.builds(
        Filters,
        project=some.none() | some.integers(0, 2**64 - 1),
        owner=some.none() | some.just(OWNER),
        status=some.sets(some.sampled_from(list(IntentStatus)), max_size=7).map(
            lambda chosen: tuple(status for status in IntentStatus if status in chosen)
        ),
        origin=some.none() | some.sampled_from([7, 8453]),
        destination=some.none() | some.sampled_from([7, 8453]),
        since=some.none() | some.integers(0, MOMENT),
        until=some.none() | some.integers(MOMENT, 10**11),
        balances=some.booleans(),
        recoverable=some.booleans(),
        order=some.sampled_from(["DESC", "ASC"]),
        size=some.integers(1, 100),
    )
)
def test_a_list_has_one_canonical_url(wanted: Filters) -> None:
    asked = read(wanted.query)
    assert asked.problems == {}
    assert asked.filters == wanted
    assert asked.filters.query == wanted.query


def test_defaults_are_left_out_of_the_url() -> None:
    assert Filters().query == ""
    assert Filters(status=IN_FLIGHT).query == "status=in-flight"
    assert Filters(size=30, order="ASC").query == "order=ASC&size=30"


def test_time_zones_are_known_on_a_system_without_them() -> None:
    zoneinfo.reset_tzpath(to=[])
    zoneinfo.ZoneInfo.clear_cache()
    try:
        asked = filters.read({"from_at": ["2026-11-21T15:03:11"], "zone": ["Europe/Berlin"]})
    finally:
        zoneinfo.reset_tzpath()
        zoneinfo.ZoneInfo.clear_cache()
    assert asked.filters.since == MOMENT


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (IN_FLIGHT, "open"),
        ((IntentStatus.FAILED,), "failed"),
        (tuple(each for each in IntentStatus if each not in ("ABORTED", "INVALID")), "all but aborted and invalid"),
    ],
)
def test_statuses_are_summarized_in_words(chosen: tuple[IntentStatus, ...], words: str) -> None:
    (chip,) = filters.chips(Filters(status=chosen), chains={}, now=NOW)
    assert chip.value == words
