"""Balances of intent addresses, read and cached, shared by all pages and, with Redis, by all processes.

The service reports them only in the owner's history, and that call is slow because the service queries chains for it. A
response is fresh for some seconds. After that it remains the last known balance until the transfer changes.
"""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from itertools import islice

from intents_ui import app
from intents_ui.display.transfers.balances import PENDING, UNCHECKED, Balances, Check
from intents_ui.display.transfers.transfer import Transfer
from intents_ui.service import operations
from intents_ui.service.cache import CacheEntry
from intents_ui.service.client import ServiceClient
from intents_ui.service.context import request_context
from intents_ui.service.context.executor import resting
from intents_ui.service.context.request_context import as_of
from intents_ui.service.errors import Overloaded, ServiceError
from intents_ui.service.models import HistoryAnswer, IntentHistory, Page
from intents_ui.service.operations import ServiceCall
from intents_ui.service.paging import walk

# Limit on pages of the owner's history. Owners rarely request more quotes than that within one second.
MOST_PAGES = 3
# An owner's list received later than this after a transfer's creation has the transfer, if it ever will.
LISTED_WITHIN = timedelta(seconds=2)
FIRST_PAGE = Page.first()
# Limit on the owners to remember. There are no more cached responses.
MOST_OWNERS = 20_000


def look_up(transfer: Transfer) -> Balances | None:
    """Return the balances, waiting for the service. None if its owner's history doesn't have the transfer.

    Raises ServiceError.
    """
    place, service = _owner_and_time(transfer), app.current().service
    if place is None:
        return None
    owner, created_at = place
    read = partial(entry_of, service, transfer.intent.intent_id, owner=owner, created_at=created_at)
    entry, call = read(), first_page(owner=owner, created_at=created_at)
    if entry is None and (cached := service.cache.peek(call)):
        # It may have been requested for an earlier transfer, before this one.
        received_at = datetime.now(UTC) - timedelta(seconds=cached.age) + service.health.clock_ahead()
        if received_at < created_at + LISTED_WITHIN:
            service.ask_uncached(call)
            entry = read()
    return Balances.of_entry(entry, checked_at=_whole_seconds(as_of())) if entry else None


def within(transfer: Transfer, *, seconds: float) -> Balances:
    """Return the balances if they are available within `seconds`, or else PENDING.

    The lookup then continues in the background.
    """
    service, call = app.current().service, _first_page(transfer)
    if call is None:
        return UNCHECKED
    cached = service.cache.get(call)
    known = _cached_balances(transfer, cached) if cached and cached.is_fresh else UNCHECKED
    if known.check is Check.CHECKED:
        return known
    try:
        lookup = service.threads.aside(lambda: look_up(transfer))
    except Overloaded:  # no thread is free for it
        return PENDING
    if not seconds:  # don't let the lookup's speed affect the page
        return PENDING
    try:
        with resting():
            return lookup.result(request_context.time_left(seconds, expired=TimeoutError)) or UNCHECKED
    except TimeoutError:
        return PENDING
    except ServiceError:
        return UNCHECKED


def known(transfers: Sequence[Transfer]) -> list[tuple[Balances, HistoryAnswer | None]]:
    """Return the last known balances of each transfer, without a request, and the cached response that has them.

    They are UNCHECKED if they predate the transfer's last change.
    """
    cache, owners = app.current().service.cache, app.current().balance_owners
    is_shared = cache.shared is not None
    calls = [_first_page(transfer) if is_shared or transfer.owner in owners else None for transfer in transfers]
    answers = iter(cache.get_many([call for call in calls if call]))
    cached = [next(answers) if call else None for call in calls]
    return [
        (_cached_balances(transfer, entry), entry.answer if entry else None)
        for transfer, entry in zip(transfers, cached, strict=True)
    ]


def _cached_balances(transfer: Transfer, found: CacheEntry | None) -> Balances:
    if found is None:
        return UNCHECKED
    checked_at = datetime.now(UTC) - timedelta(seconds=found.age)
    if transfer.last_change is not None and checked_at < transfer.last_change:
        return UNCHECKED
    wanted = transfer.intent.intent_id.lower()
    entry = next((entry for entry in found.answer.intents if entry.intent_id.lower() == wanted), None)
    return UNCHECKED if entry is None else Balances.of_entry(entry, checked_at=_whole_seconds(checked_at))


def _whole_seconds(at: datetime) -> datetime:
    """Return the time in whole seconds, as displayed, so that two views of one response are equal."""
    return at.replace(microsecond=0)


def _owner_and_time(transfer: Transfer) -> tuple[str, datetime] | None:
    """Return the owner and the creation time, by which the transfer is found in the history, or None."""
    return (
        (transfer.owner, transfer.quoted_at)
        if transfer.owner and transfer.quoted_at and not transfer.is_unread
        else None
    )


def _first_page(transfer: Transfer) -> ServiceCall[HistoryAnswer] | None:
    """Return the call that usually finds the transfer, or None."""
    place = _owner_and_time(transfer)
    return first_page(owner=place[0], created_at=place[1]) if place else None


def entry_of(service: ServiceClient, intent_id: str, *, owner: str, created_at: datetime) -> IntentHistory | None:
    """Return the intent's history entry with its balances, from the owner's intents created in the same second.

    None means that the balances are unknown, not that they are zero. The call is slow, because the service queries each
    chain before it responds. Raises ServiceError.
    """
    owners = app.current().balance_owners
    if len(owners) >= MOST_OWNERS:
        owners.clear()  # those that are looked up again come back
    owners.add(owner)
    earliest, latest = _second_around(created_at)
    pages = walk(
        lambda page: service.ask(
            operations.get_intent_history(
                page=page, by_owner_address=owner, from_time=earliest, to_time=latest, include_balances=True
            )
        ),
        Page.first(),
    )
    entries = (entry for listed, _ in islice(pages, MOST_PAGES) for entry in listed)
    return next((entry for entry in entries if entry.intent_id.lower() == intent_id.lower()), None)


@lru_cache(2_000)
def first_page(*, owner: str, created_at: datetime) -> ServiceCall[HistoryAnswer]:
    """Return the call that usually finds the intent: the first page of the owner's intents of that second."""
    earliest, latest = _second_around(created_at)
    return operations.get_intent_history(
        page=FIRST_PAGE, by_owner_address=owner, from_time=earliest, to_time=latest, include_balances=True
    )


def _second_around(at: datetime) -> tuple[int, int]:
    """Return the Unix times around `at`. Both are inclusive, and the service's clock can be finer than microseconds."""
    second = math.floor(at.timestamp())
    return second, second + 1
