"""Lossless, strict JSON.

Numbers stay exact. Ambiguous or hostile input is rejected: NaN, duplicate keys, excessive nesting.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Never

DEPTH_LIMIT = 64
LONGEST_FRACTION = 200  # characters of a number that isn't an integer. A longer one stays text

_BLANK = re.compile(r"[ \t\n\r]*")
_LAST_END = re.compile(r"[ \t\n\r]*\}[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Verbatim:
    """JSON text to send unchanged."""

    text: str


def read(text: str) -> Any:
    """Parse JSON text. Raises ValueError, and nothing else, if it is invalid."""
    try:
        value = _decoded(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    _check_depth(value, DEPTH_LIMIT)
    return value


def read_part(text: str, at: int, *, depth: int) -> tuple[Any, int]:
    """Parse the value at a position of a document, below `depth` levels. Return it with the position after it.

    Raises ValueError or RecursionError, also for a document that `read` would accept: with integers of thousands of
    digits.
    """
    value, end = _DECODER.raw_decode(text, at)
    _check_depth(value, DEPTH_LIMIT - depth)
    return value, end


def _decoded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer with more digits than Python converts, if nothing worse
        return _LONG_NUMBER_DECODER.decode(text)


def member(text: str, name: str) -> str:
    """Return the exact text of one field of a JSON object that `read` accepted. Raises KeyError if there is none.

    The name is unambiguous, because `read` rejects duplicate keys.
    """
    return _last_member(text, name) or members(text)[name]


def _last_member(text: str, name: str) -> str | None:
    """Return the field's text if it is the last one, without parsing what precedes it.

    A page of a list is long, and its cursor at the end is short.
    """
    at = text.rfind(f'"{name}"')
    # An escaped quote is part of a string: `"x\\"intent"` is another name with the same ending.
    if not name.isalnum() or at < 1 or text[at - 1] == "\\":
        return None
    colon = skip_blank(text, at + len(name) + 2)
    if text[colon : colon + 1] != ":":
        return None
    start = skip_blank(text, colon + 1)
    _, end = _WALKER.raw_decode(text, start)
    return text[start:end] if _LAST_END.fullmatch(text, end) else None


def members(text: str) -> dict[str, str]:
    """Return the exact text of each field of a JSON object that `read` accepted."""
    found: dict[str, str] = {}
    at = skip_blank(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = _WALKER.raw_decode(text, at)
        start = skip_blank(text, skip_blank(text, at) + 1)
        _, end = _WALKER.raw_decode(text, start)
        found[key] = text[start:end]
        at = skip_blank(text, end)
        if text[at] == ",":
            at = skip_blank(text, at + 1)
    return found


def write(document: Mapping[str, Any] | Verbatim) -> bytes:
    """Serialize a request.

    `Verbatim` values are sent byte for byte, and integers from 2**53 as strings, because many JSON parsers would round
    them.
    """
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


def _check_depth(value: Any, limit: int) -> None:
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
        if not level:
            return
    raise ValueError("nested too deeply")


def skip_blank(text: str, at: int) -> int:
    """Return the position of the next character that isn't white space."""
    if text[at : at + 1] > " ":
        return at
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _whole(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text  # more digits than Python converts, which every number field rejects


def _fraction(text: str) -> Decimal | str:
    try:
        return Decimal(text) if len(text) <= LONGEST_FRACTION else text
    except InvalidOperation:
        return text  # an exponent out of Decimal's range


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


_CONTAINERS = frozenset({dict, list})
_DECODER = json.JSONDecoder(
    parse_float=_fraction, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates
)
_LONG_NUMBER_DECODER = json.JSONDecoder(
    parse_int=_whole, parse_float=_fraction, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates
)
_WALKER = json.JSONDecoder(parse_int=len, parse_float=len)  # finds where a value ends, without converting numbers
