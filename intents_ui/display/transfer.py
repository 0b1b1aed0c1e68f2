"""A transfer at a glance: what goes in and what comes out, between whom, over which providers.

The same for a row of a list (a history entry or a search hit) and for the head of an intent's page.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from intents_ui.display import amounts, names, patience, providers, statuses, text, times, tokens, trust
from intents_ui.display.facts import Facts, Money
from intents_ui.display.identity import Identity, identity
from intents_ui.display.legs import Leg
from intents_ui.display.names import Names
from intents_ui.service.wire import Intent, IntentHistory, IntentReceipt, IntentStatus

TRADES = {"EXACT_INPUT": "Exact input", "EXACT_OUTPUT": "Exact output"}


@dataclass(frozen=True)
class Side:
    """One end of a transfer. `note` says what an amount is that was not seen to arrive: expected, or as quoted."""

    amount: amounts.Amount
    token: Identity
    usd: Decimal | None = None
    note: str = ""

    @property
    def symbol(self) -> str:
        return self.token.symbol

    @property
    def chain(self) -> str:
        return self.token.chain

    @property
    def chain_id(self) -> int | None:
        return self.token.chain_id

    @property
    def token_address(self) -> str | None:
        return self.token.address


@dataclass(frozen=True)
class Clock:
    """How long a transfer took, or takes: `since` while it runs. `said` is what there is to say of it in a row."""

    said: str
    since: datetime | None = None
    estimate: str = ""


@dataclass(frozen=True)
class Transfer:
    """`returned`: what came back to the owner, where that is known; `destiny`: to whom, unless to a `recipient`.

    `recoverable`: the balance at its addresses for the owner to take; nothing where nobody looked. `recoverable_in`:
    its token, where it is one."""

    intent_id: str
    status: statuses.Shown
    created_at: datetime | None
    sent: Side
    received: Side
    owner: str | None
    recipient: str | None
    to_owner: bool
    providers: tuple[str, ...]
    trade: str
    clock: Clock
    destiny: str = ""
    returned: Side | None = None
    recoverable: str = ""
    recoverable_in: Identity | None = None

    @property
    def sends_nothing(self) -> bool:
        """It costs nobody anything to put an address into somebody's list so, for him to copy the wrong one."""
        return self.sent.amount.base_units == "0" and self.received.amount.base_units in ("0", "")


def of_entry(entry: IntentHistory, *, using: Names, now: datetime) -> Transfer:
    """From a history entry, which holds a receipt and no intent (interface.md 2.13)."""
    found = of_intent(intent_in(entry), entry.receipt, using=using, now=now)
    words, token = _recoverable(entry, using=using)
    return replace(found, recoverable=words, recoverable_in=token)


def intent_in(entry: IntentHistory) -> Intent:
    """What a history entry says of its intent, apart from the receipt."""
    return Intent(
        intent_id=entry.intent_id,
        status=entry.status,
        created_at=entry.created_at,
        updated_at=entry.updated_at,
        expires_at=entry.expires_at,
    )


def of_intent(
    intent: Intent, receipt: IntentReceipt | None, *, using: Names, now: datetime, unread: bool = False
) -> Transfer:
    """`unread`: a receipt of None could not be read, so that an offer is not known to be unused."""
    facts = Facts.of(intent, receipt, unread=unread)
    return Transfer(
        intent_id=intent.intent_id,
        status=facts.shown_status(now=now),
        created_at=facts.quoted_at,
        sent=side(facts.sent, usd=facts.quote.from_amount_usd, using=using),
        received=_received(facts, using=using, now=now),
        owner=facts.owner,
        recipient=facts.recipient,
        to_owner=not facts.pays_somebody_else,
        providers=providers.labels(facts.providers),
        trade=_trade(facts.summary.trade_type or facts.request.trade_type),
        clock=_clock(facts, now=now),
        destiny=_destiny(facts, using=using),
        returned=side(facts.refunded, usd=None, using=using) if _has_returned(facts) else None,
    )


