"""`intents-ui serve` and `manage.py runserver`: gunicorn with reload, and the mirror beside it if there is a database.

Django's own development server can't stream.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from intents_ui.installation import IS_WHEEL, ROOT, generated

# A wheel ignores the modules of the working directory.
PYTHON: Final = [sys.executable, "-P", "-m"] if IS_WHEEL else [sys.executable, "-m"]
MIRROR: Final = [*PYTHON, "intents_ui", "mirror", "run"]
MIRROR_SECONDS: Final = 30.0  # that the mirror may take to stop


class Command(BaseCommand):
    help = "Starts the dashboard on gunicorn's ASGI worker; restarts when a Python file or a template changes."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("addrport", nargs="?", help="port, or address:port (default: HOST and PORT)")
        parser.add_argument("--noreload", action="store_true", help="do not watch the files")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["addrport"]:
            host, _, port = options["addrport"].rpartition(":")
            os.environ.update({"PORT": port} | ({"HOST": host} if host else {}))
        command = [*PYTHON, "gunicorn", "--config", str(ROOT / "gunicorn.conf.py")]
        if not options["noreload"]:
            command += ["--reload", *(f"--reload-extra-file={path}" for path in ROOT.glob("templates/**/*.html"))]
        if IS_WHEEL:
            prepare_files()
        else:
            os.chdir(ROOT)
        os.environ.setdefault("DEMO_STARTED", str(time.time()))
        if settings.MIRROR_DATABASE is None:
            os.execv(sys.executable, command)  # noqa: S606 - our own interpreter, no shell
        sys.exit(run_with_mirror(command))


def prepare_files() -> None:
    """Collect static files and compile templates, at the first start of a wheel. Processes that start at once wait."""
    folder = generated()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (settings.STATIC_ROOT / "staticfiles.json").exists():
                print("Preparing static files and templates ...", flush=True)
                subprocess.run([*PYTHON, "django", "collectstatic", "--noinput", "--verbosity", "0"], check=True)  # noqa: S603 - our own program
    except OSError as error:
        raise CommandError(
            f"{folder} can't be written ({type(error).__name__}). Set XDG_CACHE_HOME to a folder that can."
        ) from None


def run_with_mirror(server: Sequence[str]) -> int:
    """Run the server, and the mirror until the server ends. Return the server's exit status."""
    dashboard = subprocess.Popen(server)  # noqa: S603 - our own program
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: dashboard.send_signal(received))
    mirror = subprocess.Popen(MIRROR)  # noqa: S603 - our own program
    status = dashboard.wait()
    mirror.terminate()
    try:
        mirror.wait(MIRROR_SECONDS)
    except subprocess.TimeoutExpired:
        mirror.kill()
    return status if status >= 0 else 128 - status
