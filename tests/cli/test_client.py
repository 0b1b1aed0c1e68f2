"""The command line's requests: patient with a busy dashboard, careful with its token, and clear about failures."""

from typing import Any

import pytest

from intents_ui.cli.client import LONGEST_WAIT
from intents_ui.cli.exit_codes import Exit
from tests.command_line import Done, run
from tests.service.scripted_server import Script, answering, response, serving
from tests.serving import free_port

EMPTY = {"identifiers": [], "matches": [], "isComplete": True, "mayBeMore": False}
TOKEN = "a-token-of-the-test"
PROBLEM = {"title": "Not so", "detail": "Too many \x1b[31mrequests.", "whatToDo": "Wait.", "requestId": "r-1"}


def looked_up(script: Script, **how: Any) -> Done:
    with serving(script) as server:
        return run("lookup", "0x12", root=server.url, **how)


def test_a_busy_dashboard_gets_the_time_that_it_asks_for() -> None:
    answers = iter([response("busy", status=503, headers={"Retry-After": "7"}, kind="text/plain"), response(EMPTY)])
    done = looked_up(lambda visit: visit.send(next(answers)), terminal=True)
    assert (done.code, done.pauses) == (Exit.NOT_FOUND, (7.0,))
    assert "Trying again in 7 s." in done.err


def test_waiting_has_a_limit() -> None:
    for retry_after in ("45", "9" * 400):
        done = looked_up(answering("busy", status=503, headers={"Retry-After": retry_after}, kind="text/plain"))
        assert done.code == Exit.UNAVAILABLE
        assert sum(done.pauses) <= LONGEST_WAIT


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (302, "text/html", Exit.ERROR),
        (403, "application/problem+json", Exit.USAGE),
        (404, "application/problem+json", Exit.NOT_FOUND),
        (502, "text/html", Exit.UNAVAILABLE),
        (200, "application/json", Exit.ERROR),
    ],
)
def test_each_status_has_an_exit_code(status: int, kind: str, code: Exit) -> None:
    done = looked_up(answering(PROBLEM, status=status, kind=kind))
    assert (done.code, done.out) == (code, "")
    assert done.err
    if "problem" in kind:
        assert done.err.splitlines() == ["intents-ui: Too many ⟨U+001B⟩[31mrequests.", "Wait.", "Request ID: r-1"]


def test_an_unreachable_dashboard_is_named() -> None:
    port = free_port()
    done = run("lookup", "0x12", root=f"http://user:secret@127.0.0.1:{port}")
    assert done.code == Exit.UNAVAILABLE
    assert f"127.0.0.1:{port} can't be reached" in done.err
    assert "secret" not in done.err


def test_the_token_is_sent_to_the_dashboard_and_to_no_other_host() -> None:
    with serving(answering(EMPTY)) as other:
        page = {"transfers": [], "next": f"{other.url}/api/v1/transfers?cursor=2", "unreadable": 0}
        pages = iter([page, page | {"next": None}])
        with serving(lambda visit: visit.send(response(next(pages)))) as server:
            assert run("export", root=server.url, token=TOKEN).code == Exit.FINE
        assert [visit.headers["authorization"] for visit in server.visits] == [f"Bearer {TOKEN}"] * 2
        assert not other.visits


def test_a_rejected_token_is_never_shown() -> None:
    done = looked_up(answering("no", status=401, kind="text/plain"), token=TOKEN)
    assert "INTENTS_UI_TOKEN" in done.err
    assert TOKEN not in done.err + done.out
