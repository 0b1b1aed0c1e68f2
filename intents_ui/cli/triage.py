"""`intents-ui triage`: every identifier of a ticket."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from intents_ui.cli import answers, terminal
from intents_ui.cli.answers import Triage, TriageRow
from intents_ui.cli.client import ApiClient, Problem
from intents_ui.cli.exit_codes import Exit

STDIN: Final = "-"


def run(options: Namespace, client: ApiClient) -> Exit:
    terminal.progress("Looking up …")
    found = client.post("/triage", {"text": written(options.file)})
    read = answers.read(Triage.of, found)
    terminal.clear_progress()
    if options.json:
        terminal.show_json(found)
    else:
        for row in read.rows:
            terminal.show([*lines(row), ""])
        terminal.show([read.summary])
    return read.exit_code


def written(file: str) -> str:
    """Return the text of a file, or of standard input. Raises Problem."""
    try:
        content = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except OSError as error:
        raise Problem(Exit.USAGE, f"{file} can't be read: {error.strerror}.") from None
    return content.decode("utf-8", "replace")


def lines(row: TriageRow) -> Iterator[str]:
    yield f"{row.number}. {row.value} ({row.kind})"
    yield f"   {row.headline}"
    yield from (f"   {each}" for each in row.details)
    yield from (f"   Note: {each}" for each in row.notes)
    if row.next_step:
        yield f"   Next step: {row.next_step}"
    if row.link:
        yield f"   {row.link}"
