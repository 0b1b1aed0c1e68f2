"""Summary of a transfer: amounts, addresses, providers and status.

Used for list rows (history entries, search hits) and for the top of a transfer's page.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from intents_ui.display.formatting import amounts, text, times
from intents_ui.display.summary import summary
from intents_ui.display.summary.rules import Certainty
from intents_ui.display.summary.summary import Summary
from intents_ui.display.tokens import providers
from intents_ui.display.tokens.providers import Provider
from intents_ui.display.tokens.token_amounts import Identity, Money
from intents_ui.display.transfers import statuses
from intents_ui.display.transfers.transfer import Transfer, derived
from intents_ui.service.models import IntentStatus
from intents_ui.service.outcome import StepStatus

# Labels of amounts that haven't been seen to move.
EXPECTED, QUOTED, TO_SEND, UNCONFIRMED = "expected", "quoted", "to send", "unconfirmed"
REFUNDED = "refunded"  # label of a refunded amount
TRADES = {"EXACT_INPUT": "Exact input", "EXACT_OUTPUT": "Exact output"}


@dataclass(frozen=True, slots=True)
class Side:
    """One end of a transfer. `usd`: its value from any source. `note` labels an amount that wasn't seen to move, such
    as expected or quoted.
    """

    money: Money
    usd: Decimal | None = None
    note: str = ""

    def __str__(self) -> str:
        """Return `99.85 USDC on Base (expected)`."""
        return f"{self.amount} on {self.chain}{f' ({self.note})' if self.note else ''}"

    @property
    def label(self) -> str:
        """Return the prefix of an unconfirmed amount, such as `Quoted:`, or ""."""
        return f"{self.note.capitalize()}:" if self.note else ""

    @property
    def has_moved(self) -> bool:
        """Return whether the amount was seen to move: sent, delivered or refunded."""
        return self.note in ("", REFUNDED)

    @property
    def amount(self) -> amounts.Amount:
        return self.money.amount

    @property
    def token(self) -> Identity:
        return self.money.token

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


@dataclass(frozen=True, slots=True)
class Clock:
    """Duration of a transfer. `since`: its start while it's open. `said`: the text for list rows."""

    said: str
    since: datetime | None = None
    estimate: str = ""
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class Glance:
    """A transfer. `returned`: the refunded amount, if known. `destiny`: who received it, if not the `recipient`.

    `recoverable`: the recoverable balance, "" if unknown. `recoverable_in`: its token, if there is only one."""

    intent_id: str
    status: statuses.StatusLabel
    summary: Summary
    created_at: datetime | None
    sent: Side
    received: Side
    owner: str | None
    recipient: str | None
    to_owner: bool
    providers: tuple[Provider, ...]
    trade: str
    clock: Clock
    reason: text.Text | None = None
    destiny: str = ""
    returned: Side | None = None
    recoverable: str = ""
    recoverable_in: Identity | None = None

    @property
    def origin_chain_id(self) -> int | None:
        """The chain of the route, on which a deposit may not have arrived."""
        return self.summary.transfer.origin_chain_id

    @property
    def outcome(self) -> Side:
        """The refunded amount, else the delivered or quoted one."""
        return replace(self.returned, note=REFUNDED) if self.returned else self.received

    @property
    def has_arrived(self) -> bool:
        """Return whether something was delivered, even if unconfirmed."""
        is_delivery = self.received.note in ("", UNCONFIRMED) and bool(self.received.amount.full)
        return is_delivery and self.returned is None

    @property
    def headline(self) -> str:
        """The headline for a row that also shows the status; "" if it repeats the status."""
        return "" if self.summary.is_the_status else self.summary.headline

    @property
    def sends_nothing(self) -> bool:
        """Return whether no funds move. Address poisoning uses such transfers to list a lookalike address."""
        return self.sent.amount.base_units == "0" and self.received.amount.base_units in ("0", "")


