"""Transfers for display: read from the service, with names and the balances of their intent addresses.

A transfer is made once from the same objects of the service, names, balances and five seconds (`TransferMemo`). An
entry of a list that comes again in another response is the same object (`Answer.as_history`).

The service reports balances only in the owner's history, and that call is slow because the service queries chains for
it. A response is fresh for some seconds. After that it remains the last known balance until the transfer changes. All
pages share the cached responses and, with Redis, all processes.

The mirror, if there is one, knows the incidents on a transfer's route, and after how long a transfer of it is late.
"""

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache
from django.conf import settings

from intents_ui import app
from intents_ui.search.filters import Filters
from intents_ui.service import lookup, operations, request_context
from intents_ui.service.cache import CacheEntry
from intents_ui.service.errors import NotFound, OutOfTime, Overloaded, ServiceError, Unreadable
from intents_ui.service.executor import resting
from intents_ui.service.lookup import MAX_RECEIPTS, ListPage, Position
from intents_ui.service.models import UNEXECUTED, HistoryAnswer, Intent, IntentHistory, IntentReceipt, Page
from intents_ui.service.operations import ServiceCall
from intents_ui.settings import ENV
from intents_ui.tokens.names import chains_of
from intents_ui.transfers.transfer import PENDING, UNCHECKED, Balances, Check, Contacts, Transfer, changed
from intents_ui.web.mirror import mirror_coverage

if TYPE_CHECKING:
    from intents_ui.web.incidents import RecentIncidents


def recent_incidents() -> "RecentIncidents | None":
    """Return the newest incidents, if there is a mirror that can be read and everyone may see them."""
    if settings.MIRROR_DATABASE is None or ENV.insight != "public":
        return None
    from intents_ui.web import incidents

    return incidents.recent()


LIMITS_MAX_AGE = 60.0  # seconds
LATE_TIME = timedelta(days=1)  # that the mirror knows completely, so that its number of late transfers is right


def late_count() -> int | None:
    """Return how many transfers are late. None if the mirror doesn't know, or not everyone may see it."""
    known = mirror_coverage() if ENV.insight == "public" else None
    if not known or not known.complete_since or known.complete_until:
        return None
    if known.complete_since > known.at - LATE_TIME:
        return None
    from intents_ui.mirror.figures.scopes import EVERYTHING  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable
    from intents_ui.web import incidents

    try:
        return incidents.still_open().of(EVERYTHING)["late"]
    except CopyUnreadable:
        return None


def limit_of_route(transfer: Transfer) -> timedelta | None:
    """Return the limit of a transfer's route. None without a mirror, or if it doesn't know the route."""
    if settings.MIRROR_DATABASE is None:
        return None
    return app.current().recent_reads.get("route limits", _read_limits, max_age=LIMITS_MAX_AGE).get(transfer.route)


def _read_limits() -> Mapping[tuple[str, str, str], timedelta]:
    from intents_ui.mirror.models import Route  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable, reading

    try:
        with reading():
            return {each.key: each.limit for each in Route.objects.all()}
    except CopyUnreadable:
        return {}  # the coverage tells


# Owners rarely request more quotes than this within one second.
PAGE_OF_A_SECOND = Page.first(size=50)
# An owner's list received later than this after a transfer's creation has the transfer, if it ever will.
LISTED_WITHIN = timedelta(seconds=2)
# Limit on the owners to remember. There are no more cached responses.
MAX_OWNERS = 20_000


def look_up_balances(transfer: Transfer) -> Balances | None:
    """Return the balances from the owner's intents created in the same second, waiting for the service.

    None means that they are unknown, not that they are zero: the list doesn't have the transfer. The call is slow,
    because the service queries each chain before it responds. Raises ServiceError.
    """
    service, call, created_at = app.current().service, _first_page(transfer), transfer.quoted_at
    if call is None or transfer.owner is None or created_at is None:
        return None
    owners = app.current().balance_owners
    if len(owners) >= MAX_OWNERS:
        owners.clear()  # those that are looked up again come back
    owners.add(transfer.owner)
    entry = _entry(service.ask(call), transfer)
    if entry is None and (cached := service.cache.peek(call)):
        # It may have been requested for an earlier transfer, before this one.
        received_at = datetime.now(UTC) - timedelta(seconds=cached.age) + service.health.clock_ahead()
        if received_at < created_at + LISTED_WITHIN:
            entry = _entry(service.ask_uncached(call), transfer)
    checked_at = request_context.current().as_of.replace(microsecond=0)
    return Balances.of_entry(entry, checked_at=checked_at) if entry else None


