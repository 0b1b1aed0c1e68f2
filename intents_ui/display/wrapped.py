"""Hashes that were broken on their way, put together again: lines of a mail, of a quotation, of a terminal.

Pieces belong together when they give exactly as many digits as an address or a hash has.
"""

import re
from itertools import pairwise

from intents_ui.display.hashes import ADDRESS_DIGITS, BESIDE, HASH_DIGITS

COMPLETE = frozenset({ADDRESS_DIGITS, HASH_DIGITS})
# "fee", "bad" and "add" are hex too.
SHORTEST = 6
LONGEST_BREAK = 40

PIECE = re.compile(rf"(?<!{BESIDE})(?P<prefix>0x)?(?P<digits>[0-9a-f]++)(?!{BESIDE})", re.IGNORECASE)
BLANK = r"\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
# `=` ends a broken line in quoted-printable, and only there: any length may follow.
ENCODED_BREAK = re.compile(r"=[ \t]*\r?\n")
BREAK = re.compile(rf"-?[ \t{BLANK}]*(?:\r\n?|[\n\u2028\u2029])[>| \t{BLANK}]*+|[{BLANK}]++")


def joined(received: str) -> str:
    """The text with every hash and address in one piece."""
    # Quoted-printable again: `=` itself.
    received = received.replace("=3D0x", "=0x")
    pieces = list(PIECE.finditer(received))
    glued = [_are_glued(received, piece, following) for piece, following in pairwise(pieces)]
    parts, taken, first = [], 0, 0
    while first < len(pieces):
        last = _last(pieces, glued, first)
        if last > first:
            parts += [received[taken : pieces[first].end()], *(piece[0] for piece in pieces[first + 1 : last + 1])]
            taken = pieces[last].end()
        first = last + 1
    return "".join(parts) + received[taken:]


def _are_glued(received: str, piece: re.Match[str], following: re.Match[str]) -> bool:
    start, end = piece.end(), following.start()
    if end - start > LONGEST_BREAK or following["prefix"]:
        return False
    if any(len(each["digits"]) in COMPLETE for each in (piece, following)):
        return False
    if ENCODED_BREAK.fullmatch(received, start, end):
        return True
    lengths = (len(piece["digits"]), len(following["digits"]))
    return min(lengths) >= SHORTEST and BREAK.fullmatch(received, start, end) is not None


def _last(pieces: list[re.Match[str]], glued: list[bool], first: int) -> int:
    """The piece that completes what `first` begins: the longest that is complete; `first` itself if nothing is."""
    last, digits = first, len(pieces[first]["digits"])
    for index in range(first, len(glued)):
        digits += len(pieces[index + 1]["digits"])
        if not glued[index] or digits > HASH_DIGITS:
            break
        last = index + 1 if digits in COMPLETE else last
    return last
