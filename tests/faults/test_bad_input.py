"""Bad input gets a clear message and the right HTTP status, and causes no request to the service.

What is too odd for a client of HTTP to send goes over raw sockets, to the dashboard as it is served.
"""

import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import httpx
import pytest
from django.conf import settings
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from intents_ui.emulator.app import Emulator
from tests.corpus import picked
from tests.faults import strategies
from tests.faults.site import layout_problems
from tests.gunicorn_constants import constants
from tests.pages.reading import content
from tests.pages.recorded import Recorded, recorded
from tests.serving import ROOT, dashboard
from tests.tables import rows, toml
from tests.url_patterns import url_patterns
from tests.waiting import PATIENCE, until

HASH = "0x" + "12" * 32
ADDRESS = "0x" + "ab" * 20
# EIP-55's own example, and the same with one letter's case changed.
CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
STREAMS = 20  # of one client
# Names of chains and tokens: what a page tells a reader of, whatever he asks, and that is kept for an hour.
REFERENCE = {"GetChains", "GetTokenList"}
HONEST = {200, 301, 302, 304, 400, 403, 404, 405, 413, 414, 429, 431, 503}
SECRETS = ("Traceback", str(ROOT), "rpc/Service", "http://embedded")


class Row(NamedTuple):
    """`calls`: maximum number of service calls. `result`: words of the page, or `>` and where it redirects to."""

    name: str
    path: str
    status: int
    calls: int
    result: str
    how: Mapping[str, Any] = {}

    @property
    def id(self) -> str:
        return f"{self.name}-{'POST' if self.how else 'GET'}-{self.path[:60]}"


KNOWN = {"{hash}": HASH, "{HASH}": HASH.upper(), "{address}": ADDRESS, "{checksummed}": CHECKSUMMED}


def filled(cell: str) -> str:
    for name, value in KNOWN.items():
        cell = cell.replace(name, value)
    return re.sub(r"\{(.+?)\*(\d+)\}", lambda found: found[1] * int(found[2]), cell)


def urls() -> Iterator[Row]:
    """Yield the rows of bad_input.txt."""
    for cells in rows(__file__, "bad_input"):
        name, path, status, calls, result = map(filled, cells)
        yield Row(name, path, int(status), int(calls), result)


FORM, JSON = "application/x-www-form-urlencoded", "application/json"


def posted(name: str, body: bytes, kind: str = FORM, *, path: str = "/triage", says: str = "") -> Row:
    return Row(name, path, 400, 0, says, {"data": body, "content_type": kind})


FIELDS = b"&".join(b"a%d=1" % n for n in range(1001))
BODIES = [
    posted("no boundary", b"x", "multipart/form-data"),
    posted("cut off", b'--x\r\nContent-Disposition: form-data; name="q"\r\n\r\n', "multipart/form-data; boundary=x"),
    posted("500 parts", b"--x\r\n" * 500, "multipart/form-data; boundary=x"),
    posted("long boundary", b"x" * 2000, "multipart/form-data; boundary=" + "y" * 300),
    posted("JSON", b'{"q": "0x12"}', JSON),
    posted("not UTF-8", b"q=%ff%fe%00"),
    *(posted("1001 fields", FIELDS, path=path, says="Invalid request") for path in ("/triage", "/console/GetIntent")),
]
ROWS = [*urls(), *BODIES]


@pytest.fixture(scope="module")
def way(emulator: Emulator) -> Iterator[Recorded]:
    with recorded(emulator) as way:
        yield way


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
    yield from layout_problems(text)


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_bad_input_gets_a_clear_message_and_costs_the_service_no_request(way, row):
    way.sent.clear()
    answer = send("POST" if row.how else "GET", row.path, **row.how)
    text = content(answer)
    asked = [operation for operation, _ in way.sent if operation not in REFERENCE]
    assert answer.status_code == row.status
    assert list(problems(answer, text)) == []
    assert len(asked) <= row.calls, asked
    leads = row.result[1:] if row.result.startswith(">") else ""
    assert answer.headers.get("Location", "") == leads
    assert leads or row.result in text


@pytest.mark.parametrize(
    "field",
    [
        "/search?q",
        "/search?intent",
        "/history?owner",
        "/history?from_at",
        "/chains?provider",
        "/tokens?q",
        "/routes?owner",
    ],
)
def test_a_form_shows_hidden_characters_that_were_typed_into_it(way, field):
    text = content(send("GET", f"{field}={quote('a\x1b\u202eb')}"))
    assert not re.search('="[^"<>]*[\x1b\u202e]', text)
    assert 'value="a⟨U+001B⟩⟨U+202E⟩b"' in text


@pytest.mark.parametrize(
    "url",
    picked(
        {ascii(url): url for url in ("http://[", "http://[::1", "http://\u2100", "http://a:b", "//[", "[")},
        "'http://['",
        r"'http://\u2100'",
        "'http://a:b'",
    ),
)
def test_a_malformed_url_in_a_header_is_ignored_or_refused(way, url):
    site, part = Client(raise_request_exception=False), {"HX-Request": "true", "HX-Request-Type": "partial"}
    for name in ("HX-Current-URL", "Referer", "Origin", "Forwarded", "X-Forwarded-Host", "X-Forwarded-For"):
        headers = {name: url} | part
        for path, status in (("/", 200), ("/history", 200), ("/attention", 200)):
            assert site.get(path, headers=headers).status_code == status, (name, path)
        assert site.post("/triage", {"q": HASH}, headers=headers).status_code in HONEST, name
        assert site.get("/history", headers=headers | {"Host": url}).status_code == 400
    encoded = part | {"HX-Current-URL": quote(url, safe=""), "HX-Current-URL-URI-AutoEncoded": "true"}
    assert site.get("/history", headers=encoded).status_code == 200