def balances_within(transfer: Transfer, *, seconds: float) -> Balances:
    """Return the balances if they come within `seconds`, or else PENDING while the lookup continues."""
    service, call = app.current().service, _first_page(transfer)
    if call is None:
        return UNCHECKED
    cached = service.cache.get(call)
    known = _cached_balances(transfer, cached) if cached and cached.is_fresh else UNCHECKED
    if known.check is Check.CHECKED:
        return known
    try:
        lookup = service.threads.submit_background(lambda: look_up_balances(transfer))
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


def known_balances(transfers: Sequence[Transfer]) -> list[Balances]:
    """Return the last known balances, without a request: UNCHECKED if older than the transfer's last change."""
    cache, owners = app.current().service.cache, app.current().balance_owners
    is_shared = cache.shared is not None
    calls = [_first_page(each) if is_shared or each.owner in owners else None for each in transfers]
    cached = iter(cache.get_many([call for call in calls if call]))
    return [
        _cached_balances(each, next(cached)) if call else UNCHECKED for each, call in zip(transfers, calls, strict=True)
    ]


def _cached_balances(transfer: Transfer, found: CacheEntry | None) -> Balances:
    if found is None:
        return UNCHECKED
    checked_at = datetime.now(UTC) - timedelta(seconds=found.age)
    if transfer.last_change is not None and checked_at < transfer.last_change:
        return UNCHECKED
    entry = _entry(found.answer, transfer)
    # In whole seconds, as displayed, so that two views of one response are equal.
    return UNCHECKED if entry is None else Balances.of_entry(entry, checked_at=checked_at.replace(microsecond=0))


def _first_page(transfer: Transfer) -> ServiceCall[HistoryAnswer] | None:
    """Return the call that usually finds the transfer, by its owner and creation time, or None."""
    if transfer.owner is None or transfer.quoted_at is None or transfer.is_unread:
        return None
    return page_of_owner(owner=transfer.owner, created_at=transfer.quoted_at)


def _entry(answer: HistoryAnswer, transfer: Transfer) -> IntentHistory | None:
    intent_id = transfer.intent.intent_id.lower()
    return next((entry for entry in answer.intents if entry.intent_id.lower() == intent_id), None)


@lru_cache(2_000)
def page_of_owner(*, owner: str, created_at: datetime) -> ServiceCall[HistoryAnswer]:
    """Return the call for the owner's intents of that second."""
    # Both times are inclusive, and the service's clock can be finer than microseconds.
    second = math.floor(created_at.timestamp())
    return operations.get_intent_history(
        page=PAGE_OF_A_SECOND, by_owner_address=owner, from_time=second, to_time=second + 1, include_balances=True
    )


BALANCE_TIMEOUT = 0.3  # seconds that a page waits for balances before it shows them as pending
# Seconds to wait for balances where they can't be updated later: previews, feeds, replies, triage.
PATIENCE = 3.0
BEGINNING = Position()
REUSE_SECONDS = 5.0
# Objects of the service, with what was made and drawn of each: 18 KB in a list, 75 KB for a page of its own.
MAX_REUSED = 1000


