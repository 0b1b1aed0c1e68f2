"""The service on a real socket, with faults by operation.

The emulator responds to all other calls.
"""

import contextlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from intents_ui.emulator.app import Emulator
from intents_ui.service.client import InProcessTransport
from tests.service.scripted_server import Script, ScriptedServer, Visit, answering, response

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
PLAIN = '{"intent":{"intentId":"0x1","status":"QUOTED"}}'
PAGE = "<html><head><title>502 Bad Gateway</title></head><body>" + "upstream-page " * 40 + "</body></html>"
EVERY = "*"


@dataclass(frozen=True)
class Request:
    operation: str
    body: Any
    headers: Mapping[str, str]
    at: float


@dataclass
class Upstream:
    """A service. `requests` are those received, in order."""

    emulator: Emulator
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._scripts: dict[str, Script] = {}
        self._service = InProcessTransport(self.emulator)
        self.server = ScriptedServer(self._answer)
        self.url = self.server.url

    def inject(self, script: Script, *operations: str) -> None:
        """Inject a fault into each call of these operations, or of all."""
        with self._lock:
            self._scripts |= dict.fromkeys(operations or (EVERY,), script)

    def clear_faults(self) -> None:
        with self._lock:
            self._scripts.clear()
            self.requests.clear()

    def requested(self, *operations: str) -> list[Request]:
        with self._lock:
            return [each for each in self.requests if not operations or each.operation in operations]

    def close(self) -> None:
        self.server.close()
        # In another thread, because it runs event loops to their end and a test may have its own.
        closing = threading.Thread(target=self._service.close)
        closing.start()
        closing.join()

    def _answer(self, visit: Visit) -> None:
        script = self.script_for(visit)
        (script or self.pass_on)(visit)

    def script_for(self, visit: Visit) -> Script | None:
        # The server records every visit for tests. This class has its own record.
        self.server.visits.clear()
        with self._lock:
            request = Request(visit.operation, json.loads(visit.body or "null"), visit.headers, time.monotonic())
            self.requests.append(request)
            return self._scripts.get(visit.operation) or self._scripts.get(EVERY)

    def pass_on(self, visit: Visit) -> None:
        extensions = {"timeout": {"pool": 10.0, "read": 40.0}}
        request = httpx.Request("POST", f"http://emulator{visit.head.split(' ')[1]}", content=visit.body,
                                headers={"Content-Type": "application/json"}, extensions=extensions)  # fmt: skip
        answer = self._service.handle_request(request)
        visit.send(response(answer.read(), status=answer.status_code))


@contextlib.contextmanager
def upstream(emulator: Emulator) -> Iterator[Upstream]:
    service = Upstream(emulator)
    try:
        yield service
    finally:
        service.close()


def refusing(code: int, name: str, status: int, *, msg: str = "", is_nested: bool = False, **headers: str) -> Script:
    """Return a script that sends an error response of the service, in either envelope (docs/contract.md#errors)."""
    flat = {"error": name, "code": code, "msg": msg or name, "cause": "for those who run it", "status": status}
    nested = {"webrpcError": {"name": name, "code": code, "message": msg or name, "httpStatus": status}}
    header_values = {header.replace("_", "-"): value for header, value in headers.items()}
    return answering(nested if is_nested else flat, status=status, headers=header_values)


def reset_in_the_body(visit: Visit) -> None:
    visit.send(response(PLAIN)[:-20])
    visit.reset()


def raw(data: bytes) -> Script:
    return lambda visit: visit.send(data)


def dripping(visit: Visit) -> None:
    visit.send(HEAD + b"Content-Length: 9999\r\n\r\n")
    visit.drip(b" " * 9999, every=0.02)


# Failures without a wait, one for each way in which a call fails. Others: `tests/service/test_network_faults.py`.
TRANSPORT: Mapping[str, Script] = {
    "reset in the body": reset_in_the_body,
    "HTTP/0.9": raw(PLAIN.encode()),
    "a length and chunks": raw(HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "a header of 200 kB": raw(HEAD + b"A: " + b"b" * 200_000 + b"\r\n\r\n"),
    "100 MB by its length": lambda visit: visit.send(HEAD + b"Content-Length: 104857600\r\n\r\n" + b" " * 1000),
    "brotli": answering(PLAIN, headers={"Content-Encoding": "br"}),
    "a redirect": answering("", status=302, headers={"Location": "http://127.0.0.1:9/rpc/Service/GetIntent"}),
}
STATUSES: Mapping[str, Script] = {
    "502 with a page": answering(PAGE, status=502, kind="text/html"),
    "500 with nothing": answering("", status=500),
    "204": answering("", status=204),
    "a captive portal": answering(PAGE, kind="text/html"),
    "404 with a page": answering(PAGE, status=404, kind="text/html"),
    "no JSON": answering("{"),
    "a list": answering("[]"),
    "an unknown code": refusing(31337, "Unheard", 500),
    "an unknown code, 400": refusing(31337, "Unheard", 400),
    "an error with 200": refusing(-7, "WebrpcInternalError", 200),
    "no credentials": refusing(1101, "AccessKeyNotFound", 401),
    "slow down": refusing(1201, "QuotaRateLimit", 429, Retry_After="60"),
    "paused": refusing(9000, "IntentsDisabled", 400),
    "invalid": refusing(2000, "InvalidArgument", 400),
    "not found": refusing(8000, "NotFound", 400),
    "not here": refusing(1006, "Geoblocked", 451),
}
# Failures with a wait, for pages with short limits.
SLOW: Mapping[str, Script] = {"silence": Visit.stay_silent, "a drip": dripping}
