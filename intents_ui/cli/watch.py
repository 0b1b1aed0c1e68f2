"""`intents-ui watch`: a transfer until it is over."""

from argparse import Namespace
from typing import Final

from intents_ui.cli import answers, terminal
from intents_ui.cli.answers import Transfer
from intents_ui.cli.client import ApiClient
from intents_ui.cli.exit_codes import Exit

PERIOD: Final = 3.0  # seconds


def run(options: Namespace, client: ApiClient) -> Exit:
    while True:
        found = client.transfer(options.intent_id)
        transfer = answers.read(Transfer.of, found)
        if transfer.is_over:
            break
        terminal.progress(transfer.state)
        client.pause(PERIOD)
    terminal.clear_progress()
    if options.json:
        terminal.show_json(found)
    else:
        terminal.show(terminal.card(transfer))
    return transfer.exit_code
