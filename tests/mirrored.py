"""A mirror with holes, for the dashboard of browser tests: `python -m tests.mirrored PATH` writes a database."""

import os
import sys
from datetime import UTC, datetime, timedelta

import django
from django.core.management import call_command

PAID = "0x" + "0d" * 20
STATUSES = ("SUCCEEDED", "SUCCEEDED", "COMMITTED", "EXECUTING", "FAILED", "TELEPORTING")


def write() -> None:
    from intents_ui.mirror import models
    from tests.mirror import past

    call_command("migrate", verbosity=0)
    now = datetime.now(UTC)
    past.whole(now, days=30, holes=(60, 30, 29, 200))
    past.present(now)
    past.audit(now, *[0] * 19, 2)
    models.set_state(models.STATUSES, {"TELEPORTING": int(now.timestamp() * 1000)})
    for number in range(1, 56):
        past.pay(PAID, now=now, age=900 * number, number=number, status=STATUSES[number % len(STATUSES)])
    for number in range(56, 59):
        past.pay(PAID, now=now, age=900 * number, number=number, status="REFUNDED", role="refund")
    past.write(now, days=3)
    past.open_transfer(now, number=900, age=timedelta(hours=2))
    past.add(past.ending(now - timedelta(hours=4), good=10, bad=20, key=past.CCTP))  # an incident that is over
    past.add(past.ending(now, good=40, bad=0, key=past.CCTP, minutes=230))
    past.add(past.ending(now, good=10, bad=20))
    past.judge(now, minutes=5 * 60)
    past.count(now)
    past.hold_lease(now, seconds=86_400)


if __name__ == "__main__":
    os.environ |= {"INTENTS_DATABASE": sys.argv[1], "DJANGO_SETTINGS_MODULE": "intents_ui.settings"}
    django.setup()
    write()
