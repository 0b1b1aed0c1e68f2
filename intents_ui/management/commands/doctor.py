"""`manage.py doctor [--quick] [--url URL]` checks a deployment. Its exit status is 1 if there is a problem."""

import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from intents_ui import app
from intents_ui.doctor import Finding, Level, deployment, service
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.settings import ENV


class Command(BaseCommand):
    help = "Checks the service, Redis, the mirror's database and the proxy. Says what it found and what to do."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--quick", action="store_true", help="only whether the service, Redis and database answer")
        parser.add_argument("--url", help="address at which people reach the dashboard, to check the proxy")

    def handle(self, *args: Any, quick: bool, url: str | None, **options: Any) -> None:
        logging.getLogger("intents_ui").setLevel(logging.CRITICAL)  # findings say what failed
        count: Counter[Level] = Counter()
        for finding in findings(quick=quick, url=url):
            self.stdout.write(str(finding))
            count[finding.level] += 1
        told = [f"{count[level]} {level}{'s' if count[level] != 1 else ''}" for level in Level if level is not Level.OK]
        self.stdout.write(f"\n{', '.join(reversed(told))}.")
        if count[Level.PROBLEM]:
            raise SystemExit(1)


def findings(*, quick: bool = False, url: str | None = None) -> Iterator[Finding]:
    emulator = app.embedded_service()
    transport = InProcessTransport(emulator) if emulator else None
    with ServiceClient(service.config_of(app.service_config()), transport=transport) as client:
        responses = service.Responses(client)
        yield from service.quick(responses) if quick else service.checks(responses)
    yield from deployment.redis(str(ENV.redis_url) if ENV.redis_url else None)
    yield from deployment.database()
    if not quick:
        yield from deployment.proxy(ENV)
    if url:
        yield from deployment.public_url(url, ENV)
