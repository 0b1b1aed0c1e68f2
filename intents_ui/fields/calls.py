"""Descriptions of a transfer's calls, decoded from well-known function signatures. Contracts may behave differently."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from intents_ui.fields import abi, values
from intents_ui.fields.abi import Decoded, Function, Inner, NestedEncoding, Unread
from intents_ui.fields.call_values import CallFormatter, Piece, RawCall, Sentence, TransferNames, ValueRow, until
from intents_ui.formatting import hashes, text
from intents_ui.service.models import (
    Call,
    DepositIntentEntry,
    IntentCalls,
    IntentTransaction,
    MetaTxn,
    TransactionPrecondition,
)
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import Transfer

MAX_CALLS = 50  # of one list
MAX_INSIDE = 50  # on a page, in other calls
MOST_BYTES = 131_072  # on a page, that are decoded
DEEPEST = 3
MAX_SHOWN = 4_096  # characters of raw data; the raw JSON has all of it

MIN_BALANCE = "tokenMinBalance"
# The smart wallet's `behaviorOnError`.
ON_ERROR = {
    0: "On failure: continue.",
    1: "On failure: revert all.",
    2: "On failure: skip the remaining calls.",
}
TOO_DEEP = "The nested calls are too deep to decode."
SPENT = "This transfer has too much data to decode all of it."
NOT_APART = "The nested calls couldn't be separated."

RELAYED = "A relayer submits these calls in one signed transaction."
RELAYED_IN_PART = "A relayer submits these calls in one signed transaction, excluding the fallback calls."
RELAYED_OTHERWISE = "The relayer's transaction contains the calls at the end of this list instead of these."
UNLIMITED = "This allowance exceeds the transfer amount. The unused part stays approved until revoked."


@dataclass(frozen=True)
class Note:
    tone: Tone
    sentence: Sentence


@dataclass(frozen=True)
class Data:
    """Raw data of a call. `shown` may be truncated, `is_whole` if it isn't. `size` in bytes."""

    shown: str
    size: int
    is_whole: bool


@dataclass(frozen=True)
class CallStep:
    """One call. `more` counts the nested calls that aren't shown."""

    said: Sentence
    data: Data | None = None
    remarks: tuple[str, ...] = ()
    gas_limit: int = 0
    function: Function | None = None
    rows: tuple[ValueRow, ...] = ()
    problem: str = ""
    inside: tuple["CallStep", ...] = ()
    more: int = 0


@dataclass(frozen=True)
class TransactionCalls:
    """Calls of one transaction. `about`: its chain or calling wallet. `notes`: conditions and how it is submitted."""

    title: str
    about: str
    notes: tuple[Note, ...] = ()
    steps: tuple[CallStep, ...] = ()
    more: int = 0


def transactions(transfer: Transfer) -> tuple[TransactionCalls, ...]:
    """Return the transactions that have calls or notes, in the order of execution."""
    intent = transfer.intent
    describer = _CallDescriber(replace(transfer, names=TransferNames(transfer)))
    found = (
        describer.deposit(),
        describer.planned(
            (intent.origin_calls, intent.origin_precondition, intent.origin_meta_txn),
            transfer.origin,
            wallet=transfer.deposit_address,
            chain_id=transfer.origin_chain_id,
        ),
        describer.planned(
            (intent.destination_calls, intent.destination_precondition, intent.destination_meta_txn),
            transfer.destination,
            wallet=transfer.delivery_address,
            chain_id=transfer.destination_chain_id,
        ),
        describer.refund(),
    )
    return tuple(each for each in found if each.notes or each.steps)


