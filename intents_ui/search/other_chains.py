"""Addresses and transaction hashes of other chains, recognized by shape and checksum, which no word has."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from intents_ui import tables
from intents_ui.formatting import hashes

BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
BECH32_CHECKSUMS = (1, 0x2BC830A3)  # Bech32 and Bech32m
PAYLOAD_BYTES, CHECKSUM_BYTES = 21, 4


@dataclass(frozen=True)
class Shape:
    """A form of addresses, or of transaction hashes, of another chain (addresses.toml)."""

    chain: str
    pattern: str
    explorer: str
    base58: Sequence[int] = ()
    bech32: bool = False
    is_hash: bool = False

    def fits(self, word: str) -> bool:
        if not re.fullmatch(self.pattern, word, re.ASCII):
            return False
        return (not self.base58 or _has_base58_checksum(word, self.base58)) and (not self.bech32 or _bech32(word))


SHAPES = tuple(Shape(**form) for form in tables.read(__package__, "addresses.toml")["forms"])


def shape_of(word: str) -> Shape | None:
    """Return the first form that the word has."""
    return next((each for each in SHAPES if each.fits(word)), None)


def _has_base58_checksum(word: str, versions: Sequence[int]) -> bool:
    payload, checksum = hashes.base58(word)[:-CHECKSUM_BYTES], hashes.base58(word)[-CHECKSUM_BYTES:]
    hashed = sha256(sha256(payload).digest()).digest()
    return len(payload) == PAYLOAD_BYTES and payload[0] in versions and hashed.startswith(checksum)


def _bech32(word: str) -> bool:
    prefix, _, data = word.lower().rpartition("1")
    if word not in (word.lower(), word.upper()) or not prefix or any(each not in BECH32 for each in data):
        return False
    values = [*(ord(each) >> 5 for each in prefix), 0, *(ord(each) & 31 for each in prefix), *map(BECH32.index, data)]
    checksum = 1
    for value in values:
        top, checksum = checksum >> 25, (checksum & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(GENERATOR):
            checksum ^= generator if top >> bit & 1 else 0
    return checksum in BECH32_CHECKSUMS
