"""Export rows: every column of a transfer under its name, exact, for programs and spreadsheets.

Missing values are None, never 0 or a dash. Amounts are text, with base units and decimals in separate columns. Also
the progress of an export.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum

from intents_ui.display.formatting import amounts, hashes, times
from intents_ui.display.formatting.text import bare
from intents_ui.display.summary import glance, summary
from intents_ui.display.tokens import names, token_amounts, warnings
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.tokens.warnings import Mark
from intents_ui.display.transfers.situation import Situation
from intents_ui.display.transfers.statuses import Tone
from intents_ui.service.models import BalanceGroup, IntentTransaction


@dataclass(frozen=True, slots=True)
class ExportRow:
    """The columns in order. Text is as received, times are UTC. Without decimals there is no amount."""

    intent_id: str
    status: str | None
    headline: str
    location: str
    location_amount: str | None
    next_step: str
    certainty: str
    attention: str
    cause: str | None
    outcome: str | None
    created_at: str | None
    updated_at: str | None
    started_at: str | None
    finished_at: str | None
    expires_at: str | None
    owner: str | None
    recipient: str | None
    origin_chain_id: int | None
    origin_chain: str | None
    origin_token: str | None
    origin_symbol: str | None
    origin_warnings: str | None
    origin_decimals: int | None
    origin_base_units: str | None
    origin_amount: str | None
    origin_note: str | None
    destination_chain_id: int | None
    destination_chain: str | None
    destination_token: str | None
    destination_symbol: str | None
    destination_warnings: str | None
    destination_decimals: int | None
    destination_base_units: str | None
    destination_amount: str | None
    providers: str | None
    trade_type: str | None
    deposit_hash: str | None
    origin_hash: str | None
    destination_hash: str | None
    refund_hash: str | None
    refund_chain_id: int | None
    refund_base_units: str | None
    reason: str | None
    memo: str | None
    has_balance: bool | None
    balances: str | None
    url: str


COLUMNS = tuple(field.name for field in fields(ExportRow))
SEPARATOR = "; "


def of(situation: Situation, *, url: str) -> ExportRow:
    """Return the row of a transfer. Destination values come from the receipt or from an exact output."""
    facts, using, result = situation.facts, situation.names, summary.of(situation)
    sent, received = _Side.of(facts.sent, using=using), _Side.of(facts.received, using=using)
    return ExportRow(
        intent_id=facts.intent.intent_id,
        status=facts.status,
        headline=bare(result.headline),
        location=bare(result.location),
        location_amount=bare(result.amount) or None,
        next_step=bare(result.next_step),
        certainty=result.certainty.value,
        attention=result.attention.value,
        cause=result.cause.value or None,
        outcome=None if facts.is_unread else situation.outcome.value,
        created_at=times.iso(facts.quoted_at) or None,
        updated_at=times.iso(facts.updated_at) or None,
        started_at=times.iso(facts.started_at) or None,
        finished_at=times.iso(facts.finished_at) or None,
        expires_at=times.iso(facts.expires_at) or None,
        owner=facts.owner,
        recipient=facts.recipient,
        origin_chain_id=sent.chain_id,
        origin_chain=sent.chain,
        origin_token=sent.token,
        origin_symbol=sent.symbol,
        origin_warnings=sent.warnings,
        origin_decimals=sent.decimals,
        origin_base_units=sent.base_units,
        origin_amount=sent.amount,
        origin_note=glance.sent_note(situation) or None,
        destination_chain_id=received.chain_id,
        destination_chain=received.chain,
        destination_token=received.token,
        destination_symbol=received.symbol,
        destination_warnings=received.warnings,
        destination_decimals=received.decimals,
        destination_base_units=received.base_units,
        destination_amount=received.amount,
        providers=SEPARATOR.join(facts.providers) or None,
        trade_type=facts.summary.trade_type or facts.request.trade_type,
        deposit_hash=_hash(facts.deposit),
        origin_hash=_hash(facts.origin),
        destination_hash=_hash(facts.destination),
        refund_hash=_hash(facts.refund),
        refund_chain_id=facts.refund.chain_id if facts.refund else None,
        refund_base_units=_digits(facts.refund.token_amount if facts.refund else None),
        reason=facts.failure_reason,
        memo=facts.summary.memo,
        has_balance=situation.has_balance,
        balances=SEPARATOR.join(_held(situation.balances.groups, using=using)) or None,
        url=url,
    )


@dataclass(frozen=True, slots=True)
class _Side:
    chain_id: int | None
    chain: str | None
    token: str | None
    symbol: str | None
    marks: tuple[Mark, ...]
    decimals: int | None
    base_units: str | None
    amount: str | None

    @classmethod
    def of(cls, money: Money, *, using: Names) -> "_Side":
        chain = using.chain(money.chain_id)
        decimals = token_amounts.decimals(money, using=using)
        return cls(
            chain_id=money.chain_id,
            chain=chain.name if chain and chain.name else names.WELL_KNOWN.get(money.chain_id or 0),
            token=money.token_address,
            symbol=token_amounts.symbol_of(money.chain_id, money.token_address, metadata=money.metadata, using=using),
            marks=token_amounts.marks(money, using=using),
            decimals=decimals,
            base_units=_digits(money.value),
            amount=_amount(money.value, decimals),
        )

    @property
    def warnings(self) -> str | None:
        return SEPARATOR.join(bare(mark.word) for mark in self.marks) or None


def _digits(value: int | None) -> str | None:
    return None if value is None else str(value)


def _amount(value: int | None, decimals: int | None) -> str | None:
    return None if value is None or decimals is None else amounts.plain(value, decimals=decimals)


def _hash(transaction: IntentTransaction | None) -> str | None:
    """Return the transaction's hash. A placeholder identifies no transaction."""
    txn_hash = transaction.txn_hash if transaction else None
    return None if hashes.is_placeholder(txn_hash) else txn_hash