@dataclass
class _CallDescriber:
    transfer: Transfer
    inside_left: int = MAX_INSIDE
    bytes_left: int = MOST_BYTES

    @cached_property
    def formatter(self) -> CallFormatter:
        return CallFormatter(self.transfer)

    def deposit(self) -> TransactionCalls:
        asked, deposit = self.transfer.asked, self.transfer.deposit
        chain_id = self.transfer.origin_chain_id if asked.chain_id is None else asked.chain_id
        steps = []
        if asked.to or asked.data or asked.value:
            to = asked.to or asked.to_address
            steps.append(self._step(RawCall(chain_id, self.transfer.owner, to, asked.value or 0, asked.data)))
        steps += self._recorded(deposit, self.transfer.owner, planned=asked.data)
        entry = deposit.deposit_intent_entry if deposit else None
        notes = tuple(self._of_entry(entry)) if entry else ()
        return TransactionCalls("Deposit", self._on(chain_id), notes, tuple(steps))

    def planned(
        self,
        plan: tuple[IntentCalls | None, TransactionPrecondition | None, MetaTxn | None],
        leg: IntentTransaction | None,
        *,
        wallet: str | None,
        chain_id: int | None,
    ) -> TransactionCalls:
        calls, condition, meta = plan
        planned = calls.calls if calls else ()
        chain_id = calls.chain_id if calls and calls.chain_id is not None else chain_id
        notes = list(self._of_condition(condition, chain_id)) if condition else []
        steps = []
        for call in planned[:MAX_CALLS]:
            how = tuple(_remarks(call)), call.gas_limit or 0
            steps.append(self._step(RawCall(chain_id, wallet, call.to, call.value or 0, call.data, 0, *how)))
        if meta and meta.input:
            carried = _carried(meta.input)
            relayed = _compared(carried, planned) if carried and planned else None
            notes += [relayed] if relayed else []
            if relayed is None or relayed.tone is Tone.ATTENTION:
                steps.append(self._step(RawCall(chain_id, None, meta.contract or wallet, 0, meta.input)))
        steps += self._recorded(leg, wallet, planned=meta.input if meta else None)
        title = f"On {self.transfer.chain_name(chain_id)}"
        who = (self.formatter.party(wallet, chain_id) or hashes.short_address(wallet)) if wallet and steps else ""
        more = max(len(planned) - MAX_CALLS, 0)
        return TransactionCalls(title, f"run by {who}" if who else "", tuple(notes), tuple(steps), more)

    def refund(self) -> TransactionCalls:
        refund = self.transfer.refund
        steps = tuple(self._recorded(refund, refund.from_address if refund else None))
        return TransactionCalls("Refund", self._on(refund.chain_id if refund else None), (), steps)

    def _on(self, chain_id: int | None) -> str:
        return "" if chain_id is None else f"on {self.transfer.chain_name(chain_id)}"

    # Notes

    def _of_condition(self, condition: TransactionPrecondition, chain_id: int | None) -> Iterator[Note]:
        chain_id = chain_id if condition.chain_id is None else condition.chain_id
        if condition.min_amount is not None and condition.type in (MIN_BALANCE, None):
            who = self.formatter.address(condition.owner_address, chain_id)
            money = self.formatter.money(condition.min_amount, condition.token_address, chain_id)
            yield _note("Runs once ", *who, " has at least ", *money, f" {self._on(chain_id)}".rstrip(), ".")
        elif condition.type:
            yield _note(f"Runs under an unknown condition: {text.name(condition.type).shown}.")

    def _of_entry(self, entry: DepositIntentEntry) -> Iterator[Note]:
        """Yield the owner's signatures with which the relayer can submit the deposit."""
        chain_id, token = self.transfer.origin_chain_id, self.transfer.requested.token_address
        if entry.intent_signature:
            end = (" ", *until(entry.deadline)) if entry.deadline is not None else ()
            yield _note("Gasless deposit: the owner signed it and the relayer submits it", *end, ".")
        if entry.permit_signature:
            how_much: Sequence[Piece] = ["an unspecified amount"]
            if entry.permit_amount == values.NEVER:
                how_much = self.formatter.without_limit(token, chain_id)
            elif entry.permit_amount is not None:
                how_much = self.formatter.money(entry.permit_amount, token, chain_id)
            end = (" ", *until(entry.permit_deadline)) if entry.permit_deadline is not None else ()
            said = "A signed permit allows the service's contract to spend "
            yield _note(said, *how_much, " from the owner's wallet", *end, ".")
            if entry.permit_amount == values.NEVER:
                yield _note(UNLIMITED, tone=Tone.ATTENTION)
        if entry.fee_amount:
            fee = self.formatter.money(entry.fee_amount, entry.fee_token or token, chain_id)
            collector = self.formatter.address(entry.fee_collector, chain_id)
            yield _note("Relay fee: ", *fee, " to ", *collector, ".")

    # Calls

    def _recorded(
        self, leg: IntentTransaction | None, caller: str | None, *, planned: str | None = None
    ) -> Iterator[CallStep]:
        """Yield the on-chain transaction's call if it differs from the planned one."""
        if not leg or not leg.calldata or leg.calldata.lower() in ("0x", (planned or "").lower()):
            return
        # The receipt doesn't name the called contract, but a token's functions are called on the token.
        data = _read(leg.calldata)
        call = abi.decoded(data) if data else None
        is_own = isinstance(call, Decoded) and call.function.name in ("transfer", "transferFrom")
        to = leg.token_address if is_own else None
        yield self._step(RawCall(leg.chain_id, caller, to, 0, leg.calldata, remarks=("As recorded in the receipt.",)))

    def _step(self, made: RawCall) -> CallStep:
        size = _size(made.data)
        shown = f"0x{made.data[:MAX_SHOWN].hex()}" if isinstance(made.data, bytes) else made.data or ""
        is_empty = shown.lower() in ("", "0x")
        data = None if is_empty else Data(text.visible(shown[:MAX_SHOWN]), size, len(shown) <= MAX_SHOWN)
        return replace(self._described(made, size), data=data, remarks=made.remarks, gas_limit=made.gas_limit)

    def _described(self, made: RawCall, size: int) -> CallStep:
        if size > min(self.bytes_left, abi.MOST_BYTES):
            problem = SPENT if size <= abi.MOST_BYTES else Unread.TOO_LONG
            return self._unnamed(made, _read(made.data, most=abi.SELECTOR_BYTES) or b"", problem)
        self.bytes_left -= size
        data = _read(made.data)
        if data is None:
            return self._unnamed(made, b"", Unread.NO_HEX)
        if not data:
            to = self.formatter.address(made.to, made.chain_id)
            coins = self.formatter.coins(made)
            return CallStep(Sentence(("Send ", *coins, " to ", *to) if made.value else ("Call ", *to, " without data")))
        call = abi.decoded(data)
        if isinstance(call, Unread):
            return self._unnamed(made, data, call)
        inside, more, problem = self._inside(made, call)
        rows = tuple(self.formatter.rows(made, call))
        return CallStep(
            self.formatter.sentence(made, call),
            function=call.function,
            rows=rows,
            problem=problem,
            inside=inside,
            more=more,
        )

    def _inside(self, made: RawCall, call: Decoded) -> tuple[tuple[CallStep, ...], int, str]:
        """Return the nested calls, the number not shown, and the reason if they couldn't be decoded."""
        carries = call.function.carries
        if carries is NestedEncoding.NONE:
            return (), 0, ""
        if made.depth >= DEEPEST:
            return (), 0, TOO_DEEP
        found = abi.inner(call)
        if found is None:
            return (), 0, NOT_APART
        shown = found[: self.inside_left]
        self.inside_left -= len(shown)
        # A self-call or a delegate call keeps the caller.
        caller = made.caller if carries in (NestedEncoding.OWN, NestedEncoding.BATCH) else made.to
        steps = []
        for each in shown:
            to, how = made.to if each.to is None else each.to, (tuple(_remarks(each)), each.gas_limit or 0)
            steps.append(self._step(RawCall(made.chain_id, caller, to, each.value, each.data, made.depth + 1, *how)))
        return tuple(steps), len(found) - len(shown), ""

    def _unnamed(self, made: RawCall, data: bytes, problem: str) -> CallStep:
        """Describe a call by its selector, because its function is unknown."""
        contract = self.formatter.address(made.to, made.chain_id, unknown="a contract")
        selector = data[: abi.SELECTOR_BYTES].hex() if len(data) >= abi.SELECTOR_BYTES else ""
        paid = (" with ", *self.formatter.coins(made)) if made.value else ()
        said = Sentence(("Call ", f"function 0x{selector} of " if selector else "", *contract, *paid))
        return CallStep(said, problem=problem)


