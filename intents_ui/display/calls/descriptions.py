"""Descriptions of a transfer's calls, decoded from well-known function signatures. Contracts may behave differently."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from intents_ui.display.calls import abi
from intents_ui.display.calls.abi import Decoded, Inner, Unread
from intents_ui.display.calls.function_signatures import Carries
from intents_ui.display.calls.values import Made, OfTwoChains, Piece, Sentence, ValueRow, ValueText, Wording, until
from intents_ui.display.fields import values
from intents_ui.display.formatting import amounts, hashes, text
from intents_ui.display.tokens import names
from intents_ui.display.tokens.names import Names
from intents_ui.display.transfers.situation import Situation
from intents_ui.display.transfers.statuses import Tone
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service.models import (
    Call,
    DepositIntentEntry,
    IntentCalls,
    IntentTransaction,
    MetaTxn,
    TransactionPrecondition,
)

MOST_CALLS = 50  # of one list
MOST_INSIDE = 50  # on a page, in other calls
MOST_BYTES = 131_072  # on a page, that are decoded
DEEPEST = 3
MOST_SHOWN = 4_096  # characters of raw data; the raw JSON has all of it

MIN_BALANCE = "tokenMinBalance"
# The smart wallet's `behaviorOnError`.
ON_ERROR = {
    0: "On failure: continue.",
    1: "On failure: revert all.",
    2: "On failure: skip the remaining calls.",
}
TROUBLES = {
    Unread.NO_HEX: "The data isn't hexadecimal.",
    Unread.TOO_LONG: "The data is too long to decode.",
    Unread.SHORT: "The data is too short for a function selector.",
    Unread.UNKNOWN: "Unknown function.",
    Unread.BROKEN: "Arguments don't match the function signature.",
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
    """One call. `more` counts the nested calls that aren't shown, `limit` is its gas limit as text."""

    said: Sentence
    signature: str = ""
    rows: tuple[ValueRow, ...] = ()
    remarks: tuple[str, ...] = ()
    trouble: str = ""
    inside: tuple["CallStep", ...] = ()
    more: int = 0
    limit: str = ""
    data: Data | None = None

    @property
    def function(self) -> str:
        return self.signature.partition("(")[0]


@dataclass(frozen=True)
class Chapter:
    """Calls of one transaction. `about`: its chain or calling wallet. `notes`: conditions and how it is submitted."""

    title: str
    about: str
    notes: tuple[Note, ...] = ()
    steps: tuple[CallStep, ...] = ()
    more: int = 0


def chapters(situation: Situation) -> tuple[Chapter, ...]:
    """Return the chapters in the order of execution, without empty ones."""
    facts = situation.facts
    narrator = _Narrator(facts, OfTwoChains(facts, situation.names))
    found = (narrator.payment(), narrator.origin(), narrator.destination(), narrator.returning())
    return tuple(chapter for chapter in found if chapter.notes or chapter.steps)


