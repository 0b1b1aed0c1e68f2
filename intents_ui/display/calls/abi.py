"""Call data decoded (eth-abi) for well-known functions, and the nested calls.

Call data is untrusted. Nothing here raises: undecodable data has a reason. Nothing takes long: the data has a maximum
length, and a decoder that reads the same bytes repeatedly is stopped.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from eth_abi.decoding import BaseDecoder, ByteStringDecoder, ContextFramesBytesIO, decode_uint_256
from eth_abi.exceptions import DecodingError, InsufficientDataBytes
from eth_abi.registry import registry

from intents_ui.display.calls.function_signatures import Carries, Function, Parameter, known

SELECTOR_BYTES = 4
MOST_BYTES = 65_536
# eth-abi reads a struct twice, and one nested in two others eight times. If all pointers lead to the same long bytes,
# it would read and hold them once per pointer.
MOST_READINGS = 8

HEX = re.compile(r"0[xX]((?:[0-9a-fA-F]{2})*)")
WORD, ADDRESS = 32, 20


class Unread(StrEnum):
    """Why data isn't decoded."""

    NO_HEX = "no-hex"
    TOO_LONG = "too-long"
    SHORT = "short"  # too short for a selector
    UNKNOWN = "unknown"  # an unknown function
    BROKEN = "broken"  # a known selector with data that isn't its arguments


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

    def value(self, name: str) -> Any:
        """Return an argument's value, None if the function doesn't have it."""
        return next((each.value for each in self.arguments if each.parameter.name == name), None)


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


class _Overlong(DecodingError):
    """The decoder has read far more than the data's length."""


class _Stream(ContextFramesBytesIO):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)  # type: ignore[no-untyped-call]
        self.left = MOST_READINGS * len(data)
        self.end = 0

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.left -= len(found)
        self.end = max(self.end, self.tell())
        if self.left < 0:
            raise _Overlong("the same bytes were read over and over")
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


def raw(text: str | None) -> bytes | None:
    """Return the bytes of hex digits, empty for none, None if it isn't hex."""
    if not text:
        return b""
    found = HEX.fullmatch(text)
    return bytes.fromhex(found[1]) if found else None


def decoded(data: bytes) -> Decoded | Unread:
    if len(data) > MOST_BYTES:
        return Unread.TOO_LONG
    if len(data) < SELECTOR_BYTES:
        return Unread.SHORT
    function = known().get(data[:SELECTOR_BYTES])
    return _arguments(function, data[SELECTOR_BYTES:]) if function else Unread.UNKNOWN


def inner(call: Decoded) -> tuple[Inner, ...] | None:
    """Return the nested calls, None if they can't be separated or there can't be any."""
    match call.function.carries:
        case Carries.OWN:
            return tuple(Inner(None, data) for data in call.value("data"))
        case Carries.LISTED:
            listed = next(each for each in call.arguments if each.parameter.parts)
            names = [part.name for part in listed.parameter.parts]
            return tuple(_single(dict(zip(names, entry, strict=True))) for entry in listed.value)
        case Carries.ONE:
            return (_single({each.parameter.name: each.value for each in call.arguments}),)
        case Carries.PACKED:
            return plainly_packed(call.value("payload")) or packed(call.value("payload"))
        case Carries.BATCH:
            return plainly_packed(call.value("transactions"), operations=True)
        case Carries.NONE:
            return None


def plainly_packed(data: bytes, *, operations: bool = False) -> tuple[Inner, ...] | None:
    """Return packed calls: an operation, contract (20 bytes), value and length (32 each) and data, one after the
    other.
    """
    calls, reader = [], _DataReader(data)
    try:
        while reader.has_more:
            is_delegated = reader.whole(1) == 1 if operations else None
            to, value = reader.address(), reader.whole(WORD)
            calls.append(Inner(to, reader.bytes(reader.whole(WORD)), value, delegate_call=is_delegated))
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
            reader.bytes(ADDRESS)  # the space of the nonce
        reader.bytes(flags >> 1 & 0x07)  # the nonce
        count = 1 if flags & 0x10 else reader.whole(2 if flags & 0x20 else 1)
        calls = tuple(_packed_call(reader) for _ in range(count))
    except EOFError:
        return None
    return None if reader.has_more else calls


def _packed_call(reader: "_DataReader") -> Inner:
    flags = reader.whole(1)
    return Inner(
        to=None if flags & 0x01 else reader.address(),
        value=reader.whole(WORD) if flags & 0x02 else 0,
        data=reader.bytes(reader.whole(3)) if flags & 0x04 else b"",
        gas_limit=reader.whole(WORD) if flags & 0x08 else None,
        delegate_call=bool(flags & 0x10),
        only_fallback=bool(flags & 0x20),
        behavior_on_error=flags >> 6,
    )


class _DataReader:
    """Reads bytes front to back. Raises EOFError if they end too early."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def has_more(self) -> bool:
        return self._at < len(self._data)

    def bytes(self, count: int) -> bytes:
        found = self._data[self._at : self._at + count]
        if len(found) != count:
            raise EOFError
        self._at += count
        return found

    def whole(self, count: int) -> int:
        return int.from_bytes(self.bytes(count))

    def address(self) -> str:
        return "0x" + self.bytes(ADDRESS).hex()


def _arguments(function: Function, data: bytes) -> Decoded | Unread:
    stream = _Stream(data)
    try:
        values = _decoder(*(each.type for each in function.parameters))(stream)
        return Decoded(function, tuple(_flat(function.parameters, values)), max(len(data) - stream.end, 0))
    # Besides its own errors, eth-abi raises those of seeking, for example to a pointer of 2**255.
    except (DecodingError, ValueError, OverflowError):
        return Unread.BROKEN


@cache
def _decoder(*types: str) -> BaseDecoder:
    found: BaseDecoder = REGISTRY.get_tuple_decoder(*types)
    return found


def _flat(parameters: Sequence[Parameter], values: Sequence[Any]) -> Iterator[Argument]:
    for parameter, value in zip(parameters, values, strict=True):
        if parameter.parts and not parameter.is_list:
            yield from _flat(parameter.parts, value)
        else:
            yield Argument(parameter, value)


def _single(named: Mapping[str, Any]) -> Inner:
    """Return the only list among the arguments, whose name differs between contracts."""
    to = named.get("target") or named.get("to") or named.get("dest")
    data = next(named[name] for name in ("callData", "data", "func") if name in named)
    return Inner(to, data, named.get("value", 0))
