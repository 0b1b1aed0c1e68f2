"""Transfers for display: read from the service, with names and the balances of their intent addresses.

Also the newest transfers, with the candidates for resolving a shortened ID.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from intents_ui import wiring
from intents_ui.display.search import shortened
from intents_ui.display.summary.rules import OFFERS
from intents_ui.display.tokens.names import chains_of
from intents_ui.display.transfers.assistance import Contacts
from intents_ui.display.transfers.situation import Balances, Check, Situation
from intents_ui.service.errors import Flaw, NotFound, OutOfTime, ServiceError, Unreadable
from intents_ui.service.operations import operations
from intents_ui.service.queries import transfers
from intents_ui.service.wire.models import Intent, IntentHistory, IntentReceipt, Page
from intents_ui.settings import ENV
from intents_ui.web import balance_cache

# Seconds to wait for balances where they can't be updated later: previews, feeds, replies, triage.
PATIENCE = 3.0
# Limit on search hits whose receipts are read, one call each.
MOST_RECEIPTS = 8


def of(
    intent: Intent,
    receipt: IntentReceipt | None,
    receipt_error: ServiceError | None = None,
    *,
    wait: float | None = None,
) -> Situation:
    """Return a transfer from its intent and receipt. `receipt_error` is why the receipt couldn't be loaded.

    `wait` is the number of seconds to wait for balances. By default (INTENTS_BALANCE_TIMEOUT) a longer lookup leaves
    them pending. With an explicit wait they count as unchecked, because no later response updates them.
    """
    names = wiring.catalog()
    names.learn((intent.origin_chain_id, intent.destination_chain_id))
    situation = Situation.of(intent, receipt, now=datetime.now(UTC), names=names, unread=receipt_error is not None)
    seconds = ENV.intents_balance_timeout if wait is None else wait
    balances = balance_cache.within(situation.facts, seconds=seconds)
    if wait is not None and balances.check is Check.PENDING:
        balances = Balances()
    return replace(
        situation.at(datetime.now(UTC), balances),
        contacts=Contacts(ENV.intents_recovery_url, ENV.intents_support_contact),
    )


def read(intent_id: str) -> Situation:
    """Read a transfer for a view that is rendered once, and wait for its balances.

    Raises ServiceError, also for the receipt, without which the status is unknown.
    """
    intent, receipt, receipt_error = transfers.read(wiring.service(), intent_id)
    if receipt_error:
        raise receipt_error
    return of(intent, receipt, wait=PATIENCE)


def of_entries(entries: Sequence[IntentHistory]) -> list[Situation]:
    """Return a list's rows, with the balances from the list or from the cache."""
    names, now = wiring.catalog(), datetime.now(UTC)
    names.learn(chains_of(entries))
    return _with_known_balances([Situation.of_entry(entry, now=now, names=names) for entry in entries])


def of_read(read: Sequence[tuple[Intent, IntentReceipt | None]]) -> list[Situation]:
    """Return transfers from their intents and receipts. A receipt is None where there is none."""
    names, now = wiring.catalog(), datetime.now(UTC)
    names.learn(chain for intent, _ in read for chain in (intent.origin_chain_id, intent.destination_chain_id))
    return _with_known_balances([Situation.of(*each, now=now, names=names) for each in read])


def of_hits(intents: Sequence[Intent]) -> list[Situation]:
    """Return search hits, which come without receipts. Up to MOST_RECEIPTS receipts are read, for more hits none."""
    if len(intents) > MOST_RECEIPTS:
        # A quote that was never executed has no receipt.
        receipts: list[IntentReceipt | ServiceError] = [
            NotFound() if intent.status in OFFERS else OutOfTime() for intent in intents
        ]
    else:
        service = wiring.service()
        calls = (partial(service.get_intent_receipt, intent.intent_id) for intent in intents)
        receipts = service.threads.together(*calls)
    return _of_answers(intents, receipts)


def of_ids(ids: Sequence[str]) -> list[Situation | ServiceError]:
    """Read transfers by Intent ID, in this order: all intents and receipts concurrently.

    An intent that couldn't be read is replaced by its error.
    """
    service = wiring.service()
    calls: list[Callable[[], Intent | IntentReceipt]] = [partial(service.get_intent, each) for each in ids]
    calls += [partial(service.get_intent_receipt, each) for each in ids]
    answers = service.threads.together(*calls)
    of_intents, of_receipts = answers[: len(ids)], answers[len(ids) :]
    read = [(each, receipt) for each, receipt in zip(of_intents, of_receipts, strict=True) if isinstance(each, Intent)]
    situations = iter(_of_answers([each for each, _ in read], [receipt for _, receipt in read]))
    return [each if isinstance(each, ServiceError) else next(situations) for each in of_intents]


def _of_answers(
    intents: Sequence[Intent], receipts: Sequence[Intent | IntentReceipt | ServiceError]
) -> list[Situation]:
    """Return transfers from intents and the results of reading their receipts."""
    names, now = wiring.catalog(), datetime.now(UTC)
    names.learn(chain for intent in intents for chain in (intent.origin_chain_id, intent.destination_chain_id))
    return _with_known_balances(
        [
            Situation.of(
                intent,
                receipt if isinstance(receipt, IntentReceipt) else None,
                now=now,
                names=names,
                unread=isinstance(receipt, ServiceError) and not isinstance(receipt, NotFound),
            )
            for intent, receipt in zip(intents, receipts, strict=True)
        ]
    )


def _with_known_balances(found: Sequence[Situation]) -> list[Situation]:
    unknown = [each for each in found if each.balances.check is not Check.CHECKED]
    known = dict(zip(map(id, unknown), balance_cache.known([each.facts for each in unknown]), strict=True))
    return [each.at(each.now, known[id(each)]) if id(each) in known else each for each in found]


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
