"""What a page or file says about stale responses in it."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from intents_ui.http.failures import add_stale_notice
from intents_ui.service import request_context
from intents_ui.service.errors import Reason, StaleResponse, Unreachable

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize("ages", [[60, 600], [600, 60], [600]], ids=["first", "last", "only"])
def test_the_age_is_that_of_the_oldest_response(ages: list[int]) -> None:
    def view(request: HttpRequest) -> HttpResponse:
        for seconds in ages:
            error = Unreachable(reason=Reason.TIMEOUT)
            request_context.add_stale(StaleResponse("GetIntent", NOW - timedelta(seconds=seconds), error))
        return HttpResponse("{}", content_type="application/json")

    with time_machine.travel(NOW, tick=False):
        assert add_stale_notice(view)(RequestFactory().get("/a.json"))["Age"] == "600"


def test_a_response_of_fresh_data_has_no_age() -> None:
    assert "Age" not in add_stale_notice(lambda request: HttpResponse())(RequestFactory().get("/a.json"))
