"""`intents-ui serve | mirror | doctor | emulator | version`, in a checkout `python -m intents_ui …`."""

import os
import sys
from collections.abc import Sequence

from intents_ui.installation import NAME, version

USAGE = f"""\
usage: {NAME} COMMAND [OPTIONS]

  serve     start the dashboard, with demo data unless INTENTS_SERVICE_URL is set
  mirror    keep a local copy of the service's history
  doctor    check the service, Redis, the mirror and the proxy
  emulator  start the emulator of the service
  version   show the version

{NAME} COMMAND --help shows the options."""


def main(arguments: Sequence[str] | None = None) -> int:
    match sys.argv[1:] if arguments is None else arguments:
        case ["serve", *options]:
            run("runserver", NAME, "serve", "--noreload", *options)
        case ["mirror", *options]:
            run("mirror", NAME, "mirror", *options)
        case ["doctor", *options]:
            run("doctor", NAME, "doctor", *options)
        case ["emulator", *options]:
            from intents_ui.emulator import __main__ as emulator

            emulator.main(options)
        case ["version" | "--version"]:
            print(version())
        case ["help" | "--help" | "-h"]:
            print(USAGE)
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    return 0


def run(command: str, *argv: str) -> None:
    """Run a management command that calls itself by `argv`."""
    import django
    from django.core.management import load_command_class

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")
    django.setup()
    load_command_class("intents_ui", command).run_from_argv(list(argv))


if __name__ == "__main__":
    sys.exit(main())
