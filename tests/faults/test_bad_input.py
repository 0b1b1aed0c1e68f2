"""Bad input gets a clear message and the right HTTP status, and causes no request to the service.

What is too odd for a client of HTTP to send goes over raw sockets, to the dashboard as it is served.
"""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
import time_machine
from django.conf import settings
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from selectolax.lexbor import LexborHTMLParser

from intents_ui.emulator.app import Emulator
from intents_ui.service.wire.models import Page
from intents_ui.service.wire.results import Position
from intents_ui.settings import ENV
from intents_ui.web import cursors
from intents_ui.web.transfers.situations import MOST_RECEIPTS
from tests.faults import strategies
from tests.faults.odd_pages import content
from tests.pages.conftest import fresh
from tests.pages.recorded import Recorded, recorded
from tests.serving import ROOT, brief_pause, dashboard
from tests.url_patterns import url_patterns
from tests.waiting import PATIENCE

HASH = "0x" + "12" * 32
ADDRESS = "0x" + "ab" * 20
# EIP-55's own example, and the same with one letter's case changed.
CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
FORWARDED = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
# Names of chains and tokens: what a page tells a reader of, whatever he asks, and that is kept for an hour.
REFERENCE = {"GetChains", "GetTokenList"}
HONEST = {200, 301, 302, 304, 400, 403, 404, 405, 413, 414, 429, 431, 503}
SECRETS = ("Traceback", str(ROOT), "rpc/Service", "http://embedded")


@dataclass(frozen=True)
class Row:
    """`says`: words of the page; `calls`: questions to the service at the most; `leads`: where a redirect goes."""

    name: str
    path: str
    status: int
    says: str = ""
    calls: int = 0
    leads: str = ""
    method: str = "GET"
    how: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.name}-{self.method}-{self.path[:60]}"


def searched(name: str, word: str, status: int, says: str = "", calls: int = 0) -> Row:
    return Row(name, f"/search?q={quote(word)}", status, says, calls)


