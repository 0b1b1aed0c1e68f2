"""`manage.py runserver [[address:]port]`: gunicorn with reload. Django's own development server can't stream."""

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from intents_ui.settings import ROOT


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
        command = [sys.executable, "-m", "gunicorn", "--config", str(ROOT / "gunicorn.conf.py")]
        if not options["noreload"]:
            command += ["--reload", *(f"--reload-extra-file={path}" for path in ROOT.glob("templates/**/*.html"))]
        os.chdir(ROOT)
        os.execv(sys.executable, command)  # noqa: S606 - our own interpreter, no shell
