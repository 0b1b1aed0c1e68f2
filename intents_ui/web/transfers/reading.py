"""Transfers for display: read from the service, with names and the balances of their intent addresses.

A transfer is made once from the same objects of the service, names, balances and five seconds (`TransferMemory`).

Also the newest transfers, with the candidates for resolving a shortened ID.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import cast

from cachetools import LRUCache

from intents_ui import app
from intents_ui.display.lists.filters import Filters
from intents_ui.display.lists.rows import Rows
from intents_ui.display.search import shortened
from intents_ui.display.tokens.names import chains_of
from intents_ui.display.transfers.assistance import NO_CONTACTS, Contacts
from intents_ui.display.transfers.balances import UNCHECKED, Balances, Check, has_balance
from intents_ui.display.transfers.incidents import IncidentFacts
from intents_ui.display.transfers.transfer import Transfer, intent_in
from intents_ui.service import lookup, operations, paging
from intents_ui.service.errors import NotFound, OutOfTime, ServiceError, Unreadable
from intents_ui.service.lookup import MOST_RECEIPTS
from intents_ui.service.models import UNEXECUTED, Intent, IntentHistory, IntentReceipt, Page
from intents_ui.service.paging import Leaf, Position
from intents_ui.settings import ENV
from intents_ui.web.transfers import balance_cache, incidents

BALANCE_TIMEOUT = 0.3  # seconds that a page waits for balances before it shows them as pending
# Seconds to wait for balances where they can't be updated later: previews, feeds, replies, triage.
PATIENCE = 3.0
REUSE_SECONDS = 5.0
BEGINNING = Position()
MOST_REMEMBERED = 500  # transfers, with what pages drew from them: 18 KB each in a list, 75 KB for a page of its own


@dataclass(slots=True)
class Remembered:
    """What was `made` last of the service's objects, a transfer or a list, with the inputs that it was made from.

    Their IDs are the key, so they are held as `sources` for these to stay unique. The others depend on them alone:
    the transfers without names and balances, and of a list the chains and the `unchecked` places, whose entries have
    no balances.
    """

    sources: Sequence[object]
    transfers: Sequence[Transfer]
    chains: frozenset[int] = frozenset()
    unchecked: Sequence[int] = ()
    made: tuple[tuple[object, ...], Transfer | Rows] | None = None


class TransferMemory:
    """The transfers shown lately, None for those shown once. Thread-safe.

    These aren't worth the memory, nor the time that garbage collections take to walk through it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: LRUCache[tuple[object, ...], Remembered | None] = LRUCache(
            MOST_REMEMBERED, lambda remembered: len(remembered.transfers) if remembered else 1
        )

    def get(self, sources: Sequence[object], make: Callable[[], Remembered], *how: object) -> Remembered:
        """Return what is remembered of these objects of the service, seen in the way `how`."""
        key = (*map(id, sources), *how)
        with self._lock:
            is_repeated, known = key in self._known, self._known.get(key)
        if known is None:
            known = make()
            with self._lock:
                self._known[key] = known if is_repeated and len(known.transfers) < MOST_REMEMBERED else None
        return known