SEARCHES = [
    *(searched("B01", word, 200, "Paste an identifier") for word in ("", "   ", "\t\n")),
    *(searched("B02", word, 404, "address <bdi", 3) for word in (CHECKSUMMED, CHECKSUMMED.lower())),
    searched("B02", CHECKSUMMED[:-1] + "D", 404, "Checksum mismatch", 3),
    *(searched("B03", "0x" + "a" * n, 400, f"An address has 40 hex characters. This one has {n}") for n in (39, 41)),
    *(
        searched("B03", "0x" + "a" * n, 400, f"A transaction hash has 64 hex characters. This one has {n}")
        for n in (63, 65)
    ),
    *(searched("B03", word, 404, ADDRESS[:8], 3) for word in ("0X" + ADDRESS[2:], f'"{ADDRESS}"', ADDRESS + "\n")),
    searched("B03", ADDRESS[:12] + " " + ADDRESS[12:], 404, ADDRESS[:8], 3),
    searched("B04", HASH, 404, "No matches", 4),
    searched("B05", "vitalik.eth", 400, "Paste the address instead"),
    searched("B05", f"https://etherscan.io/tx/{HASH}", 404, HASH[:10], 4),
    searched("B06", "a" * 10_240, 400, "The limit is 10,000."),
    searched("B06", "a\x00b", 400, "⟨U+0000⟩"),
    searched("B06", "0х" + "1" * 40, 400, "is a lookalike character"),  # noqa: RUF001 - a Cyrillic letter
    searched("B06", "０ｘ" + "１" * 40, 404, "0x" + "1" * 4, 3),  # noqa: RUF001 - full-width
    Row("B06", "/search?q=%ff", 400, "at least 3 characters"),
    Row("B06", "/search?q=%ed%a0%80%ed%a0%80", 404, "No matches", 1),
    searched("B06", "\u202e" + "f" * 101, 400, "U+202E"),
    searched("B06", "👩‍👩‍👧", 404, "No matches", 1),
    searched("B07", "order 1234567", 404, "No matches", 1),
    searched("B07", "ab", 400, "at least 3 characters"),
    searched("B07", "word " * 30, 400, "No transaction hash, address or intent ID found"),
    *(
        searched("B08", word, status, calls=1 + MOST_RECEIPTS)
        # The embedded service has a memo with such a script.
        for word, status in (("<script>alert(1)</script>", 200), ("\"'><img src=x onerror=alert(1)>", 404))
    ),
]
LISTS = ("/history", f"/address/{ADDRESS}", "/export/history.csv", "/export/history.json")
NO_CHAIN = ("-1", "1.5", "1e3", "1_000", "0x1", "９", "０", "٣", "1 2", "9" * 20, "1" * 21)  # noqa: RUF001 - other digits
NO_SIZE = ("0", "-1", "1000", "abc", "1e1", "１")  # noqa: RUF001 - another digit
FILTERS = [
    *(Row("B10", f"{path}?status=foo", 400, "Unknown status") for path in LISTS),
    *(Row("B10", f"{path}?{'&'.join(f'status=S{n}' for n in range(50))}", 400, "Unknown status") for path in LISTS),
    Row("B10", "/history?status=", 302, leads="/history"),
    Row("B10", "/history?" + "&".join(["status=FAILED"] * 50), 302, leads="/history?status=FAILED"),
    Row("B10", "/history?status=FAILED&status=REFUNDED", 200, calls=1),
    *(Row("B11", f"/history?origin={quote(word)}", 400, "role=\"alert\"") for word in NO_CHAIN),
    *(Row("B11", f"/tokens?chain={quote(word)}", 400, "role=\"alert\"") for word in NO_CHAIN),
    *(Row("B11", f"/routes?from={quote(word)}", 400, "Unknown chain") for word in NO_CHAIN),
    *(Row("B11", f"/search?project={quote(word)}", 400) for word in NO_CHAIN),
    *(Row("B11", f"/chain/{quote(word)}", 404) for word in NO_CHAIN),
    *(Row("B11", f"/token/{quote(word)}/{ADDRESS}", 404) for word in NO_CHAIN),
    Row("B11", "/history?destination=424242", 200, calls=1),  # transfers also use chains that are not listed
    Row("B11", "/tokens?chain=424242", 400, "Unknown chain “424242”. Known chains: Ethereum, Base"),
    Row("B11", "/history?origin=%201%20", 302, leads="/history?origin=1"),
    Row("B12", "/history?from_at=2026-02-30", 400, "Use the format 2026-11-21 14:03."),
    Row("B12", "/history?from=20&to=10", 400, "End time must be after start time."),
    Row("B12", "/history?from_at=0000-01-01", 400, "Use the format 2026-11-21 14:03."),
    Row("B12", "/history?from_at=99999-01-01", 400, "Use the format 2026-11-21 14:03."),
    Row("B12", "/history?from_at=2026-03-29T02:30&zone=Europe/Berlin", 400, "daylight saving change"),
    Row("B12", "/history?from=1763726580000", 400, "looks like milliseconds"),
    Row("B12", "/history?from_at=2026-11-21&zone=../../etc/passwd", 400, "Enter a time zone such as"),
    Row("B12", "/history?from=10&to=10", 200, calls=1),
    *(Row("B13", f"{path}?cursor={word}", 400, "Invalid page link")
      for path in LISTS[:2] for word in ("abc", "a:b:c", "%00", "a" * 9000)),
    *(Row("B14", f"/history?size={quote(word)}", 400, "role=\"alert\"") for word in NO_SIZE),
    *(Row("B14", f"/export/history.csv?size={quote(word)}", 400, "Invalid filters") for word in NO_SIZE),
    *(Row("B14", f"/tokens?limit={quote(word)}", 400, "from 1 to 1,000") for word in ("0", "-1", "1001", "abc", "１")),  # noqa: RUF001
    *(Row("B14", f"/tokens?after={quote(word)}", 400, "Invalid request") for word in ("-1", "abc", "1" * 10)),
    *(Row("B14", f"/history/newer?at={quote(word)}", 400, "Invalid request") for word in ("-1", "abc", "1" * 21)),
    Row("B15", "/history?sort=id&sort=createdAt", 302, leads="/history"),
    Row("B15", "/history?nonsense=1&__proto__=2&constructor=3", 302, leads="/history"),
    Row("B15", "/search?nonsense=1", 200),
    *(Row("B15", f"{path}?{'&'.join(f'a{n}=1' for n in range(1001))}", 400, "Invalid request")
      for path in ("/history", "/tokens", "/search", "/routes", "/export/history.csv", "/console/GetChains")),
]  # fmt: skip
PATHS = [
    Row("B16", "/intent/" + "a" * 300, 404),
    Row("B16", "/intent/" + "a" * 300 + "%00", 404),
    Row("B16", "/intent/..%2f", 404),
    Row("B16", "/intent/%2e%2e", 404),
    Row("B16", "/intent/%2e%2e%2f%2e%2e%2fhistory", 404),
    Row("B16", "/intent/...", 404),
    Row("B16", "/intent/%00", 404, "⟨U+0000⟩"),
    Row("B16", f"/intent/{HASH}%00", 404, "⟨U+0000⟩"),
    Row("B16", "/intent/%E2%80%AE", 404),
    Row("B16", "/intent/%ff", 404),
    Row("B16", "/intent/%0d%0aSet-Cookie:%20a=b", 404),
    Row("B16", "/%2fevil.example", 404),
    Row("B16", "/%5cevil.example/", 404),
    Row("B16", "/%09/evil.example/", 404),
    Row("B16", "/HISTORY", 404),
    Row("B16", "/./history", 404),
    Row("B16", f"/intent/{HASH}/x.css", 404),
    Row("B16", "/history/x.css", 404),
    Row("B16", "/history%0d%0a/", 404),
    Row("B16", "/history/", 301, leads="/history"),
    Row("B16", "/history//?status=FAILED&size=10", 301, leads="/history?status=FAILED&size=10"),
    Row("B16", f"/intent/{HASH}/", 301, leads=f"/intent/{HASH}"),
    Row("B16", f"/intent/{HASH};jsessionid=1", 301, leads=f"/intent/{HASH}"),
    Row("B16", f"/intent/{HASH}%E2%80%AE", 301, leads=f"/intent/{HASH}"),
    Row("B16", f"/intent/{HASH.upper()}", 301, leads=f"/intent/{HASH}"),
    Row("B16", f"/intents/{HASH}", 301, leads=f"/intent/{HASH}"),
    Row("B16", f"/i/{HASH.upper()}?tx=1", 301, leads=f"/intent/{HASH}?tx=1"),
    Row("B16", f"/tx/{HASH.upper()}", 301, leads=f"/tx/{HASH}"),
    Row("B16", f"/address/{ADDRESS.upper().replace('X', 'x')}", 301, leads=f"/address/{ADDRESS}"),
    *(Row("B16", f"/{kind}/0x{'a' * 39}", status, "40 hex characters. This one has 39")
      for kind, status in (("address", 404), ("tx", 400), ("intent", 404))),
    # Nothing of ours takes a place to go on to; what looks like one is left alone.
    *(Row("B17", f"{path}?next={quote(place)}&return=//evil.example&url=/%5cevil.example", status, leads=leads)
      for place in ("//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)")
      for path, status, leads in (("/history", 302, "/history"), ("/help", 200, ""), ("/operator", 404, ""))),
]  # fmt: skip
OTHER_SITE = {"headers": {"Sec-Fetch-Site": "cross-site"}}
FORM = "application/x-www-form-urlencoded"


