"""Serialization of times and JSON as on the wire, and the tables of the emulator."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

type Document = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECONDS = 1_000_000
_DATA: Final = Path(__file__).parent / "data"


def stamp(microseconds: int) -> str:
    """Return a time in RFC 3339 with `Z` and up to six decimals, without trailing zeros."""
    moment = (_EPOCH + timedelta(microseconds=microseconds)).replace(tzinfo=None)
    text = moment.isoformat(timespec="microseconds")
    return text.rstrip("0").rstrip(".") + "Z"


def micros(seconds: float) -> int:
    return round(seconds * MICROSECONDS)


def encode(document: Document) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


@cache
def table(name: str) -> Any:
    """Return a JSON file in `data`."""
    return json.loads((_DATA / name).read_text(encoding="utf-8"), parse_float=Decimal)