def _recoverable(entry: IntentHistory, *, using: Names) -> tuple[str, Identity | None]:
    """`79.71 USDC recoverable`, `3 recoverable balances`; `recoverable balance` where nobody says how much."""
    held = [
        tokens.held(token, inside=group) for group in entry.balances for token in group.tokens if token.balance != 0
    ]
    known = [money for money in held if money.value is not None]
    if not (bool(known) if entry.has_balance is None else entry.has_balance):
        return "", None
    if not known:
        return "recoverable balance", None
    if len(held) > 1:
        return f"{len(held)} recoverable balances", None
    only = side(known[0], usd=None, using=using)
    return f"{only.amount.figure} recoverable", only.token


def _clock(facts: Facts, *, now: datetime) -> Clock:
    """From the start of its execution to its end, or to now."""
    if facts.started_at is None:
        return Clock("never paid" if facts.is_expired(now=now) else "")
    if not statuses.is_open(facts.status):
        return Clock(_length(facts.started_at, _end(facts)))
    estimate = patience.given_estimate(facts)
    said = _length(facts.started_at, now)
    return Clock(said, facts.started_at if said else None, times.clock(estimate) if estimate else "")


def _length(start: datetime, end: datetime | None) -> str:
    """Nothing where clocks disagree."""
    return times.clock(end - start) if end and end >= start else ""


def _end(facts: Facts) -> datetime | None:
    steps = [step for step in (facts.deposit, facts.origin, facts.destination, facts.refund) if step]
    ends = [at for step in steps if (at := step.txn_mined_at or step.updated_at)]
    return facts.finished_at or max(ends, default=None)


def _has_returned(facts: Facts) -> bool:
    return _came_back(facts) and facts.refunded.value is not None and facts.returning is Leg.DONE


def _came_back(facts: Facts) -> bool:
    is_sent_back = facts.returning is Leg.DONE and facts.status != IntentStatus.SUCCEEDED
    return is_sent_back or facts.status == IntentStatus.REFUNDED


def _destiny(facts: Facts, *, using: Names) -> str:
    if _came_back(facts):
        chain_id = facts.refunded.chain_id
        return f"back on {names.chain(chain_id, info=using.chain(chain_id))}" if chain_id else "back to the owner"
    return "to the owner" if facts.owner and not facts.pays_somebody_else else ""


def _received(facts: Facts, *, using: Names, now: datetime) -> Side:
    """What was delivered once that is known, until then what was quoted."""
    usd = facts.quote.to_amount_usd
    if facts.is_delivered and facts.received.value is not None:
        return side(facts.received, usd=usd, using=using)
    return side(facts.expected, usd=usd, note=_note(facts, now=now), using=using)


def _note(facts: Facts, *, now: datetime) -> str:
    if facts.expected.value is None:
        return ""
    return "expected" if statuses.is_open(facts.status) and not facts.is_expired(now=now) else "as quoted"


def side(money: Money, *, usd: Decimal | None, using: Names, note: str = "") -> Side:
    """An amount as lists show it. `usd` is whoever's word there is for its value."""
    token = identity(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    return Side(_amount(money, token), token, usd=usd, note=note)


def _amount(money: Money, token: Identity) -> amounts.Amount:
    """As `tokens.amount` has it, from what is known of the token already."""
    decimals = money.decimals if token.decimals is None else token.decimals
    symbol = None if token.symbol == text.UNKNOWN else text.bare(token.symbol)
    found = amounts.amount(money.value, decimals=decimals, symbol=symbol)
    warning = trust.said(token.marks, token.address)
    return replace(found, warning=warning) if warning else found


def _trade(trade_type: str | None) -> str:
    if trade_type is None:
        return text.UNKNOWN
    return TRADES.get(trade_type) or text.name(trade_type).shown