def _note(*pieces: Piece, tone: Tone = Tone.NEUTRAL) -> Note:
    return Note(tone, Sentence(pieces))


def _remarks(call: Call | Inner) -> Iterator[str]:
    if call.only_fallback:
        yield "Runs if the previous call fails."
    if call.delegate_call:
        yield "Delegate call."
    if call.behavior_on_error is not None:
        said = ON_ERROR.get(call.behavior_on_error)
        yield said or f"On failure: unknown behavior ({call.behavior_on_error})."


def _carried(data: str | None) -> tuple[Inner, ...] | None:
    """Return the calls in the wallet's own `execute`, None for other data."""
    read = _read(data)
    call = abi.decoded(read) if read else None
    return abi.inner(call) if isinstance(call, Decoded) and call.function.carries is NestedEncoding.PACKED else None


def _compared(carried: Sequence[Inner], planned: Sequence[Call]) -> Note:
    """Compare the calls in the relayer's signed transaction with the planned ones."""
    made = [((call.to or "").lower(), call.value, call.data) for call in carried]
    plan = [((call.to or "").lower(), call.value or 0, abi.raw(call.data)) for call in planned]
    if made == plan:
        return _note(RELAYED)
    if made == [each for each, call in zip(plan, planned, strict=True) if not call.only_fallback]:
        return _note(RELAYED_IN_PART)
    return _note(RELAYED_OTHERWISE, tone=Tone.ATTENTION)


def _size(data: str | bytes | None) -> int:
    return len(data) if isinstance(data, bytes) else max(len(data or "") - 2, 0) // 2


def _read(data: str | bytes | None, *, most: int = abi.MOST_BYTES + 1) -> bytes | None:
    """Return the first bytes, None if the data isn't hex. By default as many as needed to detect data that is too
    long.
    """
    return data[:most] if isinstance(data, bytes) else abi.raw(data[: 2 + 2 * most] if data else None)