@dataclass
class _Narrator:
    facts: Facts
    using: Names
    inside_left: int = MOST_INSIDE
    bytes_left: int = MOST_BYTES

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.facts, self.using)

    def payment(self) -> Chapter:
        asked, deposit = self.facts.asked, self.facts.deposit
        chain_id = self.facts.origin_chain_id if asked.chain_id is None else asked.chain_id
        steps = []
        if asked.to or asked.data or asked.value:
            to = asked.to or asked.to_address
            steps.append(self._step(Made(chain_id, self.facts.owner, to, asked.value or 0, asked.data)))
        steps += self._recorded(deposit, self.facts.owner, planned=asked.data)
        entry = deposit.deposit_intent_entry if deposit else None
        notes = tuple(self._of_entry(entry)) if entry else ()
        return Chapter("Deposit", self._on(chain_id), notes, tuple(steps))

    def origin(self) -> Chapter:
        facts, intent = self.facts, self.facts.intent
        plan = intent.origin_calls, intent.origin_precondition, intent.origin_meta_txn
        return self._of_plan(*plan, facts.origin, wallet=facts.deposit_address, chain_id=facts.origin_chain_id)

    def destination(self) -> Chapter:
        facts, intent = self.facts, self.facts.intent
        plan = intent.destination_calls, intent.destination_precondition, intent.destination_meta_txn
        wallet, chain_id = facts.delivery_address, facts.destination_chain_id
        return self._of_plan(*plan, facts.destination, wallet=wallet, chain_id=chain_id)

    def returning(self) -> Chapter:
        refund = self.facts.refund
        steps = tuple(self._recorded(refund, refund.from_address if refund else None))
        return Chapter("Refund", self._on(refund.chain_id if refund else None), (), steps)

    def _of_plan(
        self,
        calls: IntentCalls | None,
        condition: TransactionPrecondition | None,
        meta: MetaTxn | None,
        leg: IntentTransaction | None,
        *,
        wallet: str | None,
        chain_id: int | None,
    ) -> Chapter:
        planned = calls.calls if calls else ()
        chain_id = calls.chain_id if calls and calls.chain_id is not None else chain_id
        notes = list(self._of_condition(condition, chain_id)) if condition else []
        steps = []
        for call in planned[:MOST_CALLS]:
            how = tuple(_remarks(call)), call.gas_limit or 0
            steps.append(self._step(Made(chain_id, wallet, call.to, call.value or 0, call.data, 0, *how)))
        if meta and meta.input:
            note, step = self._relayed(meta, planned, wallet=wallet, chain_id=chain_id)
            notes += note
            steps += step
        steps += self._recorded(leg, wallet, planned=meta.input if meta else None)
        title = f"On {names.of_chain(chain_id, using=self.using)}"
        who = (self.wording.party(wallet, chain_id) or hashes.short_address(wallet)) if wallet and steps else ""
        more = max(len(planned) - MOST_CALLS, 0)
        return Chapter(title, f"run by {who}" if who else "", tuple(notes), tuple(steps), more)

    def _on(self, chain_id: int | None) -> str:
        return "" if chain_id is None else f"on {names.of_chain(chain_id, using=self.using)}"

    # Notes

    def _of_condition(self, condition: TransactionPrecondition, chain_id: int | None) -> Iterator[Note]:
        chain_id = chain_id if condition.chain_id is None else condition.chain_id
        if condition.min_amount is not None and condition.type in (MIN_BALANCE, None):
            who = self.wording.address(condition.owner_address, chain_id, unknown="an unspecified address")
            money = self.wording.money(condition.min_amount, condition.token_address, chain_id)
            yield _note("Runs once ", *who, " has at least ", *money, f" {self._on(chain_id)}".rstrip(), ".")
        elif condition.type:
            kind = text.name(condition.type).shown
            yield _note(f"Runs under an unknown condition: {kind}.")

    def _of_entry(self, entry: DepositIntentEntry) -> Iterator[Note]:
        """Yield the owner's signatures with which the relayer can submit the deposit."""
        chain_id, token = self.facts.origin_chain_id, self.facts.requested.token_address
        if entry.intent_signature:
            end = (" ", *until(entry.deadline)) if entry.deadline is not None else ()
            yield _note("Gasless deposit: the owner signed it and the relayer submits it", *end, ".")
        if entry.permit_signature:
            yield from self._of_permit(entry, token, chain_id)
        if entry.fee_amount:
            fee = self.wording.money(entry.fee_amount, entry.fee_token or token, chain_id)
            collector = self.wording.address(entry.fee_collector, chain_id, unknown="an unspecified address")
            yield _note("Relay fee: ", *fee, " to ", *collector, ".")

    def _of_permit(self, entry: DepositIntentEntry, token: str | None, chain_id: int | None) -> Iterator[Note]:
        how_much: Sequence[Piece] = ["an unspecified amount"]
        if entry.permit_amount == values.NEVER:
            how_much = self.wording.without_limit(token, chain_id)
        elif entry.permit_amount is not None:
            how_much = self.wording.money(entry.permit_amount, token, chain_id)
        end = (" ", *until(entry.permit_deadline)) if entry.permit_deadline is not None else ()
        said = "A signed permit allows the service's contract to spend "
        yield _note(said, *how_much, " from the owner's wallet", *end, ".")
        if entry.permit_amount == values.NEVER:
            yield Note(Tone.ATTENTION, Sentence((UNLIMITED,)))

    def _relayed(
        self, meta: MetaTxn, planned: Sequence[Call], *, wallet: str | None, chain_id: int | None
    ) -> tuple[list[Note], list[CallStep]]:
        """Compare the planned calls with those in the relayer's signed transaction."""
        carried = _carried(meta.input)
        if carried and planned:
            if _same(carried, planned):
                return [_note(RELAYED)], []
            if _same(carried, [call for call in planned if not call.only_fallback]):
                return [_note(RELAYED_IN_PART)], []
        step = self._step(Made(chain_id, None, meta.contract or wallet, 0, meta.input))
        return [Note(Tone.ATTENTION, Sentence((RELAYED_OTHERWISE,)))] if carried and planned else [], [step]

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
        yield self._step(Made(leg.chain_id, caller, to, 0, leg.calldata, remarks=("As recorded in the receipt.",)))

    def _step(self, made: Made) -> CallStep:
        size = _size(made.data)
        if size > min(self.bytes_left, abi.MOST_BYTES):
            trouble = SPENT if size <= abi.MOST_BYTES else TROUBLES[Unread.TOO_LONG]
            step = CallStep(self._unnamed(made, _read(made.data, most=abi.SELECTOR_BYTES) or b""), trouble=trouble)
        else:
            self.bytes_left -= size
            step = self._of_data(made, _read(made.data))
        limit = f"Gas limit: {amounts.grouped(made.gas_limit)}" if made.gas_limit else ""
        return replace(step, remarks=made.remarks, limit=limit, data=_data(made.data))

    def _of_data(self, made: Made, data: bytes | None) -> CallStep:
        if not data:
            no_hex = CallStep(self._unnamed(made, b""), trouble=TROUBLES[Unread.NO_HEX])
            to = self.wording.address(made.to, made.chain_id, unknown="an unspecified address")
            plain = ("Send ", *self.wording.coins(made), " to ", *to) if made.value else ("Call ", *to, " without data")
            return no_hex if data is None else CallStep(Sentence(plain))
        call = abi.decoded(data)
        if isinstance(call, Unread):
            return CallStep(self._unnamed(made, data), trouble=TROUBLES[call])
        result = ValueText(made, call)
        inside, more, trouble = self._inside(result)
        rows = tuple(self.wording.rows(result))
        return CallStep(self.wording.sentence(result), call.function.signature, rows, (), trouble, inside, more)

    def _inside(self, told: ValueText) -> tuple[tuple[CallStep, ...], int, str]:
        """Return the nested calls, the number not shown, and the reason if they couldn't be decoded."""
        if told.call.function.carries is Carries.NONE:
            return (), 0, ""
        if told.made.depth >= DEEPEST:
            return (), 0, TOO_DEEP
        found = abi.inner(told.call)
        if found is None:
            return (), 0, NOT_APART
        shown = found[: self.inside_left]
        self.inside_left -= len(shown)
        made, carries = told.made, told.call.function.carries
        # A self-call or a delegate call keeps the caller.
        caller = made.caller if carries in (Carries.OWN, Carries.BATCH) else made.to
        steps = []
        for each in shown:
            to, how = made.to if each.to is None else each.to, (tuple(_remarks(each)), each.gas_limit or 0)
            steps.append(self._step(Made(made.chain_id, caller, to, each.value, each.data, made.depth + 1, *how)))
        return tuple(steps), len(found) - len(shown), ""

    def _unnamed(self, made: Made, data: bytes) -> Sentence:
        """Describe a call by its selector, because its function is unknown."""
        contract = self.wording.address(made.to, made.chain_id, unknown="a contract")
        selector = data[: abi.SELECTOR_BYTES].hex() if len(data) >= abi.SELECTOR_BYTES else ""
        paid = (" with ", *self.wording.coins(made)) if made.value else ()
        return Sentence(("Call ", f"function 0x{selector} of " if selector else "", *contract, *paid))


