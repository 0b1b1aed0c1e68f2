"""Identifiers, addresses and hashes that encode the number they were made from, so that no index of them is needed."""

import hashlib
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

HASH_BYTES = 32
ADDRESS_BYTES = 20
SIGNATURE_BYTES = 64  # length of a transaction signature on chains that use Base58
_HEAD_BYTES = 8
_KEY = b"intents_ui.emulator"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Role(IntEnum):
    """What a name identifies."""

    INTENT = 1
    ORIGIN_ADDRESS = 2
    DESTINATION_ADDRESS = 3
    OWNER = 4
    DEPOSIT = 5
    ORIGIN = 6
    DESTINATION = 7
    REFUND = 8


@dataclass(frozen=True, slots=True)
class Named:
    """A decoded name: the intent's number (the owner's for `OWNER`) and, for hashes, the attempt."""

    role: Role
    number: int
    attempt: int = 0


def hash_of(role: Role, number: int, attempt: int = 0) -> str:
    """Return a 32-byte name as `0x` and 64 hex digits."""
    return "0x" + _write(role, number, attempt, HASH_BYTES).hex()


def address_of(role: Role, number: int) -> str:
    """Return a 20-byte name as `0x` and 40 hex digits."""
    return "0x" + _write(role, number, 0, ADDRESS_BYTES).hex()


def base58_address_of(role: Role, number: int) -> str:
    """Return a 32-byte name in Base58."""
    return _base58(_write(role, number, 0, HASH_BYTES))


def base58_signature_of(role: Role, number: int, attempt: int = 0) -> str:
    """Return a 64-byte name in Base58."""
    return _base58(_write(role, number, attempt, SIGNATURE_BYTES))


def _base58(raw: bytes) -> str:
    value = int.from_bytes(raw)
    letters = ""
    while value:
        value, letter = divmod(value, 58)
        letters = _BASE58[letter] + letters
    zeros = len(raw) - len(raw.lstrip(b"\0"))
    return _BASE58[0] * zeros + letters


def read(name: str) -> Named | None:
    """Decode a name in either case, with or without `0x`. Returns None if it wasn't made here."""
    raw = _bytes_of(name)
    if raw is None:
        return None
    head, tail = raw[:_HEAD_BYTES], raw[_HEAD_BYTES:]
    packed = int.from_bytes(_masked(head, tail))
    number, role, attempt = packed >> 8, packed >> 3 & 31, packed & 7
    if role not in _ROLES or _tail(packed, len(raw)) != tail:
        return None
    return Named(Role(role), number, attempt)


def noise(number: int, label: str, size: int = 32) -> bytes:
    """Return pseudorandom bytes that are the same in every process.

    For signatures, salts and addresses that are never looked up.
    """
    return hashlib.blake2b(f"{label}:{number}".encode(), key=_KEY, digest_size=min(size, 64)).digest()


@cache
def stranger(label: str) -> str:
    """Return the address of a third party, such as a router, a solver or a shop."""
    return "0x" + noise(0, label, ADDRESS_BYTES).hex()


_ROLES = frozenset(Role)


def _write(role: Role, number: int, attempt: int, size: int) -> bytes:
    packed = number << 8 | role << 3 | attempt
    tail = _tail(packed, size)
    return _masked(packed.to_bytes(_HEAD_BYTES), tail) + tail


def _tail(packed: int, size: int) -> bytes:
    seen = packed.to_bytes(_HEAD_BYTES)
    return hashlib.blake2b(seen, key=_KEY, digest_size=size - _HEAD_BYTES, person=b"tail").digest()


def _masked(head: bytes, tail: bytes) -> bytes:
    """Mask or unmask the head with a mask derived from the tail."""
    mask = hashlib.blake2b(tail, key=_KEY, digest_size=_HEAD_BYTES, person=b"mask").digest()
    return (int.from_bytes(head) ^ int.from_bytes(mask)).to_bytes(_HEAD_BYTES)


def _bytes_of(name: str) -> bytes | None:
    digits = name[2:] if name[:2] in ("0x", "0X") else name
    try:
        raw = bytes.fromhex(digits) if len(digits) in (2 * HASH_BYTES, 2 * ADDRESS_BYTES) else _from_base58(name)
    except ValueError:
        return None
    return raw if len(raw) in (HASH_BYTES, ADDRESS_BYTES, SIGNATURE_BYTES) else None


def _from_base58(name: str) -> bytes:
    # 32 bytes take at most 44 characters, 64 bytes at most 88. Longer input isn't decoded.
    size = HASH_BYTES if len(name) <= 44 else SIGNATURE_BYTES
    value = 0
    for letter in name[:89]:
        value = value * 58 + _BASE58.index(letter)
    return value.to_bytes(size) if value.bit_length() <= 8 * size else b""
