"""After how long a transfer is late, by p99 of its route in the mirror."""

from collections.abc import Mapping
from datetime import timedelta

from django.conf import settings

from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.web.recent import reads
from intents_ui.web.transfers.incidents import RouteOf, route_of, route_of_key

MAX_AGE = 60.0  # seconds


def of(facts: Facts) -> timedelta | None:
    """Return the limit of a transfer's route. None without a mirror, and if too few transfers were delivered."""
    if settings.MIRROR_DATABASE is None:
        return None
    found = reads().get("route limits", _read, max_age=MAX_AGE)
    return found.get(route_of(facts)) if found else None


def _read() -> Mapping[RouteOf, timedelta]:
    from intents_ui.mirror.figures import lateness  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable, reading

    try:
        with reading():
            found = lateness.late_after()
    except CopyUnreadable:
        return {}  # the coverage tells
    return {route_of_key(*key): limit for key, limit in found.items()}