def _note(*pieces: Piece) -> Note:
    return Note(Tone.NEUTRAL, Sentence(pieces))


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
    is_packed = isinstance(call, Decoded) and call.function.carries is Carries.PACKED
    return abi.inner(call) if isinstance(call, Decoded) and is_packed else None


def _same(carried: Sequence[Inner], planned: Sequence[Call]) -> bool:
    if len(carried) != len(planned):
        return False
    return all(
        (one.to or "").lower() == (other.to or "").lower()
        and one.value == (other.value or 0)
        and one.data == abi.raw(other.data)
        for one, other in zip(carried, planned, strict=True)
    )


def _size(data: str | bytes | None) -> int:
    return len(data) if isinstance(data, bytes) else max(len(data or "") - 2, 0) // 2


def _read(data: str | bytes | None, *, most: int = abi.MOST_BYTES + 1) -> bytes | None:
    """Return the first bytes, None if the data isn't hex. By default as many as needed to detect data that is too
    long.
    """
    return data[:most] if isinstance(data, bytes) else abi.raw(data[: 2 + 2 * most] if data else None)


def _data(data: str | bytes | None) -> Data | None:
    """Return the raw data as received, None if empty."""
    shown = f"0x{data[:MOST_SHOWN].hex()}" if isinstance(data, bytes) else data or ""
    if shown.lower() in ("", "0x"):
        return None
    return Data(text.visible(shown[:MOST_SHOWN]), _size(data), len(shown) <= MOST_SHOWN)
