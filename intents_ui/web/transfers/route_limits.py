"""After how long a transfer is late, by p99 of its route in the mirror."""

import threading
import time
from collections.abc import Mapping
from datetime import timedelta

from django.conf import settings

from intents_ui import wiring
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.web.transfers.incidents import RouteOf, route_of, route_of_key

MAX_AGE = 60.0  # seconds


class RouteLimits:
    """The limits of all routes, for all pages of a process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._found: Mapping[RouteOf, timedelta] = {}

    def get(self) -> Mapping[RouteOf, timedelta]:
        """Return them as read within the last minute. Empty if the database can't be read."""
        if time.monotonic() - self._read_at > MAX_AGE:
            with self._lock:
                if time.monotonic() - self._read_at > MAX_AGE:
                    self._found = _read()
                    self._read_at = time.monotonic()
        return self._found


def of(facts: Facts) -> timedelta | None:
    """Return the limit of a transfer's route. None without a mirror, and if too few transfers were delivered."""
    if settings.MIRROR_DATABASE is None:
        return None
    found = wiring.current().one(RouteLimits).get()
    return found.get(route_of(facts)) if found else None


def _read() -> Mapping[RouteOf, timedelta]:
    from intents_ui.mirror.figures import queries  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable, reading

    try:
        with reading():
            found = queries.late_after()
    except CopyUnreadable:
        return {}  # the coverage tells
    return {route_of_key(*key): limit for key, limit in found.items()}
