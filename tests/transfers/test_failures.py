"""Every error class and every error code of the service has a message and a code for users."""

import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

import pytest

from intents_ui.emulator.errors import TABLE
from intents_ui.formatting import failures
from intents_ui.service import errors
from intents_ui.service.errors import StaleResponse
from tests.service.clients import answered, error_of

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


def kinds(error: type[errors.ServiceError]) -> list[type[errors.ServiceError]]:
    return [error, *(kind for each in error.__subclasses__() for kind in kinds(each))]


def words_of(error: errors.ServiceError) -> failures.Words:
    """Return the words of an error, which suggest no second deposit."""
    words = failures.words(error)
    assert words.title
    assert words.what.endswith(".")
    assert words.todo.endswith(".")
    assert not re.search(r"\bpay|(?<!Don't re)send", words.todo)
    assert failures.status(error).value in (400, 403, 404, 429, 503)
    return words


@pytest.mark.parametrize("kind", kinds(errors.ServiceError))
def test_no_error_message_suggests_a_second_deposit(kind: type[errors.ServiceError]) -> None:
    assert words_of(kind())


def test_our_own_limit_is_not_reported_as_the_services_rate_limit() -> None:
    ours, theirs = failures.words(errors.Overloaded()), failures.words(errors.TooBusy())
    assert "Dashboard" in ours.title
    assert "by the service" in theirs.title
    assert failures.status(errors.Overloaded()) == 503


@pytest.mark.parametrize("name", failures.OF_DASHBOARD)
def test_every_failure_of_the_dashboard_says_what_happened_and_what_to_do(name: str) -> None:
    gaps = defaultdict(lambda: "…")
    row = failures.OF_DASHBOARD[name]
    assert HTTPStatus(row["status"]) >= HTTPStatus.BAD_REQUEST
    assert row["title"]
    assert all(row[part].format_map(gaps).endswith((".", "…")) for part in ("what", "todo"))
    assert not re.search(r"\bpay\b", row["todo"])


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row["name"])
def test_every_error_code_has_a_class_and_texts_for_users_and_operators(row) -> None:
    code = row["code"]
    body = {"error": row["name"], "code": code, "msg": row["msg"]}
    error = error_of(answered(body, status=row["status"]))
    assert words_of(error) is failures.BY_CODE[code]
    assert failures.MEANINGS[code]
    assert type(error) is errors.KNOWN[code][1]


@pytest.mark.parametrize("status", [400, 403, 404, 500, 502])
def test_an_unknown_error_code_is_described_by_its_status(status: int) -> None:
    error = error_of(answered({"error": "Unheard", "code": 31337}, status=status))
    of_classes = {failures.MESSAGES.get(kind.__name__) for kind in kinds(errors.ServiceError)} - {None}
    assert failures.words(error) in of_classes | {failures.MESSAGES["failed"]}


def test_the_retry_time_is_stated_only_if_waiting_helps() -> None:
    limited = errors.TooBusy()
    limited.retry_after = 60.0
    assert failures.until(limited, now=NOW).startswith("Rate limited until 12:01:00 UTC (in 60 s).")
    assert "Retry after 12:00:10 UTC (in 10 s)." in failures.until(errors.Unreachable(), now=NOW)
    assert failures.until(errors.NotFound(), now=NOW) == failures.until(errors.AccessDenied(), now=NOW) == ""


def old(operation: str, seconds: float, again_in: float | None = None) -> StaleResponse:
    learned_at = NOW - timedelta(seconds=seconds)
    return StaleResponse(operation, learned_at, errors.Unreachable(reason=errors.Reason.REFUSED), again_in)


def test_the_oldest_response_determines_the_age() -> None:
    result = failures.old([old("GetIntent", 5, 3.0), old("GetIntentReceipt", 40), old("GetIntent", 5, 7.4)], now=NOW)
    assert result is not None
    assert result.as_of == NOW - timedelta(seconds=40)
    assert result.why == "Service unreachable."
    assert result.again == "Retrying in 7 s."


def test_stale_names_are_mentioned_only_if_nothing_else_is_stale() -> None:
    names, intent = old("GetChains", 9000), old("GetIntent", 4)
    for answers, oldest in (([names, intent], intent), ([names], names)):
        result = failures.old(answers, now=NOW)
        assert result is not None
        assert result.as_of == oldest.learned_at


@pytest.mark.parametrize(
    ("operations", "parts"),
    [
        (["GetIntent", "GetIntentReceipt"], "this transfer"),
        (["GetTokenList", "GetChains"], "names of tokens, names of chains"),
        (["GetIntentHistory"], "transfer list"),
        (["GetExactInputRoutes", "GetTokenPrices"], "routes, prices"),
        (["SomethingNew"], "parts of this page"),
    ],
)
def test_stale_parts_are_named(operations: list[str], parts: str) -> None:
    result = failures.old([old(operation, 90) for operation in operations], now=NOW)
    assert result is not None
    assert result.parts == parts
    assert result.is_names == parts.startswith("names")
    assert result.sentence == f"Last updated 2026-11-21 11:58:30 UTC: {parts}. Service unreachable."


def test_failed_calls_are_listed_once_with_their_request_id() -> None:
    failed, missing = errors.Unreachable(), errors.NotFound()
    failed.operation, failed.request_id = "GetIntentReceipt", "abc123abc123"
    missing.operation, missing.request_id = "GetIntent", "def456def456"
    assert list(failures.failed_calls([failed, failed, missing])) == [("GetIntentReceipt", "abc123abc123")]