def posted(name: str, path: str, status: int, says: str = "", *, body: bytes = b"q=ab", kind: str = FORM) -> Row:
    return Row(name, path, status, says, method="POST", how={"data": body, "content_type": kind})


BODIES = [
    *(posted("B26", "/triage", 400, body=body, kind=kind) for body, kind in (
        (b"x", "multipart/form-data"),
        (b"x", "multipart/form-data; boundary="),
        (b"--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n", "multipart/form-data; boundary=x"),
        (b"--x\r\n" * 500, "multipart/form-data; boundary=x"),
        (b"x" * 2000, "multipart/form-data; boundary=" + "y" * 300),
        (b'{"q": "0x12"}', "application/json"),
        (b"q=%ff%fe%00", FORM),
    )),
    posted("B26", "/triage", 400, "Invalid request", body=b"&".join(b"a%d=1" % n for n in range(1001))),
    posted("B26", "/console/GetIntent", 400, "Invalid request", body=b"&".join(b"a%d=1" % n for n in range(1001))),
    *(Row("B27", path, 403, method="POST", how={"data": b"q=" + HASH.encode(), "content_type": FORM, **how})
      for path in ("/triage", "/export/progress/abcdefghijklmnop")
      for how in (OTHER_SITE, {"headers": {"Origin": "null"}}, {"headers": {"Origin": "https://evil.example"}})),
]  # fmt: skip
ROWS = [*SEARCHES, *FILTERS, *PATHS, *BODIES]


