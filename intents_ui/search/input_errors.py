"""Validation messages for malformed hashes and addresses."""

from intents_ui.formatting import hashes, text

# A length between 40 and 64 is compared with the nearer one. Far beyond 64 it's calldata.
LONGEST_ADDRESS = 52
LONGEST_HASH = 80
HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
# In emoji and Persian words.
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
