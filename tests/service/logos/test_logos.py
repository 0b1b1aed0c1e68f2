"""Logos from allowed hosts, over real connections to a misbehaving host."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trustme

from intents_ui.service.context.request_context import within
from intents_ui.service.logos import logos as module
from intents_ui.service.logos import sandbox
from intents_ui.service.logos.logos import KEPT_SECONDS, MISSED_SECONDS, READERS, Busy, Logos
from tests.service import logo_host
from tests.service.logo_host import HOST, INSIDE, PATIENCE, PRIVATE, PUBLIC, Host
from tests.service.pictures import opened, picture, png_that_claims
from tests.service.scripted_server import Script, Visit, answering, response
from tests.waiting import until

URI = f"https://{HOST}/8453/usdc.png?size=64"
GOOD = picture()
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


type Hosting = Callable[..., Host]


@pytest.fixture
def hosting() -> Iterator[Hosting]:
    with contextlib.ExitStack() as stack:
        yield lambda script, **how: stack.enter_context(logo_host.hosting(script, **how))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_logo_from_an_allowed_host_is_served_as_our_own(hosting: Hosting, kind: str) -> None:
    host = hosting(answering(picture(kind), kind="text/html"))
    drawn = host.logos().picture(URI)
    assert drawn
    assert (opened(drawn).format, opened(drawn).size) == ("WEBP", (64, 64))


def test_logos_are_decoded_in_a_process_that_is_killed_on_timeout(
    hosting: Hosting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "SECONDS", 0.0)
    assert hosting(answering(GOOD)).logos().picture(URI) is None


def test_the_request_uses_the_host_name_at_the_verified_ip_address(hosting: Hosting) -> None:
    host, looked_up = hosting(answering(GOOD)), []

    def look_up(name: str, port: int) -> list[str]:
        looked_up.append(name)
        return [PUBLIC, "2606:2800:220:1:248:1893:25c8:1946"]

    assert host.logos(look_up=look_up).picture(URI)
    assert (looked_up, host.internet.went_to, host.server.asked_for) == ([HOST], [(PUBLIC, 443)], [HOST])
    asked = host.server.visits[0]
    assert asked.head.startswith("GET /8453/usdc.png?size=64 HTTP/1.1")
    assert asked.headers["host"] == HOST
    assert set(asked.headers) == {"host", "accept", "accept-encoding", "user-agent"}


def chunked(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    return head + f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"


def endless(visit: Visit) -> None:
    visit.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while not visit.closing.is_set():
        visit.send(b"\x89PNG" * 4096)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(answering(SVG, kind="image/png"), id="SVG"),
        pytest.param(answering("<!doctype html><script>alert(1)</script>", kind="image/png"), id="HTML"),
        pytest.param(answering("", status=204), id="nothing"),
        pytest.param(answering(GOOD, status=404), id="a picture of what is missing"),
        pytest.param(answering(GOOD, status=301, headers={"Location": URI + "&again"}), id="elsewhere for good"),
        pytest.param(answering(GOOD, status=302, headers={"Location": "https://10.0.0.8/"}), id="elsewhere, inside"),
        pytest.param(answering(GOOD, status=307, headers={"Location": URI + "&again"}), id="elsewhere for now"),
        pytest.param(answering(GOOD + b"\0" * 300_000), id="too large, as it says"),
        pytest.param(lambda visit: visit.send(chunked(GOOD + b"\0" * 300_000)), id="too large, in chunks"),
        pytest.param(endless, id="without end"),
        pytest.param(answering(png_that_claims(60_000, 60_000)), id="bomb"),
        pytest.param(answering(GOOD, headers={"Content-Length": "100000"}), id="broken off"),
        pytest.param(lambda visit: visit.send("SSH-2.0-OpenSSH_9.2\r\n"), id="another protocol"),
        pytest.param(lambda visit: visit.reset(), id="reset"),
    ],
)
def test_an_invalid_logo_is_rejected_and_not_requested_again(hosting: Hosting, script: Script) -> None:
    host = hosting(script)
    logos = host.logos()
    assert [logos.picture(URI), logos.picture(URI)] == [None, None]
    assert host.visits == 1


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(lambda visit: visit.stay_silent(), id="silent"),
        pytest.param(lambda visit: visit.drip(response(GOOD), every=0.02), id="a byte at a time"),
    ],
)
def test_a_slow_host_yields_no_logo(hosting: Hosting, script: Script) -> None:
    assert hosting(script).logos(seconds=0.2).picture(URI) is None


def test_a_hanging_resolver_is_not_waited_for(hosting: Hosting) -> None:
    host, done = hosting(answering(GOOD)), threading.Event()

    def hang(name: str, port: int) -> list[str]:
        done.wait(PATIENCE)
        return [PUBLIC]

    try:
        assert host.logos(seconds=0.1, look_up=hang).picture(URI) is None
    finally:
        done.set()
    assert host.internet.went_to == []


@pytest.mark.parametrize(
    "uri",
    [
        pytest.param("https://other.example/usdc.png", id="host that is not named"),
        pytest.param("https://x.logos.service.example/usdc.png", id="below a host that is named"),
        pytest.param("https://logos.service.example.evil.example/usdc.png", id="a named host in front of another"),
        pytest.param("http://logos.service.example/usdc.png", id="http"),
        pytest.param("ftp://logos.service.example/usdc.png", id="ftp"),
        pytest.param("data:image/png;base64,AAAA", id="data"),
        pytest.param("//logos.service.example/usdc.png", id="no scheme"),
        pytest.param("https:logos.service.example/usdc.png", id="no slashes"),
        pytest.param("https://me@logos.service.example/usdc.png", id="user"),
        pytest.param("https://me:you@logos.service.example/usdc.png", id="user and password"),
        pytest.param("https://logos.service.example@10.0.0.8/usdc.png", id="host as a user"),
        pytest.param("https://10.0.0.8\\@logos.service.example/usdc.png", id="backslash"),
        pytest.param("https://logos.service.example:8443/usdc.png", id="odd port"),
        pytest.param("https://logos.service.example:443/usdc.png", id="port"),
        pytest.param("https://logos.service.example./usdc.png", id="a dot behind"),
        pytest.param("https://10.0.0.8/usdc.png", id="address"),
        pytest.param("https://[::1]/usdc.png", id="IPv6 address"),
        pytest.param("https://logos.service.example/usdc.png#x", id="fragment"),
        pytest.param("https://logos.service.example/us dc.png", id="blank"),
        pytest.param("https://logos.service.example/usdc.png\r\nX-Header: 1", id="line break"),
        pytest.param("https://logos.service.example/usdc.png\n", id="line break at the end"),
        pytest.param("https://lоgos.service.example/usdc.png", id="letter of another script"),  # noqa: RUF001
        pytest.param("https://logos.service.example/" + "a" * 2000, id="long"),
        pytest.param("https://logos.service.example", id="no path"),
        pytest.param("", id="empty"),
        pytest.param(None, id="none"),
    ],
)
def test_a_url_not_clearly_on_an_allowed_host_is_not_requested(hosting: Hosting, uri: str | None) -> None:
    host = hosting(answering(GOOD))
    logos = host.logos()
    assert (logos.offers(uri), logos.picture(uri)) == (False, None)
    assert (host.visits, host.internet.went_to) == (0, [])


def test_allowed_host_names_are_case_insensitive(hosting: Hosting) -> None:
    assert hosting(answering(GOOD)).logos().picture("https://Logos.Service.EXAMPLE/usdc.png")


@pytest.mark.parametrize("found", [[PRIVATE], [PUBLIC, PRIVATE], ["::ffff:127.0.0.1"], []], ids=str)
def test_a_host_name_resolving_to_a_private_address_is_not_contacted(hosting: Hosting, found: list[str]) -> None:
    host = hosting(answering(GOOD))
    assert host.logos(look_up=lambda name, port: found).picture(URI) is None
    assert host.internet.went_to == []


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"name": "other.example"}, id="another name's certificate"),
        pytest.param({"by": trustme.CA()}, id="a certificate of nobody we know"),
    ],
)
def test_a_host_without_a_valid_certificate_gets_no_request(hosting: Hosting, how: dict[str, Any]) -> None:
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


def test_a_failure_is_cached_for_ten_minutes(hosting: Hosting) -> None:
    host = hosting(answering("", status=500))
    logos = host.logos()
    logos.picture(URI)
    host.server.script = answering(GOOD)
    host.now = MISSED_SECONDS - 1
    assert (logos.picture(URI), host.visits) == (None, 1)
    host.now = MISSED_SECONDS + 1
    assert logos.picture(URI)


def test_the_logo_cache_is_bounded(hosting: Hosting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_BYTES", 3 * module.ENTRY_BYTES)
    host = hosting(answering("", status=404))
    logos = host.logos()
    for number in (1, 2, 3, 4, 4, 1):
        logos.picture(f"{URI}{number}")
    assert host.visits == 5


def test_concurrent_readers_share_one_request_and_excess_waiters_are_rejected(hosting: Hosting) -> None:
    door = threading.Event()

    def behind_the_door(visit: Visit) -> None:
        door.wait(PATIENCE)
        visit.send(response(GOOD))

    host = hosting(behind_the_door)
    logos = host.logos()
    came: list[bytes | None] = []
    readers = [threading.Thread(target=lambda: came.append(logos.picture(URI))) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        until(lambda: is_busy(logos))
    finally:
        door.set()
        for reader in readers:
            reader.join(PATIENCE)
    assert host.visits == 1
    assert len(came) == READERS
    assert came[0]
    assert set(came) == {came[0]}
    assert logos.picture(URI) == came[0]


def test_a_reader_past_its_deadline_does_not_wait_for_a_shared_request(hosting: Hosting) -> None:
    door = threading.Event()
    host = hosting(lambda visit: visit.send(response(GOOD)) if door.wait(PATIENCE) else None)
    logos = host.logos()
    first = threading.Thread(target=logos.picture, args=(URI,))
    first.start()
    until(lambda: host.visits == 1)
    with within(0.05), pytest.raises(Busy):
        logos.picture(URI)
    door.set()
    first.join(PATIENCE)
    assert logos.picture(URI)


def is_busy(logos: Logos) -> bool:
    """Asked with what is refused at once, and never the same twice."""
    try:
        logos.picture(f"https://{INSIDE}/{time.monotonic()}")
    except Busy:
        return True
    return False
