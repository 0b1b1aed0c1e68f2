"""The tools of `/mcp` answer what the pages say, in a fence, and its errors are those of the protocol."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.http import limits
from intents_ui.http.json_rpc import Code
from intents_ui.mcp.endpoint import VERSION
from intents_ui.mcp.tools import NO_COPY, TOOLS
from intents_ui.service import request_context
from intents_ui.service.errors import Reason, StaleResponse, Unreachable
from intents_ui.settings import ENV
from intents_ui.transfers.transfer import Transfer
from intents_ui.triage import lookup
from intents_ui.web import reading
from tests.fenced import data_of, json_of

UNKNOWN = f"0x{'12' * 32}"


def send(site: Client, body: Any, **how: Any) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return site.post("/mcp", content, content_type="application/json", **how)


def post(site: Client, body: Any, status: int = 200, **headers: str) -> Any:
    answer = send(site, body, headers=headers)
    assert answer.status_code == status, answer.content
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Type"] == "application/json"
    return json.loads(answer.content)


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def call(site: Client, name: str, **arguments: Any) -> str:
    """Return the text of an answer."""
    found = post(site, request("tools/call", name=name, arguments=arguments))["result"]
    assert "isError" not in found, found
    [content] = found["content"]
    return str(content["text"])


def look_up(site: Client, text: str) -> Any:
    """Return an answer that, with all around it, has 2 KB at most."""
    answer = send(site, request("tools/call", name="look_up", arguments={"text": text}))
    assert len(answer.content) <= 2048
    return json_of(json.loads(answer.content)["result"]["content"][0]["text"])


def failure(site: Client, name: str, **arguments: Any) -> str:
    """Return why a tool has no answer."""
    found = post(site, request("tools/call", name=name, arguments=arguments))["result"]
    assert found["isError"] is True
    return str(found["content"][0]["text"])


# Answers
def test_a_text_without_a_transfer_has_reasons_and_no_match(site: Client) -> None:
    found = look_up(site, f"0x{'12' * 20}")
    assert (found["transfers"], found["matches"], found["isComplete"], found["mayBeMore"]) == (0, [], True, False)
    assert "The wallet has never used this service." in found["possibleReasons"]


def test_a_ticket_has_a_row_for_each_identifier_in_order(site: Client, emulator: Emulator) -> None:
    one, other = emulator.finished(8)["intentId"], emulator.worst(11)["intentId"]
    found = json_of(call(site, "triage_ticket", text=f"{other[:8]}…{other[-6:]} {one} {UNKNOWN} {other} {one}"))
    assert [each["row"] for each in found["rows"]] == ["1", "2", "3", "4"]
    short, refunded, unknown, stuck = found["rows"]
    assert "as row 4" in short["headline"]
    assert (refunded["intentId"], refunded["urgency"]) == (one, "Fine")
    assert unknown["status"] == "Not found"
    assert (stuck["intentId"], stuck["urgency"]) == (other, "Needs action")
    assert found["total"].startswith("All 4 identifiers resolved")


def test_a_ticket_beyond_the_limit_says_what_was_left_out(site: Client) -> None:
    text = " ".join(f"0x{number:040x}" for number in range(1000, 1021))
    found = json_of(call(site, "triage_ticket", text=text))
    assert len(found["rows"]) == 20
    assert found["notes"] == ["Only the first 20 of 21 identifiers were looked up."]


def test_a_ticket_over_the_limit_of_service_calls_is_not_looked_up(
    site: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "charge", lambda *_: 7)
    assert "Try again in 7 seconds" in failure(site, "triage_ticket", text=UNKNOWN)


def test_a_row_that_is_not_ready_in_time_says_so(site: Client) -> None:
    with request_context.within(0):
        [row] = json_of(call(site, "triage_ticket", text=UNKNOWN))["rows"]
    assert (row["status"], row["headline"]) == ("Lookup failed", "Request timed out")


def test_without_a_local_copy_route_health_says_so(site: Client) -> None:
    assert failure(site, "route_health", origin="8453", destination="42161") == NO_COPY


def test_an_answer_from_old_data_says_so_first(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent_id = emulator.finished(8)["intentId"]
    old = StaleResponse("GetIntent", datetime(2026, 11, 21, 11, 58, tzinfo=UTC), Unreachable(reason=Reason.TIMEOUT))
    read = reading.read

    def read_old(given: str) -> Transfer:
        request_context.current().stale.append(old)
        return read(given)

    monkeypatch.setattr(reading, "read", read_old)
    first, _, rest = call(site, "customer_reply", intent_id=intent_id).partition("\n")
    assert first == "Last updated 2026-11-21 11:58:00 UTC: this transfer. The service is slow to respond."
    assert intent_id in data_of(rest)


# Errors


def test_a_tool_without_an_answer_says_why(site: Client, emulator: Emulator) -> None:
    assert failure(site, "explain_transfer", intent_id=UNKNOWN).startswith("Not found. No matching transfer.")
    assert failure(site, "customer_reply", intent_id="0x1212…1212").startswith("This value is shortened.")
    assert failure(site, "look_up", text="?!") == "No transaction hash, address or intent ID found."
    assert failure(site, "triage_ticket", text="Where is my money?").startswith("No transaction hash")
    for arguments, problem in (
        ({}, "intent_id: Field required."),
        ({"intent_id": 12}, "intent_id: Input should be a valid string."),
        ({"intent_id": "x" * 201}, "intent_id: String should have at most 200 characters."),
    ):
        assert failure(site, "explain_transfer", **arguments) == f"Invalid arguments. {problem}"


def test_unknown_arguments_are_ignored(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(8)["intentId"]
    more = {f"surplus-{number}": number for number in range(1000)}
    explained = json_of(call(site, "explain_transfer", intent_id=intent_id, **more))
    assert explained["intentId"] == intent_id
    assert failure(site, "explain_transfer", **more) == "Invalid arguments. intent_id: Field required."


def test_invalid_arguments_are_answered_briefly_and_without_what_was_sent(site: Client) -> None:
    told = failure(site, "route_health", origin=["sent"] * 9, destination=["sent"] * 9, provider=["sent"] * 9)
    assert len(told) < 200
    assert "sent" not in told


def test_a_failure_of_the_service_is_no_answer(site: Client, emulator: Emulator) -> None:
    for operation in ("SearchIntents", "GetIntent", "GetIntentReceipt"):
        emulator.inject(operation, "failing-500")
    for name, arguments in (
        ("look_up", {"text": f"0x{'12' * 20}"}),
        ("explain_transfer", {"intent_id": UNKNOWN}),
        ("customer_reply", {"intent_id": UNKNOWN}),
    ):
        told = failure(site, name, **arguments)
        assert told.startswith("Service error.")
        assert "Retry after" in told
        assert "Request ID: " in told
    rows = json_of(call(site, "triage_ticket", text=UNKNOWN))["rows"]
    assert [each["status"] for each in rows] == ["Lookup failed"]


def test_calls_that_are_not_of_the_protocol_have_its_errors(site: Client) -> None:
    for body, code, status in (
        (request("tools/call", name="no_tool"), Code.INVALID_PARAMS, 200),
        (request("tools/call", arguments={}), Code.INVALID_PARAMS, 200),
        (request("tools/call", name="look_up", arguments=[]), Code.INVALID_PARAMS, 200),
        (request("resources/list"), Code.METHOD_NOT_FOUND, 200),
        (request("server/discover"), Code.METHOD_NOT_FOUND, 200),
        (b"{", Code.PARSE_ERROR, 400),
        (b"\xff", Code.PARSE_ERROR, 400),
        (b"[" * 60_000, Code.PARSE_ERROR, 400),
        ([request("ping")], Code.INVALID_REQUEST, 400),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, Code.INVALID_REQUEST, 400),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, Code.INVALID_REQUEST, 400),
        ({"id": 1, "method": "ping"}, Code.INVALID_REQUEST, 400),
    ):
        found = post(site, body, status)
        assert found["error"]["code"] == code, body
        assert found["id"] == (7 if status == 200 else None)


def test_there_is_one_revision_of_the_protocol(site: Client) -> None:
    for wanted in (VERSION, "2024-11-05", None, []):
        found = post(site, request("initialize", protocolVersion=wanted))["result"]["protocolVersion"]
        assert found == VERSION
    assert post(site, request("ping"), **{"MCP-Protocol-Version": VERSION})["result"] == {}
    refused = post(site, request("ping"), 400, **{"MCP-Protocol-Version": "2026-07-28"})["error"]
    assert (refused["code"], refused["data"]["supported"]) == (Code.UNSUPPORTED_VERSION, [VERSION])


def test_a_notification_is_accepted_without_a_body(site: Client) -> None:
    for method in ("notifications/initialized", "notifications/cancelled"):
        answer = send(site, {"jsonrpc": "2.0", "method": method})
        assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("method", ["get", "head", "delete", "put", "options"])
def test_other_methods_than_post_are_rejected(site: Client, method: str) -> None:
    answer = getattr(site, method)("/mcp")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    if method != "head":
        told = json.loads(answer.content)
        assert (told["id"], told["error"]["data"]["whatToDo"]) == (None, "Send POST.")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://testserver"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_a_page_of_another_site_cannot_call(site: Client, headers: dict[str, str], status: int) -> None:
    found = post(site, request("ping"), status, **headers)
    assert ("error" in found) == (status == 403)


def test_a_client_over_its_rate_limit_is_told_when_to_retry(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ENV, "intents_rate_pages", 1)
    app.current().rate_limiter.consume("203.0.113.7", limits.SECONDS - limits.SEARCH)
    answers = [send(site, request("ping"), REMOTE_ADDR="203.0.113.7") for _ in range(2)]
    assert [each.status_code for each in answers] == [200, 429]
    told = json.loads(answers[1].content)
    assert (told["id"], told["error"]["code"]) == (None, Code.RETRY_LATER)
    assert answers[1].headers["Retry-After"] == str(told["error"]["data"]["retryAfter"])


# Tools


def test_each_tool_says_that_it_changes_nothing_and_describes_its_arguments(site: Client) -> None:
    listed = post(site, request("tools/list"))["result"]["tools"]
    assert [each["name"] for each in listed] == list(TOOLS)
    for each in listed:
        assert each["description"]
        assert each["annotations"]["readOnlyHint"] is True
        assert each["annotations"]["destructiveHint"] is False
        assert each["inputSchema"]["type"] == "object"
        assert all(field["description"] for field in each["inputSchema"]["properties"].values())
