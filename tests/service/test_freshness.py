"""Stale-response tracking: a page learns which of its responses are stale, even those from its threads."""

from datetime import UTC, datetime

from intents_ui.service.context.concurrency import together
from intents_ui.service.context.stale_data import OldAnswer, collecting, tell
from intents_ui.service.errors import Reason, Unreachable

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def old(operation: str) -> OldAnswer:
    return OldAnswer(operation, NOON, Unreachable.because(Reason.REFUSED), again_in=5.0)


def test_a_page_collects_stale_responses_of_its_threads():
    with collecting() as result:
        together(*(lambda n=n: tell(old(f"GetIntent{n}")) for n in range(3)))
    assert sorted(each.operation for each in result) == ["GetIntent0", "GetIntent1", "GetIntent2"]


def test_concurrent_pages_collect_only_their_own_stale_responses():
    with collecting() as one:
        tell(old("GetIntent"))
    with collecting() as other:
        tell(old("GetChains"))
    tell(old("GetTokenList"))  # nobody listens
    assert [[each.operation for each in result] for result in (one, other)] == [["GetIntent"], ["GetChains"]]
