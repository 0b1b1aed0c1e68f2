"""Hashes, addresses and IDs: parse, shorten and checksum them, and check the URLs of block explorers.

Solana's are recognized by their decoded length. Those of other chains are in search/identifiers.py.
Two values of one page that would have the same short form are shown in full, because address poisoning relies on
people who compare only the first and last characters.
"""

import re
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from intents_ui.formatting import text
from intents_ui.formatting.text import UNKNOWN, isolated, visible
from intents_ui.service.models import is_placeholder as is_placeholder

HASH_DIGITS = 64
ADDRESS_DIGITS = 40
ZERO_ADDRESS = "0x" + "0" * ADDRESS_DIGITS
# Both are placeholders for the native token.
NATIVE_ADDRESSES = frozenset({ZERO_ADDRESS, "0x" + "e" * ADDRESS_DIGITS})

HEX = re.compile(r"(?:0[xX])?([0-9a-fA-F]+)")
# Host labels in IDNA A-form. The last one starts with a letter, which excludes IP addresses.
HOST = r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z](?:[a-z0-9-]{0,61}[a-z0-9])"
EXPLORER = re.compile(rf"https://{HOST}(?:/[A-Za-z0-9._~-]{{1,64}}){{0,4}}/?", re.ASCII)
LONGEST_URL = 300
CHECKSUMS = 4096
CHAINS_OF_EIP_1191 = (30, 31)

HIDDEN = r"\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
FULL_WIDTH = r"\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
GREEK_AND_CYRILLIC = r"\u0370-\u052f\u1f00-\u1fff"
# Character class of word characters next to a hash: 0x12<zero width>34 is not 0x12. Excludes scripts written without
# spaces, which may touch a hash, and `_`, which is Markdown emphasis.
BESIDE = (
    rf"[0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u036f\u1e00-\u1eff"
    rf"{GREEK_AND_CYRILLIC}{FULL_WIDTH}{HIDDEN}]"
)


def canonical(text: str, *, digits: int) -> str | None:
    """Return `0x` and lowercase if the text has exactly `digits` hex characters, otherwise None."""
    found = HEX.fullmatch(text)
    return "0x" + found[1].lower() if found and len(found[1]) == digits else None


def canonical_hash(text: str) -> str | None:
    return canonical(text, digits=HASH_DIGITS)


def canonical_address(text: str) -> str | None:
    return canonical(text, digits=ADDRESS_DIGITS)


def any_address(text: str) -> str | None:
    """Return the canonical form of an EVM or Solana address, otherwise None."""
    return canonical_address(text) or (text if is_solana_address(text) else None)


_checksummed = lru_cache(CHECKSUMS)(to_checksum_address)  # lists repeat addresses


def checksum(address: str | None) -> str:
    """Return the EIP-55 form of an EVM address; other addresses as received, sanitized."""
    if address is None:
        return UNKNOWN
    known = canonical_address(address)
    return _checksummed(known) if known else visible(address)


def has_wrong_checksum(address: str) -> bool:
    """Return whether mixed case, which is a checksum, contradicts EIP-55 and EIP-1191 of the chains that use it."""
    digits = address[2:] if address[:2] in ("0x", "0X") else address
    lower = digits.lower()
    if digits in (lower, digits.upper()) or checksum(address) == "0x" + digits:
        return False
    for chain_id in CHAINS_OF_EIP_1191:
        hashed = keccak(text=f"{chain_id}0x{lower}").hex()
        cased = (each.upper() if nibble >= "8" else each for each, nibble in zip(lower, hashed, strict=False))
        if "".join(cased) == digits:
            return False
    return True


def is_native(address: str | None) -> bool:
    return address is not None and address.lower() in NATIVE_ADDRESSES


def short_id(intent_id: str | None) -> str:
    """Return `0x7c1f4ab2…90cd9e2b`."""
    return UNKNOWN if intent_id is None else _shortened(intent_id, each_side=8)


def short_hash(txn_hash: str | None) -> str:
    """Return `0x9b21c4…77ad01`."""
    return UNKNOWN if txn_hash is None else _shortened(txn_hash, each_side=6)


def short_address(address: str | None) -> str:
    """Return `0x0709CF…B39Eb1`, checksummed."""
    return UNKNOWN if address is None else _shortened(checksum(address), each_side=6)


def in_sentence(address: str | None) -> text.Address:
    return text.Address(short_address(address), address or "")


