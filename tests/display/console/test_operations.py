"""Messages about console calls, the next call, and the same call for a shell."""

import json
import subprocess
from typing import Any

import pytest

from intents_ui.display.console import next_call, operations
from intents_ui.display.console.next_call import NextCall
from intents_ui.service.errors import Flaw, NotFound, Overloaded, Reason, ServiceError, Unreachable, Unreadable
from intents_ui.service.wire.results import Attempt


def attempt(operation: str = "GetIntent", *, sent: str = "{}", **how: Any) -> Attempt:
    return Attempt(
        operation=operation, sent=sent, request_id="1", **{"seconds": 0.1, "headers": {}, "status": 200} | how
    )


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.00042, "0.4 ms"), (0.0099, "9.9 ms"), (0.0104, "10 ms"), (1.2345, "1234 ms"), (28.04, "28.0 s")],
)
def test_the_time_taken_is_measured(seconds: float, shown: str) -> None:
    assert operations.time_taken(seconds) == shown


def test_a_size_is_shown_uncompressed_and_as_transferred() -> None:
    assert operations.size(attempt(size=1, wire_size=1)) == "1 byte"
    assert operations.size(attempt(size=133_204, wire_size=14_020)) == "133,204 bytes, 14,020 bytes transferred"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "",
        "it's",
        "'; id; '",
        '$(id) `id` $HOME !! \\ \\\\ "',
        "two\nlines\tand a tab",
        "-d @/etc/passwd",
        "é \u202e \U0001d4b3 {a,b} ~ * ?",
    ],
)
def test_the_curl_command_sends_exactly_the_request(text: str) -> None:
    command = operations.curl("http://host:1/rpc/it's/X?&", text, has_key=True)
    script = "curl() { printf '%s\\0' \"$@\"; }\n" + command
    given = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    assert given == [
        "-sS", "http://host:1/rpc/it's/X?&", "-H", "Content-Type: application/json", "-H", "X-Access-Key: …",
        "--data-raw", text,
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["\x00", "a\x1b[201~\nid\n", "\r", "\x7f", "\x9b"])
def test_control_characters_yield_no_shell_command(text: str) -> None:
    assert operations.curl("http://host", text, has_key=False) == ""


@pytest.mark.parametrize(
    ("error", "title", "meaning"),
    [
        (Unreachable.because(Reason.REFUSED), "Service unreachable", "No response: connection refused."),
        (Overloaded(), "Dashboard busy", "The request wasn't sent."),
        (Unreadable.because(Flaw.REDIRECT), "Unexpected response", "it is a redirect."),
        (ServiceError(), "Service unreachable", "The service did not respond."),
    ],
)
def test_errors_without_a_code_have_a_message(error: ServiceError, title: str, meaning: str) -> None:
    result = operations.outcome(attempt(error=error, status=None), is_write=False)
    assert (result.status, result.title) == ("No response", title)
    assert meaning in result.meaning
    assert not result.is_documented


def test_only_a_write_with_an_unknown_outcome_gets_a_warning() -> None:
    lost = attempt(error=Unreachable.because(Reason.TIMEOUT), status=None)
    assert operations.outcome(lost, is_write=True).warning == operations.MAYBE_DONE
    assert operations.outcome(lost, is_write=False).warning == ""
    assert operations.outcome(attempt(error=NotFound()), is_write=True).warning == ""
    assert operations.outcome(attempt(error=Overloaded(), status=None), is_write=True).warning == ""
    never_sent = attempt(error=Unreachable.because(Reason.REFUSED), status=None)
    assert operations.outcome(never_sent, is_write=True).warning == ""


def test_an_unknown_http_status_is_shown_by_its_number() -> None:
    assert operations.outcome(attempt(status=799), is_write=False).status == "799"


@pytest.mark.parametrize(
    ("operation", "text", "then"),
    [
        ("QuoteIntent", '{"intent": {"n":1.10 } ,"gasFeeOptions":{}}', NextCall("CommitIntent", '{"n":1.10 }')),
        ("QuoteIntent", "{}", None),
        ("CommitIntent", '{"intentId":"0x1"}', NextCall("ExecuteIntent", "0x1")),
        ("CommitIntent", '{"intentId":"a/b"}', None),
        ("CommitIntent", '{"intentId":7}', None),
        ("ExecuteIntent", '{"intentId":"0x1"}', NextCall(next_call.WATCH, "0x1")),
        ("GetIntent", '{"intentId":"0x1"}', None),
    ],
)
def test_the_next_call_follows_from_the_response(operation: str, text: str, then: NextCall | None) -> None:
    assert next_call.suggest(attempt(operation, text=text)) == then
    assert next_call.suggest(attempt(operation, text=text, error=NotFound())) is None


@pytest.mark.parametrize(
    ("operation", "sent", "text", "again"),
    [
        pytest.param(
            "GetIntentHistory",
            '{"page":{"pageSize":5},"byStatus":"FAILED"}',
            '{"intents":[],"nextPage":{"after": 12345678901234567890 }}',
            '{"page":{"after": 12345678901234567890 },"byStatus":"FAILED"}',
            id="the next page",
        ),
        pytest.param("GetIntentHistory", "null", '{"nextPage":{}}', '{"page":{}}', id="asked with nothing"),
        pytest.param("GetIntentHistory", "{}", '{"nextPage":null}', "", id="the last page"),
        pytest.param("GetIntentHistory", "{}", '{"nextPage":{"more":false}}', "", id="no more"),
        pytest.param(
            "WaitIntentReceipt",
            '{"intentId":"0x1"}',
            '{"receiptStates":["MINING"],"done":false}',
            '{"intentId":"0x1","lastReceiptStates":["MINING"]}',
            id="the next change",
        ),
        pytest.param("WaitIntentReceipt", "{}", '{"receiptStates":["FAILED"],"done":true}', "", id="done"),
        pytest.param("GetChains", "{}", '{"nextPage":{}}', "", id="another operation"),
    ],
)
def test_the_next_page_and_the_next_change_can_be_requested(operation: str, sent: str, text: str, again: str) -> None:
    assert next_call.again(attempt(operation, sent=sent, text=text)) == again
    if again:
        json.loads(again)
