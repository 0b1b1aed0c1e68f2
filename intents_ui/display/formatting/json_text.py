"""JSON as indented text, and as a collapsible tree. Numbers, escapes and keys stay exactly as received."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from intents_ui.display.formatting.text import isolated, visible
from intents_ui.service.decode import DEPTH_LIMIT

MOST = 2500  # fields and entries of one response on a page
MOST_OF_A_LIST = 200
LONGEST_TEXT = 300  # characters
OPEN_LEVELS = 2
SHORT_LIST = 20  # entries of a list that starts open
GLIMPSE = 3  # fields in the preview of a collapsed object
LONGEST_GLIMPSE = 24
INDENT = "  "
# Maximum indentation, so that deeply nested text doesn't become a page of spaces.
DEEPEST = 64

TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]\s*[\]}]|[\[\]{}:,]|[^\s\[\]{}:,"]+|"', re.DOTALL)


def indented(text: str) -> str:
    """Return the same tokens in the same order, one field per line. In text that isn't JSON, only whitespace
    changes.
    """
    parts: list[str] = []
    depth = 0
    for match in TOKENS.finditer(text):
        part = match[0]
        if part in ("]", "}"):
            depth -= 1
            parts += [_new_line(depth), part]
        elif part in ("[", "{"):
            depth += 1
            parts += [part, _new_line(depth)]
        elif part == ",":
            parts += [part, _new_line(depth)]
        elif part == ":":
            parts.append(": ")
        else:
            parts.append("".join(part.split()) if part[0] in "[{" else part)
    return "".join(parts)


def _new_line(depth: int) -> str:
    return "\n" + INDENT * max(0, min(depth, DEEPEST))


class JsonKind(StrEnum):
    OBJECT = "object"
    LIST = "list"
    TEXT = "text"
    NUMBER = "number"
    WORD = "word"  # true, false, null


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value. `count` entries were received, of which `inside` are shown. `more`: hidden characters of a long text."""

    key: str | None
    kind: JsonKind
    text: str = ""
    more: int = 0
    count: int = 0
    inside: tuple["Node", ...] = ()
    is_open: bool = False
    glimpse: str = ""
    intent_id: str = ""

    @property
    def left_out(self) -> int:
        return self.count - len(self.inside)


@dataclass(frozen=True, slots=True)
class Tree:
    """The tree. `is_whole` False: the response is larger than the tree."""

    root: Node
    is_whole: bool


class _Number(str):
    """A number exactly as written."""


class _Members(list[tuple[str, Any]]):
    """An object with its fields in order, including duplicates."""


_DECODER = json.JSONDecoder(parse_int=_Number, parse_float=_Number, object_pairs_hook=_Members)


def tree(text: str) -> Tree | None:
    """Return the tree of a JSON object or list, otherwise None."""
    try:
        document = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, list):
        return None
    planter = _Planter()
    root = planter.node(None, document, level=0)
    return Tree(root, planter.is_whole)


class _Planter:
    """Builds nodes in document order until the page is full."""

    def __init__(self) -> None:
        self._room = MOST
        self.is_whole = True

    def node(self, key: str | None, value: Any, *, level: int) -> Node:
        self._room -= 1
        shown_key = None if key is None else visible(key[:LONGEST_TEXT])
        if not isinstance(value, list):
            return _scalar(shown_key, value, intent_id=_intent_id(key, value))
        is_object = isinstance(value, _Members)
        inside = tuple(self._inside(value if is_object else ((None, each) for each in value), level=level + 1))
        if len(inside) < len(value):
            self.is_whole = False
        return Node(
            key=shown_key,
            kind=JsonKind.OBJECT if is_object else JsonKind.LIST,
            count=len(value),
            inside=inside,
            is_open=level < OPEN_LEVELS and (is_object or len(value) <= SHORT_LIST),
            glimpse=_glimpse(inside) if is_object else "",
        )

    def _inside(self, entries: Iterable[tuple[str | None, Any]], *, level: int) -> Iterator[Node]:
        if level > DEPTH_LIMIT:
            return
        for key, value in islice(entries, MOST_OF_A_LIST):
            if self._room <= 0:
                return
            yield self.node(key, value, level=level)


def _scalar(key: str | None, value: Any, *, intent_id: str) -> Node:
    if isinstance(value, _Number):
        return Node(key=key, kind=JsonKind.NUMBER, text=value[:LONGEST_TEXT], more=max(0, len(value) - LONGEST_TEXT))
    if isinstance(value, str):
        shown, more = visible(value[:LONGEST_TEXT]), max(0, len(value) - LONGEST_TEXT)
        return Node(key=key, kind=JsonKind.TEXT, text=shown, more=more, intent_id=intent_id)
    return Node(key=key, kind=JsonKind.WORD, text=json.dumps(value))


def _intent_id(key: str | None, value: Any) -> str:
    """Return the intent ID if the value links to a transfer's page."""
    is_id = key == "intentId" and isinstance(value, str) and not isinstance(value, _Number)
    return value if is_id and value.isascii() and value.isalnum() and len(value) <= 200 else ""


def _glimpse(inside: tuple[Node, ...]) -> str:
    """Return a preview that distinguishes a collapsed object from the next."""
    result = [
        f"{isolated(each.key or '')}: {isolated(_cut(each.text))}"
        for each in inside
        if each.text and each.kind is not JsonKind.WORD
    ]
    return ", ".join(result[:GLIMPSE])


def _cut(text: str) -> str:
    if len(text) <= LONGEST_GLIMPSE:
        return text
    return f"{text[:10]}…{text[-8:]}" if text.startswith("0x") else f"{text[:LONGEST_GLIMPSE]}…"