def _held(groups: Sequence[BalanceGroup], *, using: Names) -> list[str]:
    """Return `79.71 USDC on Base`, in base units if decimals are unknown, followed by the token's warning."""
    return [
        _holding(_Side.of(token_amounts.held(token, inside=group), using=using))
        for group in groups
        for token in group.tokens
        if token.balance
    ]


def _holding(side: _Side) -> str:
    amount = side.amount or f"{side.base_units} base units of"
    warning = bare(warnings.words(side.marks))
    token = f"{side.symbol or side.token or 'a token'}{f' ({warning})' if warning else ''}"
    return f"{amount} {token} on {side.chain or f'chain {side.chain_id}'}"


class ExportState(StrEnum):
    STARTING = "starting"  # no progress reported yet
    RUNNING = "running"
    STOPPING = "stopping"  # requested by the user, not yet in effect
    COMPLETE = "complete"
    TRUNCATED = "truncated"
    STOPPED = "stopped"
    LEFT = "left"  # the browser canceled the download
    NOT_BEGUN = "not begun"  # no progress for so long that polling stopped


UNDER_WAY = (ExportState.STARTING, ExportState.RUNNING, ExportState.STOPPING)


@dataclass(frozen=True)
class ExportStatus:
    """State of an export. `why`: the reason it's incomplete."""

    state: ExportState
    rows: int = 0
    why: str = ""

    @property
    def is_known(self) -> bool:
        return self.state not in (ExportState.STARTING, ExportState.NOT_BEGUN)

    @property
    def is_over(self) -> bool:
        return self.state not in UNDER_WAY

    @property
    def can_be_stopped(self) -> bool:
        return self.state in (ExportState.STARTING, ExportState.RUNNING)

    @property
    def icon(self) -> str:
        match self.state:
            case ExportState.STARTING | ExportState.RUNNING | ExportState.STOPPING:
                return "loader-circle"
            case ExportState.COMPLETE:
                return "check"
            case _:
                return "triangle-alert"

    @property
    def sentence(self) -> str:
        match self.state:
            case ExportState.STARTING:
                return "Starting"
            case ExportState.RUNNING:
                return f"{self.counted} so far"
            case ExportState.STOPPING:
                return f"Stopping after {self.counted}"
            case ExportState.COMPLETE:
                return f"Complete: {self.counted}"
            case ExportState.STOPPED:
                return f"Stopped after {self.counted}"
            case ExportState.LEFT:
                return f"Canceled by the browser after {self.counted}"
            case ExportState.TRUNCATED:
                return f"Incomplete: stopped after {self.counted} ({self.why})"
            case ExportState.NOT_BEGUN:
                return "Not started"

    @property
    def counted(self) -> str:
        return f"{self.rows:,} {'row' if self.rows == 1 else 'rows'}"

    @property
    def tone(self) -> Tone:
        match self.state:
            case ExportState.STARTING | ExportState.RUNNING | ExportState.STOPPING:
                return Tone.PROGRESS
            case ExportState.COMPLETE:
                return Tone.GOOD
            case _:
                return Tone.ATTENTION
