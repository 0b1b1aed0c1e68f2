"""Solana addresses and signatures, recognized by their decoded length."""

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
VALUES = {character: value for value, character in enumerate(ALPHABET)}
ADDRESS_BYTES = 32
SIGNATURE_BYTES = 64
LONGEST = 88
EXPLORER = "https://solscan.io"


def is_address(word: str) -> bool:
    return _is_mixed(word) and _decoded_length(word) == ADDRESS_BYTES


def is_signature(word: str) -> bool:
    return _is_mixed(word) and _decoded_length(word) == SIGNATURE_BYTES


def _is_mixed(word: str) -> bool:
    """Return whether the text mixes digits, uppercase and lowercase, as no word and no hex does."""
    return (
        word.isascii()
        and any(character.isdigit() for character in word)
        and any(character.isupper() for character in word)
        and any("g" <= character <= "z" for character in word)
    )


def _decoded_length(word: str) -> int | None:
    """Return the length in bytes (each leading `1` is a zero byte), None if it isn't base58."""
    if len(word) > LONGEST or any(character not in VALUES for character in word):
        return None
    number = 0
    for character in word:
        number = number * 58 + VALUES[character]
    leading = len(word) - len(word.lstrip("1"))
    return leading + (number.bit_length() + 7) // 8


def transaction_link(signature: str) -> str | None:
    return f"{EXPLORER}/tx/{signature}" if is_signature(signature) else None


def address_link(address: str) -> str | None:
    return f"{EXPLORER}/account/{address}" if is_address(address) else None