@pytest.fixture(scope="module")
def way() -> Iterator[Recorded]:
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False):
        emulator: Iterator[Emulator] = fresh()
        with pytest.MonkeyPatch.context() as patch, recorded(next(emulator), patch) as way:
            yield way
        next(emulator, None)


def send(method: str, path: str, **how: Any) -> Any:
    """A visitor's request; `path` as it goes over the wire. A proof of our forms is asked for, as from a browser."""
    path, _, query = path.partition("?")
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    return client.generic(method, path, QUERY_STRING=query, **how)


def problems(answer: Any, text: str) -> Iterator[str]:
    """What INV1-INV3 and the rest of section 2 find wrong with any answer to a visitor's mistake."""
    if answer.status_code not in HONEST:
        yield f"status {answer.status_code}"
    yield from (f"tells {secret}" for secret in (*SECRETS, settings.SECRET_KEY) if secret in text)
    if "set-cookie" in {name.lower() for name in answer.headers}:
        yield "sets a cookie"
    yield from (f"{name} came back" for name in answer.headers if name.lower().startswith("hx-"))
    is_page = answer.headers.get("Content-Type", "").startswith("text/html")
    if not is_page or answer.status_code in (301, 302):
        return
    tree = LexborHTMLParser(text)
    for what, count in (("html[lang=en]", 1), ("head > title", 1), ("main h1", 1), ("header nav", 1), ("footer", 1)):
        if len(tree.css(what)) != count:
            yield f"{len(tree.css(what))} {what}"
    if tree.css("script:not([src])") or tree.css("[onerror]"):
        yield "a script of somebody else's"
    if not text.rstrip().endswith("</html>"):
        yield "does not end"


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_bad_input_gets_a_clear_message_and_costs_the_service_no_request(way: Recorded, row: Row) -> None:
    way.sent.clear()
    answer = send(row.method, row.path, **row.how)
    text = content(answer)
    asked = [operation for operation, _ in way.sent if operation not in REFERENCE]
    assert answer.status_code == row.status
    assert list(problems(answer, text)) == []
    assert len(asked) <= row.calls, asked
    assert row.says in text
    assert answer.headers.get("Location", "") == row.leads
    if row.leads:
        assert urlsplit(answer.headers["Location"]).netloc == ""


@pytest.mark.parametrize(
    "field",
    [
        "/search?q",
        "/search?intent",
        "/history?owner",
        "/history?from_at",
        "/history?from_at=x&zone",
        "/chains?provider",
        "/tokens?q",
        "/tokens?limit",
        "/tokens?without",
        "/routes?owner",
        "/routes?token_typed",
    ],
)
def test_a_form_shows_hidden_characters_that_were_typed_into_it(way: Recorded, field: str) -> None:
    text = content(send("GET", f"{field}={quote('a\x1b\u202eb')}"))
    assert not re.search('="[^"<>]*[\x1b\u202e]', text)
    assert 'value="a⟨U+001B⟩⟨U+202E⟩b"' in text


