"""Stub service with prepared responses: bytes recorded from the emulator, sent after an adjustable delay.

    .venv/bin/python -m bench.stub_service --port 8801

A repeated request gets the same bytes, so only its first time costs the emulator's work. After `GET /new/1`, each row
of a list has an ID, amounts and times that were never sent before. An intent whose ID is known but for its last 16
digits is a new one, too: these digits are its number (`bench.load` counts them). So are its receipt and balances.

A list since a time in 2001 (`AGAIN` and a number) has the rows of the list with this number.

`SearchIntents` by an owner returns as many hits as the address encodes (`owner`), and none for any other criterion.
`GET /delay/<seconds>` sets the delay. `GET /counters` returns the number of requests, and the distinct ones for lists.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import re
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from bench.load import length_of
from intents_ui.emulator import Emulator
from tests.emulator.driving import send_request

OWNER = re.compile(r'\{"byOwnerAddress": ?"(0x([0-9a-fA-F]{6})[0-9a-fA-F]{34})"')
AGAIN = 1_000_000_000
COPY = re.compile(r'"fromTime": ?1000000(\d{3})\b')
ANY_OWNER = f"0x{'a' * 40}"  # in prepared hits, for the owner of the request
ENTRIES = re.compile(r'\{"(?:intents": ?\[|intent": ?|intentReceipt": ?)')
ASKED = re.compile(r'\{"intentId": ?"(0x[0-9a-f]{48})([0-9a-f]{16})"\}')
AMOUNT = re.compile(r'mount\w*": ?"([1-9]\d{4,})"')
TIME = re.compile(r'"(20\d\d-\d\d-\d\dT[0-9:.]+Z)"')
# Amounts grow by less than that, and a list's times move back by less than that, so that words stay true.
UNITS, SECONDS = 9973, 60
IDS = 0x9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251F86C6A11D0C18E95  # times a number, an ID without a pattern


def owner(hits: int, number: int) -> str:
    """Return the address of an owner with this many intents. Each number gives a different address."""
    return f"0x{hits:06x}{number:034x}"


class Row:
    """An entry of a response, which can be numbered: with another ID, and other amounts and times."""

    def __init__(self, text: str, intent_id: str) -> None:
        self.text = text
        self.intent_id = intent_id
        # An allowance without a limit is 2**256 - 1 and stays that. In calls, amounts are words of 64 digits.
        self.amounts = [int(units) for units in set(AMOUNT.findall(text)) if int(units) < 2**255]
        self.times = [(moment, datetime.fromisoformat(moment)) for moment in set(TIME.findall(text))]
        values = [intent_id, *(each for each, _ in self.times)]
        values += [each for units in self.amounts for each in (f'"{units}"', f"{units:064x}")]
        self.parts = re.split(f"({'|'.join(map(re.escape, values))})", text)

    def numbered(self, number: int, intent_id: str, *, earlier: int = 0) -> str:
        """Return its text with this ID. `earlier`: seconds."""
        new, back = {self.intent_id: intent_id}, timedelta(seconds=earlier)
        for units in self.amounts:
            more = units + number % UNITS
            new |= {f'"{units}"': f'"{more}"', f"{units:064x}": f"{more:064x}"}
        for text, moment in self.times:
            then = (moment - back).replace(microsecond=number % 1_000_000)
            new[text] = f"{then.isoformat(timespec='microseconds')[:26]}Z"
        parts = self.parts.copy()
        parts[1::2] = map(new.__getitem__, parts[1::2])
        return "".join(parts)


class Recording:
    """A response as the emulator sent it, and its rows."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        self.text = text

    @cached_property
    def split(self) -> tuple[str, list[Row], str]:
        """What is before the rows, the rows, and what is after them."""
        found = ENTRIES.match(self.text)
        rows, at = list[Row](), found.end() if found else len(self.text)
        first, end, read = at, at, json.JSONDecoder().raw_decode
        while self.text[at : at + 1] == "{":
            entry, end = read(self.text, at)
            rows.append(Row(self.text[at:end], entry["intentId"]))
            at = end + 1  # the comma
        return self.text[:first], rows, self.text[end:]

    def changed(self, change: Callable[[Row], str]) -> str:
        """Return its text with changed rows."""
        before, rows, after = self.split
        return f"{before}{','.join(map(change, rows))}{after}"


