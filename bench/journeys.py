"""How many files one request enters, measured with a profiler in a fresh process for each request.

    .venv/bin/python -m bench.journeys

Files are modules of intents_ui with a function that ran, functions are distinct ones. The embedded service isn't
counted.
"""

import asyncio
import importlib
import json
import logging
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from urllib.parse import urlencode

from asgiref.testing import ApplicationCommunicator

from bench.processes import ROOT, output

PACKAGE = ROOT / "intents_ui"
# Name, path (with the text of a form, if it is posted), paths to request first (after the start page).
JOURNEYS = {
    "search for an explorer link": ("/search?q=https://etherscan.io/tx/{hash}", ()),
    "transfer, cold": ("/intent/{intent}", ()),
    "transfer, warm": ("/intent/{intent}", ("/intent/{intent}",)),
    "history, cold": ("/history?status=FAILED", ()),
    "history, second page": ("{next}", ("/history?status=SUCCEEDED",)),
    "live to the first event": ("/live/{intent}", ()),
    "export": ("/export/history.csv?status=FAILED", ()),
    "triage": ("/triage {intent} {owner}", ()),
    "address": ("/address/{owner}", ()),
}


@contextmanager
def traced() -> Iterator[set[tuple[str, str]]]:
    """Yield the functions of intents_ui that run in the block, in all threads, as pairs of a file and a name."""
    found: set[tuple[str, str]] = set()

    def add(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        file = code.co_filename.removeprefix(f"{PACKAGE}/")
        # Without code that only runs on import, and without the embedded service.
        is_ours = file != code.co_filename and code.co_name != "<module>" and not file.startswith("emulator/")
        if event == "call" and is_ours:
            found.add((file, code.co_qualname))

    threading.setprofile_all_threads(add)
    yield found
    threading.setprofile_all_threads(None)


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
    communicator = ApplicationCommunicator(application, scope)
    await communicator.send_input({"type": "http.request", "body": form or b"", "more_body": False})
    status, body, has_more = 0, b"", True
    while has_more and not (where.startswith("/live/") and b"data:" in body):
        message = await communicator.receive_output(60)
        status, body = message.get("status", status), body + message.get("body", b"")
        has_more = message["type"] == "http.response.start" or message.get("more_body", False)
    await communicator.send_input({"type": "http.disconnect"})
    await communicator.wait(60)
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
    logging.disable(logging.CRITICAL)
    importlib.import_module("intents_ui.asgi")  # builds the process's objects, with the settings of the environment
    from intents_ui import app

    await asyncio.to_thread(app.current().catalog.warm)
    status, body = await request("/")
    status, body = await request("/history?recoverable=1")
    [intent] = re.findall(rb'href="/intent/(0x[0-9a-f]+)"', body)[:1]
    path, before = JOURNEYS[name]
    _, found = await request(f"/intent/{intent.decode()}.json")
    owner = json.loads(found)["intentReceipt"]["ownerAddress"]
    txn_hash = await deposit_hash() if "{hash}" in path else ""
    values = {"intent": intent.decode(), "owner": owner, "hash": txn_hash, "next": ""}
    for each in before:
        status, body = await request(each.format(**values))
        if link := re.search(rb'href="(/history\?[^"]*cursor=[^"]+)"', body):
            values["next"] = link[1].decode().replace("&amp;", "&")
    path, _, text = path.format(**values).partition(" ")
    with traced() as functions:
        status, _ = await request(path, form=urlencode({"q": text}).encode() if text else None)
    return {"status": status, "functions": len(functions), "files": sorted({file for file, _ in functions})}


def measured(name: str) -> dict[str, Any]:
    settings = {"DJANGO_SETTINGS_MODULE": "intents_ui.settings", "INTENTS_SERVICE_URL": "embedded", "DEBUG": "1"}
    found: dict[str, Any] = json.loads(output("-m", "bench.journeys", name, **settings).splitlines()[-1])
    return found


def main() -> None:
    files = list(PACKAGE.rglob("*.py"))
    lines = sum(len(file.read_text().splitlines()) for file in files)
    print(f"{lines:,} lines of Python in {len(files)} files of intents_ui\n")
    print("| request | status | files | functions |\n|---|---|---|---|")
    for name in JOURNEYS:
        found = measured(name)
        print(f"| {name} | {found['status']} | {len(found['files'])} | {found['functions']} |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(asyncio.run(walk(sys.argv[1]))))
    else:
        main()
