"""A transfer as the mirror stores it, from an entry of the history."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple, Self

from intents_ui.service.wire.models import IntentHistory, another_in, read_intent_word, read_transaction_word
from intents_ui.service.wire.outcome import Evidence, Outcome, execute_by, outcome_of
from intents_ui.service.wire.scalars import (
    read_intent_id,
    read_moment,
    read_reference,
    read_text,
    read_text_in_list,
    read_whole,
)
from intents_ui.service.wire.steps import DEAD, LEGS, StepStatus, deposit_step, is_placeholder

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
BIGINT = 2**63
HASH, ADDRESS = 32, 20  # bytes
LONGEST_TEXT = 200  # characters of a column
COLUMNS = "columns"
TRANSACTIONS = ("depositTransaction", "originTransaction", "destinationTransaction", "refundTransaction")
NOTHING: Mapping[str, Any] = {}


class TokenKey(NamedTuple):
    """A token, as in the dictionary of tokens."""

    chain: str
    address: str
    symbol: str


class RouteKey(NamedTuple):
    """A route, as in the dictionary of routes."""

    providers: str
    origin_chain: str
    destination_chain: str


class Entry(NamedTuple):
    """The columns of a transfer. Times are Unix milliseconds.

    `paid` are the addresses that got something, other than the owner's: pairs of role and address. `fingerprint` is a
    digest of all other columns, with the outcome before the quote expires.
    """

    intent_id: bytes
    project: int | None
    created: int
    updated: int
    started: int | None
    ended: int | None
    expires: int | None
    status: str
    outcome: Outcome
    route: RouteKey
    trade_type: str | None
    origin_token: TokenKey | None
    destination_token: TokenKey | None
    sent: str | None
    received: str | None
    owner: bytes | None
    recipient: bytes | None
    failed_step: int | None
    reason: str | None
    fingerprint: bytes
    paid: tuple[tuple[str, bytes], ...]


class Listed(IntentHistory):
    """Entry of the history that keeps its columns and its text, by which it is known when it is received again."""

    @classmethod
    def model_validate(cls, value: Any) -> Self:
        found = super().model_validate(value)
        found.attach(COLUMNS, _columns(found.intent_id, found.document))
        return found.lean()


def read(listed: IntentHistory, *, now: datetime) -> Entry:
    """Return the columns of a history entry. Raises ValueError if it has no time of creation.

    `now` is by the service's clock.
    """
    columns, evidence, end = listed.attached(COLUMNS) or _columns(listed.intent_id, listed.document)
    return columns._replace(outcome=outcome_of(evidence._replace(is_expired=True))) if end and now >= end else columns


def _columns(intent_id: str, listed: Mapping[str, Any]) -> tuple[Entry, Evidence, datetime | None]:
    """Return an entry's columns before its quote expires, what its outcome follows from, and when the quote expires.

    Reads the JSON object directly, because the wire models take twice as long.
    """
    received = _receipt(intent_id, listed)
    receipt = NOTHING if received is None else received
    summary = _object(receipt, "summary")
    created = _value(listed, "createdAt", read_moment) or _value(summary, "createdAt", read_moment)
    if created is None:
        raise ValueError("without a time of creation")
    updated = _value(listed, "updatedAt", read_moment) or _value(receipt, "updatedAt", read_moment)
    expires = _value(listed, "expiresAt", read_moment) or _value(summary, "expiresAt", read_moment)
    status = next(filter(None, (_value(each, "status", read_intent_word) for each in (receipt, listed, summary))), "")
    owner = packed(_either(receipt, summary, "ownerAddress", read_reference), ADDRESS)
    recipient = packed(_value(summary, "destinationToAddress", read_reference), ADDRESS)
    origin_chain = _either(receipt, summary, "originChainId", read_whole)
    destination_chain = _either(receipt, summary, "destinationChainId", read_whole)
    sent = tuple([_object(receipt, name) for name in TRANSACTIONS])
    deposit, _, _, refund = sent
    is_made = _is_made(deposit)
    reached, origin_step, destination_step, refund_step = [_step(each) for each in sent]
    steps = deposit_step(reached, is_made=is_made), origin_step, destination_step, refund_step
    end = execute_by(status, expires_at=expires, updated_at=updated)
    refunded_to = packed(_value(refund, "toAddress", read_reference), ADDRESS)
    evidence = Evidence(
        status=status,
        deposit=steps[0],
        origin=origin_step,
        destination=destination_step,
        refund=refund_step,
        is_made=is_made,
        has_receipt=received is not None,
        is_same_chain=origin_chain is not None and origin_chain == destination_chain,
        is_refund_plausible=refunded_to is not None
        and refunded_to == owner
        and _value(refund, "chainId", read_whole) in {origin_chain, destination_chain} - {None},
        is_expired=False,
    )
    started = _value(summary, "startedAt", read_moment)
    if started is None and any(step is not StepStatus.ABSENT for step in steps):
        started = _value(receipt, "createdAt", read_moment)
    failed = next((place for place, step in enumerate(steps) if step in DEAD), None)
    amount = _sent(summary, deposit, steps[0])
    delivered = _value(summary, "destinationTokenAmount", read_whole)
    project = _value(receipt, "projectId", read_whole)
    roles = (("recipient", recipient), ("refund", refunded_to))
    columns = Entry(
        intent_id=packed(intent_id, HASH) or b"",
        project=project if (project or 0) < BIGINT else None,
        created=milliseconds(created),
        updated=milliseconds(updated) if updated else 0,
        started=_milliseconds(started),
        ended=_milliseconds(_value(summary, "finishedAt", read_moment)),
        expires=_milliseconds(expires),
        status=_text(status),
        outcome=outcome_of(evidence),
        route=RouteKey(_text(";".join(_providers(summary))), _text(origin_chain), _text(destination_chain)),
        trade_type=_text(_value(summary, "tradeType", read_text)) or None,
        origin_token=_token(origin_chain, summary, "origin"),
        destination_token=_token(destination_chain, summary, "destination"),
        sent=None if amount is None else str(amount),
        received=None if delivered is None else str(delivered),
        owner=owner,
        recipient=recipient,
        failed_step=failed,
        reason=None if failed is None else _reason(sent),
        fingerprint=b"",
        paid=tuple([(role, address) for role, address in roles if address and address != owner]),
    )
    return columns._replace(fingerprint=_fingerprint(columns)), evidence, end


def _sent(summary: Mapping[str, Any], deposit: Mapping[str, Any], step: StepStatus) -> int | None:
    """Return the confirmed deposit's own amount of the origin token, otherwise the requested one."""
    arrived = _value(deposit, "tokenAmount", read_whole) if step is StepStatus.DONE else None
    tokens = (_value(deposit, "tokenAddress", read_reference), _value(summary, "originTokenAddress", read_reference))
    is_other = None not in tokens and len({token.lower() for token in tokens if token}) > 1
    return _value(summary, "originTokenAmount", read_whole) if arrived is None or is_other else arrived


