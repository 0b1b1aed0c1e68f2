"""A transport to the service that records requests and can replace responses."""

import contextlib
import copy
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from intents_ui import app, startup
from intents_ui.emulator.app import Emulator
from intents_ui.service.client import InProcessTransport, ServiceClient

type Script = Callable[[Any], Any]


class Recorded(httpx.BaseTransport):
    """`scripts`, by operation: a function from the request to the response, or None for the emulator's own to the
    request as the function left it.

    `changes`, by operation: a function of the emulator's response, unless that is an error. If it returns text, that is
    sent unchanged.
    """

    def __init__(self, emulator: Emulator) -> None:
        self._service = InProcessTransport(emulator)
        self._lock = threading.Lock()
        self.sent: list[tuple[str, Any]] = []
        self.scripts: dict[str, Script] = {}
        self.changes: dict[str, Script] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        operation, body = request.url.path.rpartition("/")[2], None
        with contextlib.suppress(ValueError):  # the console sends what was typed
            body = json.loads(request.read())
        with self._lock:
            self.sent.append((operation, sent := copy.deepcopy(body)))
        given = self.scripts.get(operation, lambda _: None)(body)
        if body != sent:
            request = httpx.Request("POST", request.url, json=body, extensions=request.extensions)
        if given is None:
            response = self._service.handle_request(request)
            if operation not in self.changes or response.status_code != 200:
                return response
            given = self.changes[operation](json.loads(response.read()))
        content = httpx.ByteStream((given if isinstance(given, str) else json.dumps(given)).encode())
        status = given.get("status", 200) if isinstance(given, dict) else 200
        return httpx.Response(status, headers={"Content-Type": "application/json"}, stream=content)

    def close(self) -> None:
        self._service.close()

    def requests(self, operation: str) -> list[Any]:
        return [body for name, body in self.sent if name == operation]


def changed(document: Any, value: object, *names: str) -> Any:
    """Return the document with this value for all fields with these names."""
    if isinstance(document, dict):
        return {key: value if key in names else changed(inner, value, *names) for key, inner in document.items()}
    return [changed(inner, value, *names) for inner in document] if isinstance(document, list) else document


def refusal(code: int, name: str, status: int) -> dict[str, Any]:
    return {"error": name, "code": code, "msg": "?", "status": status}


@contextmanager
def recorded(emulator: Emulator) -> Iterator[Recorded]:
    """Route the pages' requests through the recorder. Its caches are empty."""
    way = Recorded(emulator)
    with ServiceClient(app.service_config(), transport=way) as client:
        app.use(startup.build(emulator=emulator, service=client))
        yield way


@contextmanager
def rewrite(operation: str, change: Script) -> Iterator[None]:
    """Modify the responses of the pages' service to this operation."""
    transport = app.current().service.transport
    send = transport.handle_request

    def changed(request: httpx.Request) -> httpx.Response:
        response = send(request)
        if not request.url.path.endswith(f"/{operation}"):
            return response
        content = json.dumps(change(json.loads(response.read()))).encode()
        return httpx.Response(200, stream=httpx.ByteStream(content), request=request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport, "handle_request", changed)
        yield