@derived
def of(transfer: Transfer) -> Glance:
    result = summary.of(transfer)
    words, token = _recoverable(transfer)
    trade = transfer.summary.trade_type or transfer.request.trade_type
    is_refund_known = transfer.refunded.value is not None and transfer.returning is StepStatus.DONE
    has_returned = is_refund_known and _came_back(transfer)
    return Glance(
        intent_id=transfer.intent.intent_id,
        status=result.status,
        summary=result,
        created_at=transfer.quoted_at,
        sent=Side(transfer.sent, transfer.quote.from_amount_usd, sent_note(transfer)),
        received=_received(transfer),
        owner=transfer.owner,
        recipient=transfer.recipient,
        to_owner=not transfer.pays_somebody_else,
        providers=tuple(map(providers.of, transfer.providers)),
        trade=(TRADES.get(trade) or text.name(trade).shown) if trade else text.UNKNOWN,
        clock=_clock(transfer),
        reason=reason(transfer),
        recoverable=words,
        recoverable_in=token,
        destiny=_destiny(transfer),
        returned=Side(transfer.refunded) if has_returned else None,
    )


def _recoverable(transfer: Transfer) -> tuple[str, Identity | None]:
    """Return `79.71 USDC recoverable` or `3 recoverable balances`, and the token if there is only one.

    Without amounts it is `recoverable balance`, and "" if the balances are unknown."""
    if not transfer.has_balance:
        return "", None
    groups = transfer.balances.groups
    held = [transfer.held(token, inside=group) for group in groups for token in group.tokens if token.balance != 0]
    known = [money for money in held if money.value is not None]
    if not known:
        return "recoverable balance", None
    if len(held) > 1:
        return f"{len(held)} recoverable balances", None
    return f"{known[0].amount.figure} recoverable", known[0].token


def _clock(transfer: Transfer) -> Clock:
    """Measure from the start of execution to the end, or to now."""
    now = transfer.now
    if transfer.started_at is None:
        return Clock("no deposit" if transfer.is_expired else "")
    if not transfer.is_open:
        steps = [step for step in (transfer.deposit, transfer.origin, transfer.destination, transfer.refund) if step]
        end = transfer.finished_at or max(filter(None, map(transfer.ended_at, steps)), default=None)
        return Clock(_length(end - transfer.started_at) if end else "")
    estimate = transfer.given_estimate
    said = _length(times.elapsed(transfer.started_at, now=now))
    since = transfer.started_at if said else None
    return Clock(said, since, times.clock(estimate) if estimate else "", is_late=transfer.is_late)


def _length(length: timedelta) -> str:
    """Return the duration; "" if it's negative (clock skew)."""
    return times.clock(length) if length >= timedelta() else ""


def _came_back(transfer: Transfer) -> bool:
    is_sent_back = transfer.returning is StepStatus.DONE and transfer.status != IntentStatus.SUCCEEDED
    return is_sent_back or transfer.status == IntentStatus.REFUNDED


def _destiny(transfer: Transfer) -> str:
    if _came_back(transfer):
        on = transfer.refunded.chain_id
        return f"refunded on {transfer.chain_name(on)}" if on else "refunded to the owner"
    return "to the owner" if transfer.owner and not transfer.pays_somebody_else else ""


def sent_note(transfer: Transfer) -> str:
    """Label an amount that isn't the confirmed deposit's own: it was only requested."""
    if transfer.sent.value is None or transfer.is_arrival_reported:
        return ""
    # A deposit on its way isn't to be sent again, although its amount isn't known yet.
    is_made = transfer.is_unread or transfer.has_arrived or transfer.paid or transfer.status == IntentStatus.SUCCEEDED
    return QUOTED if is_made or transfer.is_over else TO_SEND


def _received(transfer: Transfer) -> Side:
    """Return the delivered amount if known, else the quoted one."""
    usd = transfer.quote.to_amount_usd
    if transfer.is_delivered and transfer.received.value is not None:
        is_sure = summary.of(transfer).certainty is Certainty.CONFIRMED
        return Side(transfer.received, usd, "" if is_sure else UNCONFIRMED)
    is_ahead = transfer.is_open and not transfer.is_expired
    note = EXPECTED if is_ahead else QUOTED
    return Side(transfer.expected, usd, "" if transfer.expected.value is None else note)


@derived
def reason(transfer: Transfer) -> text.Text | None:
    """Return the reason of the failed refund, else of the first failed step, on one line."""
    found = transfer.failure_reason
    return text.reason(" ".join(found.split())) if found else None