def explorer_root(url: str | None) -> str | None:
    """Return `https://host/path` without a trailing slash, or None if the URL isn't safe to build links on.

    Rejects other schemes, IP addresses, user names, ports, queries, `%`, spaces and non-ASCII letters."""
    if url is None or len(url) > LONGEST_URL or not EXPLORER.fullmatch(url):
        return None
    return url.rstrip("/")


def _shortened(text: str, *, each_side: int) -> str:
    text = visible(text)
    head = each_side + (2 if text.startswith("0x") else 0)
    short = text if len(text) <= head + each_side + 2 else f"{text[:head]}…{text[-each_side:]}"
    return short if text.isascii() else isolated(short)  # skip isolation for ASCII: lists have hundreds


SOLANA_ADDRESS_BYTES = 32
SOLANA_SIGNATURE_BYTES = 64
LONGEST_BASE58 = 88
BASE58_VALUES = {
    character: value for value, character in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
}


def is_solana_address(word: str) -> bool:
    return _is_mixed(word) and len(base58(word)) == SOLANA_ADDRESS_BYTES


def is_solana_signature(word: str) -> bool:
    return _is_mixed(word) and len(base58(word)) == SOLANA_SIGNATURE_BYTES


def _is_mixed(word: str) -> bool:
    """Return whether the text mixes digits, uppercase and lowercase, as no word and no hex does."""
    kinds = (str.isdigit, str.isupper, re.compile("[g-z]").match)
    return word.isascii() and all(any(map(kind, word)) for kind in kinds)


def base58(word: str) -> bytes:
    """Decode base58, where each leading `1` is a zero byte. Return no bytes if it isn't base58, or too long."""
    if len(word) > LONGEST_BASE58 or not BASE58_VALUES.keys() >= set(word):
        return b""
    number = 0
    for character in word:
        number = number * 58 + BASE58_VALUES[character]
    return bytes(len(word) - len(word.lstrip("1"))) + number.to_bytes((number.bit_length() + 7) // 8)


LONGEST = 128  # a Solana signature has 88 characters; anything longer would fill the page
MAX_FRAGMENTS = 32  # of one transfer


class FullValue(str):
    """A full value, because another one on the page has the same short form."""

    __slots__ = ()


class ShortForms:
    """The short forms used so far on a page, and the values that have them."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._shared: set[str] = set()
        self._used: dict[str, str] = {}  # by the fragment that is being drawn

    def of(self, value: str, short: str) -> str:
        """Return `short` unless another value has it too, ignoring case, which people overlook."""
        form = short.lower()
        self._used[form] = value
        known = self._values.setdefault(form, value)
        if known != value and _plain(known) != _plain(value):
            self._shared.add(form)
        return FullValue(text.isolated(value)) if form in self._shared and len(value) <= LONGEST else short

    def draw(self, page: Callable[[], str]) -> str:
        """Render `page`; again if a later value conflicts with one that was already shortened."""
        before, token = len(self._shared), short_forms.set(self)
        try:
            drawn = page()
            return drawn if len(self._shared) == before else page()
        finally:
            short_forms.reset(token)

    def reuse(self, fragments: dict[Hashable, Any], key: Hashable, draw: Callable[[], str]) -> str:
        """Return what `draw` drew before, or draws now because a value in it looks like another one of the page."""
        known: tuple[str, dict[str, str]] | None = fragments.get(key)
        if known:
            drawn, forms = known
            for form, value in forms.items():
                if self._values.setdefault(form, value) != value:
                    self.of(value, form)
            self._used |= forms
            if self._shared.isdisjoint(forms):
                return drawn
        around, self._used = self._used, {}
        drawn, forms = draw(), self._used
        self._used = around | forms
        if self._shared.isdisjoint(forms) and len(fragments) < MAX_FRAGMENTS:
            fragments[key] = drawn, forms
        return drawn


# Of the page that is being rendered, None outside of one.
short_forms: ContextVar[ShortForms | None] = ContextVar("short_forms", default=None)


def shortened(value: str | None, *, whole: Callable[[str], str], shorten: Callable[[str | None], str]) -> str:
    """Return the shortened value unless it's ambiguous on the page being rendered."""
    short, forms = shorten(value), short_forms.get()
    if forms is None or not value or "…" not in short or "…" in value:
        return short  # already shortened in the input
    return forms.of(whole(value), short)


def _plain(value: str) -> str:
    return value.lower() if HEX.fullmatch(value) else value
