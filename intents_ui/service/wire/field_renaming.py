"""Renaming of JSON fields that contain the operator's brand.

The API's schema writes `serviceVersion` where a deployment may write `acmeVersion`: one camelCase word anywhere in a
name. Only names change, never values. With `BRAND_OF_INTERFACE` nothing is renamed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Brand:
    """Brand words of a deployment.

    `word` replaces the schema's `service`, and `wallet_word` replaces `smart` before `Wallet`.
    """

    word: str = "service"
    wallet_word: str = "smart"

    @property
    def is_foreign(self) -> bool:
        return self != BRAND_OF_INTERFACE

    def read(self, document: Any) -> Any:
        """Return a response with the schema's field names."""
        return _renamed(document, _renaming(self, BRAND_OF_INTERFACE)) if self.is_foreign else document

    def write(self, document: Any) -> Any:
        """Return a request with this brand's field names."""
        return _renamed(document, _renaming(BRAND_OF_INTERFACE, self)) if self.is_foreign else document


BRAND_OF_INTERFACE = Brand()


def _renaming(old: Brand, new: Brand) -> Callable[[str], str]:
    # Match the wallet's word first: where both words are the same, `acmeWallet…` is the wallet's.
    old_words = re.compile(f"{_word(old.wallet_word)}(?=Wallet)|{_word(old.word)}")

    def new_word(found: re.Match[str]) -> str:
        before_wallet = found.string.startswith("Wallet", found.end())
        is_wallets = before_wallet and found[0].lower() == old.wallet_word.lower()
        word = new.wallet_word if is_wallets else new.word
        return word[0].upper() + word[1:] if found.start() else word

    return lambda name: old_words.sub(new_word, name)


def _word(word: str) -> str:
    """Return a pattern for a camelCase word: lower case at the start of a name, capitalized inside it."""
    capital = word[0].upper() + word[1:]
    return f"(?:^{re.escape(word)}|(?<=[a-z0-9]){re.escape(capital)})(?![a-z])"


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {rename(name): _renamed(member, rename) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(entry, rename) for entry in value]
    return value
