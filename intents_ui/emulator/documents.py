"""How the wire writes things down: times, amounts, JSON."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

type Document = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECONDS = 1_000_000


def stamp(microseconds: int) -> str:
    """RFC 3339 with `Z` and up to six digits, trailing zeros cut (domain.md 2.2)."""
    moment = (_EPOCH + timedelta(microseconds=microseconds)).replace(tzinfo=None)
    text = moment.isoformat(timespec="microseconds")
    return text.rstrip("0").rstrip(".") + "Z"


def micros(seconds: float) -> int:
    return round(seconds * MICROSECONDS)


def amount(units: int) -> str:
    """Base units travel as decimal strings (domain.md 2.1)."""
    return str(units)


def encode(document: Document) -> bytes:
    # Half of a surrogate pair is legal in JSON only as an escape; callers do send them.
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
