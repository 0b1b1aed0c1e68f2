"""`intents-ui export`: the history as a file, from the pages of the API.

CSV has a column for each field, named by its place in the API's answer. JSON and NDJSON have the transfers as answered.
"""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TextIO

from intents_ui.cli import answers, terminal
from intents_ui.cli.answers import Json, Page
from intents_ui.cli.client import ApiClient, Problem, Query
from intents_ui.cli.exit_codes import Exit
from intents_ui.display.formatting import csv_text

SIZE: Final = "100"  # the largest page
FILTERS: Final = ("owner", "status", "origin", "destination", "from", "to", "recoverable")
OF_AN_AMOUNT: Final = ("baseUnits", "amount", "note", "usd")
OF_A_TOKEN: Final = ("chainId", "chain", "address", "symbol", "decimals", "warnings")
COLUMNS: Final = (
    *("intentId", "outcome"),
    *(f"summary.{name}" for name in ("status", "headline", "location", "locationAmount", "nextStep", "certainty")),
    *("summary.attention", "summary.cause", "createdAt", "startedAt", "finishedAt", "expiresAt", "owner", "recipient"),
    *(
        f"{side}.{name}"
        for side in ("sent", "received", "refunded")
        for name in (*OF_AN_AMOUNT, *(f"token.{each}" for each in OF_A_TOKEN))
    ),
    *("providers", "url", "asOf"),
)
SEPARATOR: Final = "; "


def run(options: Namespace, client: ApiClient) -> Exit:
    unreadable = count = 0
    with opened(options.output) as file:
        for number, page in enumerate(pages(client, query_of(options))):
            if not number:  # a request that is rejected writes nothing
                file.write(beginning(options.format))
            file.write(written(page.transfers, options.format, is_first=not count))
            count, unreadable = count + len(page.transfers), unreadable + page.unreadable
            terminal.progress(f"{count:,} transfers")
        file.write("\n]\n" if options.format == "json" else "")
    terminal.clear_progress()
    if unreadable:
        terminal.show([f"Transfers that could not be read and are missing: {unreadable}."], to=sys.stderr)
    return Exit.UNAVAILABLE if unreadable else Exit.FINE


def query_of(options: Namespace) -> Query:
    """Return the filters as parameters of the API, which reads times, too."""
    given = {name: value for name in FILTERS if (value := getattr(options, name))}
    for name in ("from", "to"):
        if name in given and not given[name].isdigit():
            given[f"{name}_at"] = given.pop(name)
    return given | {"size": SIZE}


def pages(client: ApiClient, query: Query) -> Iterator[Page]:
    page = answers.read(Page.of, client.get("/transfers", query))
    yield page
    while page.following:
        page = answers.read(Page.of, client.follow(page.following))
        yield page


@contextmanager
def opened(output: str | None) -> Iterator[TextIO]:
    """Yield the file, or standard output. The file appears once it is complete. Raises Problem."""
    if output is None:
        yield sys.stdout
        return
    part = Path(f"{output}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
        os.replace(part, output)
    except OSError as error:
        raise Problem(Exit.USAGE, f"{output} can't be written: {error.strerror}.") from None
    finally:
        with suppress(OSError):
            part.unlink()


def beginning(kind: str) -> str:
    return {"csv": csv_text.line(COLUMNS), "json": "[", "ndjson": ""}[kind]


def written(transfers: Sequence[Json], kind: str, *, is_first: bool) -> str:
    """Return the lines of a page."""
    match kind:
        case "csv":
            return "".join(csv_text.line(csv_text.cell(cell(each, name)) for name in COLUMNS) for each in transfers)
        case "json":
            lines = ",\n".join(map(json.dumps, transfers))
            return f"{'' if is_first else ','}\n{lines}" if lines else ""
        case _:
            return "".join(f"{json.dumps(each)}\n" for each in transfers)


def cell(transfer: Json, name: str) -> str:
    """Return the value of a field. Without one, an empty text."""
    value: Any = transfer
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, list):
        return SEPARATOR.join(each["word"] if isinstance(each, dict) else str(each) for each in value)
    return "" if value is None else str(value)
