"""Join hashes and addresses broken across lines in emails, quotes and terminals.

Pieces are joined if together they have exactly the length of an address or a hash.
"""

import re
import unicodedata
from itertools import pairwise

from intents_ui.display.formatting import solana
from intents_ui.display.formatting.hashes import ADDRESS_DIGITS, BESIDE, FULL_WIDTH, HASH_DIGITS, HIDDEN

COMPLETE = frozenset({ADDRESS_DIGITS, HASH_DIGITS})
WORD = re.compile(rf"[0-9A-Za-z_{FULL_WIDTH}{HIDDEN}]++")
UNSEEN = re.compile(rf"[{HIDDEN}]+")
# Words to normalize. All others stay unchanged.
IDENTIFIER = re.compile(
    r"_*(?:0x[0-9a-z]{16,}|[0-9a-f]{37,67}|[1-9a-z]{32,88}|intent_[0-9a-z_]+)_*", re.IGNORECASE | re.ASCII
)
WHOLE = re.compile(rf"(?:0x)?(?:[0-9a-f]{{{ADDRESS_DIGITS}}}|[0-9a-f]{{{HASH_DIGITS}}})", re.IGNORECASE)
# "fee", "bad" and "add" are hex too.
SHORTEST = 6
# After `0x`, shorter groups count: groups of four are common.
SHORTEST_GROUP = 4
LONGEST_BREAK = 40

PIECE = re.compile(rf"(?<!{BESIDE})(?P<prefix>0x)?(?P<digits>[0-9a-f]++)(?!{BESIDE})", re.IGNORECASE)
BLANK = r"\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
# `=` ends a soft-wrapped line in quoted-printable, so a piece of any length may follow.
ENCODED_BREAK = re.compile(r"=[ \t]*\r?\n[>| \t]*+")
ENCODED_BREAK_IN_PREFIX = re.compile(rf"(?<!{BESIDE})0=[ \t]*\r?\n[>| \t]*+(?=x[0-9a-f])", re.IGNORECASE)
BREAK = re.compile(rf"-?[ \t{BLANK}]*(?:\r\n?|[\n\u2028\u2029])[>| \t{BLANK}]*+|[{BLANK}]++")
BETWEEN_GROUPS = re.compile(r"[ \t]++(?:\r?\n[>| \t]*+)?|\r?\n[>| \t]*+")


def without_unseen(received: str) -> str:
    """Remove invisible characters from possible identifiers."""
    return received if received.isascii() else WORD.sub(_without_unseen, received)


def _without_unseen(word: re.Match[str]) -> str:
    pieces = [piece for piece in UNSEEN.split(word[0]) if piece]
    if len(pieces) > 1 and all(_is_whole(piece) for piece in pieces):
        return " ".join(pieces)
    if IDENTIFIER.fullmatch(_narrow("".join(pieces))):
        return "".join(pieces)
    return " ".join(pieces) if any(_is_whole(piece) for piece in pieces) else word[0]


def _is_whole(piece: str) -> bool:
    return WHOLE.fullmatch(_narrow(piece)) is not None or solana.is_address(piece)


def narrow(received: str) -> str:
    """Replace full-width characters in possible identifiers."""
    return received if received.isascii() else WORD.sub(_narrow_if_identifier, received)


def _narrow_if_identifier(word: re.Match[str]) -> str:
    read = _narrow(word[0])
    return read if IDENTIFIER.fullmatch(read) else word[0]


def _narrow(word: str) -> str:
    return word if word.isascii() else unicodedata.normalize("NFKC", word)


def joined(received: str) -> str:
    """Return the text with every hash and address joined."""
    # Quoted-printable encodes `=` as `=3D`.
    received = ENCODED_BREAK_IN_PREFIX.sub("0", received.replace("=3D0x", "=0x"))
    pieces = list(PIECE.finditer(received))
    glued = [_are_glued(received, piece, following) for piece, following in pairwise(pieces)]
    groups = [_are_groups(received, piece, following) for piece, following in pairwise(pieces)]
    parts, taken, first = [], 0, 0
    while first < len(pieces):
        last = _last(pieces, glued, groups, first)
        if last > first:
            parts += [received[taken : pieces[first].end()], *(piece[0] for piece in pieces[first + 1 : last + 1])]
            taken = pieces[last].end()
        first = last + 1
    return "".join(parts) + received[taken:]


def _are_glued(received: str, piece: re.Match[str], following: re.Match[str]) -> bool:
    """Return whether a line break alone separates the pieces."""
    start, end = piece.end(), following.start()
    if end - start > LONGEST_BREAK or following["prefix"]:
        return False
    if ENCODED_BREAK.fullmatch(received, start, end):
        return True
    return _shortest_of(piece, following) >= SHORTEST and BREAK.fullmatch(received, start, end) is not None


def _are_groups(received: str, piece: re.Match[str], following: re.Match[str]) -> bool:
    """Return whether spaces alone separate the pieces, which counts after `0x` only."""
    start, end = piece.end(), following.start()
    if end - start > LONGEST_BREAK or following["prefix"]:
        return False
    return (
        _shortest_of(piece, following) >= SHORTEST_GROUP and BETWEEN_GROUPS.fullmatch(received, start, end) is not None
    )


def _shortest_of(piece: re.Match[str], following: re.Match[str]) -> int:
    """Return the shorter length; 0 if either piece is complete."""
    lengths = (len(piece["digits"]), len(following["digits"]))
    return 0 if COMPLETE.intersection(lengths) else min(lengths)


def _last(pieces: list[re.Match[str]], glued: list[bool], groups: list[bool], first: int) -> int:
    """Return the last piece of the longest complete value that starts at `first`, or `first` if there is none.

    A further group after 40 characters means an incomplete hash, not an address."""
    last, digits = first, len(pieces[first]["digits"])
    has_prefix = bool(pieces[first]["prefix"])
    for index in range(first, len(glued)):
        digits += len(pieces[index + 1]["digits"])
        if not (glued[index] or (has_prefix and groups[index])) or digits > HASH_DIGITS:
            break
        goes_on = has_prefix and digits < HASH_DIGITS and any(groups[index + 1 : index + 2])
        last = index + 1 if digits in COMPLETE and not goes_on else last
    return last
