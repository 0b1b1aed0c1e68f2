"""Paths for programs, and tokens of the API's clients, as `INTENTS_API_TOKENS` lists them."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

API: Final = "/api/"  # with which the API's paths begin
OPERATIONS: Final = "/api/v1/"  # with which the paths of its operations begin
MCP: Final = "/mcp"
ENTRY: Final = re.compile(r"([a-z0-9][a-z0-9-]{0,31}):([0-9a-f]{64}):([1-9][0-9]{0,5})", re.ASCII)


@dataclass(frozen=True)
class Token:
    """A client's token: the SHA-256 hash of it, and how many requests a minute it may send."""

    name: str
    hash: str
    limit: int


def parse(text: str) -> tuple[Token, ...]:
    """Return the tokens of a list with commas or line ends between its entries. Raises ValueError."""
    entries = [ENTRY.fullmatch(entry.strip()) for entry in re.split(r"[,\n]", text) if entry.strip()]
    tokens = tuple(Token(each[1], each[2], int(each[3])) for each in entries if each)
    if not entries or len(tokens) < len(entries):
        raise ValueError("must be a list of name:sha256:limit")
    for distinct in ({each.name for each in tokens}, {each.hash for each in tokens}):
        if len(distinct) < len(tokens):
            raise ValueError("must not list a name or hash twice")
    return tokens


def find(tokens: Iterable[Token], given: str) -> Token | None:
    """Return the token that a client sent. Takes as long for each of them, and for one that is unknown."""
    sent = hashlib.sha256(given.encode(errors="replace")).hexdigest()
    found = [each for each in tokens if hmac.compare_digest(each.hash, sent)]
    return found[0] if found else None
