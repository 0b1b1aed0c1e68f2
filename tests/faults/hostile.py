"""A service with untrusted text in every field of its responses, and helpers to compare pages with harmless ones.

A harmless run has the same text, except that each of the six characters with a meaning in HTML is replaced by another.
So pages of both runs have the same elements with the same attributes. `&lt;b&gt;` that is unescaped twice is one more.

`DJANGO_SETTINGS_MODULE=intents_ui.settings python -m tests.faults.hostile <port> word|anything` runs the service for a
real dashboard.
"""

import itertools
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from zlib import crc32

import time_machine
from selectolax.lexbor import LexborHTMLParser

from intents_ui import app, startup
from intents_ui.emulator.__main__ import Server
from intents_ui.emulator.app import Emulator
from intents_ui.service.models import IntentStatus, TransactionStatus
from tests.emulator.driving import send_request
from tests.faults import corpus
from tests.pages.conftest import fresh

HARMLESS: Final = str.maketrans({"<": "(", ">": ")", "&": "*", '"': "$", "'": ";", "`": ";"})
STATES: Final = {*IntentStatus, *TransactionStatus}
HEX: Final = re.compile(r"(0x)?[0-9a-fA-F]*|[1-9A-HJ-NP-Za-km-z]{32,88}")
MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT.*")
PLACES_OF_PICTURES: Final = {"logoUri", "url", "blockExplorerUrl"}

type Choice = Callable[[str, str], str | None]


def is_word(key: str, value: str) -> bool:
    """Return whether a text is not an ID, address, number, time or status."""
    return is_anything(key, value) and not (value in STATES or HEX.fullmatch(value) or MOMENT.fullmatch(value))


def is_anything(key: str, value: str) -> bool:
    """Return whether a text is neither part of a page's URL nor sent back to the service unchanged."""
    return key not in ("intentId", "column", "order")


@dataclass
class Hostile:
    """A proxy of the emulator. `wants` selects texts, by key and value, to replace by one of `payloads`.

    `refusal` is a response to all requests instead.
    """

    payloads: Sequence[str]
    places: Sequence[str] = ()
    wants: Callable[[str, str], bool] = is_word
    turn: int = 0
    refusal: dict[str, Any] | None = None
    is_harmless: bool = False
    emulator: Emulator = field(init=False)
    fields: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.emulator(scope, receive, send)
            return
        operation, body = scope["path"].rpartition("/")[2], (await receive())["body"]
        status, document = await self.answer(operation, body)
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(document).encode()})

    async def answer(self, operation: str, body: bytes) -> tuple[int, Any]:
        if self.refusal:
            return self.refusal["status"], self.refusal
        answer = await send_request(self.emulator, operation, raw=body)
        return answer.status, self.rewritten(
            json.loads(answer.body), operation, spared=set(texts(json.loads(body or b"{}")))
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.emulator, name)

    def rewritten(self, value: Any, path: str, *, spared: Set[str] = frozenset()) -> Any:
        """Return the document with payloads. `spared` are the texts of the request: other responses are rejected."""
        match value:
            case dict():
                return {key: self.rewritten(each, f"{path}.{key}", spared=spared) for key, each in value.items()}
            case list():
                return [self.rewritten(each, path, spared=spared) for each in value]
            case str() if value.lower() not in spared and self.wants(path.rpartition(".")[2], value):
                return self.payload(path, value)
            case _:
                return value

    def payload(self, path: str, value: str) -> str:
        """Return a payload: the same for the same text in fields of one name, and another one in the next turn."""
        key = path.rpartition(".")[2]
        choice = self.places if self.places and key in PLACES_OF_PICTURES else self.payloads
        chosen = choice[(crc32(f"{key} {value}".encode()) + self.turn) % len(choice)]
        self.fields.add(path)
        self.given.add(chosen)
        return chosen.translate(HARMLESS) if self.is_harmless else chosen


def texts(value: Any) -> Iterator[str]:
    """Yield all texts of a document, in lower case."""
    match value:
        case dict():
            yield from itertools.chain.from_iterable(map(texts, value.values()))
        case list():
            yield from itertools.chain.from_iterable(map(texts, value))
        case str():
            yield value.lower()


@contextmanager
def answering(service: Hostile, *, tick: bool = False) -> Iterator[Hostile]:
    """Make the dashboard use this service, with empty caches. Unless `tick`, the clock is stopped."""
    with time_machine.travel("2026-11-21T12:00:00Z", tick=tick), contextmanager(fresh)() as emulator:
        service.emulator = emulator
        app.use(startup.build(emulator=service))
        yield service


def skeleton(markup: str) -> Counter[tuple[str, str, tuple[str, ...]]]:
    """Return the elements of a page: each with the one around it and the names of its attributes."""
    root = LexborHTMLParser(markup).root
    assert root is not None
    return Counter(
        (each.tag or "", (each.parent.tag or "") if each.parent else "", tuple(sorted(each.attributes)))
        for each in root.traverse()
    )


def differences(hostile: str, twin: str) -> list[str]:
    """Return the elements that only one of the two pages has."""
    one, other = skeleton(hostile), skeleton(twin)
    return [*map(repr, one - other), *(f"not {each}" for each in other - one)]


def visible(words: str, *, lines: bool = False) -> str:
    """Return text with hidden characters made visible, as pages show it."""
    kept = "\n\t" if lines else ""
    shown = words.replace("\r", "") if lines else words
    return "".join(each if each in kept or not is_hidden(each) else f"⟨U+{ord(each):04X}⟩" for each in shown)


def is_hidden(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")


def main(port: str, wants: str) -> None:
    choice = {"word": is_word, "anything": is_anything}[wants]
    service = Hostile([*corpus.XSS, *corpus.UNICODE], corpus.URLS, wants=choice, turn=3)
    service.emulator = Emulator()
    Server(service, int(port)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
