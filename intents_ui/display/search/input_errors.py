"""Validation messages for malformed hashes and addresses."""

import re
import unicodedata

from intents_ui.display.formatting import hashes, text
from intents_ui.display.formatting.hashes import FULL_WIDTH, GREEK_AND_CYRILLIC, HIDDEN

# A length between 40 and 64 is compared with the nearer one. Far beyond 64 it's calldata.
LONGEST_ADDRESS = 52
LONGEST_HASH = 80
HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
LOOK_ALIKE = re.compile(rf"[{FULL_WIDTH}{GREEK_AND_CYRILLIC}{HIDDEN}]")
NEARLY_HEX = re.compile(rf"[0-9a-fA-FxX{FULL_WIDTH}{GREEK_AND_CYRILLIC}{HIDDEN}]+")
# Joiners in emoji and Persian words.
MOST_OFF = 3
JOINERS = "\u200c\u200d"


def of_hex(digits: str) -> str:
    """Return the message for the characters after `0x` if there are neither 40 nor 64."""
    if len(digits) <= LONGEST_ADDRESS:
        return of_address(digits)
    if len(digits) <= LONGEST_HASH:
        return of_hash(digits)
    if strange := _strange(digits):
        return strange
    return f"Too long for a transaction hash or an address ({len(digits)} hex characters)."


def of_hash(value: str, *, what: str = "A transaction hash") -> str:
    """Return the message for a value that should be a hash, with or without `0x`."""
    return _of_digits(value, right=hashes.HASH_DIGITS, what=what)


def of_address(value: str) -> str:
    return _of_digits(value, right=hashes.ADDRESS_DIGITS, what="An address")


def _of_digits(value: str, *, right: int, what: str) -> str:
    digits = value[2:] if value[:2] in ("0x", "0X") else value
    return _strange(digits) or f"{what} has {right} hex characters. This one has {len(digits)}."


def _strange(digits: str) -> str:
    strange = next((character for character in digits if character not in HEX_DIGITS), None)
    if strange is None:
        return ""
    return f"Hashes and addresses use 0-9 and a-f only. This one has “{text.visible(strange)}”."


def of_foreign(words: str) -> str:
    """Return the message for a hash or address with a lookalike letter (Cyrillic, Greek, full-width)."""
    for word in NEARLY_HEX.findall(words):
        foreign = LOOK_ALIKE.search(word)
        if not foreign or not _is_a_disguise(word):
            continue
        if text.is_hidden(foreign[0]):
            return of_control(foreign[0])
        code = f"U+{ord(foreign[0]):04X}"
        return f"“{foreign[0]}” ({code}) is a lookalike character. Retype it."
    return ""


def _is_a_disguise(word: str) -> bool:
    """Return whether it's about as long as a hash or an address, and mostly hex."""
    read = "".join(character for character in unicodedata.normalize("NFKC", word) if not text.is_hidden(character))
    length = len(read.removeprefix("0x"))
    nearly = min(abs(length - hashes.ADDRESS_DIGITS), abs(length - hashes.HASH_DIGITS)) <= MOST_OFF
    return nearly and len(LOOK_ALIKE.sub("", read)) * 2 > length


def of_words(words: str, *, shortest: int, longest: int) -> str:
    """Return the message for text to search for."""
    if len(words) < shortest:
        return f"Text must have at least {shortest} characters. This one has {len(words)}."
    hidden = any(text.is_hidden(character) and character not in JOINERS for character in words)
    return NOTHING if hidden or len(words) > longest else ""


def of_number(written: str, *, what: str, most: int) -> str:
    """Return the message for a value that should be a non-negative integer."""
    if not (written.isascii() and written.isdigit()):
        return f"{what} must be a whole number."
    return f"{what} must be at most {most}." if larger(written, than=most) else ""


def larger(digits: str, *, than: int) -> bool:
    """Compare digits of any length: Python refuses to convert more than 4,300 of them."""
    plain = digits.lstrip("0")
    return len(plain) > len(str(than)) or int(plain or "0") > than


def of_control(character: str) -> str:
    return f"Unprintable character ({text.visible(character)}). Copy the value again."


SHORTENED = "This value is shortened. Copy the full value, or search for it to see possible matches."
TOO_SHORT = "This value is shortened too much to search. Copy the full value."
NAME = "ENS names aren't supported. Paste the address instead."
NOTHING = "No transaction hash, address or intent ID found."
CHECKSUM = "Checksum mismatch: this address may be mistyped. Searched anyway."
NATIVE = "This is the placeholder address of the native token, not an account."
PLACEHOLDER = "This is a placeholder, not a real transaction hash."
IN_PIECES = "This may be a hash or address split by spaces. Remove the spaces."
INVISIBLE = "Invisible characters were removed."
FULL_WIDTH_READ = "Full-width characters were converted. Compare the value with its source."