class StubService:
    def __init__(self) -> None:
        self.emulator = Emulator()
        self.delay = 0.0
        self.has_new_rows = False
        self.requests = 0
        self.numbers = itertools.count(1)
        self.recordings: dict[tuple[str, str], Recording] = {}
        self.newest: dict[str, str] = {}  # the last ID that an intent was requested by

    def reply(self, path: str, body: str) -> bytes | Coroutine[Any, Any, bytes]:
        if not path.startswith("/rpc/"):
            return response(200, json.dumps(self.control(path)))
        self.requests += 1
        recording = self.recordings.get((path, key_of(body)))
        if found := COPY.search(body):
            recording = self.recordings[self.lists()[int(found[1])]]
        return self.prepare(path, body) if recording is None else self.answer(recording, path, body)

    def answer(self, recording: Recording, path: str, body: str) -> bytes:
        if asked := ASKED.fullmatch(body):
            return self.intent(recording, "".join(asked.groups()), int(asked[2], 16))
        if "byOwnerAddress" in body and not path.endswith("/SearchIntents"):
            return response(recording.status, recording.changed(self.with_newest_id))
        text = recording.changed(self.with_new_id) if self.has_new_rows else recording.text
        if found := OWNER.match(body):
            return response(recording.status, text.replace(ANY_OWNER, found[1]))
        return response(recording.status, text)

    def control(self, path: str) -> dict[str, Any]:
        _, name, *value = path.split("/")
        if name == "delay":
            self.delay = float(value[0])
        elif name == "new":
            self.has_new_rows = value[0] == "1"
        return {"requests": self.requests, "distinct": [body for _, body in self.lists()]}

    def lists(self) -> list[tuple[str, str]]:
        """Return the distinct requests for lists of transfers, without an owner's."""
        return [key for key in self.recordings if key[0].endswith("/GetIntentHistory") and "byOwner" not in key[1]]

    def intent(self, recording: Recording, asked: str, number: int) -> bytes:
        """Return an intent or a receipt by this ID."""
        [row] = recording.split[1]
        self.newest[row.intent_id] = asked
        if asked == row.intent_id:
            return response(recording.status, recording.text)
        return response(recording.status, recording.changed(lambda row: row.numbered(number, asked)))

    def with_newest_id(self, row: Row) -> str:
        """Return an entry of an owner's list, where the dashboard looks for the intent that it shows."""
        newest = self.newest.get(row.intent_id, row.intent_id)
        return row.text if newest == row.intent_id else row.numbered(int(newest[-16:], 16), newest)

    def with_new_id(self, row: Row) -> str:
        number = next(self.numbers)
        return row.numbered(number, f"0x{number * IDS % 2**256:064x}", earlier=number % SECONDS)

    async def prepare(self, path: str, body: str) -> bytes:
        operation = path.rpartition("/")[2]
        if operation == "SearchIntents":
            recording = await self.search(body)
        else:
            emulated = await send_request(self.emulator, operation, raw=body.encode())
            recording = Recording(emulated.status, emulated.body.decode())
        if recording.status != 200 and ASKED.fullmatch(body):
            return response(recording.status, recording.text)  # not what others with these first digits get
        self.recordings[path, key_of(body)] = recording
        return self.answer(recording, path, body)

    async def search(self, body: str) -> Recording:
        """Return finished intents of any owner, repeated with different IDs."""
        found, known, hits = OWNER.match(body), list[dict[str, Any]](), list[dict[str, Any]]()
        count = int(found[2], 16) if found else 0
        query = json.dumps({"page": {"pageSize": 30}, "byStatuses": ["SUCCEEDED"]}).encode()
        history = await send_request(self.emulator, "GetIntentHistory", raw=query)
        for entry in history.document["intents"][: max(count, 1)]:
            about = json.dumps({"intentId": entry["intentId"]}).encode()
            known.append((await send_request(self.emulator, "GetIntent", raw=about)).document["intent"])
        for number, intent in zip(range(count), itertools.cycle(known), strict=False):
            hits.append(intent | {"intentId": f"0x{number:064x}", "ownerAddress": ANY_OWNER})
        return Recording(200, json.dumps({"intents": hits}, separators=(",", ":")))


def key_of(body: str) -> str:
    """Return what requests with the same recording have in common."""
    if asked := ASKED.fullmatch(body):
        return asked[1]
    if found := OWNER.match(body):
        return found[2]
    return body


async def serve(stub: Any, port: int) -> None:
    """Serve what `stub.reply` returns, or the coroutine that it returns. `stub.delay` is in seconds."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError), contextlib.closing(writer):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path, body = head.split(b" ", 2)[1].decode(), await reader.readexactly(length_of(head) or 0)
                reply = stub.reply(path, body.decode())
                if not isinstance(reply, bytes):
                    reply = await reply
                if path.startswith("/rpc/"):
                    await asyncio.sleep(stub.delay)
                writer.write(reply)

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    await server.serve_forever()


def response(status: int, text: str) -> bytes:
    body = text.encode()
    head = f"HTTP/1.1 {status} Word\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.stub_service", description="Stub service.")
    parser.add_argument("--port", type=int, required=True)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(StubService(), parser.parse_args().port))
