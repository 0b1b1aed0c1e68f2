"""Balances of intent addresses, read and cached, shared by all pages and, with Redis, by all processes.

The service reports them only in the owner's history, and that call is slow because the service queries chains for it. A
response is fresh for some seconds. After that it remains the last known balance until the transfer changes.
"""

import math
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

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


@dataclass(frozen=True)
class Lookup:
    """Result of a lookup.

    `is_listed` if the transfer is in its owner's history. Without an owner or a creation time it can't be found there.
    """

    balances: Balances
    is_listed: bool


def look_up(transfer: Transfer) -> Lookup:
    """Return the balances, waiting for the service. Raises ServiceError."""
    owner, created_at = transfer.owner, transfer.quoted_at
    if owner is None or created_at is None:
        return Lookup(UNCHECKED, is_listed=False)
    service, intent_id = app.current().service, transfer.intent.intent_id
    entry = entry_of(service, intent_id, owner=owner, created_at=created_at)
    if entry is None and _may_predate(call := first_page(owner=owner, created_at=created_at), created_at):
        service.ask_uncached(call)
        entry = entry_of(service, intent_id, owner=owner, created_at=created_at)
    if entry is None:
        return Lookup(UNCHECKED, is_listed=False)
    return Lookup(Balances.of_entry(entry, checked_at=_whole_seconds(as_of())), is_listed=True)


def _may_predate(call: ServiceCall[HistoryAnswer], created_at: datetime) -> bool:
    """Return whether the cached response may be from before the transfer: it was requested for an earlier one."""
    service = app.current().service
    entry = service.cache.peek(call)
    if entry is None:
        return False
    received_at = datetime.now(UTC) - timedelta(seconds=entry.age) + service.health.clock_ahead()
    return received_at < created_at + LISTED_WITHIN


def within(transfer: Transfer, *, seconds: float) -> Balances:
    """Return the balances if they are available within `seconds`, or else PENDING.

    The lookup then continues in the background.
    """
    if _owner_and_time(transfer) is None:
        return UNCHECKED
    if found := _fresh(transfer):
        return found
    lookup = _lookup_in_background(transfer)
    if lookup is None or not seconds:  # without a wait, don't let the lookup's speed affect the page
        return PENDING
    try:
        with resting():
            return lookup.result(request_context.time_left(seconds, expired=TimeoutError)).balances
    except TimeoutError:
        return PENDING
    except ServiceError:
        return UNCHECKED


class Known(NamedTuple):
    """Last known balances, with the call that finds them and its cached response."""

    balances: Balances
    call: ServiceCall[HistoryAnswer] | None = None
    response: HistoryAnswer | None = None


def known(transfers: Sequence[Transfer]) -> list[Known]:
    """Return the last known balances of each transfer, without a request. UNCHECKED if they predate its last change."""
    cache, owners = app.current().service.cache, app.current().balance_owners
    is_shared = cache.shared is not None
    calls = [_first_page(transfer) if is_shared or transfer.owner in owners else None for transfer in transfers]
    found = iter(cache.get_many([call for call in calls if call]))
    return [
        Known(_cached_balances(transfer, last := next(found)), call, last.answer if last else None)
        if call
        else Known(UNCHECKED)
        for transfer, call in zip(transfers, calls, strict=True)
    ]


def _fresh(transfer: Transfer) -> Balances | None:
    call = _first_page(transfer)
    entry = call and app.current().service.cache.get(call)
    if not (entry and entry.is_fresh):
        return None
    [found] = known([transfer])
    return found.balances if found.balances.check is Check.CHECKED else None


def _lookup_in_background(transfer: Transfer) -> "Future[Lookup] | None":
    """Start a lookup in the background. Returns None if no thread is free for it."""
    try:
        return app.current().service.threads.aside(lambda: look_up(transfer))
    except Overloaded:
        return None


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
