"""Call data decoded (eth-abi) for well-known functions, and the nested calls.

Call data is untrusted. Nothing here raises: undecodable data has a reason. Nothing takes long: the data has a maximum
length, and a decoder that reads the same bytes repeatedly is stopped.

signatures.txt has two lines for each function: its declaration, and a sentence on what it does. A selector tells what
the sender intends, not what the contract does. `of` follows an amount and names its token: CONTRACT, PERHAPS, NATIVE,
UNNAMED, another argument, or an end of a path. `carries` tells how nested calls are encoded. In a sentence, `{name}` is
an argument, and `{caller}`, `{contract}`, `{token}` and `{value}` are the caller, the called contract, the token it
represents, and the native tokens sent. `{flag:yes|no}` chooses by a flag, `{name:token}` is the token at an address,
and the maximum of `{name:allowance}` means "without limit".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from importlib import resources
from io import BytesIO
from typing import Any

from eth_abi.decoding import BaseDecoder, ByteStringDecoder, ContextFramesBytesIO, decode_uint_256
from eth_abi.exceptions import DecodingError, InsufficientDataBytes
from eth_abi.registry import registry
from eth_utils.abi import function_signature_to_4byte_selector

CONTRACT = "contract"  # the called contract is the token
MAYBE_CONTRACT = "contract?"  # the contract may be the token, or hold it
NATIVE = "native"
UNNAMED = "unnamed"  # not in the call

SELECTOR_BYTES = 4
MAX_BYTES = 65_536
# eth-abi reads a struct twice, and one nested in two others eight times. If all pointers lead to the same long bytes,
# it would read and hold them once per pointer.
MAX_READINGS = 8

HEX = re.compile(r"0[xX]((?:[0-9a-fA-F]{2})*)")
DECLARATION = re.compile(r"^(\w+)\((.*)\)(?: carries (\w+))?$")
PARAMETER = re.compile(r"^(\(.*\)\S*|\S+) (\w+)(?: of (.+))?$")
WORD, ADDRESS = 32, 20


class NestedEncoding(StrEnum):
    """How nested calls are encoded in a call."""

    NONE = ""
    OWN = "own"  # a list of data, all for the same contract
    LISTED = "listed"  # a list of (contract, data) or (contract, value, data)
    ONE = "one"  # one contract and the data for it
    PACKED = "packed"  # the smart wallet's compact list, as bytes
    BATCH = "batch"  # operation, contract, value and data, one after the other, as bytes


class Unread(StrEnum):
    """Why data isn't decoded, as users see it."""

    NO_HEX = "The data isn't hexadecimal."
    TOO_LONG = "The data is too long to decode."
    SHORT = "The data is too short for a function selector."
    UNKNOWN = "Unknown function."
    BROKEN = "Arguments don't match the function signature."


@dataclass(frozen=True)
class Parameter:
    """A parameter. `type` is spelled as in a signature, `token` is that of an amount. `parts` are the fields of a
    struct, or of each struct in a list.
    """

    name: str
    type: str
    token: str = ""
    parts: tuple["Parameter", ...] = ()

    @property
    def is_list(self) -> bool:
        return self.type.endswith("]")

    @classmethod
    def parse(cls, text: str) -> "Parameter":
        """Parse `uint256 amount of token` or `(address target, bytes callData)[] calls`."""
        [(kind, name, token)] = PARAMETER.findall(text)
        members, _, suffix = kind.removeprefix("(").rpartition(")")
        if not members:
            return cls(name, kind, token)
        parts = tuple(map(cls.parse, _split(members)))
        return cls(name, f"({','.join(part.type for part in parts)}){suffix}", parts=parts)


