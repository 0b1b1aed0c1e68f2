"""Call data decoded (eth-abi) for the functions in signatures.txt, and the calls nested in it.

Call data is untrusted. Nothing here raises: undecodable data has a reason. Nothing takes long: the data has a maximum
length, and a decoder that reads the same bytes repeatedly is stopped. A selector tells what the sender intends, not
what the contract does.
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

from intents_ui.service.models import Call

SELECTOR_BYTES = 4
WORD, ADDRESS = 32, 20
MAX_BYTES = 65_536
MAX_CALLS = 4_096  # in the compact encoding, where a call may have one byte. No block has room for as many
# eth-abi reads a struct twice, and one nested in two others eight times. If all pointers lead to the same long bytes,
# it would read and hold them once per pointer.
MAX_READINGS = 8

HEX = re.compile(r"0[xX]((?:[0-9a-fA-F]{2})*)")
DECLARATION = re.compile(r"^(\w+)\((.*)\)(?: carries (\w+))?$")
PARAMETER = re.compile(r"^(\(.*\)\S*|\S+) (\w+)(?: of (.+))?$")
BETWEEN_PARAMETERS = re.compile(r", (?![^()]*\))")  # a comma outside of a struct


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
    """A parameter. `type` is spelled as in a signature, `token` is that of an amount.

    `parts` are the fields of a struct, or of each struct in a list.
    """

    name: str
    type: str
    token: str = ""
    parts: tuple["Parameter", ...] = ()

    @property
    def is_list(self) -> bool:
        return self.type.endswith("]")

    @property
    def arguments(self) -> tuple["Parameter", ...]:
        """The fields of a struct, those of structs in it among them, or itself."""
        if self.is_list or not self.parts:
            return (self,)
        return tuple(argument for part in self.parts for argument in part.arguments)

    @classmethod
    def parse(cls, text: str) -> "Parameter":
        """Parse `uint256 amount of token` or `(address target, bytes callData)[] calls`."""
        [(kind, name, token)] = PARAMETER.findall(text)
        members, _, suffix = kind.removeprefix("(").rpartition(")")
        if not members:
            return cls(name, kind, token)
        parts = tuple(map(cls.parse, BETWEEN_PARAMETERS.split(members)))
        return cls(name, f"({','.join(part.type for part in parts)}){suffix}", parts=parts)


@dataclass(frozen=True)
class Function:
    name: str
    parameters: tuple[Parameter, ...]
    carries: NestedEncoding
    sentence: str

    @classmethod
    def parse(cls, declaration: str, sentence: str) -> "Function":
        [(name, listed, carries)] = DECLARATION.findall(declaration)
        parameters = tuple(map(Parameter.parse, BETWEEN_PARAMETERS.split(listed))) if listed else ()
        return cls(name, parameters, NestedEncoding(carries), sentence.strip())

    @property
    def signature(self) -> str:
        return f"{self.name}({','.join(each.type for each in self.parameters)})"

    @cached_property
    def selector(self) -> bytes:
        return function_signature_to_4byte_selector(self.signature)

    @cached_property
    def arguments(self) -> Mapping[str, Parameter]:
        """The parameters by name, with the fields of structs instead of the structs."""
        return {argument.name: argument for each in self.parameters for argument in each.arguments}


@cache
def functions() -> Mapping[bytes, Function]:
    """Return the functions by selector."""
    lines = resources.files(__package__).joinpath("signatures.txt").read_text("utf-8").splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    found = map(Function.parse, lines[::2], lines[1::2])
    return {function.selector: function for function in found}


@dataclass(frozen=True)
class Decoded:
    """A decoded call. Contracts ignore the `left_over` bytes behind the arguments.

    `values` are those of the function's `arguments`, by name, as decoded by eth-abi: str for an address or string, int,
    bool, bytes, or a tuple of them.
    """

    function: Function
    values: Mapping[str, Any]
    left_over: int = 0


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
    """Decodes bytes as contracts do: padding up to the last word may contain anything or be missing.

    `strict=False` of eth-abi also accepts a length beyond the data, and does not reach the parts of lists and structs.
    """

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
    """Return the bytes of hex digits, empty for none, None if it isn't hex. Of data that is too long, the beginning."""
    if not text:
        return b""
    found = HEX.fullmatch(text[: 2 + 2 * (MAX_BYTES + 1)])
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
        left_over = max(len(data) - SELECTOR_BYTES - stream.end, 0)
        by_name = zip(function.arguments, _flat(function.parameters, values), strict=True)
        return Decoded(function, dict(by_name), left_over)
    # Besides its own errors, eth-abi raises those of seeking, for example to a pointer of 2**255.
    except (DecodingError, ValueError, OverflowError):
        return Unread.BROKEN


