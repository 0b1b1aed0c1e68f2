"""Validation messages for malformed hashes and addresses."""

import string

from intents_ui.formatting import hashes, text

# A length between 40 and 64 is compared with the nearer one. Far beyond 64 it's calldata.
LONGEST_ADDRESS = 52
LONGEST_HASH = 80
# In emoji and Persian words.
JOINERS = "\u200c\u200d"

UNKNOWN = "This isn't an address or a hash of a known kind."
SHORTENED = "This value is shortened. Copy the full value, or search for it to see possible matches."
TOO_SHORT = "This value is shortened too much to search. Copy the full value."
NAME = "{what} names aren't supported. Paste the address instead."
NOTHING = "No transaction hash, address or intent ID found."
# How the problems of texts end that may describe a transfer in words.
WITHOUT_IDENTIFIER = (NOTHING, NAME.removeprefix("{what}"))
CHECKSUM = "Checksum mismatch: this address may be mistyped. Searched anyway."
NATIVE = "This is the placeholder address of the native token, not an account."
PLACEHOLDER = "This is a placeholder, not a real transaction hash."
IN_PIECES = "This may be a hash or address split by spaces. Remove the spaces."
INVISIBLE = "Invisible characters were removed."
LOOKALIKES_READ = "Lookalike characters were converted. Compare the value with its source."
SPACE = "A space was removed. Compare the value with its source."
DOUBLED = "A repeated 0x was removed."


def of_hex(digits: str) -> str:
    """Return the message for the characters after `0x` if there are neither 40 nor 64."""
    if len(digits) <= LONGEST_ADDRESS:
        return of_address(digits)
    if len(digits) <= LONGEST_HASH:
        return of_hash(digits)
    too_long = f"Too long for a transaction hash or an address ({len(digits)} hex characters)."
    return _of_characters(digits) or too_long


def of_hash(value: str, *, what: str = "A transaction hash", right: int = hashes.HASH_DIGITS) -> str:
    """Return the message for a value that should be a hash, with or without `0x`."""
    digits = value[2:] if value[:2] in ("0x", "0X") else value
    return _of_characters(digits) or f"{what} has {right} hex characters. This one has {len(digits)}."


def of_address(value: str) -> str:
    return of_hash(value, what="An address", right=hashes.ADDRESS_DIGITS)


def _of_characters(digits: str) -> str:
    strange = next((character for character in digits if character not in string.hexdigits), "")
    return f"Hashes and addresses use 0-9 and a-f only. This one has “{text.visible(strange)}”." if strange else ""


def of_words(words: str, *, shortest: int, longest: int) -> str:
    """Return the message for text to search for."""
    if len(words) < shortest:
        return f"Text must have at least {shortest} characters. This one has {len(words)}."
    hidden = any(text.is_hidden(character) and character not in JOINERS for character in words)
    return NOTHING if hidden or len(words) > longest else ""