@dataclass(frozen=True)
class Function:
    name: str
    parameters: tuple[Parameter, ...]
    carries: NestedEncoding
    sentence: str

    @classmethod
    def parse(cls, declaration: str, sentence: str) -> "Function":
        [(name, parameters, carries)] = DECLARATION.findall(declaration)
        return cls(name, tuple(map(Parameter.parse, _split(parameters))), NestedEncoding(carries), sentence.strip())

    @property
    def signature(self) -> str:
        return f"{self.name}({','.join(each.type for each in self.parameters)})"

    @cached_property
    def selector(self) -> bytes:
        return function_signature_to_4byte_selector(self.signature)


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside of parentheses."""
    depth, piece = 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            yield piece.strip()
            piece = ""
        else:
            piece += character
    if piece.strip():
        yield piece.strip()


@cache
def functions() -> Mapping[bytes, Function]:
    """Return the functions by selector."""
    lines = resources.files(__package__).joinpath("signatures.txt").read_text("utf-8").splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    found = map(Function.parse, lines[::2], lines[1::2])
    return {function.selector: function for function in found}


@dataclass(frozen=True)
class Argument:
    """An argument. `value` as decoded by eth-abi: str for an address or string, int, bool, bytes, or a tuple of
    them.
    """

    parameter: Parameter
    value: Any


@dataclass(frozen=True)
class Decoded:
    """A decoded call with its structs flattened. Contracts ignore the `left_over` bytes behind the arguments."""

    function: Function
    arguments: tuple[Argument, ...]
    left_over: int = 0

    def argument(self, name: str) -> Argument | None:
        return next((each for each in self.arguments if each.parameter.name == name), None)

    def value(self, name: str) -> Any:
        """Return an argument's value, None if the function doesn't have it."""
        found = self.argument(name)
        return found.value if found else None


@dataclass(frozen=True)
class Inner:
    """A nested call. `to` None: the called contract itself. Missing values are None."""

    to: str | None
    data: bytes
    value: int = 0
    gas_limit: int | None = None
    delegate_call: bool | None = None
    only_fallback: bool | None = None
    behavior_on_error: int | None = None


class _Stream(ContextFramesBytesIO):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)  # type: ignore[no-untyped-call]
        self.left = MAX_READINGS * len(data)
        self.end = 0

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.left -= len(found)
        self.end = max(self.end, self.tell())
        if self.left < 0:
            raise DecodingError("the same bytes were read over and over")
        return found


class _Bytes(ByteStringDecoder):
    """Decodes bytes as contracts do: padding up to the last word may contain anything or be missing."""

    def read_data_from_stream(self, stream: ContextFramesBytesIO) -> bytes:
        length: int = decode_uint_256(stream)
        found = stream.read(-(-length // WORD) * WORD)[:length]
        if len(found) < length:
            raise InsufficientDataBytes(f"{length} bytes were announced, {len(found)} are there")
        return found


REGISTRY = registry.copy()  # type: ignore[no-untyped-call]
REGISTRY.unregister_decoder("bytes")
REGISTRY.register_decoder("bytes", _Bytes, label="bytes")


@cache
def _decoder(*types: str) -> BaseDecoder:
    found: BaseDecoder = REGISTRY.get_tuple_decoder(*types)
    return found


def raw(text: str | None) -> bytes | None:
    """Return the bytes of hex digits, empty for none, None if it isn't hex."""
    if not text:
        return b""
    found = HEX.fullmatch(text)
    return bytes.fromhex(found[1]) if found else None


def decoded(data: bytes) -> Decoded | Unread:
    if len(data) > MAX_BYTES:
        return Unread.TOO_LONG
    if len(data) < SELECTOR_BYTES:
        return Unread.SHORT
    function = functions().get(data[:SELECTOR_BYTES])
    if function is None:
        return Unread.UNKNOWN
    stream = _Stream(data[SELECTOR_BYTES:])
    try:
        values = _decoder(*(each.type for each in function.parameters))(stream)
        arguments = tuple(_flat(function.parameters, values))
        return Decoded(function, arguments, max(len(data) - SELECTOR_BYTES - stream.end, 0))
    # Besides its own errors, eth-abi raises those of seeking, for example to a pointer of 2**255.
    except (DecodingError, ValueError, OverflowError):
        return Unread.BROKEN


