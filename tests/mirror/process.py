"""`python -m tests.mirror.process`: `manage.py mirror run` of two days, by a clock that is a file of Unix seconds."""

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "intents_ui.settings"

    import django
    from django.core.management import execute_from_command_line

    django.setup()
    from intents_ui import app
    from intents_ui.management.commands import mirror as command
    from intents_ui.mirror import loop
    from intents_ui.service.client import ServiceClient
    from intents_ui.service.health import Health

    file = Path(os.environ["WORLD_CLOCK"])

    def now() -> int:
        return int(file.read_bytes())

    def ahead(_: Health) -> timedelta:
        return datetime.fromtimestamp(now() + 0.5, UTC) - datetime.now(UTC)  # of the world's second

    patch.object(Health, "clock_ahead", ahead).start()
    os.nice = lambda _: 0
    command.service = lambda emulator: ServiceClient(app.service_config(), clock=now)
    loop.DAYS, loop.IDLE_SECONDS = 2, 0.01
    execute_from_command_line([sys.argv[0], "mirror", "run"])