def test_a_cursor_of_another_list_leads_to_the_first_page_of_this_one(way: Recorded) -> None:
    place = Position(Page.from_text('{"column":"createdAt","order":"DESC","pageSize":20,"page":7}'))
    word = cursors.write(place, of="size=10")
    way.sent.clear()
    answer = send("GET", f"/history?status=FAILED&cursor={word}")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/history?status=FAILED")
    for spoilt in (word[:-1], word[1:], word.swapcase(), word + "x", cursors.SIGNER.sign_object("four")):
        assert send("GET", f"/history?size=10&cursor={spoilt}").status_code == 400
    assert [operation for operation, _ in way.sent if operation not in REFERENCE] == []


def addresses() -> list[str]:
    """One of each that the site map has."""
    words = {"chain_id": "8453", "address": ADDRESS, "intent_id": HASH, "transaction_hash": HASH, "kind": "csv"}
    words |= {"operation": "GetChains", "status": "FAILED", "run": "abcdefghijklmnop", "name": "RELAY"}
    words |= {"number": "1", "used": "RELAY", "providers": "RELAY", "origin": "8453", "destination": "42161"}
    routes = [str(pattern.pattern) for pattern in url_patterns()]
    return ["/" + strategies.PARAMETER.sub(lambda place: words[place[1]], route) for route in routes]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("path", addresses())
def test_unsupported_methods_are_rejected_and_head_is_get_without_a_body(path: str) -> None:
    refused = {method: send(method, path) for method in ("TRACE", "OPTIONS", "PUT", "DELETE", "PATCH", "FOO")}
    if not path.startswith("/export/"):  # which would be written to its end
        got, head = send("GET", path), send("HEAD", path)
        assert head.status_code == got.status_code
        assert head.content == b""
    for method, answer in refused.items():
        assert answer.status_code == 405, method
        allowed = set(answer.headers["Allow"].split(", "))
        assert allowed in ({"GET", "HEAD"}, {"GET", "HEAD", "POST"}, {"POST"}), method
        assert list(problems(answer, content(answer))) == []
        assert "message/http" not in answer.headers["Content-Type"]


HEADERS = [(name, value) for name, values in strategies.HEADERS.items() for value in values]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("name", "value"), HEADERS, ids=[f"{name}-{value[:20]}" for name, value in HEADERS])
def test_unusual_headers_change_no_page_and_are_never_echoed(name: str, value: str) -> None:
    for path in ("/", "/search", "/help", "/history?status=FAILED"):
        answer = send("GET", path, headers={name: value})
        text = content(answer)
        has_whatever_there_is = (name, value) == ("If-None-Match", "*")
        assert answer.status_code == (304 if has_whatever_there_is else 200)
        assert "evil.example" not in text + repr(answer.headers)
        assert [each for each in answer.headers if each.lower().startswith(("hx-", "set-cookie"))] == []


@pytest.mark.usefixtures("way")
def test_forwarded_headers_from_an_untrusted_proxy_are_ignored() -> None:
    plain, forwarded = (content(send("GET", f"/address/{ADDRESS}/share", headers=how)) for how in ({}, FORWARDED))
    assert "http://testserver/" in plain
    assert forwarded == plain


def test_every_id_of_the_table_is_covered() -> None:
    assert {row.name for row in ROWS} >= {f"B{number:02}" for number in (*range(1, 9), *range(10, 18), 26, 27)}


@pytest.mark.usefixtures("way")
@hypothesis_settings(suppress_health_check=list(HealthCheck))
@given(asked=strategies.requests())
def test_no_request_breaks_a_page(asked: strategies.Asked) -> None:
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    answer = asked.send(client)
    text = content(answer)
    assert answer.status_code in HONEST | {204, 409, 501}, asked
    assert [each for each in SECRETS[:2] if each in text] == []


