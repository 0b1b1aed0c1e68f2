"""Messages about console calls, the next call, and the same call for a shell."""

import json
import subprocess
from typing import Any

import pytest

from intents_ui.console import commit, views
from intents_ui.console.commit import CommitOutcome
from intents_ui.service import errors
from intents_ui.service.console import Attempt
from intents_ui.service.errors import NotFound, Overloaded, Reason, ServiceError, Unreachable
from intents_ui.service.models import Intent


def attempt(operation: str = "GetIntent", *, sent: str = "{}", **how: Any) -> Attempt:
    return Attempt(
        operation=operation, sent=sent, request_id="1", **{"seconds": 0.1, "headers": {}, "status": 200} | how
    )


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "it's",
        '$(id) `id` $HOME !! \\ \\\\ "',
        "two\nlines\tand a tab",
        "é \u202e \U0001d4b3 {a,b} ~ * ?",
    ],
)
def test_the_curl_command_sends_exactly_the_request(text: str) -> None:
    command = views.curl("http://host:1/rpc/it's/X?&", text, has_key=True)
    script = "curl() { printf '%s\\0' \"$@\"; }\n" + command
    given = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    assert given == [
        "-sS", "http://host:1/rpc/it's/X?&", "-H", "Content-Type: application/json", "-H", "X-Access-Key: …",
        "--data-raw", text,
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["\x00", "a\x1b[201~\nid\n", "\r", "\x7f", "\x9b"])
def test_control_characters_yield_no_shell_command(text: str) -> None:
    assert views.curl("http://host", text, has_key=False) == ""


def test_only_a_write_with_an_unknown_outcome_gets_a_warning() -> None:
    lost = attempt(error=Unreachable(reason=Reason.TIMEOUT), status=None)
    assert views.outcome(lost, is_write=True)["warning"] == views.MAYBE_DONE
    assert views.outcome(lost, is_write=False)["warning"] == ""
    assert views.outcome(attempt(error=NotFound()), is_write=True)["warning"] == ""
    assert views.outcome(attempt(error=Overloaded(), status=None), is_write=True)["warning"] == ""
    never_sent = attempt(error=Unreachable(reason=Reason.REFUSED), status=None)
    assert views.outcome(never_sent, is_write=True)["warning"] == ""


@pytest.mark.parametrize(
    ("operation", "text", "intent_id"),
    [
        ("QuoteIntent", '{"intent": {"intentId":"0x1","n":1.10 } ,"gasFeeOptions":{}}', "0x1"),
        ("QuoteIntent", "{}", ""),
        ("CommitIntent", '{"intentId":"0x1"}', "0x1"),
        ("CommitIntent", '{"intentId":"a/b"}', ""),
        ("CommitIntent", '{"intentId":7}', ""),
        ("ExecuteIntent", '{"intentId":"0x1"}', "0x1"),
        ("GetIntent", '{"intentId":"0x1"}', ""),
    ],
)
def test_a_write_changes_the_intent_of_its_response(operation: str, text: str, intent_id: str) -> None:
    assert views.changed(attempt(operation, text=text)) == intent_id
    assert views.changed(attempt(operation, text=text, error=NotFound())) == ""


def test_the_next_page_and_the_next_change_can_be_requested() -> None:
    listed = attempt(
        "GetIntentHistory", sent='{"byStatus":"FAILED"}', text='{"nextPage":{"after": 12345678901234567890 }}'
    )
    assert json.loads(views.again(listed)) == {"page": {"after": 12345678901234567890}, "byStatus": "FAILED"}
    waited = attempt("WaitIntentReceipt", sent='{"intentId":"1"}', text='{"receiptStates":["MINING"],"done":false}')
    assert json.loads(views.again(waited)) == {"intentId": "1", "lastReceiptStates": ["MINING"]}
    for operation, text in (("GetIntentHistory", '{"nextPage":null}'), ("WaitIntentReceipt", '{"done":true}')):
        assert views.again(attempt(operation, text=text)) == ""


@pytest.mark.parametrize(
    "error",
    [Overloaded(), Unreachable(status=502, again_in=3.0), Unreachable(reason=Reason.REFUSED)],
    ids=["no place of our own", "away, and left alone", "no connection"],
)
def test_a_commit_that_was_not_sent_moved_no_funds(error: ServiceError) -> None:
    result = commit.result(commit.outcome_of(error), error=error)
    assert result.outcome is CommitOutcome.NOT_SENT
    assert "No funds moved." in result.what


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("QUOTED", CommitOutcome.UNKNOWN),
        ("COMMITTED", CommitOutcome.COMMITTED),
        ("EXECUTING", CommitOutcome.UNKNOWN),
        ("FROZEN", CommitOutcome.UNKNOWN),
        (None, CommitOutcome.UNKNOWN),
    ],
)
def test_only_the_intents_own_status_replaces_a_lost_response(status: str | None, outcome: CommitOutcome) -> None:
    result = commit.result(CommitOutcome.UNKNOWN, state=Intent(intent_id="0x1", status=status))
    assert result.outcome is outcome
    assert ("may still be in progress" in result.what) is (status == "QUOTED")


def test_without_a_readable_status_the_error_cause_tells_it() -> None:
    error = errors.WrongState(cause="intent 0xab status=EXECUTING, since 12:00")
    assert "Current status: EXECUTING." in commit.result(CommitOutcome.MOVED_ON, error=error).what
    for cause in (None, "", "status=", "no word of it"):
        result = commit.result(CommitOutcome.MOVED_ON, error=errors.WrongState(cause=cause))
        assert "Couldn't load the current status" in result.what
