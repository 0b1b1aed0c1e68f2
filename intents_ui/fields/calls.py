"""Descriptions of a transfer's calls, decoded from well-known function signatures. Contracts may behave differently."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from string import Formatter
from typing import Any, Literal

from intents_ui.fields import abi, values
from intents_ui.fields.abi import Decoded, Function, NestedEncoding, Parameter, Unread
from intents_ui.fields.values import Cell, ValueKind
from intents_ui.formatting import amounts, hashes, text, times
from intents_ui.service.models import (
    Call,
    ChainInfo,
    DepositIntentEntry,
    IntentCalls,
    IntentTransaction,
    MetaTxn,
    TransactionPrecondition,
)
from intents_ui.tables import read
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import Names
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import Transfer

TABLE: Mapping[str, Any] = read(__package__, "calls.toml")

MAX_ENTRIES = 20  # of a list among the arguments
MAX_ARGUMENT_BYTES = 2_048  # of an argument; the raw JSON has all of them

MAX_CALLS = 50  # of one list
MAX_INSIDE = 50  # on a page, in other calls
MAX_BYTES = 131_072  # on a page, that are decoded
DEEPEST = 3
MAX_SHOWN = 4_096  # characters of raw data; the raw JSON has all of it

MIN_BALANCE = "tokenMinBalance"
TOO_DEEP = "The nested calls are too deep to decode."
SPENT = "This transfer has too much data to decode all of it."
NOT_APART = "The nested calls couldn't be separated."

RELAYED = "A relayer submits these calls in one signed transaction."
RELAYED_IN_PART = "A relayer submits these calls in one signed transaction, excluding the fallback calls."
RELAYED_OTHERWISE = "The relayer's transaction contains the calls at the end of this list instead of these."
UNLIMITED = "This allowance exceeds the transfer amount. The unused part stays approved until revoked."

type Piece = str | Cell


@dataclass(frozen=True)
class Sentence:
    """A sentence of words and values that can be copied or looked up."""

    pieces: tuple[Piece, ...]
    tone: Tone = Tone.NEUTRAL

    def __str__(self) -> str:
        return "".join(piece if isinstance(piece, str) else piece.shown for piece in self.pieces)


@dataclass
class CallStep:
    """A call on a chain, as described.

    `depth`: how many calls it is nested in. `is_recorded`: known from its transaction only. `values` are those of the
    function's arguments, by name. `more` counts the nested calls that aren't shown, `problem` says why there is no
    more.
    """

    call: Call
    chain_id: int | None
    caller: str | None
    depth: int = 0
    is_recorded: bool = False
    said: Sentence = Sentence(())
    problem: str = ""
    function: Function | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    arguments: list[tuple[Parameter, Cell]] = field(default_factory=list)
    inside: Sequence["CallStep"] = ()
    more: int = 0

    @property
    def size(self) -> int:
        """The size of its data in bytes."""
        return max(len(self.call.data or "") - 2, 0) // 2

    @property
    def data(self) -> str:
        """The first characters of its raw data."""
        data = self.call.data or ""
        return "" if data.lower() == "0x" else text.visible(data[:MAX_SHOWN])

    @property
    def is_whole(self) -> bool:
        return len(self.call.data or "") <= MAX_SHOWN

    @property
    def remarks(self) -> list[str]:
        call = self.call
        found = ["As recorded in the receipt."] if self.is_recorded else []
        found += ["Runs if the previous call fails."] if call.only_fallback else []
        found += ["Delegate call."] if call.delegate_call else []
        if call.behavior_on_error is not None:
            unknown = f"On failure: unknown behavior ({call.behavior_on_error})."
            found.append(TABLE["on_error"].get(str(call.behavior_on_error), unknown))
        return found


@dataclass(frozen=True)
class TransactionCalls:
    """Calls of one transaction. `about`: its chain or calling wallet. `notes`: conditions and how it is submitted."""

    title: str
    about: str
    notes: Sequence[Sentence] = ()
    steps: Sequence[CallStep] = ()
    more: int = 0


class ChainNames(Names):
    """Names of chains only, for calls on other chains than the transfer's.

    Call data can name any chain, and a token list of another one would be a request to the service.
    """

    def __init__(self, using: Names) -> None:
        self._chain = using.chain

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return self._chain(chain_id)


def transactions(transfer: Transfer) -> tuple[TransactionCalls, ...]:
    """Return the transactions that have calls or notes, in the order of execution."""
    describer = _CallDescriber(transfer)
    found = (
        describer.deposit(),
        describer.planned("origin", wallet=transfer.deposit_address),
        describer.planned("destination", wallet=transfer.delivery_address),
        describer.refund(),
    )
    return tuple(each for each in found if each.notes or each.steps)


@dataclass
class _CallDescriber:
    """Describes a transfer's calls, with values by name where it or its names know one."""

    transfer: Transfer
    inside_left: int = MAX_INSIDE
    bytes_left: int = MAX_BYTES

    def deposit(self) -> TransactionCalls:
        asked, deposit = self.transfer.asked, self.transfer.deposit
        chain_id = self.transfer.origin_chain_id if asked.chain_id is None else asked.chain_id
        steps = []
        if asked.to or asked.data or asked.value:
            call = Call(to=asked.to or asked.to_address, value=asked.value, data=asked.data)
            steps.append(self._described(CallStep(call, chain_id, self.transfer.owner)))
        steps += self._recorded(deposit, self.transfer.owner, planned=asked.data)
        entry = deposit.deposit_intent_entry if deposit else None
        return TransactionCalls("Deposit", self._on(chain_id), tuple(self._signatures(entry)) if entry else (), steps)

    def planned(self, leg: Literal["origin", "destination"], *, wallet: str | None) -> TransactionCalls:
        calls: IntentCalls | None = getattr(self.transfer.intent, f"{leg}_calls")
        condition: TransactionPrecondition | None = getattr(self.transfer.intent, f"{leg}_precondition")
        meta: MetaTxn | None = getattr(self.transfer.intent, f"{leg}_meta_txn")
        chain_id: int | None = getattr(self.transfer, f"{leg}_chain_id")
        planned = calls.calls if calls else ()
        chain_id = calls.chain_id if calls and calls.chain_id is not None else chain_id
        notes = list(self._condition(condition, chain_id)) if condition else []
        steps = [self._described(CallStep(call, chain_id, wallet)) for call in planned[:MAX_CALLS]]
        if meta and meta.input:
            carried = _carried(meta.input)
            relayed = _compared(carried, planned) if carried and planned else None
            notes += [relayed] if relayed else []
            if relayed is None or relayed.tone is Tone.ATTENTION:
                call = Call(to=meta.contract or wallet, data=meta.input)
                steps.append(self._described(CallStep(call, chain_id, None)))
        steps += self._recorded(getattr(self.transfer, leg), wallet, planned=meta.input if meta else None)
        title = f"On {self.transfer.chain_name(chain_id)}"
        who = (self.party(wallet, chain_id) or hashes.short_address(wallet)) if wallet and steps else ""
        more = max(len(planned) - MAX_CALLS, 0)
        return TransactionCalls(title, f"run by {who}" if who else "", notes, steps, more)

    def refund(self) -> TransactionCalls:
        refund = self.transfer.refund
        steps = tuple(self._recorded(refund, refund.from_address if refund else None))
        return TransactionCalls("Refund", self._on(refund.chain_id if refund else None), (), steps)

    def _on(self, chain_id: int | None) -> str:
        return "" if chain_id is None else f"on {self.transfer.chain_name(chain_id)}"

    # Notes

    def _condition(self, condition: TransactionPrecondition, chain_id: int | None) -> Iterator[Sentence]:
        chain_id = chain_id if condition.chain_id is None else condition.chain_id
        if condition.min_amount is not None and condition.type in (MIN_BALANCE, None):
            who = self.address(condition.owner_address, chain_id)
            money = self.money(condition.min_amount, condition.token_address, chain_id)
            yield Sentence(("Runs once ", *who, " has at least ", *money, f" {self._on(chain_id)}".rstrip(), "."))
        elif condition.type:
            yield Sentence((f"Runs under an unknown condition: {text.name(condition.type).shown}.",))

    def _signatures(self, entry: DepositIntentEntry) -> Iterator[Sentence]:
        """Yield the owner's signatures with which the relayer can submit the deposit."""
        chain_id, token = self.transfer.origin_chain_id, self.transfer.requested.token_address
        if entry.intent_signature:
            end = (" ", *until(entry.deadline)) if entry.deadline is not None else ()
            yield Sentence(("Gasless deposit: the owner signed it and the relayer submits it", *end, "."))
        if entry.permit_signature:
            how_much: Sequence[Piece] = ["an unspecified amount"]
            if entry.permit_amount == values.NEVER:
                how_much = [*self.token(token, chain_id), " without limit"]
            elif entry.permit_amount is not None:
                how_much = self.money(entry.permit_amount, token, chain_id)
            end = (" ", *until(entry.permit_deadline)) if entry.permit_deadline is not None else ()
            said = "A signed permit allows the service's contract to spend "
            yield Sentence((said, *how_much, " from the owner's wallet", *end, "."))
            if entry.permit_amount == values.NEVER:
                yield Sentence((UNLIMITED,), Tone.ATTENTION)
        if entry.fee_amount:
            fee = self.money(entry.fee_amount, entry.fee_token or token, chain_id)
            yield Sentence(("Relay fee: ", *fee, " to ", *self.address(entry.fee_collector, chain_id), "."))

    # Calls

    def _recorded(
        self, leg: IntentTransaction | None, caller: str | None, *, planned: str | None = None
    ) -> Iterator[CallStep]:
        """Yield the on-chain transaction's call if it differs from the planned one."""
        if not leg or not leg.calldata or leg.calldata.lower() in ("0x", (planned or "").lower()):
            return
        # The receipt doesn't name the called contract, but a token's functions are called on the token.
        call = abi.decoded(abi.raw(leg.calldata) or b"")
        is_own = isinstance(call, Decoded) and call.function.name in ("transfer", "transferFrom")
        made = Call(to=leg.token_address if is_own else None, data=leg.calldata)
        yield self._described(CallStep(made, leg.chain_id, caller, is_recorded=True))

    def _described(self, step: CallStep) -> CallStep:
        if step.size > min(self.bytes_left, abi.MAX_BYTES):
            return self._unnamed(step, SPENT if step.size <= abi.MAX_BYTES else Unread.TOO_LONG)
        self.bytes_left -= step.size
        data = abi.raw(step.call.data)
        if data is None:
            return self._unnamed(step, Unread.NO_HEX)
        if not data:
            to = self.address(step.call.to, step.chain_id)
            sent = ("Send ", *self.coins(step), " to ", *to)
            step.said = Sentence(sent if step.call.value else ("Call ", *to, " without data"))
            return step
        call = abi.decoded(data)
        if isinstance(call, Unread):
            return self._unnamed(step, call)
        step.function, step.values = call.function, call.values
        step.arguments = [(each, self._cell(step, each)) for each in call.function.arguments.values()]
        if call.left_over:
            rest = Cell(ValueKind.TEXT, f"{call.left_over:,} after the arguments")
            step.arguments.append((Parameter("more", "bytes"), rest))
        step.said = self._sentence(step, call.function)
        if call.function.carries is not NestedEncoding.NONE:
            self._add_nested(step, call)
        return step

    def _add_nested(self, step: CallStep, call: Decoded) -> None:
        """Add the nested calls, or why they couldn't be decoded."""
        found = abi.nested(call) if step.depth < DEEPEST else None
        if found is None:
            step.problem = NOT_APART if step.depth < DEEPEST else TOO_DEEP
            return
        shown = found[: self.inside_left]
        self.inside_left -= len(shown)
        step.more = len(found) - len(shown)
        # A self-call or a delegate call keeps the caller.
        keeps = call.function.carries in (NestedEncoding.OWN, NestedEncoding.BATCH)
        caller, own = step.caller if keeps else step.call.to, {"to": step.call.to}
        called = (each if each.to else each.model_copy(update=own) for each in shown)
        step.inside = [self._described(CallStep(each, step.chain_id, caller, step.depth + 1)) for each in called]

    def _unnamed(self, step: CallStep, problem: str) -> CallStep:
        """Describe a call by its selector, because its function is unknown."""
        contract = self.address(step.call.to, step.chain_id, unknown="a contract")
        start = abi.raw((step.call.data or "")[: 2 + 2 * abi.SELECTOR_BYTES]) or b""
        is_known = problem != Unread.NO_HEX and len(start) == abi.SELECTOR_BYTES
        paid = (" with ", *self.coins(step)) if step.call.value else ()
        step.said = Sentence(("Call ", f"function 0x{start.hex()} of " if is_known else "", *contract, *paid))
        step.problem = problem
        return step

    # Arguments

    def _sentence(self, step: CallStep, function: Function) -> Sentence:
        """Return the sentence of a well-known function with the arguments of this call."""
        pieces = list[Piece]()
        for words, name, choice, _ in Formatter().parse(function.sentence):
            pieces += [words] if words else []
            pieces += self._in_words(step, function.arguments.get(name), name, choice or "") if name else []
        coins = self.coins(step)
        # A bridged amount may be the native token itself.
        if step.call.value and coins[0] not in pieces:
            pieces += [", with ", *coins]
        return Sentence(tuple(pieces))

    def _in_words(self, step: CallStep, parameter: Parameter | None, name: str, choice: str) -> Sequence[Piece]:
        chain_id = step.chain_id
        match name:
            case "caller":
                return self.address(step.caller, chain_id, unknown="the wallet")
            case "contract":
                return self.address(step.call.to, chain_id, unknown="a contract")
            case "token" if not choice:
                return self.token(step.call.to, chain_id)
        if parameter is None:  # `value`
            return self.coins(step)
        value = step.values[name]
        if name == "commands":
            # A router's steps, one byte each. The highest bit permits a step to fail.
            codes = [f"0x{each & 0x3F:02x}" for each in value[:MAX_ENTRIES]]
            steps = [TABLE["commands"].get(code, f"step {code}") for code in codes]
            return [", ".join(steps + _more(value, "more steps"))]
        if choice == "token":
            return self.token(value, chain_id)
        if "|" in choice:
            return [choice.split("|")[0 if value else 1]]
        if parameter.token:
            token, chain_id = self._token_of(step, parameter)
            if value != 2 ** int(parameter.type.removeprefix("uint")) - 1:
                return self.money(value, token, chain_id)
            if choice == "allowance":
                return [*self.token(token, chain_id), " without limit"]
            return ["unlimited ", *self.token(token, chain_id)] if token else ["an unlimited amount"]
        if name in TABLE["times"]:
            return until(value)
        cell = self._cell(step, parameter)
        return [Cell(ValueKind.TEXT, cell.who, cell.value) if cell.who else cell]

    def _cell(self, step: CallStep, parameter: Parameter) -> Cell:
        chain_id, value = step.chain_id, step.values[parameter.name]
        if parameter.name in TABLE["far_addresses"] and isinstance(value, bytes) and (far := _as_address(value)):
            # The destination chain of the call, if it names one.
            named = (name for name in TABLE["chains"] if name in step.values)
            chain_id = next((_chain_id(name, step.values[name]) for name in named), chain_id)
            return self._address_cell(far, chain_id)
        match value:
            case bool():
                return Cell(ValueKind.TEXT, "yes" if value else "no")
            case int() if parameter.token:
                amount = self._money(value, *self._token_of(step, parameter)).amount
                return Cell(ValueKind.AMOUNT, str(amount), amount)
            case int() if parameter.name in TABLE["times"] and value > 0 and (at := times.since_1970(value)):
                return Cell(ValueKind.TIME, times.iso(at), at)
            case int() if parameter.name in TABLE["chains"]:
                info = self.transfer.names.chain(_chain_id(parameter.name, value))
                if info is None:
                    return Cell(ValueKind.TEXT, f"chain {value}")
                return Cell(ValueKind.CHAIN, names.chain(info.id, info=info), value)
            case int():
                return Cell(ValueKind.TEXT, str(value))
            case str() if hashes.is_native(value) and "token" in parameter.name.lower():
                return replace(address_cell(value, chain_id), who="native token")
            case str():
                return self._address_cell(value, chain_id)
            case bytes():
                # As hex, never as text, because their author could write anything.
                more = len(value) - MAX_ARGUMENT_BYTES
                end = f"… and {more:,} bytes more" if more > 0 else ""
                return Cell(ValueKind.DATA, f"0x{value[:MAX_ARGUMENT_BYTES].hex()}{end}")
        if parameter.parts or parameter.type == "bytes[]":  # they are nested calls
            return Cell(ValueKind.TEXT, text.counted(len(value), "entry", "entries"))
        shown = [hashes.checksum(each) if isinstance(each, str) else str(each) for each in value[:MAX_ENTRIES]]
        return Cell(ValueKind.TEXT, ", ".join(shown + _more(value, "more")))

    def _token_of(self, step: CallStep, parameter: Parameter) -> tuple[str | None, int | None]:
        """Return the token of an amount and its chain (signatures.txt)."""
        which, _, chain = parameter.token.partition(" on ")
        chain_id = _chain_id(chain, step.values[chain]) if chain else step.chain_id
        match which:
            case "path.first":
                return _on_path(step.values["path"], at=0), chain_id
            case "path.last":
                return _on_path(step.values["path"], at=-1), chain_id
            case "contract":
                return step.call.to, chain_id
            case "contract?":
                return step.call.to if self._names(chain_id).lists(chain_id, step.call.to) else None, chain_id
            case "native":
                return hashes.ZERO_ADDRESS, chain_id
            case "unnamed":
                return None, chain_id
            case _:
                return _as_address(step.values[which]), chain_id

    # Amounts, tokens and addresses

    def _names(self, chain_id: int | None) -> Names:
        own = (self.transfer.origin_chain_id, self.transfer.destination_chain_id)
        return self.transfer.names if chain_id in own else ChainNames(self.transfer.names)

    def _money(self, value: int | None, token: str | None, chain_id: int | None) -> Money:
        return replace(self.transfer.money(value, chain_id, token), names=self._names(chain_id))

    def coins(self, step: CallStep) -> Sequence[Piece]:
        return self.money(step.call.value or 0, hashes.ZERO_ADDRESS, step.chain_id)

    def money(self, value: int, token: str | None, chain_id: int | None) -> Sequence[Piece]:
        """Return the amount, with the token's address if the token has a warning or unknown decimals."""
        money = self._money(value, token, chain_id)
        cell = Cell(ValueKind.AMOUNT, money.amount.figure, money.amount)
        warning = token_amounts.warning_words(money.token.marks)
        if token is None or hashes.is_native(token):
            return [cell, f" ({warning})"] if warning else [cell]
        if money.amount.unit in ("", amounts.BASE_UNITS):
            return [cell, " of ", address_cell(token, chain_id), *([f" ({warning})"] if warning else [])]
        return [cell, " (", address_cell(token, chain_id), f", {warning})"] if warning else [cell]

    def token(self, token: object, chain_id: int | None) -> Sequence[Piece]:
        """Return the token's symbol, or its address if it has a warning."""
        address = _as_address(token)
        if address is None:
            return ["an unspecified token"]
        money = self._money(None, address, chain_id)
        warning = token_amounts.warning_words(money.token.marks)
        if money.called and not warning:
            return [Cell(ValueKind.TEXT, money.called, address)]
        return ["the token ", address_cell(address, chain_id), *([f" ({warning})"] if warning else [])]

    def address(
        self, address: str | None, chain_id: int | None, *, unknown: str = "an unspecified address"
    ) -> Sequence[Piece]:
        if not address:
            return [unknown]
        known = self.party(address, chain_id)
        return [Cell(ValueKind.TEXT, known, address) if known else address_cell(address, chain_id)]

    def _address_cell(self, address: str, chain_id: int | None) -> Cell:
        return replace(address_cell(address, chain_id), who=self.party(address, chain_id))

    def party(self, address: str, chain_id: int | None) -> str:
        """Return the role of an address in this transfer, or the listed token whose contract it is."""
        known = self.parties.get(address.lower())
        token = None if known or hashes.is_native(address) else self._names(chain_id).token(chain_id, address)
        if token and token.symbol and not self._money(None, address, chain_id).token.marks:
            return f"the {text.symbol(token.symbol).shown} contract"
        return known or ""

    @cached_property
    def parties(self) -> Mapping[str, str]:
        """The role of each address in this transfer, and of well-known contracts."""
        found = dict[str, str]()
        for path, role in TABLE["parties"].items():
            value: Any = self.transfer
            for name in path.split("."):
                value = None if value is None else getattr(value, name)
            found |= {value.lower(): role} if value else {}
        return found | dict[str, str](TABLE["contracts"])