# Over raw sockets


def raw(server: str, request: bytes) -> bytes:
    """All that comes back, also where the refusal comes before the end."""
    where = urlsplit(server)
    with socket.create_connection((where.hostname, where.port), timeout=60) as connection:
        with suppress(OSError):
            connection.sendall(request)
        answer = b""
        with suppress(OSError):
            while piece := connection.recv(65_536):
                answer += piece
    return answer


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0


def get(path: str, *lines: str, host: str = "Host: 127.0.0.1", version: str = "HTTP/1.1", method: str = "GET") -> bytes:
    head = [f"{method} {path} {version}", *([host] if host else []), *lines, "Connection: close"]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n"


def body(path: str, sent: bytes, *lines: str, kind: str = FORM, length: int | None = None) -> bytes:
    result = len(sent) if length is None else length
    return get(path, f"Content-Type: {kind}", f"Content-Length: {result}", *lines, method="POST") + sent


MANY = [f"X-{number}: {number}" for number in range(500)]
AT_THE_DOOR = [
    pytest.param(get("/", host="Host: evil.example"), {400}, id="B20 another host"),
    pytest.param(get("/", host="Host:"), {400}, id="B20 an empty host"),
    pytest.param(get("/", host="Host: 127.0.0.1\r\nHost: 127.0.0.1"), {400}, id="B20 two hosts"),
    pytest.param(get("/", host="Host: 127.0.0.1:80x"), {400}, id="B20 a port that is none"),
    pytest.param(get("/", host="Host: [fe80::1%25eth0]"), {400}, id="B20 an IPv6 zone"),
    pytest.param(get("/", host="Host: 127.0.0.1@evil.example"), {400}, id="B20 a user"),
    pytest.param(get("/", host=""), {400}, id="B20 no host"),
    pytest.param(get("http://evil.example/", host="Host: 127.0.0.1"), {400, 404}, id="B20 absolute, of another"),
    pytest.param(get("/help", "X-Long: " + "x" * 9_000), {431}, id="B22 one header of 9 kB"),
    pytest.param(get("/help", "X-Long: " + "x" * 100_000), {431}, id="B22 one header of 100 kB"),
    pytest.param(get("/help", *(f"X-{n}: {'x' * 1000}" for n in range(17))), {431}, id="B22 17 kB in all"),
    pytest.param(get("/help", *MANY), {431}, id="B22 500 headers"),
    pytest.param(get("/help", *(MANY * 20)), {431}, id="B22 10,000 headers"),
    pytest.param(get("/help", *(f"X-{n}: {'x' * 900}" for n in range(15))), {200}, id="B22 15 kB are taken"),
    pytest.param(get("/help", method="TRACE"), {405}, id="B24 TRACE"),
    pytest.param(get("/healthz", method="TRACE"), {405}, id="B24 TRACE of what has no page"),
    pytest.param(get(f"/live/{HASH}", method="TRACE"), {405}, id="B24 TRACE of a stream"),
    pytest.param(get("/help", method="get"), {400, 405, 501}, id="B24 in small letters"),
    pytest.param(get("/search", "Content-Length: 3", "Transfer-Encoding: chunked", method="POST") + b"0\r\n\r\n",
                 {400}, id="B25 two lengths"),
    pytest.param(get("/search", "Content-Length: 3", "Content-Length: 4", method="POST") + b"abcd",
                 {400}, id="B25 3 or 4"),
    pytest.param(get("/search", "Content-Length: -1", method="POST"), {400}, id="B25 less than nothing"),
    pytest.param(get("/search", "Content-Length: 1e3", method="POST"), {400}, id="B25 no length"),
    pytest.param(get("/search", "Transfer-Encoding: chunked", method="POST") + b"zz\r\nx\r\n0\r\n\r\n", {400},
                 id="B25 a chunk that is none"),
    pytest.param(get("/search", "Transfer-Encoding: gzip", method="POST"), {400, 501}, id="B25 another coding"),
    pytest.param("GET /search?q=Ω HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode(), {400, 404},
                 id="B25 raw UTF-8 in the query"),
    pytest.param("GET /Ω HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode(), {400, 404},
                 id="B25 raw UTF-8 in the path"),
    pytest.param(get("/help", version="HTTP/1.0"), {200}, id="B25 HTTP/1.0"),
    pytest.param(b"GET /help\r\n\r\n", {400}, id="B25 HTTP/0.9"),
    pytest.param(get("/help", version="HTTP/9.9"), {400, 505}, id="B25 HTTP/9.9"),
    pytest.param(get("/search?q=" + "a" * 102_400), {414}, id="B25 an address of 100 kB"),
    pytest.param(get("/help\x00"), {400}, id="B25 NUL"),
    pytest.param(get("/help", "X: a\nSet-Cookie: b"), {400}, id="B25 a line in a header"),
    pytest.param(get("/help", " folded: yes"), {400}, id="B25 a folded header"),
    pytest.param(body("/triage", b"q=" + b"x" * 3_000_000), {413}, id="B26 3 MB"),
    pytest.param(body("/search", b"q=" + b"x" * 70_000), {413}, id="B26 70 kB where 64 are taken"),
    pytest.param(body("/console/GetIntent", b"json=" + b"x" * 300_000), {413}, id="B26 300 kB for the console"),
    pytest.param(body("/triage", b"", length=10**12), {413}, id="B26 a terabyte, announced"),
    *(pytest.param(body(path, b"q=0x12", kind=f"{FORM}; charset={charset}"), {400}, id=f"B26 {path} in {charset}")
      for path in ("/triage", "/console/GetIntent", "/search")
      for charset in ("zlib", "utf-7", "bogus", "utf-16", "\u00ff")),
    pytest.param(get("/history?size=10", f"Content-Type: {FORM}; charset=zlib"), {400}, id="B26 an address in zlib"),
    pytest.param(get("/live/" + "a" * 300), {404}, id="B30 a long id"),
    pytest.param(get("/live/%0a"), {404}, id="B30 no id"),
    pytest.param(get(f"/live/{HASH}", "Last-Event-ID: " + "x" * 8_000), {404}, id="B30 a long event id"),
    pytest.param(get(f"/live/{HASH}", "Accept: text/plain"), {404}, id="B30 accepts no stream"),
    pytest.param(get("/healthz?x=%ff&" + "a" * 5000), {200}, id="B31 garbage for the health check"),
    pytest.param(get("/healthz/../etc/passwd"), {404}, id="B31 another place"),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "statuses"), AT_THE_DOOR)
