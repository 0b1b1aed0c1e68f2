"""Descriptions of a transfer's calls, decoded from well-known function signatures. Contracts may behave differently."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from string import Formatter
from typing import Any

from intents_ui.fields import abi, values
from intents_ui.fields.abi import (
    CONTRACT,
    MAYBE_CONTRACT,
    NATIVE,
    UNNAMED,
    Decoded,
    Function,
    Inner,
    NestedEncoding,
    Parameter,
    Unread,
)
from intents_ui.fields.values import Cell, ValueKind
from intents_ui.formatting import amounts, hashes, text, times
from intents_ui.service.models import (
    Call,
    ChainInfo,
    DepositIntentEntry,
    IntentCalls,
    IntentTransaction,
    MetaTxn,
    ServiceAddressOverrides,
    ServiceContracts,
    TokenInfo,
    TransactionPrecondition,
)
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import NoNames
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import Transfer

MAX_ENTRIES = 20  # of a list among the arguments
MAX_ARGUMENT_BYTES = 2_048  # of an argument; the raw JSON has all of them

TIMES = frozenset({"deadline", "expiration", "expiry", "sigDeadline", "validBefore", "quoteTimestamp", "fillDeadline"})
# Arguments of 32 bytes with the other chain's address.
FAR_ADDRESSES = frozenset({"mintRecipient", "destinationCaller", "recipient", "to", "depositor"})
FAR_ADDRESSES |= {"inputToken", "outputToken", "exclusiveRelayer"}
# How bridges number the chains: by chain ID, or by numbers of their own.
CCTP = {0: 1, 1: 43114, 2: 10, 3: 42161, 6: 8453, 7: 137, 10: 130}
LAYERZERO = {30101: 1, 30102: 56, 30106: 43114, 30109: 137, 30110: 42161, 30111: 10, 30184: 8453}
CHAINS: dict[str, dict[int, int] | None] = {
    "destinationChainId": None,
    "toChainId": None,
    "destination": None,
    "destinationDomain": CCTP,
    "dstEid": LAYERZERO,
}
COMMANDS = {
    0x00: "swap",
    0x01: "buy",
    0x02: "transfer tokens with Permit2",
    0x03: "submit several permits",
    0x04: "send the rest",
    0x05: "send tokens",
    0x06: "send a share",
    0x08: "swap",
    0x09: "buy",
    0x0A: "submit a permit",
    0x0B: "wrap the native token",
    0x0C: "unwrap the native token",
    0x0D: "transfer several tokens with Permit2",
    0x10: "swap",
}
WELL_KNOWN = {
    "0xca11bde05977b3631167028862be2a173976ca11": "the Multicall3 contract",
    "0x000000000022d473030f116ddee9f6b43ac78ba3": "the Permit2 contract",
    hashes.ZERO_ADDRESS: "the zero address",
}

type Piece = str | Cell


@dataclass(frozen=True)
class Sentence:
    """A sentence of words and values that can be copied or looked up."""

    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        return "".join(piece if isinstance(piece, str) else piece.shown for piece in self.pieces)


@dataclass(frozen=True)
class ValueRow:
    """An argument. `who` is the role of its address in this transfer."""

    name: str
    type: str
    cell: Cell
    who: str = ""


@dataclass(frozen=True)
class RawCall:
    """A call: chain, caller, contract, value in base units of the native token, data and nesting depth."""

    chain_id: int | None
    caller: str | None
    to: str | None
    value: int
    data: str | bytes | None
    depth: int = 0
    remarks: tuple[str, ...] = ()
    gas_limit: int = 0


class TransferNames(NoNames):
    """Names that are looked up once, with tokens only of the transfer's own chains.

    Call data can name any chain, and a token list of another one would be a request to the service."""

    def __init__(self, transfer: Transfer) -> None:
        using = transfer.names
        self._chains = (transfer.origin_chain_id, transfer.destination_chain_id)
        self._chain, self._token, self._lists = cache(using.chain), cache(using.token), cache(using.lists)
        self._featured, self.derived = using.featured, dict[Any, Any]()

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return self._chain(chain_id)

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return self._token(chain_id, address) if chain_id in self._chains else None

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        return self._lists(chain_id, address) if chain_id in self._chains else None

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        return self._featured(chain_id)


@dataclass(frozen=True)
class CallFormatter:
    """Describes values of this transfer's calls, by name where it or its names know one."""

    transfer: Transfer

    # Arguments

    def sentence(self, made: RawCall, call: Decoded) -> Sentence:
        """Return the sentence of a well-known function with the arguments of this call."""
        pieces = list[Piece]()
        for words, name, choice, _ in Formatter().parse(call.function.sentence):
            pieces += [words] if words else []
            pieces += self._argument(made, call, name, choice or "") if name else []
        coins = self.coins(made)
        # A bridged amount may be the native token itself.
        if made.value and coins[0] not in pieces:
            pieces += [", with ", *coins]
        return Sentence(tuple(pieces))

    def _argument(self, made: RawCall, call: Decoded, name: str, choice: str) -> Sequence[Piece]:
        argument = call.argument(name)
        value: Any = argument.value if argument else None
        if name == "caller":
            return self.address(made.caller, made.chain_id, unknown="the wallet")
        if name == "contract":
            return self.address(made.to, made.chain_id, unknown="a contract")
        if name == "token" and not choice:
            return self.token(made.to, made.chain_id)
        if argument is None:  # `{value}`
            return self.coins(made)
        if name == "commands":
            # A router's steps, one byte each. The highest bit permits a step to fail.
            steps = [COMMANDS.get(each & 0x3F) or f"step 0x{each & 0x3F:02x}" for each in value[:MAX_ENTRIES]]
            return [", ".join(steps + _more(value, "more steps"))]
        if choice == "token":
            return self.token(value, made.chain_id)
        if "|" in choice:
            return [choice.split("|")[0 if value else 1]]
        if argument.parameter.token:
            token, chain_id = self._token_of(made, call, argument.parameter)
            if value != 2 ** int(argument.parameter.type.removeprefix("uint")) - 1:
                return self.money(value, token, chain_id)
            if choice == "allowance":
                return self.without_limit(token, chain_id)
            return ["unlimited ", *self.token(token, chain_id)] if token else ["an unlimited amount"]
        if name in TIMES:
            return until(value)
        cell, who = self._cell(made, call, argument.parameter, value)
        return [Cell(ValueKind.TEXT, cell.value, who) if who else cell]

    def rows(self, made: RawCall, call: Decoded) -> Iterator[ValueRow]:
        for each in call.arguments:
            yield ValueRow(
                each.parameter.name, each.parameter.type, *self._cell(made, call, each.parameter, each.value)
            )
        if call.left_over:
            rest = Cell(ValueKind.TEXT, call.left_over, f"{call.left_over:,} after the arguments")
            yield ValueRow("more", "bytes", rest)

    def _cell(self, made: RawCall, call: Decoded, parameter: Parameter, value: Any) -> tuple[Cell, str]:
        """Return the value as a cell, and the role of an address in this transfer."""
        chain_id = made.chain_id
        if parameter.name in FAR_ADDRESSES and isinstance(value, bytes) and (far := _as_address(value)):
            # The destination chain of the call, if it names one.
            named = (name for name in CHAINS if call.value(name) is not None)
            chain_id = next((_chain_id(name, call.value(name)) for name in named), chain_id)
            return address_cell(far, chain_id), self.party(far, chain_id)
        match value:
            case bool():
                return Cell(ValueKind.FLAG, value, "yes" if value else "no"), ""
            case int():
                return self._number(made, call, parameter, value), ""
            case str():
                is_coin = hashes.is_native(value) and "token" in parameter.name.lower()
                return address_cell(value, chain_id), "native token" if is_coin else self.party(value, chain_id)
            case bytes():
                # As hex, never as text, because their author could write anything.
                more = (
                    f"… and {len(value) - MAX_ARGUMENT_BYTES:,} bytes more" if len(value) > MAX_ARGUMENT_BYTES else ""
                )
                return Cell(ValueKind.DATA, value, f"0x{value[:MAX_ARGUMENT_BYTES].hex()}{more}"), ""
        if parameter.parts or parameter.type == "bytes[]":  # they are nested calls
            return Cell(ValueKind.NUMBER, len(value), text.counted(len(value), "entry", "entries")), ""
        shown = [hashes.checksum(each) if isinstance(each, str) else str(each) for each in value[:MAX_ENTRIES]]
        shown += _more(value, "more")
        return Cell(ValueKind.LIST, tuple(shown), ", ".join(shown)), ""

    def _number(self, made: RawCall, call: Decoded, parameter: Parameter, value: int) -> Cell:
        if parameter.token:
            amount = self._amount(value, *self._token_of(made, call, parameter))
            return Cell(ValueKind.AMOUNT, amount, str(amount))
        if parameter.name in TIMES and value > 0 and (at := times.since_1970(value)):
            return Cell(ValueKind.TIME, at, times.iso(at))
        if parameter.name in CHAINS:
            info = self.transfer.names.chain(_chain_id(parameter.name, value))
            return (
                Cell(ValueKind.CHAIN, value, names.chain(info.id, info=info))
                if info
                else Cell(ValueKind.NUMBER, value, f"chain {value}")
            )
        return Cell(ValueKind.NUMBER, value, str(value))

    def _token_of(self, made: RawCall, call: Decoded, parameter: Parameter) -> tuple[str | None, int | None]:
        """Return the token of an amount and its chain."""
        which, _, chain = parameter.token.partition(" on ")
        chain_id = _chain_id(chain, call.value(chain)) if chain else made.chain_id
        match which:
            case "path.first":
                return _on_path(call.value("path"), at=0), chain_id
            case "path.last":
                return _on_path(call.value("path"), at=-1), chain_id
            case _ if which == CONTRACT or (which == MAYBE_CONTRACT and self.transfer.names.lists(chain_id, made.to)):
                return made.to, chain_id
            case _ if which == NATIVE:
                return hashes.ZERO_ADDRESS, chain_id
            case _:
                return None if which in (MAYBE_CONTRACT, UNNAMED) else _as_address(call.value(which)), chain_id

    # Amounts and tokens

    def coins(self, made: RawCall) -> Sequence[Piece]:
        return self.money(made.value, hashes.ZERO_ADDRESS, made.chain_id)

    def money(self, value: int, token: str | None, chain_id: int | None) -> Sequence[Piece]:
        """Return the amount, with the token's address if the token has a warning or unknown decimals."""
        amount = self._amount(value, token, chain_id)
        cell = Cell(ValueKind.AMOUNT, amount, amount.figure)
        warning = self._warning(token, chain_id, value)
        if token is None or hashes.is_native(token):
            return [cell, f" ({warning})"] if warning else [cell]
        if amount.unit in ("", amounts.BASE_UNITS):
            return [cell, " of ", address_cell(token, chain_id), *([f" ({warning})"] if warning else [])]
        return [cell, " (", address_cell(token, chain_id), f", {warning})"] if warning else [cell]

    def without_limit(self, token: str | None, chain_id: int | None) -> Sequence[Piece]:
        return [*self.token(token, chain_id), " without limit"]

    def token(self, token: object, chain_id: int | None) -> Sequence[Piece]:
        """Return the token's symbol, or its address if it has a warning."""
        address = _as_address(token)
        if address is None:
            return ["an unspecified token"]
        symbol = self.transfer.money(0, chain_id, address).called
        warning = self._warning(address, chain_id)
        if symbol and not warning:
            return [Cell(ValueKind.TEXT, address, symbol)]
        return ["the token ", address_cell(address, chain_id), *([f" ({warning})"] if warning else [])]

    def _amount(self, value: int, token: str | None, chain_id: int | None) -> amounts.Amount:
        return self.transfer.money(value, chain_id, token).amount

    def _warning(self, token: str | None, chain_id: int | None, value: int | None = None) -> str:
        return token_amounts.warning_words(self.transfer.money(value, chain_id, token).token.marks)

    # Addresses

    def address(
        self, address: str | None, chain_id: int | None, *, unknown: str = "an unspecified address"
    ) -> Sequence[Piece]:
        if not address:
            return [unknown]
        known = self.party(address, chain_id)
        return [Cell(ValueKind.TEXT, address, known) if known else address_cell(address, chain_id)]

    def party(self, address: str, chain_id: int | None) -> str:
        """Return the role of an address in this transfer, or the listed token whose contract it is."""
        known = self.parties.get(address.lower())
        token = None if known or hashes.is_native(address) else self.transfer.names.token(chain_id, address)
        is_plain = token and token.symbol and not self._warning(address, chain_id)
        return known or (f"the {text.symbol(token.symbol).shown} contract" if token and is_plain else "")

    @cached_property
    def parties(self) -> Mapping[str, str]:
        """The role of each address in this transfer. The later of two roles counts."""
        transfer, options = self.transfer, self.transfer.request.options
        wallet = (options and options.service_address_overrides) or ServiceAddressOverrides()
        contracts = transfer.intent.service_contracts or ServiceContracts()
        entry = (transfer.deposit and transfer.deposit.deposit_intent_entry) or DepositIntentEntry()
        roles = (
            (entry.fee_collector, "the fee collector"),
            (wallet.smart_wallet_factory_address, "the wallet's factory"),
            (wallet.smart_wallet_main_module_address, "the wallet's main module"),
            (wallet.smart_wallet_main_module_upgradable_address, "the wallet's upgradable module"),
            (wallet.smart_wallet_guest_module_address, "the wallet's guest module"),
            (wallet.smart_wallet_utils_address, "the wallet's utils contract"),
            (contracts.service_router_shim_address, "the service's router shim"),
            (contracts.service_router_address, "the service's router"),
            (contracts.service_intent_entrypoint_address, "the service's entrypoint contract"),
            (transfer.recipient, "the recipient"),
            (transfer.owner, "the owner's wallet"),
            (transfer.delivery_address, "the destination intent address"),
            (transfer.deposit_address, "the deposit address"),
        )
        return {address.lower(): role for address, role in roles if address} | WELL_KNOWN