class TransferMemo:
    """What was made last of the service's objects. It is made again if any other value that it depends on changes.

    Thread-safe. Only what is made a second time is kept: the rest isn't worth the memory, nor the time that garbage
    collections take to walk through it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: LRUCache[tuple[object, ...], tuple[Sequence[object], tuple[object, ...], Any] | None] = LRUCache(
            MAX_REUSED, getsizeof=lambda known: len(known[0]) if known else 1
        )

    def get[T](self, kind: str, sources: Sequence[object], *values: object, make: Callable[[], T]) -> T:
        """Return what `make` made of the same objects and equal values, or makes now."""
        key = (kind, *map(id, sources))
        with self._lock:
            is_repeated, known = key in self._made, self._made.get(key)
        if known and known[1] == values:
            made: T = known[2]
        else:
            made = make()
            with self._lock:
                # With the sources, so that their IDs stay theirs.
                self._made[key] = (sources, values, made) if is_repeated and len(sources) < MAX_REUSED else None
        return made


def these_seconds() -> float:
    """Return the current REUSE_SECONDS, for which a transfer is shown as of one moment."""
    return datetime.now(UTC).timestamp() // REUSE_SECONDS


def of(
    intent: Intent,
    receipt: IntentReceipt | None,
    receipt_error: ServiceError | None = None,
    *,
    wait: float | None = None,
) -> Transfer:
    """Return a transfer from its intent and receipt. `receipt_error` is why the receipt couldn't be loaded.

    `wait` is the number of seconds to wait for balances. By default (BALANCE_TIMEOUT) a longer lookup leaves
    them pending. With an explicit wait they count as unchecked, because no later response updates them.
    """
    transfer = Transfer(intent, receipt, is_unread=receipt_error is not None, now=datetime.now(UTC))
    names = _learn(_chains(intent))
    balances = balances_within(transfer, seconds=BALANCE_TIMEOUT if wait is None else wait)
    if wait is not None and balances.check is Check.PENDING:
        balances = UNCHECKED
    contacts = Contacts(ENV.intents_recovery_url, ENV.intents_support_contact)
    incidents = found.on_route(transfer) if (found := recent_incidents()) else ()
    return _made(transfer, names, balances=balances, contacts=contacts, incidents=incidents)


def read(intent_id: str) -> Transfer:
    """Read a transfer for a view that is rendered once, and wait for its balances.

    Raises ServiceError, also for the receipt, without which the status is unknown.
    """
    intent, receipt, receipt_error = lookup.read_transfer(app.current().service, intent_id)
    if receipt_error:
        raise receipt_error
    return of(intent, receipt, wait=PATIENCE)


def of_entries(entries: Sequence[IntentHistory]) -> Sequence[Transfer]:
    """Return a list's transfers, with the balances from the list or from the cache."""
    [transfers] = of_lists([entries])
    return transfers


def of_lists(lists: Sequence[Sequence[IntentHistory]]) -> list[Sequence[Transfer]]:
    """Return the transfers of several lists of one page, whose names are loaded together.

    A list of the same entries and names is the same for five seconds, with the balances known at its beginning.
    """
    memo, at = app.current().transfers, these_seconds()
    names = _learn(frozenset[int]().union(*(memo.get("chains", each, make=partial(chains_of, each)) for each in lists)))
    return [memo.get("list", each, at, names, make=partial(_listed, each, at, names)) for each in lists]


def _listed(entries: Sequence[IntentHistory], *seconds_and_names: object) -> Sequence[Transfer]:
    now, memo, catalog = datetime.now(UTC), app.current().transfers, app.current().catalog
    transfers = [Transfer.of_entry(each, now=now, names=catalog, balances=Balances.of_entry(each)) for each in entries]
    unchecked = [each for each in transfers if each.balances.check is Check.UNCHECKED]
    cached = iter(known_balances(unchecked))
    made = []
    for transfer, entry in zip(transfers, entries, strict=True):
        balances = next(cached) if transfer.balances.check is Check.UNCHECKED else transfer.balances
        changes = {"balances": balances, "late_after": limit_of_route(transfer)}
        make = partial(changed, transfer, **changes)
        made.append(memo.get("entry", [entry], *seconds_and_names, *changes.values(), make=make))
    return made


