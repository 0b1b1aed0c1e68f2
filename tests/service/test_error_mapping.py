"""The class of each error that the service responds with, and how long a busy one wants to be left alone."""

import json
from typing import Any

import pytest
import time_machine
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.service import errors, operations
from intents_ui.service.errors import TooBusy
from tests.service.clients import answered, error_of, without_socket
from tests.tables import rows

NOW = "2026-11-21T12:00:00Z"
JSON = (
    st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())
)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (8000, errors.NotFound),
        (1006, errors.AccessDenied),
        (7001, errors.Expired),
        (-7, errors.Unreachable),
        ("8000", errors.NotFound),
        ("-7", errors.Unreachable),
    ],
)
def test_the_code_outranks_a_conflicting_name_or_status(code, kind):
    assert type(error_of(answered({"error": "SomethingElse", "code": code, "msg": ""}, status=418))) is kind


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": "QuoteExpired", "code": 31337, "msg": ""}, errors.Expired),
        (400, {"error": "Unheard", "code": 31337, "msg": ""}, errors.Invalid),
        (403, {"error": "Unheard", "code": 31337, "msg": ""}, errors.AccessDenied),
        (200, {"error": "Unheard", "code": 31337, "msg": "", "status": 409}, errors.WrongState),
        (401, {"detail": "no"}, errors.AccessDenied),
        (429, {}, errors.TooBusy),
    ],
)
def test_without_a_known_code_the_name_decides_and_then_the_status(status, body, kind):
    assert type(error_of(answered(body, status=status))) is kind


def rate_limited(header: str | None) -> float:
    """Return for how many seconds calls pause."""
    headers = {} if header is None else {"Retry-After": header.encode()}
    error = error_of(answered({}, status=429, headers=headers))
    assert isinstance(error, TooBusy)
    return error.retry_after


@pytest.mark.parametrize(("header", "seconds"), rows(__file__, "retry_after"))
def test_retry_after_is_seconds_or_a_date_and_has_a_limit(header, seconds):
    least = int(seconds)
    with time_machine.travel(NOW, tick=False):
        assert (
            least <= rate_limited(json.loads(header)) <= min(least * 1.1, 30)
        )  # more, so that not all come back at once


@given(st.dictionaries(st.sampled_from(["error", "name", "code", "msg", "message", "cause", "status"]), JSON), JSON)
def test_any_error_envelope_becomes_a_printable_service_error(members: dict[str, Any], wrapped: Any):
    for document in (members, {"webrpcError": members}, {"webrpcError": wrapped}):
        assert str(error_of(answered(document, status=500))).encode()


@given(st.text(), st.integers(400, 599))
def test_any_other_error_page_becomes_a_short_service_error(body, status):
    assert len(str(error_of(answered(body, status=status)))) < 300


def test_a_successful_response_is_not_mistaken_for_an_error():
    for document in ({"intents": []}, {"error": "a field of its own"}):
        with without_socket(lambda _, document=document: answered(document)) as service:
            assert service.ask(operations.search_intents(by_query_string="x")).intents == ()
