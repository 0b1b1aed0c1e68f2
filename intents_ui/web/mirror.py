"""What the mirror says of itself, as read in the last seconds."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.conf import settings

from intents_ui import app

if TYPE_CHECKING:
    from intents_ui.mirror.coverage import Coverage


def mirror_coverage() -> "Coverage | None":
    """Return what the mirror knows. None if there is no mirror, or it can't be read."""
    if settings.MIRROR_DATABASE is None:
        return None
    from intents_ui.mirror import readonly  # imported only with a mirror

    return app.current().recent_reads.get("coverage", readonly.read_coverage, max_age=readonly.MAX_AGE)


def open_incidents() -> Mapping[tuple[str, str], int] | None:
    """Return how many incidents aren't over, by state and kind. None if the mirror's database can't be read."""
    from intents_ui.mirror.incidents import keeper  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable, reading

    try:
        with reading():
            return keeper.open_counts()
    except CopyUnreadable:
        return None
