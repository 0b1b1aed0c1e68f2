"""What an intent's addresses hold. No operation says it of one intent: it stands in its owner's history.

Source: interface.md 2.13 and 4.2, domain.md 3.1.
"""

import math
from datetime import datetime
from itertools import islice

from intents_ui.service import operations
from intents_ui.service.answers import HistoryAnswer
from intents_ui.service.client import ServiceClient
from intents_ui.service.operations import Call
from intents_ui.service.paging import walk
from intents_ui.service.wire import IntentHistory, Page

# An owner seldom asks for two quotes within the same second; so many are looked through.
MOST_PAGES = 3


def entry_of(service: ServiceClient, intent_id: str, *, owner: str, created_at: datetime) -> IntentHistory | None:
    """The intent's entry with its balances, from its owner's intents of that second.

    None: it does not stand there, so what its addresses hold is not known; that is not the same as nothing. It is slow,
    because the service reads chains before it answers. Raises any ServiceError.
    """
    earliest, latest = _whole_seconds(created_at)
    pages = walk(
        lambda page: service.get_intent_history(
            page=page, by_owner_address=owner, from_time=earliest, to_time=latest, include_balances=True
        ),
        Page.first(),
    )
    entries = (entry for listed, _ in islice(pages, MOST_PAGES) for entry in listed)
    return next((entry for entry in entries if entry.intent_id.lower() == intent_id.lower()), None)


def first_page(*, owner: str, created_at: datetime) -> Call[HistoryAnswer]:
    """The call that nearly always finds the intent: the first page of what its owner requested in that second."""
    earliest, latest = _whole_seconds(created_at)
    return operations.get_intent_history(
        page=Page.first(), by_owner_address=owner, from_time=earliest, to_time=latest, include_balances=True
    )


def _whole_seconds(at: datetime) -> tuple[int, int]:
    """Both ends are included, and the service may count finer than microseconds."""
    second = math.floor(at.timestamp())
    return second, second + 1