def until(value: int | None) -> Sequence[Piece]:
    """Return `until …` for Unix seconds."""
    at = times.since_1970(value)
    return ["without a time limit"] if at is None else ["until ", Cell(ValueKind.TIME, at, times.iso(at))]


def address_cell(address: str, chain_id: int | None) -> Cell:
    return Cell(ValueKind.ADDRESS, address, hashes.checksum(address), chain_id)


def _more(entries: Sequence[Any], words: str) -> list[str]:
    return [f"{len(entries) - MAX_ENTRIES:,} {words}"] if len(entries) > MAX_ENTRIES else []


def _chain_id(name: str, value: int | None) -> int | None:
    """Return the chain ID for a bridge's own number of the chain."""
    numbers = CHAINS.get(name)
    return value if numbers is None or value is None else numbers.get(value)


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


MAX_CALLS = 50  # of one list
MAX_INSIDE = 50  # on a page, in other calls
MAX_BYTES = 131_072  # on a page, that are decoded
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
    bytes_left: int = MAX_BYTES

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
        if size > min(self.bytes_left, abi.MAX_BYTES):
            problem = SPENT if size <= abi.MAX_BYTES else Unread.TOO_LONG
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


def _read(data: str | bytes | None, *, most: int = abi.MAX_BYTES + 1) -> bytes | None:
    """Return the first bytes, None if the data isn't hex. By default as many as needed to detect data that is too
    long.
    """
    return data[:most] if isinstance(data, bytes) else abi.raw(data[: 2 + 2 * most] if data else None)
