"""A service with untrusted text in every field of its responses, and helpers to compare pages with harmless ones.

A harmless run has the same text, except that each of the six characters with a meaning in HTML is replaced by another.
So pages of both runs have the same tree, and the same text once the six are replaced in both.

`python -m tests.faults.hostile <port> word|anything` runs the service for a real dashboard.
"""

import itertools
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple
from urllib.parse import unquote
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


# Nodes of a page


class Node(NamedTuple):
    """An element with its attributes, or text (`tag` is ""), inside of an element `of`."""

    tag: str
    of: str
    attributes: tuple[tuple[str, str], ...] = ()
    words: str = ""


def nodes(markup: str) -> Iterator[Node]:
    tree = LexborHTMLParser(markup)
    assert tree.root is not None
    for each in tree.root.traverse(include_text=True):
        of = (parent.tag or "") if (parent := each.parent) else ""
        if (tag := each.tag or "") == "-text":
            yield Node("", of, words=each.text_content or "")
        else:
            yield Node(tag, of, tuple((name, value or "") for name, value in each.attributes.items()))


# Differs between responses: random values, cursors, IDs of live snapshots and groups, measured times, times of retries,
# and the order of chains, which is that of their tokens.
OF_ITS_OWN: Final = re.compile(
    r"\b[0-9a-f]{12}\b(?:\.\d+)?|(?<=progress/)[\w-]+|\b(?:cursor|run|seen|v)=[\w.:-]+"
    r"|(?<![\d:])(?:11:59|12:0[0-5]):[\d.]+|[\d.,]+ (?:ms|s|bytes|characters)\b(?: ago)?"
    r"|just now|[\d.,]+ min ago"
    r"|(?<=-)[0-9a-f]{8}\b"
    r"|(?<=features on ).*?(?=\. This is another)",
    re.DOTALL,
)
DRAWN: Final = {"form", "seen", "confirmed", "csrfmiddlewaretoken"}
EXAMPLES: Final = {"value", "placeholder"}
BY_THE_NAME: Final = {"data-hue"}
BY_THE_ORDER: Final = {"x", "width"}  # of entries sorted by name


@cache
def plain(words: str) -> str:
    """Return text as in a harmless page. In JSON, a quotation mark includes its backslash."""
    return OF_ITS_OWN.sub("…", unquote(words).replace("\\", "").translate(HARMLESS))


# Formats with their own rules: Markdown and CSV.
IN_A_FORM: Final = ("**", "As of ", "Row,")


def told(node: Node) -> Iterator[tuple[str, str]]:
    is_drawn = dict(node.attributes).get("name") in DRAWN
    # An example is one of the newest transfers that has the required fields.
    is_example = node.of == "datalist" or dict(node.attributes).get("list", "").startswith("suggested-")
    for name, value in sorted(node.attributes):
        if name == "data-copy" and value.startswith(IN_A_FORM):
            continue
        is_ours = (
            name in BY_THE_NAME
            or (name == "value" and is_drawn)
            or (name in EXAMPLES and is_example)
            or (node.tag == "rect" and name in BY_THE_ORDER)
        )
        yield name, "…" if is_ours else plain(value)


def harmless(found: Iterable[Node]) -> Counter[Node]:
    # A console form is filled with the same transfer as its examples.
    begun = (*IN_A_FORM, '{"ownerAddress":')
    shown = (each for each in found if not (each.of == "textarea" and each.words.startswith(begun)))
    return Counter(Node(each.tag, each.of, tuple(told(each)), plain(each.words)) for each in shown)


def differences(hostile: str, twin: str) -> list[str]:
    """Return the nodes that only one of the two pages has, ignoring the six characters."""
    one, other = Counter(nodes(hostile)), Counter(nodes(twin))
    one, other = harmless((one - other).elements()), harmless((other - one).elements())
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