def test_a_malformed_http_request_is_rejected_and_its_connection_closed(
    server: str, request_: bytes, statuses: set[int]
) -> None:
    answer = raw(server, request_)
    head = answer.partition(b"\r\n\r\n")[0]
    assert status_of(answer) in statuses, answer[:300]
    assert b"connection: close" in head.lower() or b"HTTP/1.0" in request_
    assert [each for each in (b"Traceback", b"/intents_ui/", b"evil.example", b"Set-Cookie: b") if each in answer] == []
    assert b"x-content-type-options: nosniff" in head.lower()
    assert status_of(raw(server, get("/healthz"))) == 200


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (body("/triage", b"q=" + b"x" * 3_000_000), "The request is larger than 640 KB,"),
        (body("/search", b"q=" + b"x" * 70_000), "The request is larger than 64 KB,"),
        (get("/help", *(f"X-{n}: {'x' * 1000}" for n in range(17))), "usually cookies, exceed the limit"),
        (body("/search", b"q=1", kind=f"{FORM}; charset=zlib"), "The request is not UTF-8"),
        (get("/search?" + "&".join(f"a{n}=1" for n in range(1001))), "Invalid request"),
    ],
    ids=["3 MB", "70 kB", "headers", "charset", "fields"],
)
def test_requests_rejected_by_the_server_get_one_of_our_pages(server: str, request_: bytes, says: str) -> None:
    head, _, text = raw(server, request_).decode("latin-1").partition("\r\n\r\n")
    assert says in text
    assert 'role="search"' in text
    assert "</html>" in text
    assert "script-src 'self'" in head