def until(value: int | None) -> Sequence[Piece]:
    """Return `until …` for Unix seconds."""
    at = times.since_1970(value)
    return ["without a time limit"] if at is None else ["until ", Cell(ValueKind.TIME, times.iso(at), at)]


def address_cell(address: str, chain_id: int | None) -> Cell:
    return Cell(ValueKind.ADDRESS, hashes.checksum(address), address, chain_id)


def _more(entries: Sequence[Any], words: str) -> list[str]:
    return [f"{len(entries) - MAX_ENTRIES:,} {words}"] if len(entries) > MAX_ENTRIES else []


def _chain_id(name: str, value: int | None) -> int | None:
    """Return the chain ID for a bridge's own number of the chain."""
    numbers = TABLE["chains"].get(name)
    return numbers.get(str(value)) if numbers else value


def _on_path(path: Any, *, at: int) -> str | None:
    """Return the token at one end of a swap path: a list of addresses, or 20 bytes each with 3 for the fee between."""
    if isinstance(path, bytes):
        end = path[: abi.ADDRESS] if at == 0 else path[-abi.ADDRESS :]
        return "0x" + end.hex() if len(end) == abi.ADDRESS else None
    return str(path[at]) if path else None


def _as_address(value: object) -> str | None:
    """Return the address in a value, which may be padded to 32 bytes, or None."""
    if isinstance(value, bytes):
        is_address = len(value) == abi.WORD and not any(value[: -abi.ADDRESS])
        return "0x" + value[-abi.ADDRESS :].hex() if is_address else None
    return value if isinstance(value, str) else None


def _carried(data: str) -> tuple[Call, ...] | None:
    """Return the calls in the wallet's own `execute`, None for other data."""
    call = abi.decoded(abi.raw(data) or b"")
    return abi.nested(call) if isinstance(call, Decoded) and call.function.carries is NestedEncoding.PACKED else None


def _compared(carried: Sequence[Call], planned: Sequence[Call]) -> Sentence:
    """Compare the calls in the relayer's signed transaction with the planned ones."""
    made = [_essence(call) for call in carried]
    if made == [_essence(call) for call in planned]:
        return Sentence((RELAYED,))
    if made == [_essence(call) for call in planned if not call.only_fallback]:
        return Sentence((RELAYED_IN_PART,))
    return Sentence((RELAYED_OTHERWISE,), Tone.ATTENTION)


def _essence(call: Call) -> tuple[str, int, bytes | None]:
    return (call.to or "").lower(), call.value or 0, abi.raw(call.data)
