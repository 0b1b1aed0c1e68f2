"""`intents-ui mirror run | backfill --days N | audit | recount | rebuild | forget ADDRESS | status` keeps the copy.

Imports the mirror only if there is a database for it.
"""

import gc
import hashlib
import os
import signal
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.db.models import F

from intents_ui import app
from intents_ui.ops import lifecycle
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.settings import ENV
from intents_ui.tokens import names

if TYPE_CHECKING:
    from intents_ui.emulator.app import Emulator

if "intents_ui.mirror" in settings.INSTALLED_APPS:
    from intents_ui.mirror import coverage, lease, loop, writer
    from intents_ui.mirror.models import Lease, Window
    from intents_ui.mirror.reader import Reader

GARBAGE = 20_000  # objects
SECONDS = 10.0  # between two lines of progress
EMULATOR_DAYS = 2  # that `run` reads of the emulator, which takes two milliseconds for each transfer
NICENESS = 10  # of `run`: pages come first
MAX_DAYS = 90
MAX_HOLES = 20
DAY, HOUR = 86_400, 3600
ACTIONS = {
    "run": "follow the service until it is stopped",
    "backfill": "read this many days of the past, then end",
    "audit": "read some windows again and compare them with the copy",
    "recount": "let the next or present run count all figures again from the transfers in the copy",
    "rebuild": "delete the copy, so that the next run reads everything again",
    "forget": "remove an address, and never store it again",
    "status": "show what the copy covers",
}


class Command(BaseCommand):
    help = "Keeps a local copy of the service's history in INTENTS_DATABASE."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        parsers = {action: actions.add_parser(action, help=what) for action, what in ACTIONS.items()}
        days = range(1, MAX_DAYS + 1)
        parsers["backfill"].add_argument("--days", type=int, required=True, choices=days, metavar="N")
        parsers["forget"].add_argument("address")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.MIRROR_DATABASE is None:
            raise CommandError("INTENTS_DATABASE is not set, so there is no mirror.")
        lifecycle.trim_memory()
        try:
            prepare(settings.DATABASES["default"])
            gc.freeze()  # and collect rarely, because entries are many objects without cycles
            gc.set_threshold(GARBAGE)
            getattr(self, options["action"])(**options)
        except writer.OtherSource:
            raise CommandError(
                "The database is a copy of another service, or was read with another access key."
                " Set another INTENTS_DATABASE, or run `intents-ui mirror rebuild`."
            ) from None
        except lease.LeaseLost:
            raise CommandError("Another process keeps this copy. Stop it first.") from None
        except (DatabaseError, OSError) as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise CommandError(f"The mirror stopped because its database failed: {first}") from None

    def run(self, **_: Any) -> None:
        emulator = app.embedded_service()
        mirror = self.mirror(emulator, prefill=partial(prefill, emulator))
        self.stdout.write("The mirror is running.")
        mirror.run()
        self.stdout.write("The mirror has stopped.")

    def backfill(self, *, days: int, **_: Any) -> None:
        until, shown_at = int(datetime.now(UTC).timestamp()) - HOUR, float("-inf")

        def is_done() -> bool:
            nonlocal shown_at
            sealed, seconds, transfers = coverage.progress(since=until // DAY * DAY - days * DAY, until=until)
            if sealed == seconds or time.monotonic() - shown_at >= SECONDS:
                shown_at = time.monotonic()
                self.stdout.write(f"{sealed / DAY:.1f} of {seconds / DAY:.1f} days, {transfers:,} transfers")
            return sealed == seconds

        self.mirror(app.embedded_service(), days=days, is_done=is_done).run(waits=False)
        holes = Window.objects.filter(coverage.HOLES).order_by("-start")
        if holes:
            raise CommandError(f"{len(holes)} windows could not be read to their end: {holes[0].reason}.")

    def audit(self, **_: Any) -> None:
        windows, differing = self.mirror(app.embedded_service()).audit()
        self.stdout.write(f"{differing} of {windows} windows differed.")

    def recount(self, **_: Any) -> None:
        Lease.objects.update(epoch=F("epoch") + 1, until=0)  # the process that takes over counts all
        self.stdout.write("`intents-ui mirror run` counts all figures again.")

    def rebuild(self, **_: Any) -> None:
        with lease.acquired():
            writer.empty()
        self.stdout.write("The copy is empty. `intents-ui mirror run` reads it again.")

    def forget(self, *, address: str, **_: Any) -> None:
        self.stdout.write(f"Removed from {writer.forget(address)} transfers.")

    def status(self, **_: Any) -> None:
        found = coverage.current(now=coverage.service_now())
        since = found.complete_since
        lines = [
            "Running" if found.is_running else "Not running",
            f"Transfers: {found.transfers:,}",
            f"Complete since: {f'{since:%Y-%m-%d %H:%M} UTC' if since else 'not yet'}",
            f"Lag: {found.lag.total_seconds():.0f} s",
            f"Calls in the last hour: {found.calls:,} of {ENV.intents_mirror_calls * HOUR:,}",
            f"Audits: {found.differing} of {found.audited} windows differed in 7 days",
            *(
                f"Hole: {hole.start:%Y-%m-%d %H:%M:%S} to {hole.end:%H:%M:%S} UTC, {hole.reason}"
                for hole in found.holes[:MAX_HOLES]
            ),
        ]
        if more := len(found.holes[MAX_HOLES:]):
            lines.append(f"Holes before them: {more}")
        lines += [f"Unknown status: {status[:40]!r}" for status in found.unknown_statuses]
        self.stdout.write("\n".join(lines))

    def mirror(self, emulator: "Emulator | None", *, days: int | None = None, **options: Any) -> "loop.Mirror":
        stop = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        # Without caches. An emulator is this process's own, so that its work delays no page.
        client = ServiceClient(app.service_config(), transport=InProcessTransport(emulator) if emulator else None)

        def now() -> datetime:
            return datetime.now(UTC) + client.health.clock_ahead()

        reader = Reader(client, ENV.intents_mirror_calls, now=now, is_stopped=stop.is_set)
        days = days or (EMULATOR_DAYS if ENV.embedded and settings.DEMO_STARTED is None else loop.DAYS)
        return loop.Mirror(reader, source=source(), now=now, stop=stop, days=days, slow=names.SLOW_PROVIDERS, **options)


def prefill(emulator: "Emulator | None", mirror: "loop.Mirror") -> None:
    """Generate the past of a demo, for which pages wait. From then on, they come first."""
    if emulator and settings.DEMO_STARTED is not None:
        from intents_ui import demo

        demo.generate(emulator, mirror)
    os.nice(NICENESS)


def prepare(database: dict[str, Any]) -> None:
    """Create the database's file, readable by its owner only, and its tables."""
    if database["ENGINE"].endswith("sqlite3"):
        path = Path(database["NAME"])
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600))
    call_command("migrate", "mirror", verbosity=0)


def source() -> str:
    """Return a fingerprint of the service and the access key, which no one can guess offline."""
    config = app.service_config()
    key = config.access_key.get_secret_value() if config.access_key else ""
    return hashlib.scrypt(key.encode(), salt=config.url("").encode(), n=2**14, r=8, p=1, dklen=16).hex()
