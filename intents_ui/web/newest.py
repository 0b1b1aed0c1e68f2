"""The newest transfers, with the candidates for resolving a shortened ID."""

from dataclasses import dataclass

from intents_ui import wiring
from intents_ui.display.search import shortened
from intents_ui.service.errors import Flaw, Unreadable
from intents_ui.service.operations import operations
from intents_ui.service.wire.models import IntentHistory, Page

READ = 100  # the service's maximum page size
MAX_AGE = 5.0  # seconds


@dataclass(frozen=True)
class Newest:
    entries: tuple[IntentHistory, ...]
    candidates: tuple[shortened.Candidate, ...]


def latest() -> Newest:
    """Return the newest transfers, at most MAX_AGE old.

    Raises ServiceError: without the list, "no match" would be a guess.
    """
    call = operations.get_intent_history(page=Page.first(size=READ))
    answer = wiring.service().ask(call, max_age=MAX_AGE)
    if answer.unreadable_entries and not answer.intents:
        error = Unreadable.because(Flaw.WRONG_SHAPE)
        error.operation = "GetIntentHistory"
        raise error
    entries = tuple({entry.intent_id.lower(): entry for entry in answer.intents}.values())[:READ]
    return Newest(entries, tuple(each for entry in entries for each in shortened.of_entry(entry)))
