"""On-chain balances of an intent's addresses, read from the owner's history.

The service reports them nowhere else.
"""

import math
from datetime import datetime
from itertools import islice

from intents_ui.service.client import ServiceClient
from intents_ui.service.operations import operations
from intents_ui.service.operations.operations import ServiceCall
from intents_ui.service.queries.paging import walk
from intents_ui.service.wire.models import IntentHistory, Page
from intents_ui.service.wire.responses import HistoryAnswer

# Limit on pages read. Owners rarely request more quotes than that within one second.
MOST_PAGES = 3


def entry_of(service: ServiceClient, intent_id: str, *, owner: str, created_at: datetime) -> IntentHistory | None:
    """Return the intent's history entry with its balances, from the owner's intents created in the same second.

    None means that the balances are unknown, not that they are zero. The call is slow, because the service queries each
    chain before it responds. Raises ServiceError.
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


def first_page(*, owner: str, created_at: datetime) -> ServiceCall[HistoryAnswer]:
    """Return the call that usually finds the intent: the first page of the owner's intents of that second."""
    earliest, latest = _whole_seconds(created_at)
    return operations.get_intent_history(
        page=Page.first(), by_owner_address=owner, from_time=earliest, to_time=latest, include_balances=True
    )


def _whole_seconds(at: datetime) -> tuple[int, int]:
    """Return the Unix times around `at`. Both are inclusive, and the service's clock can be finer than microseconds."""
    second = math.floor(at.timestamp())
    return second, second + 1