def from_search(intents: Sequence[Intent], *, most: int = MAX_RECEIPTS) -> list[Transfer]:
    """Return search hits, which come without receipts. They are read unless there are more than `most` hits."""
    service = app.current().service
    receipts: Sequence[Intent | IntentReceipt | ServiceError]
    if len(intents) > most:
        # A quote that was never executed has no receipt.
        receipts = [NotFound() if intent.status in UNEXECUTED else OutOfTime() for intent in intents]
    else:
        calls = (partial(service.ask, operations.get_intent_receipt(each.intent_id)) for each in intents)
        receipts = service.threads.together(*calls)
    return of_answers(intents, receipts)


def load_many(ids: Sequence[str]) -> list[Transfer | ServiceError]:
    """Read transfers by Intent ID concurrently. The error of one that couldn't be read is in its place."""
    service = app.current().service
    calls: list[Callable[[], Intent | IntentReceipt]] = [
        partial(service.ask, operations.get_intent(each)) for each in ids
    ]
    calls += [partial(service.ask, operations.get_intent_receipt(each)) for each in ids]
    answers = service.threads.together(*calls)
    of_intents, of_receipts = answers[: len(ids)], answers[len(ids) :]
    read = [(each, receipt) for each, receipt in zip(of_intents, of_receipts, strict=True) if isinstance(each, Intent)]
    transfers = iter(of_answers([each for each, _ in read], [receipt for _, receipt in read]))
    return [each if isinstance(each, ServiceError) else next(transfers) for each in of_intents]


def of_answers(intents: Sequence[Intent], receipts: Sequence[Intent | IntentReceipt | ServiceError]) -> list[Transfer]:
    """Return transfers from intents and the results of reading their receipts, NotFound where there is none."""
    now = datetime.now(UTC)
    transfers = []
    for intent, found in zip(intents, receipts, strict=True):
        receipt = found if isinstance(found, IntentReceipt) else None
        unread = isinstance(found, ServiceError) and not isinstance(found, NotFound)
        transfers.append(Transfer(intent, receipt, now, is_unread=unread))
    names = _learn(chain for each in transfers for chain in _chains(each.intent))
    known = known_balances(transfers)
    return [_made(each, names, balances=balances) for each, balances in zip(transfers, known, strict=True)]


def _made(transfer: Transfer, version: object, **known: Any) -> Transfer:
    """Return the transfer with what is known of it, its route's limit, and names in this version."""
    known["late_after"] = limit_of_route(transfer)
    return app.current().transfers.get(
        "transfer",
        [transfer.intent, transfer.receipt],
        *(these_seconds(), transfer.is_unread, version, *known.values()),
        make=lambda: replace(transfer, names=app.current().catalog, **known),
    )


def _chains(intent: Intent) -> tuple[int | None, int | None]:
    return intent.origin_chain_id, intent.destination_chain_id


def _learn(chain_ids: Iterable[int | None]) -> object:
    """Load the names of these chains and their tokens, and return the version of all names."""
    catalog = app.current().catalog
    catalog.learn(chain_ids)
    return catalog.version


def list_page(wanted: Filters, *, at: Position = BEGINNING) -> ListPage:
    """Return one page of a list of intents."""
    ask = app.current().service.ask
    return lookup.list_page(
        lambda page: ask(operations.get_intent_history(page=page, **wanted.request)), wanted.first, at=at
    )


READ = 100  # the service's maximum page size
MAX_AGE = 5.0  # seconds


def latest() -> Sequence[IntentHistory]:
    """Return the newest transfers, at most MAX_AGE old."""
    call = operations.get_intent_history(page=Page.first(size=READ))
    answer = app.current().service.ask(call, max_age=MAX_AGE)
    if answer.unreadable_entries and not answer.intents:
        raise Unreadable(operation="GetIntentHistory")
    return tuple({entry.intent_id.lower(): entry for entry in answer.intents}.values())[:READ]


@dataclass
class Part[T]:
    """One request of a page, and its result. Parts fail independently."""

    ask: Callable[[], T]
    found: T | None = None
    error: ServiceError | None = None


def read_parts(*parts: Part[Any]) -> None:
    """Send the requests together."""
    for part, answer in zip(parts, app.current().service.threads.together(*(part.ask for part in parts)), strict=True):
        if isinstance(answer, ServiceError):
            part.error = answer
        else:
            part.found = answer
