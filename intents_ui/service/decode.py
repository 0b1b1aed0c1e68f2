"""Lossless, strict JSON.

Numbers stay exact. Ambiguous or hostile input is rejected: NaN, duplicate keys, excessive nesting. Fields named after
the operator's brand get the schema's names (`Brand`).
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
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    _check_depth(value, DEPTH_LIMIT)
    return value


def member(text: str, name: str) -> str:
    """Return the exact text of one field of a JSON object that `read` accepted. Raises KeyError if there is none.

    The name is unambiguous, because `read` rejects duplicate keys.
    """
    return _last_member(text, name) or members(text)[name]


def only_member(text: str) -> str:
    """Return the exact text of the only field of a JSON object that `read` accepted, without parsing it again."""
    return text[text.index(":") + 1 : text.rindex("}")].strip(" \t\n\r")


def _last_member(text: str, name: str) -> str | None:
    """Return the field's text if it is the last one, without parsing what precedes it.

    A page of a list is long, and its cursor at the end is short.
    """
    at = text.rfind(f'"{name}"')
    # An escaped quote is part of a string: `"x\\"intent"` is another name with the same ending.
    if not name.isalnum() or at < 1 or text[at - 1] == "\\":
        return None
    colon = _skip_blank(text, at + len(name) + 2)
    if text[colon : colon + 1] != ":":
        return None
    start = _skip_blank(text, colon + 1)
    _, end = _WALKER.raw_decode(text, start)
    return text[start:end] if _LAST_END.fullmatch(text, end) else None


def members(text: str) -> dict[str, str]:
    """Return the exact text of each field of a JSON object that `read` accepted."""
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


def _skip_blank(text: str, at: int) -> int:
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
    parse_int=_whole, parse_float=_fraction, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates
)
_WALKER = json.JSONDecoder(parse_int=len, parse_float=len)  # finds where a value ends, without converting numbers


@dataclass(frozen=True, slots=True)
class Brand:
    """Brand words of a deployment, in names of JSON fields.

    The API's schema writes `serviceVersion` where a deployment may write `acmeVersion`: one camelCase word anywhere in
    a name. Only names change, never values. With `BRAND_OF_INTERFACE` nothing is renamed.

    `word` replaces the schema's `service`, and `wallet_word` replaces `smart` before `Wallet`.
    """

    word: str = "service"
    wallet_word: str = "smart"

    def read(self, document: Any) -> Any:
        """Return a response with the schema's field names."""
        return _renamed(document, self, BRAND_OF_INTERFACE)

    def write(self, document: Any) -> Any:
        """Return a request with this brand's field names."""
        return _renamed(document, BRAND_OF_INTERFACE, self)


BRAND_OF_INTERFACE = Brand()


def _renamed(document: Any, old: Brand, new: Brand) -> Any:
    if old == new:
        return document
    # Match the wallet's word first: where both words are the same, `acmeWallet…` is the wallet's.
    old_words = re.compile(f"{_word(old.wallet_word)}(?=Wallet)|{_word(old.word)}")

    def new_word(found: re.Match[str]) -> str:
        before_wallet = found.string.startswith("Wallet", found.end())
        is_wallets = before_wallet and found[0].lower() == old.wallet_word.lower()
        word = new.wallet_word if is_wallets else new.word
        return word[0].upper() + word[1:] if found.start() else word

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {old_words.sub(new_word, name): renamed(member) for name, member in value.items()}
        return [renamed(entry) for entry in value] if isinstance(value, list | tuple) else value

    return renamed(document)


def _word(word: str) -> str:
    """Return a pattern for a camelCase word: lower case at the start of a name, capitalized inside it."""
    capital = word[0].upper() + word[1:]
    return f"(?:^{re.escape(word)}|(?<=[a-z0-9]){re.escape(capital)})(?![a-z])"
