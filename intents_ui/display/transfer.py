"""A transfer at a glance: what goes in and what comes out, between whom, over which providers.

The same for a row of a list (a history entry or a search hit) and for the head of an intent's page.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from intents_ui.display import amounts, names, providers, statuses, text, tokens
from intents_ui.display.facts import Facts, Money
from intents_ui.display.names import Names
from intents_ui.service.wire import Intent, IntentHistory, IntentReceipt

TRADES = {"EXACT_INPUT": "Exact input", "EXACT_OUTPUT": "Exact output"}


@dataclass(frozen=True)
class Side:
    """One end of a transfer. `note` says what an amount is that was not seen to arrive: expected, or as quoted.

    `listed` False: a token that is not among those known of its chain, whatever it calls itself; None: nobody knows."""

    amount: amounts.Amount
    symbol: str
    chain: str
    chain_id: int | None
    token_address: str | None
    usd: Decimal | None = None
    note: str = ""
    listed: bool | None = None

    @property
    def monogram(self) -> str:
        """Up to three characters that stand for a token without a picture."""
        return "" if self.symbol == text.UNKNOWN else self.symbol[:3]

    @property
    def hue(self) -> int:
        """One of eight colours, always the same for the same symbol."""
        return sum(map(ord, self.symbol)) % 8


@dataclass(frozen=True)
class Transfer:
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


def of_entry(entry: IntentHistory, *, using: Names, now: datetime) -> Transfer:
    """From a history entry, which holds a receipt and no intent (interface.md 2.13)."""
    return of_intent(intent_in(entry), entry.receipt, using=using, now=now)


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
    )


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
    symbol = tokens.symbol_of(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    return Side(
        amount=tokens.amount(money, using=using),
        symbol=text.symbol(symbol).shown,
        chain=names.chain(money.chain_id, info=using.chain(money.chain_id)),
        chain_id=money.chain_id,
        token_address=money.token_address,
        usd=usd,
        note=note,
        listed=using.lists(money.chain_id, money.token_address),
    )


def _trade(trade_type: str | None) -> str:
    if trade_type is None:
        return text.UNKNOWN
    return TRADES.get(trade_type) or text.name(trade_type).shown
