"""Transfers for display: read from the service, with names and the balances of their intent addresses.

A situation is attached to the response object that it describes, and reused while it is true: the service sent the same
bytes again, the names and balances are the same, and its moment covers the current time.

Also the newest transfers, with the candidates for resolving a shortened ID.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import is_
from typing import cast
from weakref import ref

from intents_ui import wiring
from intents_ui.display.formatting.moment import Moment
from intents_ui.display.lists.rows import Rows
from intents_ui.display.search import shortened
from intents_ui.display.summary.rules import OFFERS
from intents_ui.display.tokens.names import chains_of
from intents_ui.display.transfers.assistance import NO_CONTACTS, Contacts
from intents_ui.display.transfers.incidents import IncidentFacts
from intents_ui.display.transfers.situation import UNCHECKED, Balances, Check, Situation, intent_in
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service import lookup, operations
from intents_ui.service.errors import Flaw, NotFound, OutOfTime, ServiceError, Unreadable
from intents_ui.service.fields import Model
from intents_ui.service.lookup import MOST_RECEIPTS
from intents_ui.service.models import Entries, HistoryAnswer, Intent, IntentHistory, IntentReceipt, Page
from intents_ui.service.operations import ServiceCall
from intents_ui.settings import ENV
from intents_ui.web.transfers import balance_cache, incidents

BALANCE_TIMEOUT = 0.3  # seconds that a page waits for balances before it shows them as pending
# Seconds to wait for balances where they can't be updated later: previews, feeds, replies, triage.
PATIENCE = 3.0
# A situation is renewed after this time at the latest, so that pages also renew the names of rarely used chains.
LONGEST_REUSE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Attached:
    """A situation as attached to its receipt, intent or entry. `names` is their version."""

    names: object
    moment: Moment
    situation: Situation

    def __del__(self) -> None:
        """Free the situation together with its response, without waiting for a garbage collection."""
        self.situation.forget()


@dataclass(frozen=True, slots=True)
class AttachedRows:
    """Rows as attached to their entries: with the names' version, the chains named, and the responses with balances.

    `owners`: those for whom no response was looked for, because none could be cached.
    """

    rows: Rows
    chains: frozenset[int]
    names: object
    calls: Sequence[ServiceCall[HistoryAnswer]]
    responses: Sequence[ref[HistoryAnswer] | None]
    owners: frozenset[str]

    def are_current(self, names: object, now: datetime) -> bool:
        """Return whether the rows still describe the transfers, and if so, move them to `now`."""
        if names is not self.names or not balance_cache.owners().isdisjoint(self.owners):
            return False
        newest = (found and found[0] for found in wiring.service().get_cached(self.calls))
        before = (each and each() for each in self.responses)
        return all(map(is_, newest, before)) and self.rows.move_to(now)


def of(
    intent: Intent,
    receipt: IntentReceipt | None,
    receipt_error: ServiceError | None = None,
    *,
    wait: float | None = None,
) -> Situation:
    """Return a transfer from its intent and receipt. `receipt_error` is why the receipt couldn't be loaded.

    `wait` is the number of seconds to wait for balances. By default (BALANCE_TIMEOUT) a longer lookup leaves
    them pending. With an explicit wait they count as unchecked, because no later response updates them.
    """
    facts = _facts(intent, receipt, unread=receipt_error is not None)
    names = _learn(_chains(intent))
    seconds = BALANCE_TIMEOUT if wait is None else wait
    balances = balance_cache.within(facts, seconds=seconds)
    if wait is not None and balances.check is Check.PENDING:
        balances = UNCHECKED
    contacts = Contacts(ENV.intents_recovery_url, ENV.intents_support_contact)
    return _current(receipt or intent, facts, names, balances, contacts, of_route=incidents.on_route(facts))


def read(intent_id: str) -> Situation:
    """Read a transfer for a view that is rendered once, and wait for its balances.

    Raises ServiceError, also for the receipt, without which the status is unknown.
    """
    intent, receipt, receipt_error = lookup.read_transfer(wiring.service(), intent_id)
    if receipt_error:
        raise receipt_error
    return of(intent, receipt, wait=PATIENCE)


def of_entries(entries: Sequence[IntentHistory]) -> Rows:
    """Return a list's rows, with the balances from the list or from the cache.

    They are attached to the entries of a response, and reused while they are true.
    """
    [rows] = of_lists([entries])
    return rows


def of_lists(lists: Sequence[Sequence[IntentHistory]]) -> list[Rows]:
    """Return the rows of several lists of one page, whose names are loaded together."""
    known: list[AttachedRows | None] = [
        entries.derived.get("rows") if isinstance(entries, Entries) else None for entries in lists
    ]
    chains = [before.chains if before else chains_of(entries) for before, entries in zip(known, lists, strict=True)]
    names, now = _learn(frozenset[int]().union(*chains)), datetime.now(UTC)
    return [
        before.rows if before and before.are_current(names, now) else _rows(entries, of, names, now)
        for before, entries, of in zip(known, lists, chains, strict=True)
    ]


def _rows(entries: Sequence[IntentHistory], chains: frozenset[int], names: object, now: datetime) -> Rows:
    all_facts = [_facts_of_entry(entry) for entry in entries]
    balances = [Balances.of_entry(entry) for entry in entries]
    unchecked = [place for place, each in enumerate(balances) if each.check is not Check.CHECKED]
    known = balance_cache.known([all_facts[place] for place in unchecked])
    owners = set[str]()
    for place, found in zip(unchecked, known, strict=True):
        balances[place] = found.balances
        owner = all_facts[place].owner
        if found.call is None and owner and owner not in balance_cache.owners():
            owners.add(owner)
    rows = Rows(_situations(entries, all_facts, names, balances, is_listed=True), _moment(now))
    if isinstance(entries, Entries):
        looked_up = [(each.call, each.response) for each in known if each.call]
        # So that responses are freed when they are evicted.
        references = [None if response is None else ref(response) for _, response in looked_up]
        calls = [call for call, _ in looked_up]
        entries.derived["rows"] = AttachedRows(rows, chains, names, calls, references, frozenset(owners))
    return rows


def of_read(read: Sequence[tuple[Intent, IntentReceipt | None]]) -> list[Situation]:
    """Return transfers from their intents and receipts. A receipt is None where there is none."""
    names = _learn(chain for intent, _ in read for chain in _chains(intent))
    all_facts = [_facts(intent, receipt) for intent, receipt in read]
    return _with_known_balances([receipt or intent for intent, receipt in read], all_facts, names)


def of_hits(intents: Sequence[Intent]) -> list[Situation]:
    """Return search hits, which come without receipts. Up to MOST_RECEIPTS receipts are read, for more hits none."""
    if len(intents) > MOST_RECEIPTS:
        # A quote that was never executed has no receipt.
        receipts: list[IntentReceipt | ServiceError] = [
            NotFound() if intent.status in OFFERS else OutOfTime() for intent in intents
        ]
    else:
        service = wiring.service()
        calls = (partial(service.ask, operations.get_intent_receipt(intent.intent_id)) for intent in intents)
        receipts = service.threads.together(*calls)
    return _of_answers(intents, receipts)


def of_ids(ids: Sequence[str]) -> list[Situation | ServiceError]:
    """Read transfers by Intent ID, in this order: all intents and receipts concurrently.

    An intent that couldn't be read is replaced by its error.
    """
    service = wiring.service()
    calls: list[Callable[[], Intent | IntentReceipt]] = [
        partial(service.ask, operations.get_intent(each)) for each in ids
    ]
    calls += [partial(service.ask, operations.get_intent_receipt(each)) for each in ids]
    answers = service.threads.together(*calls)
    of_intents, of_receipts = answers[: len(ids)], answers[len(ids) :]
    read = [(each, receipt) for each, receipt in zip(of_intents, of_receipts, strict=True) if isinstance(each, Intent)]
    situations = iter(_of_answers([each for each, _ in read], [receipt for _, receipt in read]))
    return [each if isinstance(each, ServiceError) else next(situations) for each in of_intents]


def _of_answers(
    intents: Sequence[Intent], receipts: Sequence[Intent | IntentReceipt | ServiceError]
) -> list[Situation]:
    """Return transfers from intents and the results of reading their receipts."""
    names = _learn(chain for intent in intents for chain in _chains(intent))
    owners: list[Model] = []
    all_facts = []
    for intent, found in zip(intents, receipts, strict=True):
        receipt = found if isinstance(found, IntentReceipt) else None
        unread = isinstance(found, ServiceError) and not isinstance(found, NotFound)
        owners.append(receipt or intent)
        all_facts.append(_facts(intent, receipt, unread=unread))
    return _with_known_balances(owners, all_facts, names)


def _with_known_balances(owners: Sequence[Model], all_facts: Sequence[Facts], names: object) -> list[Situation]:
    """Return the situations with the last known balances."""
    return _situations(owners, all_facts, names, [each.balances for each in balance_cache.known(all_facts)])


def _situations(
    owners: Sequence[Model],
    all_facts: Sequence[Facts],
    names: object,
    balances: Sequence[Balances],
    *,
    is_listed: bool = False,
) -> list[Situation]:
    return [
        _current(owner, facts, names, each, is_listed=is_listed)
        for owner, facts, each in zip(owners, all_facts, balances, strict=True)
    ]


def _current(
    owner: Model,
    facts: Facts,
    names: object,
    balances: Balances,
    contacts: Contacts = NO_CONTACTS,
    *,
    is_listed: bool = False,
    of_route: tuple[IncidentFacts, ...] = (),
) -> Situation:
    """Return the situation attached to `owner` if it still describes the transfer, or else attach a new one."""
    now, known, late_after = datetime.now(UTC), owner.derived.get("situation"), incidents.late_after(facts)
    if known and known.names is names and known.moment.covers(now):
        situation: Situation = known.situation
        given = situation.contacts, situation.incidents, situation.late_after
        is_same = situation.facts is facts and given == (contacts, of_route, late_after)
        if is_same and situation.balances.are_those_of(balances):
            situation.confirm(balances)
            known.moment.move_to(now)
            return situation
    moment = _moment(now)
    situation = Situation(
        facts,
        moment,
        wiring.catalog(),
        balances,
        is_listed=is_listed,
        contacts=contacts,
        incidents=of_route,
        late_after=late_after,
    )
    owner.derived["situation"] = Attached(names, moment, situation)
    return situation


def _moment(now: datetime) -> Moment:
    moment = Moment.of(now)
    moment.hold(now, now + LONGEST_REUSE)
    return moment


def _facts(intent: Intent, receipt: IntentReceipt | None, *, unread: bool = False) -> Facts:
    """Return the facts attached to the receipt or, without one, the intent, or else attach new ones.

    They are of twins of both objects, so that an object doesn't keep itself in memory.
    """
    owner: Model = receipt or intent
    known_intent, known = owner.derived.get("facts", (None, None))
    is_unread = unread and receipt is None
    if known and known_intent() is intent and known.is_unread == is_unread:
        return cast("Facts", known)
    facts = Facts.of(intent.twin(), receipt and receipt.twin(), unread=is_unread, now=datetime.now(UTC))
    owner.derived["facts"] = ref(intent), facts
    return facts


def _facts_of_entry(entry: IntentHistory) -> Facts:
    known: Facts | None = entry.derived.get("facts")
    if known is None:
        known = Facts.of(intent_in(entry), entry.receipt, now=datetime.now(UTC))
        entry.derived["facts"] = known
    return known


def _chains(intent: Intent) -> tuple[int | None, int | None]:
    return intent.origin_chain_id, intent.destination_chain_id


def _learn(chain_ids: Iterable[int | None]) -> object:
    """Load the names of these chains and their tokens, and return the version of all names."""
    catalog = wiring.catalog()
    catalog.learn(chain_ids)
    return catalog.version


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
