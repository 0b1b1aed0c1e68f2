"""A transfer as the mirror stores it, from an entry of the history."""

import math
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from types import SimpleNamespace
from typing import NamedTuple

from intents_ui.service import models
from intents_ui.service.outcome import Evidence, StepStates, StepStatus, execute_by, failure, outcome_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
HASH, ADDRESS = 32, 20  # bytes
LONGEST_TEXT, LONGEST_MEMO = 200, 60  # characters of a column
ENDS = 6  # hex digits at the start and at the end of a value, by which a shortened one is found
DEPOSIT = 0  # the first step, which is the owner's
SIZES = 1000  # by which the natural logarithm of an amount is multiplied: a size is 0.1% of it
NO_HASHES = dict.fromkeys(("deposit_hash", "origin_hash", "destination_hash", "refund_hash"))
NO_RECEIPT = models.IntentReceipt(intent_id="none")
NO_SUMMARY, NO_TRANSACTION = models.IntentReceiptSummary(), models.IntentTransaction()


class TokenKey(NamedTuple):
    chain: str
    address: str
    symbol: str


class RouteKey(NamedTuple):
    providers: str
    origin_chain: str
    destination_chain: str


class Entry(SimpleNamespace):
    """The columns of a transfer (`models.Transfer`), with the keys of its route and tokens, and its own reason.

    `fingerprint` is a digest of all other columns, with the outcome before the quote expires.
    """


def duration_of(started: int | None, ended: int | None) -> int | None:
    """Return the time from the start of the execution to the end, or None if one is unknown."""
    return None if started is None or ended is None or ended < started else ended - started


def read(listed: models.IntentHistory, *, now: datetime) -> Entry:
    """Return the columns of a history entry. Raises ValueError if it has no time of creation.

    `now` is by the service's clock.
    """
    receipt = listed.receipt or NO_RECEIPT
    summary = receipt.summary or NO_SUMMARY
    created = listed.created_at or summary.created_at
    if created is None:
        raise ValueError("without a time of creation")
    updated = listed.updated_at or receipt.updated_at
    expires = listed.expires_at or summary.expires_at
    status = receipt.status or listed.status or summary.status or ""
    owner = packed(receipt.owner_address or summary.owner_address, ADDRESS)
    recipient = packed(summary.destination_to_address, ADDRESS)
    origin_chain = _first(receipt.origin_chain_id, summary.origin_chain_id)
    destination_chain = _first(receipt.destination_chain_id, summary.destination_chain_id)
    deposit = receipt.deposit_transaction or NO_TRANSACTION
    refund = receipt.refund_transaction or NO_TRANSACTION
    steps = StepStates.of(receipt)
    end = execute_by(status, expires_at=expires, updated_at=updated)
    refunded_to = packed(refund.to_address, ADDRESS)
    evidence = Evidence(
        status=status,
        steps=steps,
        has_receipt=listed.receipt is not None,
        is_same_chain=origin_chain is not None and origin_chain == destination_chain,
        is_refund_plausible=refunded_to is not None
        and refunded_to == owner
        and refund.chain_id in {origin_chain, destination_chain} - {None},
        is_expired=False,
    )
    started = summary.started_at
    if started is None and steps.has_any_step:
        started = receipt.created_at
    failed_step, reason = failure(receipt)
    amount = _sent(summary, deposit, steps.deposit)
    hashes = {f"{step}_hash": ends(each.txn_hash) for step, each in receipt.transactions.items()}
    address, arrival = ends(summary.origin_intent_address), ends(summary.destination_intent_address)
    about = summary.origin_token_metadata
    columns = Entry(
        **NO_HASHES | hashes,
        intent_id=packed(listed.intent_id, HASH) or b"",
        created=milliseconds(created),
        updated=milliseconds(updated) if updated else 0,
        started=_milliseconds(started),
        ended=_milliseconds(summary.finished_at),
        expires=_milliseconds(expires),
        status=_text(status),
        outcome=outcome_of(evidence),
        route=RouteKey(
            _text(";".join(filter(None, summary.route_providers))), _text(origin_chain), _text(destination_chain)
        ),
        origin_token=_token(origin_chain, summary.origin_token_address, about),
        destination_token=_token(
            destination_chain, summary.destination_token_address, summary.destination_token_metadata
        ),
        sent=None if amount is None else str(amount),
        owner=owner,
        recipient=recipient if recipient != owner else None,
        refund=refunded_to if refunded_to != owner else None,
        failed_step=failed_step,
        reason=_text(reason) if reason else None,
        size=size_of(amount, about.decimals if about else None),
        deposit_address=address,
        delivery_address=arrival if arrival != address else None,
        memo=_text(summary.memo)[:LONGEST_MEMO] or None,
    )
    columns.fingerprint = fingerprint_of(columns)
    if end and now >= end:
        columns.outcome = outcome_of(evidence._replace(is_expired=True))
    return columns


def _sent(summary: models.IntentReceiptSummary, deposit: models.IntentTransaction, step: StepStatus) -> int | None:
    """Return the confirmed deposit's own amount of the origin token, otherwise the requested one."""
    arrived = deposit.token_amount if step is StepStatus.DONE else None
    tokens = (deposit.token_address, summary.origin_token_address)
    is_other = None not in tokens and len({token.lower() for token in tokens if token}) > 1
    return summary.origin_token_amount if arrived is None or is_other else arrived


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None else one


def packed(text: str | None, size: int) -> bytes | None:
    """Return a hash or an address of `size` bytes as bytes, and any other text as longer bytes that none equals."""
    if not text:
        return None
    if len(text) == 2 * size + 2 and text[:2] in ("0x", "0X"):
        try:
            return bytes.fromhex(text[2:])
        except ValueError:
            pass
    return bytes(size + 1) + text.encode()


def unpacked(stored: bytes, size: int) -> str:
    """Return the text of `packed` bytes."""
    return f"0x{stored.hex()}" if len(stored) == size else stored[size + 1 :].decode()


def ends(text: str | None) -> bytes | None:
    """Return the first and last hex digits of a hash or an address, None without any that tell it from others."""
    if not text or len(text) < 2 * ENDS + 2 or text[:2] not in ("0x", "0X"):
        return None
    try:
        found = bytes.fromhex(text[2 : 2 + ENDS] + text[-ENDS:])
    except ValueError:
        return None
    return found if any(found) else None


def size_of(units: int | None, decimals: int | None) -> int | None:
    """Return how large an amount is, on a logarithmic scale, on which 0.1% more is one more."""
    if not units or decimals is None:
        return None
    return round((math.log(units) - decimals * math.log(10)) * SIZES)


def milliseconds(moment: datetime) -> int:
    return (moment - EPOCH) // MILLISECOND


def moment(stored: int) -> datetime:
    """Return the time of stored milliseconds, in whole seconds."""
    return datetime.fromtimestamp(stored // 1000, UTC)


def optional_moment(stored: int | None) -> datetime | None:
    return moment(stored) if stored else None


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else milliseconds(moment)


def _token(chain: int | None, address: str | None, about: models.TokenMetadata | None) -> TokenKey | None:
    return TokenKey(_text(chain), _text(address), _text(about and about.symbol)) if address else None


def _text(value: object) -> str:
    """Return a text that any database can store."""
    if value is None:
        return ""
    text = str(value)[:LONGEST_TEXT]
    return text.replace("\0", "\ufffd") if "\0" in text else text


def fingerprint_of(columns: Entry) -> bytes:
    return blake2b(repr([*vars(columns).values()]).encode(errors="replace"), digest_size=8).digest()