def _current[T: (Transfer, Rows)](
    known: Remembered, now: datetime, inputs: tuple[object, ...], make: Callable[[], T]
) -> T:
    """Return the transfer or the list as of these five seconds, made again if any input has changed."""
    inputs = (now.timestamp() // REUSE_SECONDS, *inputs)
    made = known.made
    if made is None or made[0] != inputs:
        made = known.made = (inputs, make())
    return cast("T", made[1])


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
    known = _remembered(intent, receipt, unread=receipt_error is not None)
    [transfer] = known.transfers
    names = _learn(_chains(intent))
    seconds = BALANCE_TIMEOUT if wait is None else wait
    balances = balance_cache.within(transfer, seconds=seconds)
    if wait is not None and balances.check is Check.PENDING:
        balances = UNCHECKED
    contacts = Contacts(ENV.intents_recovery_url, ENV.intents_support_contact)
    return _transfer(known, names, balances, contacts, of_route=incidents.on_route(transfer))


def read(intent_id: str) -> Transfer:
    """Read a transfer for a view that is rendered once, and wait for its balances.

    Raises ServiceError, also for the receipt, without which the status is unknown.
    """
    intent, receipt, receipt_error = lookup.read_transfer(app.current().service, intent_id)
    if receipt_error:
        raise receipt_error
    return of(intent, receipt, wait=PATIENCE)


def of_entries(entries: Sequence[IntentHistory]) -> Rows:
    """Return a list's rows, with the balances from the list or from the cache."""
    [rows] = of_lists([entries])
    return rows


def of_lists(lists: Sequence[Sequence[IntentHistory]]) -> list[Rows]:
    """Return the rows of several lists of one page, whose names are loaded together."""
    memory = app.current().transfers
    known = [memory.get(entries, partial(_list, entries), "list") for entries in lists]
    names = _learn(frozenset[int]().union(*(each.chains for each in known)))
    return [_rows(each, entries, names) for each, entries in zip(known, lists, strict=True)]


def _list(entries: Sequence[IntentHistory]) -> Remembered:
    now = datetime.now(UTC)
    return Remembered(
        entries,
        [Transfer.of(intent_in(entry), entry.receipt, now=now) for entry in entries],
        chains=chains_of(entries),
        unchecked=[place for place, entry in enumerate(entries) if has_balance(entry) is None],
    )


def _rows(known: Remembered, entries: Sequence[IntentHistory], names: object) -> Rows:
    now = datetime.now(UTC)
    cached = balance_cache.known([known.transfers[place] for place in known.unchecked])

    def make() -> Rows:
        balances = [Balances.of_entry(entry) for entry in entries]
        for place, found in zip(known.unchecked, cached, strict=True):
            balances[place] = found.balances
        transfers = [
            replace(
                transfer,
                now=now,
                names=app.current().catalog,
                balances=each,
                is_listed=True,
                late_after=incidents.late_after(transfer),
            )
            for transfer, each in zip(known.transfers, balances, strict=True)
        ]
        return Rows(transfers, now)

    return _current(known, now, (names, *(each.response for each in cached)), make)


def of_read(read: Sequence[tuple[Intent, IntentReceipt | None]]) -> list[Transfer]:
    """Return transfers from their intents and receipts. A receipt is None where there is none."""
    names = _learn(chain for intent, _ in read for chain in _chains(intent))
    return _with_known_balances([_remembered(intent, receipt) for intent, receipt in read], names)


def of_hits(intents: Sequence[Intent]) -> list[Transfer]:
    """Return search hits, which come without receipts. Up to MOST_RECEIPTS receipts are read, for more hits none."""
    if len(intents) > MOST_RECEIPTS:
        # A quote that was never executed has no receipt.
        receipts: list[IntentReceipt | ServiceError] = [
            NotFound() if intent.status in UNEXECUTED else OutOfTime() for intent in intents
        ]
    else:
        service = app.current().service
        calls = (partial(service.ask, operations.get_intent_receipt(intent.intent_id)) for intent in intents)
        receipts = service.threads.together(*calls)
    return _of_answers(intents, receipts)


def of_ids(ids: Sequence[str]) -> list[Transfer | ServiceError]:
    """Read transfers by Intent ID, in this order: all intents and receipts concurrently.

    An intent that couldn't be read is replaced by its error.
    """
    service = app.current().service
    calls: list[Callable[[], Intent | IntentReceipt]] = [
        partial(service.ask, operations.get_intent(each)) for each in ids
    ]
    calls += [partial(service.ask, operations.get_intent_receipt(each)) for each in ids]
    answers = service.threads.together(*calls)
    of_intents, of_receipts = answers[: len(ids)], answers[len(ids) :]
    read = [(each, receipt) for each, receipt in zip(of_intents, of_receipts, strict=True) if isinstance(each, Intent)]
    transfers = iter(_of_answers([each for each, _ in read], [receipt for _, receipt in read]))
    return [each if isinstance(each, ServiceError) else next(transfers) for each in of_intents]


def _of_answers(intents: Sequence[Intent], receipts: Sequence[Intent | IntentReceipt | ServiceError]) -> list[Transfer]:
    """Return transfers from intents and the results of reading their receipts."""
    names = _learn(chain for intent in intents for chain in _chains(intent))
    known = [
        _remembered(
            intent,
            found if isinstance(found, IntentReceipt) else None,
            unread=isinstance(found, ServiceError) and not isinstance(found, NotFound),
        )
        for intent, found in zip(intents, receipts, strict=True)
    ]
    return _with_known_balances(known, names)


def _with_known_balances(known: Sequence[Remembered], names: object) -> list[Transfer]:
    """Return the transfers with the last known balances."""
    balances = balance_cache.known([each.transfers[0] for each in known])
    return [_transfer(each, names, found.balances) for each, found in zip(known, balances, strict=True)]


def _remembered(intent: Intent, receipt: IntentReceipt | None, *, unread: bool = False) -> Remembered:
    """Return what is remembered of a transfer. `unread`: the receipt couldn't be loaded."""

    def make() -> Remembered:
        return Remembered((intent, receipt), [Transfer.of(intent, receipt, unread=unread, now=datetime.now(UTC))])

    return app.current().transfers.get((intent, receipt), make, unread)


def _transfer(
    known: Remembered,
    names: object,
    balances: Balances,
    contacts: Contacts = NO_CONTACTS,
    *,
    of_route: tuple[IncidentFacts, ...] = (),
) -> Transfer:
    [transfer] = known.transfers
    now, late_after = datetime.now(UTC), incidents.late_after(transfer)
    inputs = names, balances, contacts, of_route, late_after
    return _current(
        known,
        now,
        inputs,
        lambda: replace(
            transfer,
            now=now,
            names=app.current().catalog,
            balances=balances,
            contacts=contacts,
            incidents=of_route,
            late_after=late_after,
        ),
    )


def _chains(intent: Intent) -> tuple[int | None, int | None]:
    return intent.origin_chain_id, intent.destination_chain_id


def _learn(chain_ids: Iterable[int | None]) -> object:
    """Load the names of these chains and their tokens, and return the version of all names."""
    catalog = app.current().catalog
    catalog.learn(chain_ids)
    return catalog.version


def leaf(wanted: Filters, *, at: Position = BEGINNING) -> Leaf:
    """Return one page of a list of intents."""
    ask = app.current().service.ask
    return paging.leaf(
        lambda page: ask(operations.get_intent_history(page=page, **wanted.request)), wanted.first, at=at
    )


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
    answer = app.current().service.ask(call, max_age=MAX_AGE)
    if answer.unreadable_entries and not answer.intents:
        error = Unreadable()
        error.operation = "GetIntentHistory"
        raise error
    now = datetime.now(UTC)
    entries = tuple({entry.intent_id.lower(): entry for entry in answer.intents}.values())[:READ]
    return Newest(entries, tuple(each for entry in entries for each in shortened.of_entry(entry, now=now)))
