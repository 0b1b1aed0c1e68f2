"""Recovery phrases and private keys in pasted text. They must not be sent on, stored, logged or shown."""

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

# The English words of BIP-39, the list that nearly all wallets use.
WORDS: Final = Path(__file__).parents[3] / "static" / "vendor" / "bip39-english.txt"
LETTERS: Final = re.compile(r"[^\W\d_]+")
SHORTEST_PHRASE: Final = 12  # words
MAX_MISSPELLED: Final = 1  # among these words
MIN_DISTINCT: Final = 8  # A phrase rarely has a word twice
BASE58: Final = "[1-9A-HJ-NP-Za-km-z]"
NAMED: Final = r"(?:(?:private|secret|signing)[\W_]*key|privkey|recovery[\W_]*phrase|seed|mnemonic)"
BETWEEN: Final = r"[^.!?]{0,40}?"
KEY: Final = rf"(?<![0-9A-Za-z])(?:(?:0x)?[0-9a-f]{{64}}|{BASE58}{{86,88}})(?![0-9A-Za-z])"
FORMS: Final = (
    # Bitcoin's wallet import format, and extended keys.
    re.compile(
        rf"(?<![0-9A-Za-z])(?:[59]{BASE58}{{50}}|[KLc]{BASE58}{{51}}|[a-zA-Z]prv{BASE58}{{90,120}})(?![0-9A-Za-z])"
    ),
    re.compile(rf"{NAMED}{BETWEEN}{KEY}", re.IGNORECASE),
    re.compile(rf"{KEY}{BETWEEN}{NAMED}", re.IGNORECASE),
    # The bytes of a Solana key, as its command line writes them.
    re.compile(r"\[\s*(?:[0-9]{1,3}\s*,\s*){63}[0-9]{1,3}\s*\]"),
)


def is_in(text: str) -> bool:
    """Return whether a text holds a recovery phrase or a private key.

    A phrase is twelve words of BIP-39 in a row, whatever stands between them, one of which may be misspelt. A key has
    the form of one, or is 64 hex digits next to words such as "private key".
    """
    plain = unicodedata.normalize("NFKC", text)
    words = LETTERS.findall(plain.casefold())
    windows = (words[start : start + SHORTEST_PHRASE] for start in range(len(words) - SHORTEST_PHRASE + 1))
    return any(form.search(plain) for form in FORMS) or any(map(_is_phrase, windows))


def _is_phrase(words: list[str]) -> bool:
    known = [word for word in words if word in _words()]
    return len(known) >= SHORTEST_PHRASE - MAX_MISSPELLED and len(set(known)) >= MIN_DISTINCT


@cache
def _words() -> frozenset[str]:
    return frozenset(WORDS.read_text(encoding="ascii").split())