def _value[T](document: Mapping[str, Any], name: str, parse: Callable[[object], T]) -> T | None:
    """Return a field, or None if it is absent, empty or invalid, as the wire models do."""
    value = document.get(name)
    if value is None or value == "":
        return None
    try:
        return parse(value)
    except ValueError:
        return None


def _object(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object of an object, or an empty one."""
    value = document.get(name)
    return value if isinstance(value, dict) else NOTHING


def _either[T](one: Mapping[str, Any], other: Mapping[str, Any], name: str, parse: Callable[[object], T]) -> T | None:
    """Return a field of the first object that has it."""
    value = _value(one, name, parse)
    return _value(other, name, parse) if value is None else value


def _receipt(intent_id: str, listed: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the entry's receipt, unless it is of another intent or of none."""
    receipt = listed.get("receipt")
    if not isinstance(receipt, dict) or another_in(receipt, intent_id):
        return None
    return None if _value(receipt, "intentId", read_intent_id) is None else receipt


def packed(text: str | None, size: int) -> bytes | None:
    """Return a hash or an address of `size` bytes as bytes, and any other text as longer bytes that none equals."""
    if not text:
        return None
    if len(text) == 2 * size + 2 and text[:2] in ("0x", "0X"):
        with suppress(ValueError):
            return bytes.fromhex(text[2:])
    return bytes(size + 1) + text.encode()


def unpacked(stored: bytes, size: int) -> str:
    """Return the text of `packed` bytes."""
    return f"0x{stored.hex()}" if len(stored) == size else stored[size + 1 :].decode()


def milliseconds(moment: datetime) -> int:
    return (moment - EPOCH) // MILLISECOND


def moment(stored: int) -> datetime:
    """Return the time of stored milliseconds, in whole seconds."""
    return datetime.fromtimestamp(stored // 1000, UTC)


def optional_moment(stored: int | None) -> datetime | None:
    return moment(stored) if stored else None


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else milliseconds(moment)


def _step(transaction: Mapping[str, Any]) -> StepStatus:
    status = _value(transaction, "status", read_transaction_word)
    return StepStatus.ABSENT if status is None else LEGS.get(status, StepStatus.STRANGE)


def _is_made(deposit: Mapping[str, Any]) -> bool:
    """Return whether the owner made the deposit: it has a real hash, or was signed for the relayer to send."""
    return bool(
        not is_placeholder(_value(deposit, "txnHash", read_reference))
        or _value(deposit, "metaTxnId", read_reference)
        or _value(_object(deposit, "depositIntentEntry"), "intentSignature", read_text)
    )


def _reason(sent: Iterable[Mapping[str, Any]]) -> str | None:
    """Return why the first failed step failed."""
    reasons = (_value(each, "statusReason", read_text) for each in sent if _step(each) in DEAD)
    return next((_text(reason) for reason in reasons if reason), None)


def _providers(summary: Mapping[str, Any]) -> list[str]:
    listed = summary.get("routeProviders")
    return [each for each in map(read_text_in_list, listed) if each] if isinstance(listed, list) else []


def _token(chain: int | None, summary: Mapping[str, Any], side: str) -> TokenKey | None:
    address = _value(summary, f"{side}TokenAddress", read_reference)
    symbol = _value(_object(summary, f"{side}TokenMetadata"), "symbol", read_text)
    return TokenKey(_text(chain), _text(address), _text(symbol)) if address else None


def _text(value: object) -> str:
    """Return a text that any database can store."""
    if value is None:
        return ""
    text = str(value)[:LONGEST_TEXT]
    return text.replace("\0", "\ufffd") if "\0" in text else text


def _fingerprint(columns: Entry) -> bytes:
    return blake2b(repr(columns).encode(errors="replace"), digest_size=8).digest()
