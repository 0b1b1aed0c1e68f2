"""Addresses and hashes of chains that have their own form: recognized by shape and checksum, which no word has."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

type Check = Callable[[str], bool]

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BASE58_VALUES = {character: value for value, character in enumerate(BASE58)}
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
BECH32_CHECKSUMS = (1, 0x2BC830A3)  # Bech32 and Bech32m
CHECKSUM_BYTES = 4


@dataclass(frozen=True)
class Shape:
    """A form of addresses, or of transaction hashes. `explorer`: what an explorer's link has before the value."""

    chain: str
    pattern: str
    explorer: str
    check: Check = lambda _: True
    is_hash: bool = False


def _base58check(*versions: int) -> Check:
    """Return a check of the version byte and the checksum."""

    def check(word: str) -> bool:
        number = 0
        for character in word:
            if character not in BASE58_VALUES:
                return False
            number = number * 58 + BASE58_VALUES[character]
        whole = number.to_bytes(26, "big")[1:]
        payload, checksum = whole[:-CHECKSUM_BYTES], whole[-CHECKSUM_BYTES:]
        return payload[0] in versions and sha256(sha256(payload).digest()).digest()[:CHECKSUM_BYTES] == checksum

    return check


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


def _base58(prefix: str) -> str:
    return rf"{prefix}[1-9A-HJ-NP-Za-km-z]{{25,33}}"


_cosmos = partial(Shape, check=_bech32)
SHAPES = (
    Shape("Bitcoin", r"(?:bc1|BC1)[02-9ac-hj-np-zAC-HJ-NP-Z]{11,71}", "https://mempool.space/address/", _bech32),
    Shape("Bitcoin", _base58("[13]"), "https://mempool.space/address/", _base58check(0x00, 0x05)),
    Shape("Tron", _base58("T"), "https://tronscan.org/#/address/", _base58check(0x41)),
    Shape("Litecoin", r"ltc1[02-9ac-hj-np-z]{11,71}", "https://litecoinspace.org/address/", _bech32),
    Shape("Litecoin", _base58("[LM]"), "https://litecoinspace.org/address/", _base58check(0x30, 0x32)),
    Shape("Dogecoin", _base58("[DA9]"), "https://dogechain.info/address/", _base58check(0x1E, 0x16)),
    Shape("Cardano", r"(?:addr|stake)1[02-9ac-hj-np-z]{50,103}", "https://cardanoscan.io/address/", _bech32),
    Shape("TON", r"[EUk0][Qf][A-Za-z0-9_-]{46}", "https://tonviewer.com/", lambda word: not word.isalpha()),
    _cosmos("Cosmos Hub", r"cosmos1[02-9ac-hj-np-z]{38,58}", "https://www.mintscan.io/cosmos/address/"),
    _cosmos("Osmosis", r"osmo1[02-9ac-hj-np-z]{38,58}", "https://www.mintscan.io/osmosis/address/"),
    _cosmos("Noble", r"noble1[02-9ac-hj-np-z]{38,58}", "https://www.mintscan.io/noble/address/"),
    _cosmos("Celestia", r"celestia1[02-9ac-hj-np-z]{38,58}", "https://www.mintscan.io/celestia/address/"),
    _cosmos("Injective", r"inj1[02-9ac-hj-np-z]{38,58}", "https://www.mintscan.io/injective/address/"),
    _cosmos("dYdX", r"dydx1[02-9ac-hj-np-z]{38,58}", "https://www.mintscan.io/dydx/address/"),
    _cosmos("Sei", r"sei1[02-9ac-hj-np-z]{38,58}", "https://seitrace.com/address/"),
    _cosmos("Cosmos", r"[a-z]{2,16}1[02-9ac-hj-np-z]{38,58}", ""),
    Shape("XRP Ledger", _base58("r"), "https://livenet.xrpl.org/accounts/", lambda word: any(map(str.isdigit, word))),
    Shape("Stellar", r"G[A-Z2-7]{55}", "https://stellar.expert/explorer/public/account/"),
    Shape("Starknet", r"0x[0-9a-f]{62,63}", "https://voyager.online/tx/", is_hash=True),
)


def of(word: str) -> Shape | None:
    """Return the first form that the word has."""
    return next((each for each in SHAPES if re.fullmatch(each.pattern, word, re.ASCII) and each.check(word)), None)
