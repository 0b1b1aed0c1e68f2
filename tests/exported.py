"""Exported files as other programs read them, and the emulator's list to compare them with."""

import csv
import io
import json
import re
from dataclasses import dataclass
from typing import Any

from intents_ui.emulator import Emulator
from tests.emulator.driving import request

KINDS = ["csv", "json", "ndjson"]
LAST_LINE = re.compile(r"# (?:complete: (\d+) rows?|truncated after (\d+) rows?: (.+))")


@dataclass
class Exported:
    rows: list[dict[str, Any]]
    state: str
    why: str | None
    counted: int

    @property
    def ids(self) -> list[str]:
        return [row["intent_id"] for row in self.rows]


def read(kind: str, content: bytes) -> Exported:
    text = content.decode()
    if kind == "csv":
        return _csv(text)
    if kind == "json":
        document = json.loads(text)
        return _ended(document["intents"], document["end"])
    *rows, last = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
    assert list(last) == ["end"]
    return _ended(rows, last["end"])


def _csv(text: str) -> Exported:
    names, *rows, last = csv.reader(io.StringIO(text, newline=""), strict=True)
    (words,) = last
    said = LAST_LINE.fullmatch(words)
    assert said, words
    found = [dict(zip(names, row, strict=True)) for row in rows]
    return Exported(found, "truncated" if said[3] else "complete", said[3], int(said[1] or said[2]))


def _ended(rows: list[dict[str, Any]], end: dict[str, Any]) -> Exported:
    return Exported(rows, end["state"], end["why"], end["rows"])


def emulator_entries(emulator: Emulator, **filters: Any) -> list[dict[str, Any]]:
    """Return the emulator's entries that match the filters, newest first. Must not run in an event loop."""
    found: list[dict[str, Any]] = []
    page: dict[str, Any] | None = {"pageSize": 100, "sort": [{"column": "createdAt", "order": "DESC"}]}
    while page:
        answer = request(emulator, "GetIntentHistory", {**filters, "page": page}).document
        found += answer["intents"]
        page = answer["nextPage"]
    return found
