"""Stale-response tracking: a page learns which of its responses are stale, even those from its threads."""

from datetime import UTC, datetime, timedelta

from intents_ui.service.errors import Reason, StaleResponse, Unreachable
from intents_ui.service.executor import FairExecutor
from intents_ui.service.request_context import add_stale, as_of, collecting_stale

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def old(operation: str, *, learned_at: datetime = NOON) -> StaleResponse:
    return StaleResponse(operation, learned_at, Unreachable(reason=Reason.REFUSED), again_in=5.0)


def test_a_page_collects_stale_responses_of_its_threads():
    with collecting_stale() as result:
        FairExecutor(2).together(*(lambda n=n: add_stale(old(f"GetIntent{n}")) for n in range(3)))
    assert sorted(each.operation for each in result) == ["GetIntent0", "GetIntent1", "GetIntent2"]


def test_background_work_knows_how_old_its_responses_are():
    def work() -> datetime:
        add_stale(old("GetIntentHistory"))
        return as_of()

    with collecting_stale() as of_the_page:
        assert FairExecutor(2).aside(work).result(10) == NOON
    assert of_the_page == []


def test_a_page_is_as_of_its_oldest_response():
    with collecting_stale():
        for minutes in (5, 0, 3):
            add_stale(old("GetIntent", learned_at=NOON + timedelta(minutes=minutes)))
        assert as_of() == NOON
