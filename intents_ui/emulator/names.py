"""Identifiers, addresses and hashes that encode the number they were made from, so that no index of them is needed."""

import hashlib
from enum import IntEnum
from functools import cache
from typing import Final

HASH_BYTES: Final = 32
ADDRESS_BYTES: Final = 20
SIGNATURE_BYTES: Final = 64  # of a transaction on chains that use Base58
_HEAD_BYTES: Final = 8
_KEY: Final = b"intents_ui.emulator"
_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


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


def hash_of(role: Role, number: int, attempt: int = 0) -> str:
    return "0x" + _write(role, number, attempt, HASH_BYTES).hex()


@cache
def owner_address(owner: int) -> str:
    return address_of(Role.OWNER, owner)


def address_of(role: Role, number: int) -> str:
    return "0x" + _write(role, number, 0, ADDRESS_BYTES).hex()


def base58_of(role: Role, number: int, attempt: int = 0, *, size: int = HASH_BYTES) -> str:
    """Return a name in Base58: an address, or a signature of SIGNATURE_BYTES."""
    raw = _write(role, number, attempt, size)
    value, letters = int.from_bytes(raw), ""
    while value:
        value, letter = divmod(value, 58)
        letters = _BASE58[letter] + letters
    return _BASE58[0] * (len(raw) - len(raw.lstrip(b"\0"))) + letters


def read(name: str) -> tuple[Role, int] | None:
    """Return the role of a name, and the number of its intent (for `OWNER`, of the owner). None if not made here.

    It may be in either case, and without `0x`.
    """
    digits = name[2:] if name[:2] in ("0x", "0X") else name
    try:
        is_hexadecimal = len(digits) in (2 * HASH_BYTES, 2 * ADDRESS_BYTES)
        raw = bytes.fromhex(digits) if is_hexadecimal else _from_base58(name)
        packed = int.from_bytes(raw[:_HEAD_BYTES]) ^ _mask(raw[_HEAD_BYTES:])
        number, role, attempt = packed >> 8, Role(packed >> 3 & 31), packed & 7
        return (role, number) if _write(role, number, attempt, len(raw)) == raw else None
    except (ValueError, OverflowError):
        return None


def noise(number: int, label: str, size: int = 32) -> bytes:
    """Return pseudorandom bytes that are the same in every process.

    For signatures, salts and addresses that are never looked up.
    """
    return hashlib.blake2b(f"{label}:{number}".encode(), key=_KEY, digest_size=size).digest()


@cache
def stranger(label: str) -> str:
    """Return the address of a third party, such as a router, a solver or a shop."""
    return "0x" + noise(0, label, ADDRESS_BYTES).hex()


def _write(role: Role, number: int, attempt: int, size: int) -> bytes:
    """Return a digest of the number, after the number itself, masked by the digest."""
    packed = number << 8 | role << 3 | attempt
    head = packed.to_bytes(_HEAD_BYTES)
    tail = hashlib.blake2b(head, key=_KEY, digest_size=size - _HEAD_BYTES, person=b"tail").digest()
    return (packed ^ _mask(tail)).to_bytes(_HEAD_BYTES) + tail


def _mask(tail: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(tail, key=_KEY, digest_size=_HEAD_BYTES, person=b"mask").digest())


def _from_base58(name: str) -> bytes:
    # 32 bytes take at most 44 characters, 64 bytes at most 88. Longer input isn't decoded.
    value = 0
    for letter in name[:89]:
        value = value * 58 + _BASE58.index(letter)
    return value.to_bytes(HASH_BYTES if len(name) <= 44 else SIGNATURE_BYTES)
