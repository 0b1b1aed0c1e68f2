"""The API on a real socket: other sites' pages, request IDs, tokens."""

import hashlib
from collections.abc import Iterator
from typing import Final

import httpx
import pytest

from tests.serving import dashboard
from tests.waiting import PATIENCE

TOKEN: Final = "a token of the test"
DESK: Final = "https://desk.example"
PATH: Final = "/api/v1/transfers?size=1"


@pytest.fixture(scope="module")
def desk() -> Iterator[httpx.Client]:
    """Yield a client of a dashboard whose API other sites' pages may read, also with a token."""
    tokens = f"desk:{hashlib.sha256(TOKEN.encode()).hexdigest()}:60"
    with (
        dashboard(INTENTS_API_TOKENS=tokens, INTENTS_API_ORIGINS=DESK) as root,
        httpx.Client(base_url=root, trust_env=False, timeout=PATIENCE) as client,
    ):
        yield client


def test_a_page_of_an_allowed_site_reads_the_api(desk: httpx.Client) -> None:
    asking = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    preflight = desk.options(PATH, headers={"Origin": DESK, **asking})
    assert preflight.status_code == 200
    assert preflight.headers["Access-Control-Allow-Origin"] == DESK
    assert "authorization" in preflight.headers["Access-Control-Allow-Headers"]
    assert "GET" in preflight.headers["Access-Control-Allow-Methods"]
    answer = desk.get(PATH, headers={"Origin": DESK, "Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == DESK
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "origin" in answer.headers["Vary"].lower()
    exposed = {each.strip() for each in answer.headers["Access-Control-Expose-Headers"].split(",")}
    assert {"ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-ID"} <= exposed
    assert answer.headers["RateLimit"].startswith('"calls";r=119;')


def test_a_page_of_an_allowed_site_can_read_why_a_request_failed(desk: httpx.Client) -> None:
    answer = desk.get("/api/v1/lookup", headers={"Origin": DESK})
    assert answer.status_code == 400
    assert answer.headers["Access-Control-Allow-Origin"] == DESK


@pytest.mark.parametrize("origin", ["https://other.example", "null", f"{DESK}.example", "http://desk.example"])
def test_pages_of_other_sites_read_nothing(desk: httpx.Client, origin: str) -> None:
    for method in ("GET", "OPTIONS"):
        headers = {"Origin": origin, "Authorization": f"Bearer {TOKEN}", "Access-Control-Request-Method": "GET"}
        assert "Access-Control-Allow-Origin" not in desk.request(method, PATH, headers=headers).headers


def test_no_page_can_be_read_by_another_site(desk: httpx.Client) -> None:
    for path in ("/help", "/api", "/healthz"):
        assert "Access-Control-Allow-Origin" not in desk.get(path, headers={"Origin": DESK}).headers


def test_each_answer_has_its_request_id(desk: httpx.Client) -> None:
    answers = [desk.get(PATH), desk.get("/api/v1/lookup"), desk.get("/api/none")]
    assert len({each.headers["X-Request-ID"] for each in answers}) == 3
    for failed in answers[1:]:
        assert failed.json()["requestId"] == failed.headers["X-Request-ID"]
