"""JSON as the service writes it, read without losing anything (libraries.md 5.2).

Numbers stay exact. What two readers could understand differently is refused: NaN, duplicate keys, bottomless nesting.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Never

DEPTH_LIMIT = 64
LONGEST_NUMBER = 200  # characters; a longer one stays text, which no number field can read

_BLANK = re.compile(r"[ \t\n\r]*")
_BLANK_COLON = re.compile(r'"[ \t\n\r]+:')
_LAST_END = re.compile(r"[ \t\n\r]*\}[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Verbatim:
    """JSON text that is sent as it is."""

    text: str


def read(text: str) -> Any:
    """The value that the text stands for. Raises ValueError, and nothing else, if there is none."""
    try:
        value = _QUICK.decode(text)
        # No key is lost, so none is there twice. Blanks before a colon and texts that hold JSON spoil the count.
        if _keys(value) != text.count('":') or _BLANK_COLON.search(text):
            value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def member(text: str, name: str) -> str:
    """The exact text of one member of a JSON object that `read` has accepted. KeyError if it has none of this name.

    `read` refuses objects with a key that is there twice, so there is one such member at most."""
    return _last_member(text, name) or members(text)[name]


def _last_member(text: str, name: str) -> str | None:
    """Without reading what stands before it, if it is the last one: a page of a list is long, and its cursor short."""
    at = text.rfind(f'"{name}"')
    # A quote behind a backslash stands inside of a string: `"x\\"intent"` is another name that ends alike.
    if not name.isalnum() or at < 1 or text[at - 1] == "\\":
        return None
    colon = _skip_blank(text, at + len(name) + 2)
    if text[colon : colon + 1] != ":":
        return None
    start = _skip_blank(text, colon + 1)
    _, end = _WALKER.raw_decode(text, start)
    return text[start:end] if _LAST_END.fullmatch(text, end) else None


def members(text: str) -> dict[str, str]:
    """The exact text of each member of a JSON object that `read` has accepted."""
    found: dict[str, str] = {}
    at = _skip_blank(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = _WALKER.raw_decode(text, at)
        start = _skip_blank(text, _skip_blank(text, at) + 1)
        _, end = _WALKER.raw_decode(text, start)
        found[key] = text[start:end]
        at = _skip_blank(text, end)
        if text[at] == ",":
            at = _skip_blank(text, at + 1)
    return found


def write(document: Mapping[str, Any] | Verbatim) -> bytes:
    """A request. Verbatim members go out byte for byte, and integers from 2**53 on as text: no reader rounds that."""
    return _written(document).encode()


def _written(value: Any) -> str:
    if isinstance(value, Verbatim):
        return value.text
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(key)}:{_written(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_written, value)) + "]"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, int) and abs(value) >= 2**53:
        return f'"{value}"'
    return json.dumps(value)


def _keys(value: Any) -> int:
    """How many keys the objects in a document have together."""
    count, level = 0, [value] if type(value) in (dict, list) else []
    for _ in range(DEPTH_LIMIT + 1):
        if not level:
            return count
        count += sum([len(each) for each in level if type(each) is dict])
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
    raise ValueError("nested too deeply")


def _skip_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _whole(text: str) -> int | str:
    return int(text) if len(text) <= LONGEST_NUMBER else text


def _fraction(text: str) -> Decimal | str:
    try:
        return Decimal(text) if len(text) <= LONGEST_NUMBER else text
    except InvalidOperation:
        return text  # an exponent beyond what Decimal can hold


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


_QUICK = json.JSONDecoder(parse_int=_whole, parse_float=_fraction, parse_constant=_refuse_constant)
_DECODER = json.JSONDecoder(
    parse_int=_whole, parse_float=_fraction, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates
)
_WALKER = json.JSONDecoder(parse_int=len, parse_float=len)  # finds where a value ends; what it is does not matter