def test_a_long_ticket_in_any_script_is_accepted(server: str) -> None:
    ticket = quote(f"{ADDRESS} {HASH} " + "送金が届きません。 " * 7000).encode()[: 9 * 70_000]
    answer = raw(server, body("/triage", b"q=" + ticket, "Sec-Fetch-Site: same-origin"))
    assert status_of(answer) == 200
    assert b"characters were read. Submit the rest separately." in answer


def test_streams_beyond_the_limit_of_one_address_fall_back_to_polling(server: str) -> None:
    demo = httpx.get(f"{server}/demo", trust_env=False, timeout=PATIENCE).text
    # Its streams stay open, because it is held before its end.
    path = re.search(r'href="/intent/(0x[0-9a-f]{64})" aria-label="Scenario 23 at its worst"', demo)
    assert path is not None
    with ExitStack() as stack:
        where = urlsplit(server)
        for _ in range(ENV.intents_max_streams_per_client):
            held = stack.enter_context(socket.create_connection((where.hostname, where.port), timeout=60))
            held.sendall(get(f"/live/{path[1]}", "Accept: text/event-stream"))
            assert held.recv(12) == b"HTTP/1.1 200"
        answer = raw(server, get(f"/live/{path[1]}", "Accept: text/event-stream"))
    assert status_of(answer) == 429
    assert b"retry-after: " in answer.lower()
    assert f'hx-get="/intent/{path[1]}/receipt" hx-trigger="every 5s"'.encode() in answer


@pytest.mark.slow
def test_half_open_connections_block_no_others_and_are_closed() -> None:
    """Slowloris: heads that never end, and bodies that do not come."""
    times = {"INTENTS_REQUEST_TIMEOUTS": "headers=2,body=2"}
    with dashboard(**times) as server, ExitStack() as stack:
        where = urlsplit(server)

        def half(sent: bytes) -> socket.socket:
            held = stack.enter_context(socket.create_connection((where.hostname, where.port), timeout=60))
            held.sendall(sent)
            return held

        heads = [half(b"GET /help HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ") for _ in range(300)]
        bodies = [half(body("/triage", b"q=", length=1000)) for _ in range(100)]
        idle = [half(b"") for _ in range(20)]
        with httpx.Client(base_url=server, trust_env=False, timeout=60) as client:
            for path in ("/healthz", "/help", "/static/img/mark.svg") * 3:
                assert client.get(path).status_code == 200
        assert {status_of(last_words(held)) for held in (*heads, *idle)} <= {0, 408}
        result = {status_of(last_words(held)) for held in bodies}
        assert 408 in result
        assert result <= {0, 408, 503}, "as many at once as may not come in"


def last_words(held: socket.socket) -> bytes:
    """What came before the connection was closed; raises where it is not."""
    result = b""
    with suppress(ConnectionError):
        while piece := held.recv(65_536):
            result += piece
    return result


@pytest.mark.slow
def test_a_client_that_stops_reading_a_long_response_is_disconnected() -> None:
    with dashboard(INTENTS_REQUEST_TIMEOUTS="response=1") as server, socket.socket() as reader:
        where = urlsplit(server)
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        reader.connect((where.hostname, where.port))
        reader.sendall(b"GET /static/vendor/htmx.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 500)  # of 37 KB
        deadline = time.monotonic() + 60
        while not is_reset(reader):
            assert time.monotonic() < deadline
            brief_pause()
        assert httpx.get(f"{server}/healthz", trust_env=False, timeout=PATIENCE).status_code == 200


def is_reset(connection: socket.socket) -> bool:
    return bool(connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
