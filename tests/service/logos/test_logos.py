"""Logos from allowed hosts, over real connections to a misbehaving host."""

import contextlib
from collections.abc import Callable, Iterator

import pytest
import trustme

from intents_ui.service.logos.logos import KEPT_SECONDS
from tests.service import logo_host
from tests.service.logo_host import HOST, PRIVATE, PUBLIC, Host
from tests.service.pictures import opened, picture
from tests.service.scripted_server import Script, answering, response

URI = f"https://{HOST}/8453/usdc.png?size=64"
GOOD = picture()
type Hosting = Callable[..., Host]


@pytest.fixture
def hosting() -> Iterator[Hosting]:
    with contextlib.ExitStack() as stack:
        yield lambda script, **how: stack.enter_context(logo_host.hosting(script, **how))


def test_a_logo_is_requested_by_its_host_name_at_the_verified_ip_address(hosting: Hosting) -> None:
    host, looked_up = hosting(answering(GOOD, kind="text/html")), []

    def look_up(name: str, port: int) -> list[str]:
        looked_up.append(name)
        return [PUBLIC, "2606:2800:220:1:248:1893:25c8:1946"]

    drawn = host.logos(look_up=look_up).picture(URI)
    assert drawn
    assert (opened(drawn).format, opened(drawn).size) == ("WEBP", (64, 64))
    assert (looked_up, host.internet.went_to, host.server.asked_for) == ([HOST], [(PUBLIC, 443)], [HOST])
    asked = host.server.visits[0]
    assert asked.head.startswith("GET /8453/usdc.png?size=64 HTTP/1.1")
    assert asked.headers["host"] == HOST
    assert set(asked.headers) == {"host", "accept", "accept-encoding", "user-agent"}


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(answering(GOOD, status=404), id="a picture of what is missing"),
        pytest.param(answering(GOOD, status=307, headers={"Location": URI + "&again"}), id="elsewhere for now"),
        pytest.param(answering(GOOD + b"\0" * 300_000), id="too large"),
        pytest.param(lambda visit: visit.reset(), id="reset"),
    ],
)
def test_an_invalid_logo_is_rejected_and_not_requested_again(hosting: Hosting, script: Script) -> None:
    host = hosting(script)
    logos = host.logos()
    assert [logos.picture(URI), logos.picture(URI)] == [None, None]
    assert host.visits == 1


def test_a_slow_host_yields_no_logo(hosting: Hosting) -> None:
    host = hosting(lambda visit: visit.drip(response(GOOD), every=0.02))
    assert host.logos(seconds=0.2).picture(URI) is None


@pytest.mark.parametrize(
    "uri",
    [
        pytest.param("https://other.example/usdc.png", id="host that is not named"),
        pytest.param("https://logos.service.example.evil.example/usdc.png", id="a named host in front of another"),
        pytest.param("http://logos.service.example/usdc.png", id="http"),
        pytest.param("https://logos.service.example@10.0.0.8/usdc.png", id="host as a user"),
        pytest.param("https://logos.service.example:443/usdc.png", id="port"),
        pytest.param("https://10.0.0.8/usdc.png", id="address"),
        pytest.param("https://logos.service.example/usdc.png\r\nX-Header: 1", id="line break"),
        pytest.param("https://lоgos.service.example/usdc.png", id="letter of another script"),  # noqa: RUF001
        pytest.param(None, id="none"),
    ],
)
def test_a_url_not_clearly_on_an_allowed_host_is_not_requested(hosting: Hosting, uri: str | None) -> None:
    host = hosting(answering(GOOD))
    logos = host.logos()
    assert (logos.offers(uri), logos.picture(uri)) == (False, None)
    assert (host.visits, host.internet.went_to) == (0, [])


@pytest.mark.parametrize("found", [[PRIVATE], [PUBLIC, PRIVATE]], ids=str)
def test_a_host_name_resolving_to_a_private_address_is_not_contacted(hosting: Hosting, found: list[str]) -> None:
    host = hosting(answering(GOOD))
    assert host.logos(look_up=lambda name, port: found).picture(URI) is None
    assert host.internet.went_to == []


def test_a_host_without_a_valid_certificate_gets_no_request(hosting: Hosting) -> None:
    for how in ({"name": "other.example"}, {"by": trustme.CA()}):
        host = hosting(answering(GOOD), **how)
        assert host.logos().picture(URI) is None
        assert host.visits == 0


def test_a_logo_is_cached_for_a_day(hosting: Hosting) -> None:
    host = hosting(answering(GOOD))
    logos = host.logos()
    first = logos.picture(URI)
    host.now = KEPT_SECONDS - 1
    assert (logos.picture(URI), host.visits) == (first, 1)
    host.now = KEPT_SECONDS + 1
    assert (logos.picture(URI), host.visits) == (first, 2)
