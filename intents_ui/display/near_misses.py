"""What is wrong with something that is nearly a hash or an address: one sentence that says how to mend it."""

import re
import unicodedata

from intents_ui.display import hashes, text
from intents_ui.display.hashes import FULL_WIDTH, GREEK_AND_CYRILLIC, HIDDEN

# Between 40 and 64 the nearer one is meant; far beyond 64 it is call data.
LONGEST_ADDRESS = 52
LONGEST_HASH = 80
HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
LOOK_ALIKE = re.compile(rf"[{FULL_WIDTH}{GREEK_AND_CYRILLIC}{HIDDEN}]")
NEARLY_HEX = re.compile(rf"[0-9a-fA-FxX{FULL_WIDTH}{GREEK_AND_CYRILLIC}{HIDDEN}]+")
# Emoji and Persian words are written with them.
MOST_OFF = 3
JOINERS = "\u200c\u200d"


def of_hex(digits: str) -> str:
    """For what followed `0x`, if it is neither 40 nor 64 hex digits long."""
    if len(digits) <= LONGEST_ADDRESS:
        return of_address(digits)
    if len(digits) <= LONGEST_HASH:
        return of_hash(digits)
    if strange := _strange(digits):
        return strange
    return f"This is longer data ({len(digits)} hex digits), not a transaction hash or an address."


def of_hash(value: str, *, what: str = "A transaction hash") -> str:
    """For something that should be a hash, with or without `0x`."""
    return _of_digits(value, right=hashes.HASH_DIGITS, what=what)


def of_address(value: str) -> str:
    return _of_digits(value, right=hashes.ADDRESS_DIGITS, what="An address")


def _of_digits(value: str, *, right: int, what: str) -> str:
    digits = value[2:] if value[:2] in ("0x", "0X") else value
    return _strange(digits) or f"{what} has {right} hex digits, this has {len(digits)}."


def _strange(digits: str) -> str:
    strange = next((character for character in digits if character not in HEX_DIGITS), None)
    if strange is None:
        return ""
    return f"A hash or an address has the digits 0-9 and the letters a-f only, this has “{text.visible(strange)}”."


def of_foreign(words: str) -> str:
    """For a hash or an address with a letter that only looks like one of its own (Cyrillic, Greek, full-width)."""
    for word in NEARLY_HEX.findall(words):
        foreign = LOOK_ALIKE.search(word)
        if not foreign or not _is_a_disguise(word):
            continue
        if text.is_hidden(foreign[0]):
            return of_control(foreign[0])
        code = f"U+{ord(foreign[0]):04X}"
        return f"“{foreign[0]}” ({code}) only looks like a character of a hash or an address: type it again."
    return ""


def _is_a_disguise(word: str) -> bool:
    """As long as a hash or an address, and hex for the most part."""
    read = "".join(character for character in unicodedata.normalize("NFKC", word) if not text.is_hidden(character))
    length = len(read.removeprefix("0x"))
    nearly = min(abs(length - hashes.ADDRESS_DIGITS), abs(length - hashes.HASH_DIGITS)) <= MOST_OFF
    return nearly and len(LOOK_ALIKE.sub("", read)) * 2 > length


def of_words(words: str, *, shortest: int, longest: int) -> str:
    """For words to search by."""
    if len(words) < shortest:
        return f"A text needs at least {shortest} characters, this has {len(words)}."
    hidden = any(text.is_hidden(character) and character not in JOINERS for character in words)
    return NOTHING if hidden or len(words) > longest else ""


def of_number(written: str, *, what: str, most: int) -> str:
    """For a whole number from 0 on, as a URL writes it."""
    if not (written.isascii() and written.isdigit()):
        return f"{what} is a whole number."
    return f"{what} is {most} at most, this is larger." if larger(written, than=most) else ""


def larger(digits: str, *, than: int) -> bool:
    """Of however many digits: more than some thousands are never made a number."""
    plain = digits.lstrip("0")
    return len(plain) > len(str(than)) or int(plain or "0") > than


def of_name(name: str) -> str:
    return f"{text.name(name).shown} is a name, and names are not resolved here: paste the address that it stands for."


def of_control(character: str) -> str:
    return f"This holds a character that nobody can type ({text.visible(character)}): copy it again."


def of_length(length: int, *, longest: int) -> str:
    return f"This is {length:,} characters long; up to {longest:,} can be searched at once."


SHORTENED = "This value is shortened. Copy the full value, or search for it to see possible matches."
TOO_SHORT = "This value is shortened, and too little of it is left to search. Copy the full value."
NOTHING = "There is no transaction hash, address or intent id in this."
CHECKSUM = (
    "The capital letters of this address do not fit its checksum, so it may be mistyped. It is looked up all the same."
)
NATIVE = "This is not an account: it stands for the chain's own coin."
PLACEHOLDER = "This is a placeholder, not a real transaction hash."
IN_PIECES = "These are as many digits as a hash or an address has, but in pieces: take the blanks out if they are one."
INVISIBLE = "Invisible characters in it or around it were left out."
FULL_WIDTH_READ = "Full-width characters in it were read as ordinary ones: compare it with where it came from."