def _flat(parameters: Sequence[Parameter], values: Sequence[Any]) -> Iterator[Argument]:
    for parameter, value in zip(parameters, values, strict=True):
        if parameter.parts and not parameter.is_list:
            yield from _flat(parameter.parts, value)
        else:
            yield Argument(parameter, value)


def inner(call: Decoded) -> tuple[Inner, ...] | None:
    """Return the nested calls, None if they can't be separated or there can't be any."""
    match call.function.carries:
        case NestedEncoding.OWN:
            return tuple(Inner(None, data) for data in call.value("data"))
        case NestedEncoding.LISTED:
            # The only list among the arguments, whose name differs between contracts.
            listed = next(each for each in call.arguments if each.parameter.parts)
            names = [part.name for part in listed.parameter.parts]
            return tuple(_single(dict(zip(names, entry, strict=True))) for entry in listed.value)
        case NestedEncoding.ONE:
            return (_single({each.parameter.name: each.value for each in call.arguments}),)
        case NestedEncoding.PACKED:
            return plainly_packed(call.value("payload")) or packed(call.value("payload"))
        case NestedEncoding.BATCH:
            return plainly_packed(call.value("transactions"), operations=True)
        case NestedEncoding.NONE:
            return None


def _single(named: Mapping[str, Any]) -> Inner:
    to = named.get("target") or named.get("to") or named.get("dest")
    data = next(named[name] for name in ("callData", "data", "func") if name in named)
    return Inner(to, data, named.get("value", 0))


def plainly_packed(data: bytes, *, operations: bool = False) -> tuple[Inner, ...] | None:
    """Return packed calls: an operation, contract (20 bytes), value and length (32 each) and data, one after the
    other.
    """
    calls, reader = [], _DataReader(data)
    try:
        while reader.tell() < len(data):
            is_delegated = reader.whole(1) == 1 if operations else None
            to, value = reader.address(), reader.whole(WORD)
            calls.append(Inner(to, reader.exactly(reader.whole(WORD)), value, delegate_call=is_delegated))
    except EOFError:
        return None
    return tuple(calls) or None


def packed(data: bytes) -> tuple[Inner, ...] | None:
    """Return the calls in the smart wallet's compact encoding: flags, then only the parts that differ from the
    default.
    """
    reader = _DataReader(data)
    try:
        flags = reader.whole(1)
        if not flags & 0x01:
            reader.exactly(ADDRESS)  # the space of the nonce
        reader.exactly(flags >> 1 & 0x07)  # the nonce
        count = 1 if flags & 0x10 else reader.whole(2 if flags & 0x20 else 1)
        calls = tuple(_packed_call(reader) for _ in range(count))
    except EOFError:
        return None
    return calls if reader.tell() == len(data) else None


def _packed_call(reader: "_DataReader") -> Inner:
    flags = reader.whole(1)
    return Inner(
        to=None if flags & 0x01 else reader.address(),
        value=reader.whole(WORD) if flags & 0x02 else 0,
        data=reader.exactly(reader.whole(3)) if flags & 0x04 else b"",
        gas_limit=reader.whole(WORD) if flags & 0x08 else None,
        delegate_call=bool(flags & 0x10),
        only_fallback=bool(flags & 0x20),
        behavior_on_error=flags >> 6,
    )


class _DataReader(BytesIO):
    """Reads bytes front to back. Raises EOFError if they end too early."""

    def exactly(self, count: int) -> bytes:
        found = self.read(min(count, MAX_BYTES))  # a count may be too large for an index
        if len(found) != count:
            raise EOFError
        return found

    def whole(self, count: int) -> int:
        return int.from_bytes(self.exactly(count))

    def address(self) -> str:
        return "0x" + self.exactly(ADDRESS).hex()
