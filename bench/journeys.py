"""How many files one request enters, measured with a profiler in a fresh process for each request.

.venv/bin/python -m bench.journeys

- files: modules of intents_ui with a function that ran. The embedded service isn't counted.
- functions: distinct functions that ran.
- arrows: distinct pairs of a calling and a called room (folder or module of intents_ui, and of the display and the
  service library).
- returns: how often the view goes back to a room that it has left, for the room with the most returns. Objects are
  not rooms: the models of a response, and the process's objects in `app`.
"""

import asyncio
import importlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent / "intents_ui"
SPLIT = ("service",)  # folders whose folders are rooms of their own
OBJECTS = ("service/models", "service/fields", "service/outcome", "service/results", "app")
# Name, path, paths to request first (after the start page).
JOURNEYS = {
    "search for an explorer link": ("/search?q=https://etherscan.io/tx/{hash}", ()),
    "transfer, cold": ("/intent/{intent}", ()),
    "transfer, warm": ("/intent/{intent}", ("/intent/{intent}",)),
    "history, cold": ("/history?status=FAILED", ()),
    "history, second page": ("{next}", ("/history?status=SUCCEEDED",)),
    "live to the first event": ("/live/{intent}", ()),
    "export": ("/export/history.csv?status=FAILED", ()),
}


class Trace:
    """Functions of intents_ui that run, in all threads."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.arrows: set[tuple[str, str]] = set()
        self.from_views: list[str] = []

    def start(self) -> None:
        threading.setprofile_all_threads(self._event)

    def stop(self) -> None:
        threading.setprofile_all_threads(None)

    def _event(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or (file := file_of(frame)) is None:
            return
        self.functions.add((file, frame.f_code.co_qualname))
        caller = file_of(frame.f_back) if frame.f_back else None
        if caller is None:
            return
        here, there = room_of(caller), room_of(file)
        if here != there:
            self.arrows.add((here, there))
            if here == "pages" and there not in OBJECTS:
                self.from_views.append(there)

    def figures(self) -> dict[str, Any]:
        visits = [room for room, _ in groupby(self.from_views)]
        most = max(set(visits), key=visits.count, default="")
        files = {file for file, _ in self.functions}
        return {
            "files": len(files),
            "functions": len(self.functions),
            "arrows": len(self.arrows),
            "returns": max(visits.count(most) - 1, 0),
            "room": most,
            "list": sorted(files),
        }


def file_of(frame: FrameType) -> str | None:
    """Return the file's path below intents_ui, or None for other code, code that only runs on import, and the
    embedded service."""
    code = frame.f_code
    if code.co_name == "<module>" or not code.co_filename.startswith(f"{PACKAGE}/"):
        return None
    file = code.co_filename.removeprefix(f"{PACKAGE}/")
    return None if file.startswith("emulator/") else file


def room_of(file: str) -> str:
    parts = file.removesuffix(".py").split("/")
    return "/".join(parts[:2]) if parts[0] in SPLIT else parts[0]


async def request(path: str, *, form: bytes | None = None) -> tuple[int, bytes]:
    """Send a GET request to the application, or a form. A stream is left after its first event."""
    from intents_ui.asgi import application  # after the settings are in the environment

    where, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET" if form is None else "POST",
        "scheme": "http", "path": where, "raw_path": where.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [
            (b"host", b"localhost"), (b"accept", b"text/event-stream" if "/live/" in where else b"text/html"),
            *([] if form is None else [
                (b"content-type", b"application/x-www-form-urlencoded"), (b"sec-fetch-site", b"same-origin"),
                (b"content-length", b"%d" % len(form)),
            ]),
        ],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    left, sent, status, body = asyncio.Event(), False, 0, b""

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            await left.wait()
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": form or b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status, body
        status = message.get("status", status)
        body += message.get("body", b"")
        if where.startswith("/live/") and b"data:" in body:
            left.set()

    await asyncio.wait_for(application(scope, receive, send), 60)
    return status, body


async def deposit_hash() -> str:
    """Return the hash of a succeeded transfer's deposit."""
    _, body = await request("/history?status=SUCCEEDED")
    for intent in re.findall(rb'href="/intent/(0x[0-9a-f]+)"', body):
        _, body = await request(f"/intent/{intent.decode()}.json")
        # Some deposits are reported without a hash.
        if txn_hash := json.loads(body)["intentReceipt"]["depositTransaction"]["txnHash"]:
            return str(txn_hash)
    raise LookupError("no succeeded transfer with the hash of its deposit")


async def walk(name: str) -> dict[str, Any]:
    """Return the figures of one journey."""
    importlib.import_module("intents_ui.asgi")  # builds the process's objects, with the settings of the environment
    from intents_ui import app

    await asyncio.to_thread(app.current().catalog.warm)
    status, body = await request("/")
    status, body = await request("/history?recoverable=1")
    [intent] = re.findall(rb'href="/intent/(0x[0-9a-f]+)"', body)[:1]
    path, before = JOURNEYS[name]
    values = {"intent": intent.decode(), "hash": await deposit_hash() if "{hash}" in path else "", "next": ""}
    for each in before:
        status, body = await request(each.format(**values))
        if link := re.search(rb'href="(/history\?[^"]*cursor=[^"]+)"', body):
            values["next"] = link[1].decode().replace("&amp;", "&")
    trace = Trace()
    trace.start()
    status, body = await request(path.format(**values))
    trace.stop()
    return {**trace.figures(), "status": status, "bytes": len(body)}


def measured(name: str) -> dict[str, Any]:
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "intents_ui.settings",
        "INTENTS_SERVICE_URL": "embedded",
        "DEBUG": "1",
    }
    output = subprocess.run(  # noqa: S603 - this module
        [sys.executable, "-m", "bench.journeys", name], env=env, check=True, capture_output=True, text=True
    )
    return json.loads(output.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def main(show: Callable[[str], None] = print) -> None:
    lines = sum(len(file.read_text().splitlines()) for file in PACKAGE.rglob("*.py"))
    show(f"{lines:,} lines of Python in {len(list(PACKAGE.rglob('*.py')))} files of intents_ui\n")
    show("| request | status | files | functions | arrows | returns |\n|---|---|---|---|---|---|")
    for name in JOURNEYS:
        was = measured(name)
        returns = f"{was['returns']} ({was['room']})" if was["returns"] else "0"
        show(f"| {name} | {was['status']} | {was['files']} | {was['functions']} | {was['arrows']} | {returns} |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(asyncio.run(walk(sys.argv[1]))))
    else:
        main()
