"""`intents-ui emulator`: runs the emulator on loopback, under gunicorn's ASGI worker."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from gunicorn.app.base import BaseApplication

from intents_ui.emulator.app import HOLD_SECONDS, Emulator
from intents_ui.emulator.faults import EVERY_OPERATION, NAMES, SLOW
from intents_ui.emulator.scenario_engine import SCENARIOS, Scenario, scenario_named


class Server(BaseApplication):  # type: ignore[misc]
    def __init__(self, application: Emulator, port: int) -> None:
        self.application = application
        self.port = port
        super().__init__()

    def load_config(self) -> None:
        settings = {
            "bind": f"127.0.0.1:{self.port}",
            "worker_class": "asgi",
            # A single process, because the intents that callers create are in its memory.
            "workers": 1,
            "asgi_lifespan": "off",
            "control_socket_disable": True,
            "graceful_timeout": 5,
            "proc_name": "intents-emulator",
            "accesslog": None,
        }
        for name, value in settings.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return self.application


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    options = parser.parse_args(arguments)
    faults = [
        (operation or EVERY_OPERATION, name) for operation, _, name in (each.rpartition("=") for each in options.fault)
    ]
    if options.list:
        print("\n".join(_listed()))
        return
    if not 10 <= options.size <= 100_000:
        parser.error("--size must be 10 to 100000")
    try:
        emulator = Emulator(
            size=options.size,
            tokens=options.tokens,
            hold=options.hold,
            access_key=options.key,
            service_name=options.name,
            faults=faults,
        )
    except ValueError as error:  # an unknown fault or operation
        parser.error(str(error))
    for scenario, seconds in (each for played in options.scenario for each in played):
        age = scenario.worst.at if seconds is None else seconds
        intent = emulator.play(scenario.number, variant=scenario.worst.variant, age=age)
        print(scenario.slug, intent["intentId"], intent["ownerAddress"], flush=True)
    Server(emulator, options.port).run()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="intents-ui emulator",
        description="Service emulator with demo data, at http://127.0.0.1:<port>/rpc/Service/<Operation>.",
    )
    parser.add_argument("--list", action="store_true", help="list scenarios, faults and operations, and exit")
    parser.add_argument("--port", type=int, default=8801)
    parser.add_argument(
        "--size", type=int, default=3000, help="number of intents in lists without fromTime, 10 to 100000"
    )
    parser.add_argument("--tokens", type=int, default=0, help="minimum number of tokens, padded with synthetic ones")
    parser.add_argument("--hold", type=float, default=HOLD_SECONDS, help="seconds that WaitIntentReceipt holds a call")
    parser.add_argument("--key", default=None, help="required access key, default: none")
    parser.add_argument("--name", default="Service", help="path segment after /rpc/")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="[OPERATION=]NAME",
        help="enable a fault of --list, for one operation or all, repeatable",
    )
    parser.add_argument(
        "--scenario",
        type=_scenario,
        action="append",
        default=[],
        metavar="NAME[@SECONDS]",
        help="play a scenario whose quote is that old, by default at the moment that shows what it is about, and print"
        " its name, intent ID and owner, repeatable. `all` plays all",
    )
    return parser


def _listed() -> Iterator[str]:
    """Yield what `--scenario` and `--fault` take."""
    yield "Scenarios:"
    yield from (f"  {each.number} {each.slug} - {each.title}" for each in SCENARIOS)
    yield "Faults:"
    yield from (f"  {each}" for each in (f"{SLOW}<seconds>", *sorted(NAMES)))
    yield "Operations:"
    yield from (f"  {each}" for each in sorted(Emulator().operations))


def _scenario(text: str) -> list[tuple[Scenario, float | None]]:
    name, _, seconds = text.partition("@")
    try:
        age = float(seconds) if seconds else None
        return [(each, age) for each in (SCENARIOS if name == "all" else [scenario_named(name)])]
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(f"unknown scenario {text!r}") from None


if __name__ == "__main__":
    main()
