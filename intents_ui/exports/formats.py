"""File formats: CSV, JSON and NDJSON. Each is valid however the export ended, and says at its end whether it is
complete.

CSV (RFC 4180) is UTF-8 without a byte order mark, because many programs would read the mark as part of the first
column's name. Spreadsheets let the user choose the encoding on import.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from intents_ui.display.formatting import csv_text, times
from intents_ui.display.lists.export_row import COLUMNS, ExportRow, Value

# Larger numbers are strings, because many JSON parsers would round them.
LARGEST_NUMBER = 2**53 - 1


@dataclass(frozen=True)
class About:
    """Content of a file. `filters` are those of the list's URL, by name."""

    listed: str
    filters: Mapping[str, Sequence[str]]
    exported_at: datetime


# A file is `begin`, any number of `rows`, then `end`. `before` is the number of previous rows, `why` the reason if the
# file is incomplete.


class Csv:
    """A header line, a line for each intent, and a last line that begins with `#`."""

    content_type = "text/csv; charset=utf-8"

    def begin(self, about: About) -> str:
        return csv_text.line(COLUMNS)

    def rows(self, rows: Sequence[ExportRow], *, before: int) -> str:
        return "".join(csv_text.line(map(_cell, row.values())) for row in rows)

    def end(self, rows: int, why: str) -> str:
        counted = f"{rows} {'row' if rows == 1 else 'rows'}"
        return csv_text.line([f"# truncated after {counted}: {why}" if why else f"# complete: {counted}"])


class Json:
    """One document, which is valid even if the export was truncated."""

    content_type = "application/json; charset=utf-8"

    def begin(self, about: About) -> str:
        head = {"exported_at": times.iso(about.exported_at), "list": about.listed, "filters": about.filters}
        return f'{_json(head)[:-1]}, "intents": ['

    def rows(self, rows: Sequence[ExportRow], *, before: int) -> str:
        written = ",\n".join(_json(_named(row)) for row in rows)
        return f"{',' if before and rows else ''}\n{written}" if rows else ""

    def end(self, rows: int, why: str) -> str:
        return f'\n], "end": {_json(_end_fields(rows, why))}}}\n'


class NdJson:
    """A line for each intent, and a last line with the end."""

    content_type = "application/x-ndjson; charset=utf-8"

    def begin(self, about: About) -> str:
        return ""

    def rows(self, rows: Sequence[ExportRow], *, before: int) -> str:
        return "".join(f"{_json(_named(row))}\n" for row in rows)

    def end(self, rows: int, why: str) -> str:
        return f"{_json({'end': _end_fields(rows, why)})}\n"


type Format = Csv | Json | NdJson

FORMATS: Mapping[str, Format] = {"csv": Csv(), "json": Json(), "ndjson": NdJson()}


def _cell(value: Value) -> str:
    return csv_text.cell("" if value is None else _json(value) if isinstance(value, bool) else str(value))


def _named(row: ExportRow) -> dict[str, Value]:
    return {
        name: str(value) if isinstance(value, int) and value > LARGEST_NUMBER else value for name, value in row.items()
    }


def _end_fields(rows: int, why: str) -> dict[str, Value]:
    return {"state": "truncated" if why else "complete", "why": why or None, "rows": rows}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
