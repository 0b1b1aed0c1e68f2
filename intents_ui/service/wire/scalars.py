"""Parsers for scalar JSON values: texts, integers, decimals and times.

Each takes any JSON value and returns the exact value or raises ValueError, nothing else. Length and exponent are
bounded before a number becomes an `int`, because converting hostile input can be slow: `int(Decimal("1e1000000"))`
takes half a minute.
"""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated

WHOLE_LIMIT = 2**256
MOST_DECIMALS = 77  # with more, no amount below 2**256 would make one whole token
MOST_DIGITS = 80
EXPONENT_LIMIT = 90
LONGEST_ID = 200  # characters that one of our URLs can carry
CHAIN_ID_LIMIT = 2**64  # the API's limit
CURSOR_LIMIT = 2**63
MILLISECONDS_FROM = 10**11  # in seconds the year 5138, in milliseconds 1973
FIRST_YEAR, LAST_YEAR = 2000, 2200  # of plausible times

_NUMBER = re.compile(r"[+-]?[0-9]{1,100}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,4})?", re.ASCII)
_MOMENT = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ](?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(\.(?P<fraction>[0-9]{1,9}))? ?(?P<zone>[Zz]|[+-][0-9]{2}:?[0-9]{2})?",
    re.ASCII,
)
_USUAL_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z", re.ASCII)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_text(value: object) -> str:
    """Return the text, with lone surrogates replaced by U+FFFD because they can't be encoded in pages or logs."""
    if not isinstance(value, str):
        raise ValueError("not a text")
    # A printable text has none. Both checks are much faster than the substitution.
    return value if value.isascii() or value.isprintable() else _LONE_SURROGATE.sub("\ufffd", value)


def read_text_in_list(value: object) -> str:
    """Like `read_text`, but return "" for an invalid entry, so that the other entries keep their positions."""
    return read_text(value) if isinstance(value, str) else ""


def read_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def read_intent_id(value: object) -> str:
    """Return an ID that is safe in a URL path.

    It has no blanks, slashes or unprintable characters, and is neither "." nor "..".
    """
    text = read_text(value)
    is_safe = text.isprintable() and " " not in text and "/" not in text and text not in (".", "..")
    if not 0 < len(text) <= LONGEST_ID or not is_safe:
        raise ValueError("an ID that doesn't fit a URL")
    return text


def read_reference(value: object) -> str:
    """Return an address, a hash or another ID. Its length is bounded because pages show it in full."""
    text = read_text(value)
    if len(text) > LONGEST_ID:
        raise ValueError("longer than any address")
    return text


def read_whole(value: object) -> int:
    """Return an amount, ID or counter: an integer from 0 to 2**256 - 1, in any JSON notation."""
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and len(value) <= MOST_DIGITS and value.isascii() and value.isdigit():
        number = int(value)  # fast path for the usual notation, which dominates parse time
    else:
        number = _integral(_decimal(value))
    if not 0 <= number < WHOLE_LIMIT:
        raise ValueError("out of range")
    return number


def read_chain_id(value: object) -> int:
    """Return the ID of a listed chain."""
    number = read_whole(value)
    if number >= CHAIN_ID_LIMIT:
        raise ValueError("larger than a chain ID can be")
    return number


def read_cursor(value: object) -> int:
    """Return a cursor, limited to 63 bits so that any client can hold it."""
    number = read_whole(value)
    if number >= CURSOR_LIMIT:
        raise ValueError("larger than a cursor can be")
    return number


def read_decimals(value: object) -> int:
    number = read_whole(value)
    if number > MOST_DECIMALS:
        raise ValueError("more decimals than an amount can have digits")
    return number


def read_figure(value: object) -> Decimal:
    """Return a USD amount, share or percentage: at most 80 digits, exponent within ±90, possibly negative."""
    if isinstance(value, float):
        value = repr(value)
    number = _decimal(value)
    if not number:
        return Decimal(0)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or number.adjusted() > EXPONENT_LIMIT or exponent < -EXPONENT_LIMIT:
        raise ValueError("out of range")
    if number.adjusted() - exponent >= MOST_DIGITS:
        raise ValueError("too many digits")
    return number


def read_figure_in_list(value: object) -> Decimal | None:
    """Like `read_figure`, but return None for an invalid entry, so that the other entries keep their positions."""
    try:
        return read_figure(value)
    except ValueError:
        return None


def read_moment(value: object) -> datetime | None:
    """Return a time in UTC, or None for one that was never set (year 1 or Unix time 0).

    Takes RFC 3339 with up to 9 decimals of a second (UTC without a zone), Unix seconds or Unix milliseconds. Raises
    ValueError for a time outside the years 2000 to 2200, which can only be an error: sums with it would leave the
    calendar.
    """
    moment = _moment(value)
    if moment is not None and not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"outside the years {FIRST_YEAR} to {LAST_YEAR}")
    return moment


def _moment(value: object) -> datetime | None:
    if isinstance(value, str) and _USUAL_MOMENT.fullmatch(value) and not value.startswith("0001-"):
        return datetime.fromisoformat(value)  # fast path for the usual notation
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    written = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    try:
        return _rfc3339(written) if written else _unix(read_figure(value))
    except OverflowError:
        raise ValueError("outside the calendar") from None


def _rfc3339(written: re.Match[str]) -> datetime | None:
    if written["date"].startswith("0001-"):
        return None
    zone = (written["zone"] or "Z").upper()
    fraction = written["fraction"]
    moment = datetime.fromisoformat(f"{written['date']}T{written['time']}{'.' + fraction if fraction else ''}{zone}")
    return moment if zone == "Z" else moment.astimezone(UTC)


def _unix(number: Decimal) -> datetime | None:
    if number < 0:
        raise ValueError("before 1970")
    if number == 0:
        return None
    microseconds = number * (1_000 if number >= MILLISECONDS_FROM else 1_000_000)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(microseconds))


def _decimal(value: object) -> Decimal:
    if isinstance(value, bool):
        raise ValueError("not a number")
    if isinstance(value, int):
        if value.bit_length() > 300:
            raise ValueError("out of range")
        return Decimal(value)
    if isinstance(value, Decimal) and value.is_finite():
        return value
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return Decimal(value)
    raise ValueError("not a number")


def _integral(number: Decimal) -> int:
    if not number:
        return 0
    if not 0 <= number.adjusted() < MOST_DIGITS or number != number.to_integral_value():
        raise ValueError("not a whole number within range")
    return int(number)


# Types of fields, each with the function that parses it.
Text = Annotated[str, read_text]
IntentId = Annotated[str, read_intent_id]
Reference = Annotated[str, read_reference]
TextInList = Annotated[str, read_text_in_list]
Whole = Annotated[int, read_whole]
ChainId = Annotated[int, read_chain_id]
Cursor = Annotated[int, read_cursor]
Decimals = Annotated[int, read_decimals]
Figure = Annotated[Decimal, read_figure]
FigureInList = Annotated[Decimal | None, read_figure_in_list]
Moment = Annotated[datetime | None, read_moment]
Flag = Annotated[bool, read_flag]
