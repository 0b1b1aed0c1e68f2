"""Export rows: every column of a transfer under its name, exact, for programs and spreadsheets.

Missing values are None, never 0 or a dash. Amounts are text, with base units and decimals in separate columns. Also
the progress of an export.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from intents_ui.display.formatting import amounts, hashes, text, times
from intents_ui.display.formatting.text import bare
from intents_ui.display.summary import summary
from intents_ui.display.tokens import names, token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.statuses import Tone
from intents_ui.display.transfers.transfer import Transfer
from intents_ui.service.models import IntentTransaction

type ExportRow = dict[str, str | int | bool | None]

SEPARATOR = "; "


def of(transfer: Transfer, *, url: str) -> ExportRow:
    """Return the columns of a transfer by name, in their order.

    Text is as received, times are UTC. Without decimals there is no amount. Destination values come from the receipt or
    from an exact output.
    """
    result = summary.of(transfer)
    return {
        "intent_id": transfer.intent.intent_id,
        "status": transfer.status,
        "headline": bare(result.headline),
        "location": bare(result.location),
        "location_amount": bare(result.amount) or None,
        "next_step": bare(result.next_step),
        "certainty": result.certainty.value,
        "attention": result.attention.value,
        "cause": result.cause.value or None,
        "outcome": None if transfer.is_unread else transfer.outcome.value,
        "created_at": times.iso(transfer.quoted_at) or None,
        "updated_at": times.iso(transfer.updated_at) or None,
        "started_at": times.iso(transfer.started_at) or None,
        "finished_at": times.iso(transfer.finished_at) or None,
        "expires_at": times.iso(transfer.expires_at) or None,
        "owner": transfer.owner,
        "recipient": transfer.recipient,
        **{f"origin_{name}": value for name, value in _side(transfer.sent).items()},
        "origin_note": summary.of(transfer).sent.note or None,
        **{f"destination_{name}": value for name, value in _side(transfer.received).items()},
        "providers": SEPARATOR.join(transfer.providers) or None,
        "trade_type": transfer.summary.trade_type or transfer.request.trade_type,
        "deposit_hash": _hash(transfer.deposit),
        "origin_hash": _hash(transfer.origin),
        "destination_hash": _hash(transfer.destination),
        "refund_hash": _hash(transfer.refund),
        **{f"refund_{name}": value for name, value in _side(transfer.refunded).items()},
        "reason": transfer.failure_reason,
        "memo": transfer.summary.memo,
        "has_balance": transfer.has_balance,
        "balances": SEPARATOR.join(_held(transfer)) or None,
        "url": url,
    }


def _side(money: Money) -> ExportRow:
    chain, value, decimals = money.names.chain(money.chain_id), money.value, money.decimals
    return {
        "chain_id": money.chain_id,
        "chain": chain.name if chain and chain.name else names.WELL_KNOWN.get(money.chain_id or 0),
        "token": money.token_address,
        "symbol": money.symbol,
        "warnings": SEPARATOR.join(bare(mark.word) for mark in money.marks) or None,
        "decimals": decimals,
        "base_units": _digits(value),
        "amount": None if value is None or decimals is None else amounts.plain(value, decimals=decimals),
    }


def _digits(value: int | None) -> str | None:
    return None if value is None else str(value)


def _hash(transaction: IntentTransaction | None) -> str | None:
    """Return the transaction's hash. A placeholder identifies no transaction."""
    txn_hash = transaction.txn_hash if transaction else None
    return None if hashes.is_placeholder(txn_hash) else txn_hash


def _held(transfer: Transfer) -> Iterator[str]:
    """Yield `79.71 USDC on Base`, in base units if decimals are unknown, followed by the token's warning."""
    groups = transfer.balances.groups
    for money in (transfer.held(token, inside=group) for group in groups for token in group.tokens):
        if money.value:
            side, warning = _side(money), bare(token_amounts.warning_words(money.marks))
            amount = side["amount"] or f"{money.value} base units of"
            token = f"{side['symbol'] or money.token_address or 'a token'}{f' ({warning})' if warning else ''}"
            yield f"{amount} {token} on {side['chain'] or f'chain {money.chain_id}'}"


COLUMNS = tuple(of(Transfer.of(None, None, now=datetime.max.replace(tzinfo=UTC)), url=""))


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
SENTENCES = {
    ExportState.STARTING: "Starting",
    ExportState.RUNNING: "{rows} so far",
    ExportState.STOPPING: "Stopping after {rows}",
    ExportState.COMPLETE: "Complete: {rows}",
    ExportState.STOPPED: "Stopped after {rows}",
    ExportState.LEFT: "Canceled by the browser after {rows}",
    ExportState.TRUNCATED: "Incomplete: stopped after {rows} ({why})",
    ExportState.NOT_BEGUN: "Not started",
}
ICONS = {Tone.PROGRESS: "loader-circle", Tone.GOOD: "check", Tone.ATTENTION: "triangle-alert"}


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
    def tone(self) -> Tone:
        if not self.is_over:
            return Tone.PROGRESS
        return Tone.GOOD if self.state is ExportState.COMPLETE else Tone.ATTENTION

    @property
    def icon(self) -> str:
        return ICONS[self.tone]

    @property
    def sentence(self) -> str:
        return SENTENCES[self.state].format(rows=text.counted(self.rows, "row"), why=self.why)
