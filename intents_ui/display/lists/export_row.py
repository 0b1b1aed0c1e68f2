"""Columns of exports: every value of a transfer under its name, exact, for programs and spreadsheets.

Missing values are None, never 0 or a dash. Text is as received, times are UTC. Amounts are text, with base units and
decimals in separate columns. Without decimals there is no amount.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from intents_ui.display.formatting import amounts, hashes, times
from intents_ui.display.formatting.text import bare
from intents_ui.display.summary import summary
from intents_ui.display.tokens import names, token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.transfer import Transfer
from intents_ui.service.models import IntentTransaction

type Value = str | int | bool | None
type ExportRow = dict[str, Value]
type Column = tuple[str, Callable[[Transfer], Value]]

SEPARATOR = "; "


def of(transfer: Transfer, *, url: str) -> ExportRow:
    """Return the columns of a transfer by name, in their order."""
    return {name: value(transfer) for name, value in TRANSFER_COLUMNS} | {"url": url}


def _chain(money: Money) -> str | None:
    chain = money.names.chain(money.chain_id)
    return chain.name if chain and chain.name else names.WELL_KNOWN.get(money.chain_id or 0)


def _amount(money: Money) -> str | None:
    value, decimals = money.value, money.decimals
    return None if value is None or decimals is None else amounts.plain(value, decimals=decimals)


MONEY_COLUMNS: tuple[tuple[str, Callable[[Money], Value]], ...] = (
    ("chain_id", lambda money: money.chain_id),
    ("chain", _chain),
    ("token", lambda money: money.token_address),
    ("symbol", lambda money: money.symbol),
    ("warnings", lambda money: SEPARATOR.join(bare(mark.word) for mark in money.marks) or None),
    ("decimals", lambda money: money.decimals),
    ("base_units", lambda money: None if money.value is None else str(money.value)),
    ("amount", _amount),
)


def _money(prefix: str, money: Callable[[Transfer], Money]) -> Iterator[Column]:
    def column(value: Callable[[Money], Value]) -> Callable[[Transfer], Value]:
        return lambda transfer: value(money(transfer))

    return ((f"{prefix}_{name}", column(value)) for name, value in MONEY_COLUMNS)


def _time(at: datetime | None) -> str | None:
    return times.iso(at) or None


def _hash(transaction: IntentTransaction | None) -> str | None:
    """Return the transaction's hash. A placeholder identifies no transaction."""
    txn_hash = transaction.txn_hash if transaction else None
    return None if hashes.is_placeholder(txn_hash) else txn_hash


def _balances(transfer: Transfer) -> str | None:
    """Return `79.71 USDC on Base; …`, in base units if decimals are unknown, each with the token's warning."""
    held = []
    for group in transfer.balances.groups:
        for money in (transfer.held(token, inside=group) for token in group.tokens):
            if money.value:
                amount = _amount(money) or f"{money.value} base units of"
                warning = bare(token_amounts.warning_words(money.marks))
                token = f"{money.symbol or money.token_address or 'a token'}{f' ({warning})' if warning else ''}"
                held.append(f"{amount} {token} on {_chain(money) or f'chain {money.chain_id}'}")
    return SEPARATOR.join(held) or None


# Destination values come from the receipt or from an exact output.
TRANSFER_COLUMNS: tuple[Column, ...] = (
    ("intent_id", lambda transfer: transfer.intent.intent_id),
    ("status", lambda transfer: transfer.status),
    ("headline", lambda transfer: bare(summary.of(transfer).headline)),
    ("location", lambda transfer: bare(summary.of(transfer).location)),
    ("location_amount", lambda transfer: bare(summary.of(transfer).amount) or None),
    ("next_step", lambda transfer: bare(summary.of(transfer).next_step)),
    ("certainty", lambda transfer: summary.of(transfer).certainty.value),
    ("attention", lambda transfer: summary.of(transfer).attention.value),
    ("cause", lambda transfer: summary.of(transfer).cause.value or None),
    ("outcome", lambda transfer: None if transfer.is_unread else transfer.outcome.value),
    ("created_at", lambda transfer: _time(transfer.quoted_at)),
    ("updated_at", lambda transfer: _time(transfer.updated_at)),
    ("started_at", lambda transfer: _time(transfer.started_at)),
    ("finished_at", lambda transfer: _time(transfer.finished_at)),
    ("expires_at", lambda transfer: _time(transfer.expires_at)),
    ("owner", lambda transfer: transfer.owner),
    ("recipient", lambda transfer: transfer.recipient),
    *_money("origin", lambda transfer: transfer.sent),
    ("origin_note", lambda transfer: summary.of(transfer).sent.note or None),
    *_money("destination", lambda transfer: transfer.received),
    ("providers", lambda transfer: SEPARATOR.join(transfer.providers) or None),
    ("trade_type", lambda transfer: transfer.summary.trade_type or transfer.request.trade_type),
    ("deposit_hash", lambda transfer: _hash(transfer.deposit)),
    ("origin_hash", lambda transfer: _hash(transfer.origin)),
    ("destination_hash", lambda transfer: _hash(transfer.destination)),
    ("refund_hash", lambda transfer: _hash(transfer.refund)),
    *_money("refund", lambda transfer: transfer.refunded),
    ("reason", lambda transfer: transfer.failure_reason),
    ("memo", lambda transfer: transfer.summary.memo),
    ("has_balance", lambda transfer: transfer.has_balance),
    ("balances", _balances),
)
COLUMNS = (*(name for name, _ in TRANSFER_COLUMNS), "url")
