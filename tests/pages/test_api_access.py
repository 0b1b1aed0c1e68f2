"""Clients of the API: with and without a token, and beyond a limit."""

import hashlib
import json
import logging
import re
from typing import Any, Final

import pytest
from django.test import Client

from intents_ui import app
from intents_ui.api.models import Problem
from intents_ui.http import api_access
from intents_ui.settings import ENV

TOKEN, OTHER_TOKEN = "a token of the test", "another one"
PATH: Final = "/api/v1/transfers?size=1"
CLIENT, NEIGHBOR = "203.0.113.7", "203.0.113.8"
ITEM: Final = re.compile(r'"(?P<name>[a-z]+)";(?:q|r)=(?P<count>\d+);(?:w|t)=(?P<seconds>\d+)')


def entry(name: str, token: str, limit: int) -> str:
    return f"{name}:{hashlib.sha256(token.encode()).hexdigest()}:{limit}"


LISTED: Final = f"{entry('desk', TOKEN, 3)}, {entry('board', OTHER_TOKEN, 60)}"


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(ENV), "api_tokens", api_access.parse(LISTED))


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch, still: None) -> None:
    """A client may send one request a second, 120 at once."""
    monkeypatch.setattr(ENV, "intents_rate_pages", 1)


def get(site: Client, path: str = PATH, *, token: str = "", address: str = CLIENT, scheme: str = "Bearer") -> Any:
    headers = {"Authorization": f"{scheme} {token}"} if token else {}
    return site.get(path, headers=headers, REMOTE_ADDR=address)


def quota(answer: Any) -> tuple[int, int]:
    """Return what is left, and the seconds until all is there or, if nothing is, until the next request."""
    policy, found = ITEM.fullmatch(answer["RateLimit-Policy"]), ITEM.fullmatch(answer["RateLimit"])
    assert policy
    assert found
    assert policy["name"] == found["name"] == "calls"
    return int(found["count"]), int(found["seconds"])


def problem(answer: Any, status: int) -> Problem:
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    found = Problem.model_validate(json.loads(answer.content))
    assert found.status == status
    return found


@pytest.mark.usefixtures("limited", "listed")
@pytest.mark.parametrize("token", ["no token of ours", TOKEN[:-1], f"{TOKEN} ünknown", "x" * 5_000])
def test_an_unknown_token_is_that_of_a_proxy(site: Client, token: str) -> None:
    answer = get(site, token=token)
    assert answer.status_code == 200
    assert quota(answer) == (119, 1)
    assert token not in answer.content.decode()


def test_a_dashboard_without_an_api_has_no_trace_of_it(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert b'href="/api"' in site.get("/help").content
    monkeypatch.setattr(ENV, "intents_api", "off")
    for path in (PATH, "/api/openapi.json", "/api/none"):
        problem(get(site, path), 404)
    assert site.post("/mcp", {}, content_type="application/json").status_code == 404
    assert get(site, "/api").status_code == 404
    assert b'href="/api"' not in site.get("/help").content


@pytest.mark.usefixtures("limited", "listed")
def test_a_token_has_its_own_limit_instead_of_the_address(site: Client) -> None:
    assert [get(site, token=TOKEN).status_code for _ in range(7)] == [200] * 6 + [429]
    rejected = get(site, "/api/v1/lookup?q=xx", token=TOKEN, address=NEIGHBOR)
    assert problem(rejected, 429).retry_after == 20
    assert "The limit of this token is 3 pages a minute" in problem(rejected, 429).detail
    assert rejected["Retry-After"] == "20"
    assert quota(rejected) == (0, 20)
    assert get(site, token=TOKEN, scheme="bearer").status_code == 429
    assert site.post("/mcp", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 429
    assert rejected["RateLimit-Policy"] == '"calls";q=6;w=120'
    assert quota(get(site)) == (119, 1), "its requests don't count for the address"
    assert get(site, token=OTHER_TOKEN).status_code == 200, "nor the address's for another token"


@pytest.mark.usefixtures("limited", "listed")
def test_a_lookup_is_possible_with_every_token(site: Client) -> None:
    assert [get(site, "/api/v1/lookup?q=xx", token=TOKEN).status_code for _ in range(2)] == [400, 429]


@pytest.mark.usefixtures("limited")
def test_every_answer_says_what_is_left(site: Client) -> None:
    assert [quota(get(site)) for _ in range(2)] == [(119, 1), (118, 2)]
    assert quota(get(site, "/api/v1/transfers/0x12")) == (117, 3)
    found = get(site, "/api/v1/lookup?q=xx")
    assert found.status_code == 400
    assert found["RateLimit-Policy"] == '"calls";q=120;w=120'
    assert quota(found) == (111, 9)
    app.current().rate_limiter.consume(CLIENT, 108)
    rejected = get(site, "/api/v1/lookup?q=xx")
    assert problem(rejected, 429).retry_after == 3
    assert quota(rejected) == (2, 3)
    assert [get(site).status_code for _ in range(3)] == [200, 200, 429], "two pages are left"
    assert quota(get(site, address=NEIGHBOR)) == (119, 1)
    known = {"If-None-Match": Client().get("/api/openapi.json").headers["ETag"]}
    unchanged = site.get("/api/openapi.json", headers=known, REMOTE_ADDR=NEIGHBOR)
    assert unchanged.status_code == 304
    assert quota(unchanged) == (118, 2)
    assert "RateLimit" not in get(site, "/help")
    assert "RateLimit" not in get(site, address="127.0.0.1"), "this machine is not counted"


@pytest.mark.usefixtures("listed")
def test_tokens_are_never_logged(site: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        get(site, token=TOKEN)
        get(site, token="no token of ours")
    assert not any(each in caplog.text for each in (TOKEN, "no token of ours", LISTED[5:69]))
    assert LISTED[5:69] not in repr(ENV.intents_api_tokens)
