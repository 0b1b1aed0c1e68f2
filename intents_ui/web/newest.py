"""The newest transfers, with the candidates for resolving a shortened ID. Read once for all users."""

from dataclasses import dataclass

from cachetools import TTLCache

from intents_ui import wiring
from intents_ui.display.search import shortened
from intents_ui.service.cache.memoize import shared
from intents_ui.service.errors import Flaw, Unreadable
from intents_ui.service.wire.models import IntentHistory, Page

READ = 100  # the service's maximum page size
SHARED_SECONDS = 5


@dataclass(frozen=True)
class Newest:
    entries: tuple[IntentHistory, ...]
    candidates: tuple[shortened.Candidate, ...]


@shared(TTLCache(maxsize=1, ttl=SHARED_SECONDS))
def newest() -> Newest:
    """Return the newest transfers, cached for some seconds.

    Raises ServiceError: without the list, "no match" would be a guess.
    """
    answer = wiring.service().get_intent_history(page=Page.first(size=READ))
    if answer.unreadable_entries and not answer.intents:
        error = Unreadable.because(Flaw.WRONG_SHAPE)
        error.operation = "GetIntentHistory"
        raise error
    entries = tuple({entry.intent_id.lower(): entry for entry in answer.intents}.values())[:READ]
    return Newest(entries, tuple(each for entry in entries for each in shortened.of_entry(entry)))
