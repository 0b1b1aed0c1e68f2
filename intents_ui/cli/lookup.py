"""`intents-ui lookup`: the transfers of any text with identifiers."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Final

from intents_ui.cli import answers, terminal
from intents_ui.cli.answers import Lookup
from intents_ui.cli.client import ApiClient
from intents_ui.cli.exit_codes import Exit

NOT_FOUND: Final = "No transfer found."


def run(options: Namespace, client: ApiClient) -> Exit:
    found = client.get("/lookup", {"q": " ".join(options.text)})
    read = answers.read(Lookup.of, found)
    if len(read.matches) == 1:  # a lookup does not wait for balances
        found["matches"][0]["transfer"] = client.transfer(read.matches[0].intent_id)
        read = answers.read(Lookup.of, found)
    terminal.clear_progress()
    if options.json:
        terminal.show_json(found)
    elif len(read.matches) == 1:
        terminal.show(terminal.card(read.matches[0]))
    elif read.matches:
        terminal.show(terminal.transfers(read.matches))
    else:
        terminal.show([NOT_FOUND], to=sys.stderr)
    terminal.show(notes(read), to=sys.stderr)
    return read.exit_code


def notes(found: Lookup) -> Iterator[str]:
    """Yield what is doubtful or missing."""
    yield from found.warnings
    if unread := sum(not each.is_read for each in found.matches):
        yield f"Transfers of which only the status was read: {unread}."
    if not found.is_complete:
        yield "A search failed, so there may be more."
    if found.may_be_more:
        yield "There are more. For all transfers of an owner, use: intents-ui export --owner"