def _flat(parameters: Sequence[Parameter], values: Sequence[Any]) -> Iterator[Any]:
    """Yield the values of `Function.arguments`."""
    for parameter, value in zip(parameters, values, strict=True):
        if parameter.parts and not parameter.is_list:
            yield from _flat(parameter.parts, value)
        else:
            yield value


def nested(call: Decoded) -> tuple[Call, ...] | None:
    """Return the nested calls, None if they can't be separated or there can't be any.

    Those without a contract are to the called contract itself.
    """
    match call.function.carries:
        case NestedEncoding.OWN:
            return tuple(_call(None, data) for data in call.values["data"])
        case NestedEncoding.LISTED:
            # The only list among the arguments, whose name differs between contracts.
            listed = next(each for each in call.function.arguments.values() if each.parts)
            names = [part.name for part in listed.parts]
            return tuple(_single(dict(zip(names, entry, strict=True))) for entry in call.values[listed.name])
        case NestedEncoding.ONE:
            return (_single(call.values),)
        case NestedEncoding.PACKED:
            return plainly_packed(call.values["payload"]) or packed(call.values["payload"])
        case NestedEncoding.BATCH:
            return plainly_packed(call.values["transactions"], operations=True)
        case NestedEncoding.NONE:
            return None


def _call(to: str | None, data: bytes, value: int = 0, **flags: Any) -> Call:
    return Call(to=to, data=f"0x{data.hex()}", value=value, **flags)


def _single(named: Mapping[str, Any]) -> Call:
    to = named.get("target") or named.get("to") or named.get("dest")
    data = next(named[name] for name in ("callData", "data", "func") if name in named)
    return _call(to, data, named.get("value", 0))


def plainly_packed(data: bytes, *, operations: bool = False) -> tuple[Call, ...] | None:
    """Return calls packed one after the other: an operation, contract (20 bytes), value, length (32 each) and data."""
    calls, reader = [], _DataReader(data)
    try:
        while reader.tell() < len(data):
            is_delegated = reader.whole(1) == 1 if operations else None
            to, value = reader.address(), reader.whole(WORD)
            calls.append(_call(to, reader.exactly(reader.whole(WORD)), value, delegate_call=is_delegated))
    except EOFError:
        return None
    return tuple(calls) or None


def packed(data: bytes) -> tuple[Call, ...] | None:
    """Return calls in the smart wallet's compact encoding: flags, then only the parts that differ from the default."""
    reader = _DataReader(data)
    try:
        flags = reader.whole(1)
        if not flags & 0x01:
            reader.exactly(ADDRESS)  # the space of the nonce
        reader.exactly(flags >> 1 & 0x07)  # the nonce
        count = 1 if flags & 0x10 else reader.whole(2 if flags & 0x20 else 1)
        if count > MAX_CALLS:
            return None
        calls = tuple(_packed_call(reader) for _ in range(count))
    except EOFError:
        return None
    return calls if reader.tell() == len(data) else None


def _packed_call(reader: "_DataReader") -> Call:
    flags = reader.whole(1)
    to = None if flags & 0x01 else reader.address()
    value = reader.whole(WORD) if flags & 0x02 else 0
    data = reader.exactly(reader.whole(3)) if flags & 0x04 else b""
    return _call(
        to,
        data,
        value,
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
