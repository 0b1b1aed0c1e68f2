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
from tests.tables import rows
from tests.transfers.builders import OWNER

NOW = datetime(2026, 11, 21, 14, 3, 11, tzinfo=UTC)
CHAINS = (ChainInfo(id=8453, name="Base"), ChainInfo(id=42161, name="Arbitrum One"), ChainInfo(id=7))
MOMENT = 1_795_269_791  # NOW


def read(query: str) -> ListQuery:
    return filters.read(parse_qs(query, keep_blank_values=True), chains=CHAINS)


def test_invalid_input_stays_in_its_field_and_the_rest_is_used():
    asked = read("owner=0x12&origin=base&status=failed")
    assert asked.field("owner") == "0x12"
    assert asked.field("origin") == "8453"
    assert asked.filters.status == (IntentStatus.FAILED,)


def test_typed_times_stay_as_they_were_typed_while_something_is_wrong():
    asked = read("from_at=2026-11-21T15:03&to_at=2026-11-21T14:00&zone=Europe/Berlin")
    assert list(asked.problems) == ["until"]
    assert (asked.field("since"), asked.field("until")) == ("2026-11-21T15:03", "2026-11-21T14:00")
    assert asked.typed["zone"] == "Europe/Berlin"


def test_an_unlisted_chain_id_is_accepted_with_and_without_the_catalog():
    assert read("origin=1").filters.origin == 1
    assert filters.read({"origin": ["1"]}).filters.origin == 1
    assert "Enter a chain ID." in filters.read({"origin": ["base"]}).problems["origin"]


# Of a doubled hour, a range includes both readings. A day without a time is the whole day in its zone. A typed time
# replaces the former one, and a cleared field removes it.
TYPED = [pytest.param(*cells, id=name) for name, *cells in rows(__file__, "typed_times")]


@pytest.mark.parametrize(("query", "since", "until"), TYPED)
def test_times_are_typed_in_the_users_zone_and_stored_as_seconds(query, since, until):
    asked = read(query)
    since_at, until_at = (None if each == "-" else int(each) for each in (since, until))
    assert (asked.problems, asked.filters) == ({}, Filters(since=since_at, until=until_at))


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
def test_a_list_has_one_canonical_url(wanted):
    asked = read(wanted.query)
    assert asked.problems == {}
    assert asked.filters == wanted
    assert asked.filters.query == wanted.query


def test_defaults_are_left_out_of_the_url():
    assert Filters().query == ""
    assert Filters(status=IN_FLIGHT).query == "status=in-flight"
    assert Filters(size=30, order="ASC").query == "order=ASC&size=30"


def test_time_zones_are_known_on_a_system_without_them():
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
def test_statuses_are_summarized_in_words(chosen, words):
    (chip,) = filters.chips(Filters(status=chosen), chains={}, now=NOW)
    assert chip.value == words
