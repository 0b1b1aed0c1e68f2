"""`intents-ui`, also as `python -m intents_ui.cli`. Commands are imported when they run, so that `--help` is fast."""

import argparse
import io
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from typing import Final

from intents_ui.cli.exit_codes import Exit

PROGRAM: Final = "intents-ui"
URL: Final = "http://127.0.0.1:8000"
EMULATOR: Final = "emulator"
CODES: Final = """\
exit codes:
  0  delivered, or nothing to do
  1  error, or an answer that isn't the dashboard's
  2  invalid command, input or token
  3  a transfer needs action
  4  not found
  5  dashboard or service unavailable, or the answer is incomplete
  6  over, and not delivered: refunded, expired, aborted. Nothing to do

environment:
  INTENTS_UI_URL    URL of the dashboard
  INTENTS_UI_TOKEN  its API token, if it needs one
"""


def main(arguments: Sequence[str] | None = None, *, sleep: Callable[[float], None] = time.sleep) -> int:
    """Run a command, and return its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may lack characters
    try:
        code = emulate(given[1:]) if given[:1] == [EMULATOR] else run(parser().parse_args(given), sleep)
        sys.stdout.flush()
    except BrokenPipeError:  # the other program of a pipe has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.ERROR
    return code


def emulate(arguments: Sequence[str]) -> Exit:
    from intents_ui.emulator import __main__ as emulator

    emulator.main(arguments, program=f"{PROGRAM} {EMULATOR}")
    return Exit.FINE


def run(options: Namespace, sleep: Callable[[float], None]) -> Exit:
    from intents_ui.cli import export, lookup, terminal, triage, watch
    from intents_ui.cli.client import ApiClient, Problem

    commands = {"lookup": lookup.run, "triage": triage.run, "watch": watch.run, "export": export.run}
    token = os.environ.get("INTENTS_UI_TOKEN")
    try:
        with ApiClient(options.url, token=token, progress=terminal.progress, sleep=sleep) as client:
            return commands[options.command](options, client)
    except Problem as problem:
        terminal.show_problem(problem)
        return problem.code
    except KeyboardInterrupt:
        terminal.clear_progress()
        return Exit.INTERRUPTED


def parser() -> ArgumentParser:
    made = ArgumentParser(
        prog=PROGRAM,
        description="Look up cross-chain transfers in a dashboard, or run the emulator of the service.",
        epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")

    of_dashboard = ArgumentParser(add_help=False)
    url = os.environ.get("INTENTS_UI_URL") or URL
    of_dashboard.add_argument("--url", default=url, help=f"URL of the dashboard, instead of INTENTS_UI_URL or {URL}")
    as_json = ArgumentParser(add_help=False)
    as_json.add_argument("--json", action="store_true", help="print the API's answer")

    lookup = commands.add_parser("lookup", parents=[of_dashboard, as_json], help="find the transfers of any text")
    lookup.add_argument("text", nargs="+", help="text with an intent ID, a transaction hash, an address or a link")

    triage = commands.add_parser("triage", parents=[of_dashboard, as_json], help="look up every identifier of a ticket")
    triage.add_argument("file", metavar="FILE", help="file with the ticket's text, - for standard input")

    watch = commands.add_parser("watch", parents=[of_dashboard, as_json], help="wait until a transfer is over")
    watch.add_argument("intent_id", metavar="INTENT_ID")

    export = commands.add_parser("export", parents=[of_dashboard], help="write the history to a file")
    export.add_argument("--owner", help="address of the owner")
    export.add_argument("--status", action="append", help="SUCCEEDED, FAILED, …, or in-flight. Repeatable")
    export.add_argument("--origin", help="ID or name of the origin chain")
    export.add_argument("--destination", help="ID or name of the destination chain")
    export.add_argument(
        "--from", metavar="TIME", help="created at 2026-11-21T14:03 (UTC) or later, or on a day or later"
    )
    export.add_argument("--to", metavar="TIME", help="created then, on that day, or earlier")
    export.add_argument("--recoverable", action="store_const", const="1", help="with recoverable balances only")
    export.add_argument("--format", choices=("csv", "json", "ndjson"), default="csv", help="default: %(default)s")
    export.add_argument("--output", metavar="FILE", help="default: standard output")

    commands.add_parser(EMULATOR, add_help=False, help="run the emulator of the service, for tests of its clients")
    return made


if __name__ == "__main__":
    sys.exit(main())
