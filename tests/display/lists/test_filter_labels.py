"""Labels of a list's filters, and the links of its form."""

from datetime import UTC, datetime
from urllib.parse import parse_qs

import pytest

from intents_ui.display.formatting import hashes
from intents_ui.display.lists import filter_labels, filters
from intents_ui.display.lists.filters import IN_FLIGHT, Filters
from intents_ui.service.wire.models import IntentStatus
from tests.display.builders import OWNER

NOW = datetime(2026, 11, 21, 14, 3, 11, tzinfo=UTC)
MOMENT = 1_795_269_791  # NOW
EVERYTHING = Filters(
    project=1042,
    owner=OWNER,
    status=(IntentStatus.FAILED, IntentStatus.REFUNDED),
    origin=8453,
    destination=42161,
    since=MOMENT - 3600,
    until=MOMENT,
    balances=True,
    recoverable=True,
    sort="id",
    order="ASC",
    size=30,
)


def read(query: str) -> Filters:
    return filters.read(parse_qs(query)).filters


def test_each_active_filter_is_a_chip_that_removes_only_itself() -> None:
    chips = filter_labels.chips(EVERYTHING, chains={8453: "Base"}, now=NOW)
    assert [chip.text for chip in chips] == [
        "Status: failed or refunded",
        "From Base",
        "To Chain 42161",
        f"Owner {hashes.short_address(OWNER)}",
        "Created from 13:03:11 UTC",
        "Created until 14:03:11 UTC",
        "Project 1042",
        "Recoverable only",
    ]
    for chip in chips:
        without = read(chip.without)
        gone = [
            name for name in vars(EVERYTHING) if name != "query" and getattr(without, name) != vars(EVERYTHING)[name]
        ]
        assert gone == [chip.name]


STATUSES = [
    (IN_FLIGHT, "open"),
    ((IntentStatus.FAILED,), "failed"),
    (tuple(each for each in IntentStatus if each != "ABORTED"), "all but aborted"),
    (tuple(each for each in IntentStatus if each not in ("ABORTED", "INVALID")), "all but aborted and invalid"),
]


@pytest.mark.parametrize(("chosen", "words"), STATUSES, ids=[words for _, words in STATUSES])
def test_statuses_are_summarized_in_words(chosen: tuple[IntentStatus, ...], words: str) -> None:
    (chip,) = filter_labels.chips(Filters(status=chosen), chains={}, now=NOW)
    assert chip.value == words
