"""One transfer at one moment: the argument of everything that speaks about a transfer.

All that any surface says about a transfer is derived from one `Situation`, so surfaces with equal situations say the
same.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property, wraps
from typing import Any, Self

from intents_ui.display.formatting import times
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.names import NO_NAMES, Names
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers import locations, statuses, timing
from intents_ui.display.transfers.assistance import NO_CONTACTS, Contacts
from intents_ui.display.transfers.deposits import Payment
from intents_ui.display.transfers.incidents import IncidentFacts
from intents_ui.display.transfers.locations import Holding, Place, holdings
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service.models import STOPPED, BalanceGroup, Intent, IntentHistory, IntentReceipt, IntentStatus
from intents_ui.service.outcome import DEAD, Evidence, Outcome, StepStatus, outcome_of


@dataclass(frozen=True)
class CommitOffer:
    """An intent that can be committed `until` its quote expires; None if the expiry is not reported.

    `execute_until`: the deadline of its execution, if it is committed now."""

    until: datetime | None
    execute_until: datetime | None


class Check(StrEnum):
    """Whether the service has read the balances of the intent addresses from the chains."""

    CHECKED = "checked"
    PENDING = "pending"  # the lookup runs, and a newer response will follow
    UNCHECKED = "unchecked"


@dataclass(frozen=True)
class Balances:
    """Balances of a transfer's intent addresses from its history entry, or that they are unknown.

    `has_balance`: whether funds are left, None if unchecked. `groups` can be empty although funds are left, if the
    service didn't report the amounts. `checked_at`: when the service read the chains.
    """

    check: Check = Check.UNCHECKED
    has_balance: bool | None = None
    groups: tuple[BalanceGroup, ...] = ()
    checked_at: datetime | None = None

    @classmethod
    def of_entry(cls, entry: IntentHistory, *, checked_at: datetime | None = None) -> Self:
        """Return the balances of a history entry, or unchecked if it was requested without them."""
        has = has_balance(entry)
        if has is None:
            return cls()
        return cls(Check.CHECKED, has, entry.balances, checked_at)


UNCHECKED = Balances()
PENDING = Balances(Check.PENDING)


def has_balance(entry: IntentHistory) -> bool | None:
    """Return whether the intent addresses hold funds. None: not reported, and none listed."""
    if entry.has_balance is not None:
        return entry.has_balance
    return True if any(token.balance for group in entry.balances for token in group.tokens) else None


@dataclass(frozen=True, eq=False)
class Situation:
    """The intent, its receipt or why it is missing, the balances, the names and the moment.

    Derived facts are computed once, on first use. `is_listed`: from a history entry, which has no quote and so no
    estimated time. `incidents`: those of its route, the newest first. `late_after`: after how long one of its route is
    late, if known. `fragments`: what pages drew from it.
    """

    facts: Facts
    now: datetime
    names: Names = NO_NAMES
    balances: Balances = UNCHECKED
    is_listed: bool = False
    contacts: Contacts = NO_CONTACTS
    incidents: tuple[IncidentFacts, ...] = ()
    late_after: timedelta | None = None
    fragments: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)
    _derived: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        intent: Intent | None,
        receipt: IntentReceipt | None,
        *,
        now: datetime,
        names: Names = NO_NAMES,
        balances: Balances = UNCHECKED,
        unread: bool = False,
    ) -> Self:
        """Create a situation. Either object may be missing. `unread`: the receipt couldn't be loaded, so there may
        be one.
        """
        return cls(Facts.of(intent, receipt, unread=unread, now=now), now, names, balances)

    @classmethod
    def of_entry(
        cls, entry: IntentHistory, *, now: datetime, names: Names = NO_NAMES, balances: Balances | None = None
    ) -> Self:
        """Create a situation from a history entry, which has a receipt but no quote. `balances` None: use the
        entry's.
        """
        known = Balances.of_entry(entry, checked_at=now) if balances is None else balances
        return cls(Facts.of(intent_in(entry), entry.receipt, now=now), now, names, known, is_listed=True)

    def without_balances(self) -> "Situation":
        """Return the same transfer with unchecked balances."""
        return replace(self, balances=UNCHECKED)

    def at(self, now: datetime, balances: Balances) -> "Situation":
        """Return the same transfer at this moment with these balances."""
        return replace(self, now=now, balances=balances)

    @property
    def intent(self) -> Intent:
        return self.facts.intent

    @property
    def receipt(self) -> IntentReceipt | None:
        """Return the receipt, None if there is none or it couldn't be loaded."""
        return None if self.facts.is_missing or self.facts.is_unread else self.facts.receipt

    # Balances

    @property
    def has_balance(self) -> bool | None:
        """Return whether funds are left at the intent addresses, None if unknown."""
        return self.balances.has_balance

    @cached_property
    def holdings(self) -> tuple[Holding, ...]:
        """Return the balances of the intent addresses, most valuable first."""
        return holdings(self.balances.groups, self.facts)

    @property
    def held_at(self) -> Place:
        """Return where the balance is, or most of it."""
        return self.holdings[0].at if self.has_balance and self.holdings else Place.UNKNOWN

    @cached_property
    def payment(self) -> Payment:
        """Return the expected and the received deposit."""
        is_unknown = self.has_balance is None or (self.has_balance and not self.holdings)
        return Payment.of(self.facts, None if is_unknown else self.balances.groups)

    @property
    def holds_the_delivery(self) -> bool:
        """Return whether an address on the destination side holds about the amount to deliver."""
        awaited = self.facts.received if self.facts.received.value is not None else self.facts.expected
        return any(_is_most_of(awaited, money) for held in self.holdings for money in held.sums)

    # Progress

    @property
    def offer(self) -> CommitOffer | None:
        """Return the offer if the quote is valid and unused; None also if the receipt, which would tell, is unread."""
        facts = self.facts
        if facts.status != IntentStatus.QUOTED or facts.is_unread or facts.is_under_way or self.is_expired:
            return None
        return CommitOffer(facts.expires_at, timing.execute_until(facts.intent, now=self.now))

    @cached_property
    def by_steps(self) -> Place:
        """Return how far the funds are by the steps alone."""
        return locations.last_confirmed(self.facts)

    @property
    def reached(self) -> Place:
        """Return how far the funds are. Balances can be ahead of the steps."""
        return self.held_at if locations.is_further(self.held_at, self.by_steps) else self.by_steps

    @property
    def paid(self) -> bool:
        """Return whether there is evidence of a deposit."""
        steps = self.facts.steps
        return steps.deposit is StepStatus.DONE or (steps.is_deposit_made and steps.deposit not in DEAD)

    @property
    def was_not_counted(self) -> bool:
        """Return whether a watched deposit "FAILED": it was late, too small or never sent, but not reverted."""
        return self.facts.steps.deposit is StepStatus.REJECTED and not self.facts.steps.is_deposit_made

    @property
    def refund_reached_the_owner(self) -> bool:
        """Return whether the refund is plausible: to the owner, on one of the transfer's chains."""
        refund, facts = self.facts.refund, self.facts
        if refund is None or facts.returning is not StepStatus.DONE or refund.to_address is None or facts.owner is None:
            return False
        on_a_known_chain = refund.chain_id in {facts.origin_chain_id, facts.destination_chain_id} - {None}
        return on_a_known_chain and refund.to_address.lower() == facts.owner.lower()

    # Time

    @property
    def is_expired(self) -> bool:
        return self.facts.is_expired(now=self.now)

    @property
    def is_over(self) -> bool:
        """Return whether no further step toward the recipient is expected."""
        return self.facts.is_over(now=self.now)

    @property
    def outcome(self) -> Outcome:
        """Return what became of the transfer, by its status and steps."""
        facts = self.facts
        return outcome_of(
            Evidence(
                status=facts.status,
                steps=facts.steps,
                has_receipt=not facts.is_missing,
                is_same_chain=facts.is_same_chain,
                is_refund_plausible=self.refund_reached_the_owner,
                is_expired=self.is_expired,
            )
        )

    @cached_property
    def incident(self) -> IncidentFacts | None:
        """Return the incident that the transfer is a part of: it is open with its deposit, or ended undelivered while
        its route was worse than usual.
        """
        outcome = self.outcome if self.incidents else Outcome.DELIVERED
        if outcome in (Outcome.DELIVERED, Outcome.NO_DEPOSIT) or (
            outcome is Outcome.OPEN and not self.facts.has_arrived
        ):
            return None
        at = self.now if outcome is Outcome.OPEN else self.facts.last_change
        return next((each for each in self.incidents if each.covers(at)), None)

    @property
    def is_return_overdue(self) -> bool:
        return timing.has_come(timing.return_overdue_at(self.facts), now=self.now)

    @property
    def is_stalled(self) -> bool:
        return timing.has_come(timing.stalled_at(self.facts), now=self.now)

    @property
    def late_at(self) -> datetime | None:
        """Return when it takes longer than usual on its route. If that isn't known, it is when it takes longer than
        estimated or, in a list, which has no estimates, when it makes no progress. None before it started.
        """
        if self.late_after is not None:
            return times.after(self.facts.started_at or self.facts.quoted_at, self.late_after)
        return timing.stalled_at(self.facts) if self.is_listed else timing.late_at(self.facts)

    @property
    def is_late(self) -> bool:
        facts = self.facts
        is_ended = facts.is_delivered or facts.returning is StepStatus.DONE
        is_under_way = statuses.is_open(facts.status) and facts.has_arrived and not is_ended
        return is_under_way and timing.has_come(self.late_at, now=self.now)

    @property
    def may_change(self) -> bool:
        """Return whether the transfer can still change, so that its page stays live."""
        facts = self.facts
        if facts.status in STOPPED:
            return facts.last_change is None or not timing.has_come(timing.settled_at(facts), now=self.now)
        return statuses.is_open(facts.status) and (facts.has_moved or not self.is_expired)


def derived[T](make: Callable[[Situation], T]) -> Callable[[Situation], T]:
    """Compute something once per situation, however many surfaces need it."""

    @wraps(make)
    def of(situation: Situation) -> T:
        known = situation._derived
        try:
            made: T = known[make]
        except KeyError:
            made = known[make] = make(situation)
        return made

    return of


def intent_in(entry: IntentHistory) -> Intent:
    """Return the intent of a history entry, without its receipt."""
    fields = ("intent_id", "status", "created_at", "updated_at", "expires_at")
    return Intent(**{name: getattr(entry, name) for name in fields})


def _is_most_of(whole: Money, part: Money) -> bool:
    """Return whether it is at least half of the amount, in the same token, so not a remainder. If the amount is
    unknown, any part counts.
    """
    if not token_amounts.is_same_token(whole, part) or part.value is None:
        return False
    return whole.value is None or 2 * part.value >= whole.value
