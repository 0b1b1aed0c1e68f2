"""The newest transfers with every value that a shortened ID may stand for, read once for all viewers."""

from dataclasses import dataclass

from cachetools import TTLCache

from intents_ui import wiring
from intents_ui.display import shortened
from intents_ui.service.errors import Flaw, Unreadable
from intents_ui.service.sharing import shared
from intents_ui.service.wire import IntentHistory, Page

READ = 100  # the longest page that the service gives
SHARED_SECONDS = 5


@dataclass(frozen=True)
class Newest:
    entries: tuple[IntentHistory, ...]
    candidates: tuple[shortened.Candidate, ...]


@shared(TTLCache(maxsize=1, ttl=SHARED_SECONDS))
def newest() -> Newest:
    """Shared for some seconds. Raises any ServiceError: without this list "no match" would be a guess."""
    answer = wiring.service().get_intent_history(page=Page.first(size=READ))
    if answer.unreadable_entries and not answer.intents:
        error = Unreadable.because(Flaw.WRONG_SHAPE)
        error.operation = "GetIntentHistory"
        raise error
    entries = tuple({entry.intent_id.lower(): entry for entry in answer.intents}.values())[:READ]
    return Newest(entries, tuple(each for entry in entries for each in shortened.of_entry(entry)))
