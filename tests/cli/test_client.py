"""The command line's requests: patient with a busy dashboard, careful with its token, and clear about failures."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from intents_ui.cli.client import LONGEST_WAIT
from intents_ui.cli.exit_codes import Exit
from tests.command_line import Done, run
from tests.service.scripted_server import Script, Visit, answering, response, serving
from tests.serving import free_port

EMPTY = {"identifiers": [], "matches": [], "isComplete": True, "mayBeMore": False}
TOKEN = "a-token-of-the-test"
PROBLEM = {
    "type": "about:blank",
    "title": "Service Unavailable",
    "status": 503,
    "detail": "Too many \x1b[31mrequests.",
    "whatToDo": "Wait a moment.",
    "requestId": "r-1",
    "retryAfter": 7,
    "fields": [],
}


def looked_up(script: Script, **how: Any) -> Done:
    with serving(script) as server:
        return run("lookup", "0x12", root=server.url, **how)


def busy_at_first(**headers: str) -> Script:
    """Answer from the third request on."""
    visits: list[Visit] = []

    def script(visit: Visit) -> None:
        visits.append(visit)
        if len(visits) > 2:
            return visit.send(response(EMPTY))
        written = {name.replace("_", "-"): value for name, value in headers.items()}
        return visit.send(response("busy", status=(429, 503)[len(visits) - 1], headers=written, kind="text/plain"))

    return script


@pytest.mark.parametrize(
    ("headers", "pauses"),
    [
        ({"Retry_After": "7"}, (7.0, 7.0)),
        ({"Retry_After": "0"}, (1.0, 1.0)),
        ({}, (2.0, 2.0)),
        ({"Retry_After": "soon"}, (2.0, 2.0)),
    ],
    ids=["seconds", "at least one", "none", "unreadable"],
)
def test_a_busy_dashboard_gets_the_time_that_it_asks_for(headers: dict[str, str], pauses: tuple[float, ...]) -> None:
    done = looked_up(busy_at_first(**headers), terminal=True)
    assert (done.code, done.pauses) == (Exit.NOT_FOUND, pauses)
    assert f"Trying again in {pauses[0]:.0f} s." in done.err


def test_retry_after_may_be_a_date() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    done = looked_up(answering("busy", status=503, headers={"Retry-After": at}, kind="text/plain"))
    assert done.code == Exit.UNAVAILABLE
    assert len(done.pauses) == 1
    assert 40 < done.pauses[0] <= 50


@pytest.mark.parametrize("retry_after", [None, "1", "45", "61", "9" * 400])
def test_waiting_has_a_limit(retry_after: str | None) -> None:
    headers = {"Retry-After": retry_after} if retry_after else {}
    done = looked_up(answering(PROBLEM, status=503, headers=headers, kind="application/problem+json"))
    assert done.code == Exit.UNAVAILABLE
    assert sum(done.pauses) <= LONGEST_WAIT


def test_the_problem_of_the_dashboard_is_shown_without_control_characters() -> None:
    headers = {"Retry-After": "100"}
    done = looked_up(answering(PROBLEM, status=503, headers=headers, kind="application/problem+json"))
    assert done.err.splitlines() == [
        "intents-ui: Too many ⟨U+001B⟩[31mrequests.",
        "Wait a moment.",
        "Request ID: r-1",
    ]


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (302, "text/html", Exit.ERROR),
        (401, "text/html", Exit.USAGE),
        (403, "application/problem+json", Exit.USAGE),
        (404, "text/html", Exit.ERROR),
        (404, "application/problem+json", Exit.NOT_FOUND),
        (413, "text/html", Exit.USAGE),
        (500, "application/problem+json", Exit.ERROR),
        (502, "text/html", Exit.UNAVAILABLE),
        (599, "text/html", Exit.ERROR),
    ],
)
def test_each_status_has_an_exit_code(status: int, kind: str, code: Exit) -> None:
    done = looked_up(answering(PROBLEM, status=status, kind=kind))
    assert (done.code, done.out, done.pauses) == (code, "", ())
    assert len(done.err.splitlines()) > 1


@pytest.mark.parametrize("body", ["", "<html>", "[]", "null", "{}", '{"matches": [{}]}', '{"matches": 1}'])
def test_an_answer_of_another_program_is_an_error(body: str) -> None:
    done = looked_up(answering(body))
    assert (done.code, done.out) == (Exit.ERROR, "")
    assert done.err


def test_an_unreachable_dashboard_is_named() -> None:
    port = free_port()
    done = run("lookup", "0x12", root=f"http://user:secret@127.0.0.1:{port}")
    assert done.code == Exit.UNAVAILABLE
    assert f"127.0.0.1:{port} can't be reached" in done.err
    assert "secret" not in done.err


def test_a_connection_that_breaks_is_an_outage() -> None:
    assert looked_up(lambda visit: visit.reset()).code == Exit.UNAVAILABLE


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://127.0.0.1:port", "file:///etc/passwd"]
)
def test_a_url_that_is_none_is_an_invalid_command(url: str) -> None:
    assert run("lookup", "0x12", root=url).code == Exit.USAGE


def test_the_token_is_sent_to_the_dashboard_and_to_no_other_host() -> None:
    with serving(answering(EMPTY)) as other:
        page = {"transfers": [], "next": f"{other.url}/api/v1/transfers?cursor=2", "unreadable": 0}
        pages = iter([page, page | {"next": "@other.example/"}, page | {"next": None}])
        with serving(lambda visit: visit.send(response(next(pages)))) as server:
            assert run("export", root=server.url, token=TOKEN).code == Exit.FINE
        assert [visit.headers["authorization"] for visit in server.visits] == [f"Bearer {TOKEN}"] * 3
        assert not other.visits


def test_without_a_token_there_is_no_authorization() -> None:
    with serving(answering(EMPTY)) as server:
        run("lookup", "0x12", root=server.url)
    assert "authorization" not in server.visits[0].headers


@pytest.mark.parametrize("token", ["two words", "a\nb", "ключ"])
def test_an_invalid_token_is_not_sent_and_not_shown(token: str) -> None:
    with serving(answering(EMPTY)) as server:
        done = run("lookup", "0x12", root=server.url, token=token)
    assert done.code == Exit.USAGE
    assert token not in done.err + done.out
    assert not server.visits


def test_a_rejected_token_is_never_shown() -> None:
    done = looked_up(answering("no", status=401, kind="text/plain"), token=TOKEN)
    assert "INTENTS_UI_TOKEN" in done.err
    assert TOKEN not in done.err + done.out


def test_progress_is_shown_on_terminals_only() -> None:
    assert looked_up(busy_at_first()).err == "No transfer found.\n"


def test_an_interrupted_command_says_so_with_its_exit_code() -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    assert looked_up(busy_at_first(), pause=interrupt).code == Exit.INTERRUPTED


def test_the_text_is_sent_as_written() -> None:
    with serving(answering(EMPTY)) as server:
        run("lookup", "a&b=c", "#é", root=server.url)
    assert server.visits[0].head.splitlines()[0] == "GET /api/v1/lookup?q=a%26b%3Dc+%23%C3%A9 HTTP/1.1"
