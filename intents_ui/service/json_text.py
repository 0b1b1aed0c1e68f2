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


@dataclass(frozen=True, slots=True)
class Verbatim:
    """JSON text that is sent as it is."""

    text: str


def read(text: str) -> Any:
    """The value that the text stands for. Raises ValueError, and nothing else, if there is none."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if isinstance(value, dict | list):
        _refuse_deep_nesting(value)
    return value


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


def _refuse_deep_nesting(value: Any) -> None:
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
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


_DECODER = json.JSONDecoder(
    parse_int=_whole, parse_float=_fraction, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates
)
_WALKER = json.JSONDecoder(parse_int=len, parse_float=len)  # finds where a value ends; what it is does not matter
