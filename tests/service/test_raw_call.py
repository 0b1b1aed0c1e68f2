"""Console calls: the request is sent as typed and every response is shown, without the access key."""

import json
from typing import Any

import pytest

from intents_ui.service.console import Attempt
from intents_ui.service.errors import OutOfTime, Overloaded, Reason, Unreadable
from intents_ui.service.operations import Kind
from intents_ui.service.request_context import within
from tests.service.clients import CANARY, client
from tests.service.scripted_server import Script, Visit, answering, serving

NOT_FOUND = {"error": "NotFound", "code": 8000, "msg": "Resource not found", "cause": "intent 1", "status": 400}


def attempt(script: Script, text: str = "{}", **how: Any) -> Attempt:
    with serving(script) as server, client(server.url, **how) as service:
        return service.attempt("GetIntent", text, kind=Kind.MOVING)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'{{ "b": 1.10, "a":{2**256} }}', id="numbers"),
        pytest.param('{"intentId":"x","intentId":\n"é\u202e"}', id="doubled"),
        pytest.param("{not json", id="no JSON"),
        pytest.param("", id="nothing"),
    ],
)
def test_the_request_text_is_sent_unchanged(text: str) -> None:
    with serving(answering({})) as server, client(server.url) as service:
        made = service.attempt("GetIntent", text, kind=Kind.MOVING)
    assert server.visits[0].body == text.encode()
    assert server.visits[0].head.startswith("POST /rpc/Service/GetIntent ")
    assert server.visits[0].headers["x-access-key"] == CANARY
    assert server.visits[0].headers["x-request-id"] == made.request_id
    assert made.sent == text


def test_an_oversized_response_body_is_dropped() -> None:
    made = attempt(answering('{"intents":"' + "x" * 5000 + '"}'), size=1000)
    assert isinstance(made.error, Unreadable)
    assert (made.error.reason, made.status, made.text) == (Reason.TOO_LARGE, 200, "")


@pytest.mark.parametrize("script", [answering({}, status=500), Visit.reset, lambda visit: None])
def test_a_write_that_fails_is_sent_once(script: Script) -> None:
    with serving(script) as server, client(server.url) as service:
        made = service.attempt("CommitIntent", "{}", kind=Kind.WRITE)
    assert made.error
    assert len(server.visits) == 1


def test_no_request_is_sent_when_no_time_is_left() -> None:
    with serving(answering({})) as server, client(server.url) as service, within(-1):
        made = service.attempt("GetIntent", "{}", kind=Kind.MOVING)
    assert isinstance(made.error, OutOfTime)
    assert not isinstance(made.error, Overloaded)
    assert server.visits == []


def as_numbers(secret: str) -> str:
    return "".join(f"\\u{ord(letter):04X}" for letter in secret)


@pytest.mark.parametrize("status", [200, 400])
def test_the_access_key_never_appears_in_the_report(status: int) -> None:
    body = {**NOT_FOUND, "msg": f"key {CANARY}", "cause": CANARY} if status == 400 else {"echo": [CANARY, {CANARY: 1}]}
    text = json.dumps(body)[:-1] + f', "odd": "{as_numbers(CANARY)} {CANARY.replace("-", chr(92) + "u002d")}"}}'
    made = attempt(answering(text, status=status, headers={"Webrpc": CANARY, "X-Echo": CANARY}))
    assert made.status == status
    assert '"odd": "… …"' in made.text
    assert dict(made.headers)["webrpc"] == "…"
    for shown in (made.text, made.headers, made.error, vars(made.error) if made.error else ""):
        assert CANARY not in str(shown)


def test_only_headers_relevant_to_the_call_are_reported() -> None:
    sent = {"Retry-After": "7", "Set-Cookie": "a=b", "Server": "inside.example", "Credits-Rate-Limit": "50", "Via": "x"}
    made = attempt(answering({}, headers=sent))
    assert {name: made.headers[name] for name in ("retry-after", "credits-rate-limit", "content-type")} == {
        "retry-after": "7", "credits-rate-limit": "50", "content-type": "application/json"
    }  # fmt: skip
    assert not {"set-cookie", "server", "via"} & made.headers.keys()
