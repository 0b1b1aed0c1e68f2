"""What is wrong with something that is nearly a hash or an address: one sentence that says how to mend it."""

from intents_ui.display import hashes, text

# Between 40 and 64 the nearer one is meant; far beyond 64 it is call data.
LONGEST_ADDRESS = 52
LONGEST_HASH = 80
HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


def of_hex(digits: str) -> str:
    """For what followed `0x`, if it is neither 40 nor 64 hex digits long."""
    strange = next((character for character in digits if character not in HEX_DIGITS), None)
    if strange:
        return f"A hash or an address has the digits 0-9 and the letters a-f only, this has “{text.visible(strange)}”."
    if len(digits) <= LONGEST_ADDRESS:
        return f"An address has {hashes.ADDRESS_DIGITS} hex digits, this has {len(digits)}."
    if len(digits) <= LONGEST_HASH:
        return f"A transaction hash has {hashes.HASH_DIGITS} hex digits, this has {len(digits)}."
    return f"This is longer data ({len(digits)} hex digits), not a transaction hash or an address."


def of_foreign(words: str) -> str:
    """For one long word with a letter that only looks like one of a hash (a Cyrillic letter, a full-width digit)."""
    foreign = next((character for character in words if not character.isascii()), None)
    if foreign is None or " " in words or len(words) < hashes.ADDRESS_DIGITS:
        return ""
    if text.is_hidden(foreign):
        return of_control(foreign)
    return f"“{foreign}” (U+{ord(foreign):04X}) only looks like a character of a hash or an address: type it again."


def of_name(name: str) -> str:
    return f"{text.name(name).shown} is a name, and names are not resolved here: paste the address that it stands for."


def of_control(character: str) -> str:
    return f"This holds a character that nobody can type ({text.visible(character)}): copy it again."


def of_length(length: int, *, longest: int) -> str:
    return f"This is {length:,} characters long; up to {longest:,} can be searched at once."


SHORTENED = "This is shortened in the middle: copy the whole of it."
NOTHING = "There is no transaction hash, address or intent id in this."
CHECKSUM = (
    "The capital letters of this address do not fit its checksum, so it may be mistyped. It is looked up all the same."
)
NATIVE = "This is not an account: it stands for the chain's own coin."
PLACEHOLDER = "This is a placeholder, not a real transaction hash."
INVISIBLE = "Invisible characters around it were left out."