@pytest.mark.usefixtures("way")
def test_unsupported_methods_are_rejected_on_every_url():
    for path in (route.path() for route in url_patterns()):
        for method in ("TRACE", "DELETE"):
            answer = send(method, path)
            assert answer.status_code == 405, path
            assert set(answer.headers["Allow"].split(", ")) in ({"GET", "HEAD"}, {"GET", "HEAD", "POST"}, {"POST"}), (
                path
            )
            assert list(problems(answer, content(answer))) == [], path
            assert "message/http" not in answer.headers["Content-Type"]


@pytest.mark.usefixtures("way")
@hypothesis_settings(suppress_health_check=list(HealthCheck))
@given(asked=strategies.requests())
def test_no_request_breaks_a_page(asked):
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


def head(
    path: str, *lines: str, host: str = "Host: 127.0.0.1", version: str = "HTTP/1.1", method: str = "GET"
) -> bytes:
    every = [f"{method} {path} {version}", *([host] if host else []), *lines, "Connection: close"]
    return "\r\n".join(every).encode("latin-1") + b"\r\n\r\n"


def written(row: dict[str, Any]) -> bytes:
    """Return the request of a row of raw_requests.toml."""
    if "raw" in row:
        return str(row["raw"]).encode()
    lines = [line.replace("#", str(number)) for number in range(row.get("repeat", 1)) for line in row.get("lines", ())]
    sent, how = row.get("after", ""), {name: row[name] for name in ("host", "version", "method") if name in row}
    if "body" in row:
        sent, how = filled(row["body"]), {"method": "POST"}
        lines += [f"Content-Type: {row.get('type', FORM)}", f"Content-Length: {row.get('length', len(sent))}"]
    return head(filled(row["path"]), *map(filled, lines), **how) + sent.encode()


RAW = toml(__file__, "raw_requests")


@pytest.mark.parametrize("row", RAW.values(), ids=RAW)
def test_a_malformed_http_request_is_rejected_and_its_connection_closed(server, row):
    request = written(row)
    answer = raw(server, request)
    start, _, text = answer.decode("latin-1").partition("\r\n\r\n")
    assert status_of(answer) in row["status"], answer[:300]
    assert "connection: close" in start.lower() or b"HTTP/1.0" in request
    assert [
        each for each in ("Traceback", "/intents_ui/", "evil.example", "Set-Cookie: b") if each in start + text
    ] == []
    is_of_gunicorn = "content-type: text/plain\r\n" in start.lower()  # without a charset
    assert is_of_gunicorn or "x-content-type-options: nosniff" in start.lower()
    if "says" in row:
        assert row["says"] in text
        assert 'role="search"' in text
        assert "</html>" in text
        assert "script-src 'self'" in start


def test_half_open_connections_block_no_others_and_are_closed():
    """Slowloris: heads that never end, bodies that don't come, and a client that doesn't read."""
    names = ("worker:HEADERS_TIMEOUT", "worker:WRITE_TIMEOUT", "application:BODY_SECONDS")
    with dashboard(**constants(**{f"intents_ui.{name}": 1.0 for name in names})) as server, ExitStack() as stack:
        where = urlsplit(server)

        def half(sent: bytes) -> socket.socket:
            held = stack.enter_context(socket.socket())
            held.settimeout(PATIENCE)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            held.connect((where.hostname, where.port))
            held.sendall(sent)
            return held

        heads = [half(b"GET /help HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ") for _ in range(50)]
        bodies = [half(written({"path": "/triage", "body": "q=", "length": 1000})) for _ in range(50)]
        idle = [half(b"") for _ in range(10)]
        reader = half(b"GET /static/vendor/htmx.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 500)  # of 37 KB
        with httpx.Client(base_url=server, trust_env=False, timeout=PATIENCE) as client:
            for path in ("/healthz", "/help", "/static/img/mark.svg"):
                assert client.get(path).status_code == 200
        assert {status_of(last_words(held)) for held in (*heads, *idle)} <= {0, 408}
        result = {status_of(last_words(held)) for held in bodies}
        assert 408 in result
        assert result <= {0, 408, 503}, "only some may wait for their bodies at once"
        until(lambda: reader.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))


def last_words(held: socket.socket) -> bytes:
    """Return what was sent before the connection was closed."""
    result = b""
    with suppress(ConnectionError):
        while piece := held.recv(65_536):
            result += piece
    return result


def test_streams_beyond_the_limit_of_one_address_fall_back_to_polling(server):
    demo = httpx.get(f"{server}/demo", trust_env=False, timeout=PATIENCE).text
    # Its streams stay open, because it is held before its end.
    path = re.search(r'href="/intent/(0x[0-9a-f]{64})" aria-label="Scenario 23 at its worst"', demo)
    assert path is not None
    with ExitStack() as stack:
        where = urlsplit(server)
        for _ in range(STREAMS):
            held = stack.enter_context(socket.create_connection((where.hostname, where.port), timeout=60))
            held.sendall(head(f"/live/{path[1]}", "Accept: text/event-stream"))
            assert held.recv(12) == b"HTTP/1.1 200"
        beyond = stack.enter_context(socket.create_connection((where.hostname, where.port), timeout=60))
        beyond.sendall(head(f"/live/{path[1]}", "Accept: text/event-stream"))
        assert beyond.recv(12) == b"HTTP/1.1 429"
        answer = last_words(beyond)
    assert b"retry-after: " in answer.lower()
    assert f'hx-get="/intent/{path[1]}/receipt" hx-trigger="every 5s"'.encode() in answer
