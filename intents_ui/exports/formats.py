"""Rows and file formats of exports, exact, for programs and spreadsheets.

A row has every value of a transfer under its name. Missing values are None, never 0 or a dash. Text is as received,
times are UTC. Amounts are text, with base units and decimals in separate columns. Without decimals there is no amount.

Each file is valid however the export ended, and says at its end whether it is complete. CSV (RFC 4180) is UTF-8 without
a byte order mark, because many programs would read the mark as part of the first column's name. Spreadsheets let the
user choose the encoding on import.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from django.urls import reverse

from intents_ui.formatting import amounts, hashes, text, times
from intents_ui.formatting.text import bare
from intents_ui.service.models import IntentTransaction
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers import summary
from intents_ui.transfers.transfer import Transfer

type Value = str | int | bool | None
type ExportRow = dict[str, Value]
type Column = tuple[str, Callable[[Transfer], Value]]

SEPARATOR = "; "


def row(transfer: Transfer, *, root: str) -> ExportRow:
    """Return the columns of a transfer by name, in their order. `root` is the absolute URL of the dashboard."""
    url = f"{root}{reverse('intent', args=[transfer.intent.intent_id])}"
    return {name: value(transfer) for name, value in TRANSFER_COLUMNS} | {"url": url}


def _chain(money: Money) -> str | None:
    chain = money.names.chain(money.chain_id)
    return chain.name if chain and chain.name else names.WELL_KNOWN.get(money.chain_id or 0)


def _amount(money: Money) -> str | None:
    value, decimals = money.value, money.token.decimals
    return None if value is None or decimals is None else amounts.plain(value, decimals=decimals)


MONEY_COLUMNS: tuple[tuple[str, Callable[[Money], Value]], ...] = (
    ("chain_id", lambda money: money.chain_id),
    ("chain", _chain),
    ("token", lambda money: money.token_address),
    ("symbol", lambda money: money.symbol),
    ("warnings", lambda money: SEPARATOR.join(bare(mark.word) for mark in money.token.marks) or None),
    ("decimals", lambda money: money.token.decimals),
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
        for money in (transfer.balance_of(token, inside=group) for token in group.tokens):
            if money.value:
                amount = _amount(money) or f"{money.value} base units of"
                warning = bare(token_amounts.warning_words(money.token.marks))
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

# Larger numbers are strings, because many JSON parsers would round them.
LARGEST_NUMBER = 2**53 - 1


class Csv:
    """A header line, a line for each intent, and a last line that begins with `#`.

    As each format, it is what `begin`, any number of `rows` and `end` return. `previous` is the number of rows before
    these, `why` the reason if the file is incomplete.
    """

    content_type = "text/csv; charset=utf-8"

    def begin(self, head: Mapping[str, object]) -> str:
        return text.csv_line(COLUMNS)

    def rows(self, rows: Sequence[ExportRow], previous: int) -> str:
        return "".join(text.csv_line(map(_cell, row.values())) for row in rows)

    def end(self, rows: int, why: str) -> str:
        counted = f"{rows} {'row' if rows == 1 else 'rows'}"
        return text.csv_line([f"# truncated after {counted}: {why}" if why else f"# complete: {counted}"])


class NdJson:
    """A line for each intent, and a last line with the end."""

    content_type = "application/x-ndjson; charset=utf-8"

    def begin(self, head: Mapping[str, object]) -> str:
        return ""

    def rows(self, rows: Sequence[ExportRow], previous: int) -> str:
        return "".join(f"{_json(_exact(row))}\n" for row in rows)

    def end(self, rows: int, why: str) -> str:
        return f"{_json({'end': _end_fields(rows, why)})}\n"


class Json:
    """One document, which is valid even if the export was truncated."""

    content_type = "application/json; charset=utf-8"

    def begin(self, head: Mapping[str, object]) -> str:
        return f'{_json(head)[:-1]}, "intents": ['

    def rows(self, rows: Sequence[ExportRow], previous: int) -> str:
        written = ",\n".join(_json(_exact(row)) for row in rows)
        return f"{',' if previous and rows else ''}\n{written}" if rows else ""

    def end(self, rows: int, why: str) -> str:
        return f'\n], "end": {_json(_end_fields(rows, why))}}}\n'


type Format = Csv | Json | NdJson

FORMATS: Mapping[str, Format] = {"csv": Csv(), "json": Json(), "ndjson": NdJson()}


def _cell(value: Value) -> str:
    return text.csv_cell("" if value is None else _json(value) if isinstance(value, bool) else str(value))


def _exact(row: ExportRow) -> ExportRow:
    return {name: str(each) if isinstance(each, int) and each > LARGEST_NUMBER else each for name, each in row.items()}


def _end_fields(rows: int, why: str) -> ExportRow:
    return {"state": "truncated" if why else "complete", "why": why or None, "rows": rows}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
