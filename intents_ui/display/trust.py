"""What a reader should know of a token before its name: anybody can call a token USDC.

Two things are told: whether the service lists the token, and why its name may mislead.
"""

from dataclasses import dataclass
from enum import StrEnum

from intents_ui.display import hashes
from intents_ui.display.names import Names


class Standing(StrEnum):
    """What the service's own lists say of a token; NATIVE is the chain's own money, which no list need name."""

    FEATURED = "featured"
    LISTED = "listed"
    NATIVE = "native"
    UNLISTED = "unlisted"
    UNKNOWN = "unknown"  # the chain's list could not be had


@dataclass(frozen=True)
class Mark:
    """A warning: `word` stands beside the token wherever it appears, `reason` is the sentence behind it."""

    word: str
    reason: str


def standing(chain_id: int | None, address: str | None, *, using: Names) -> Standing:
    """By the chain's list as it is known at this moment."""
    listed = using.token(chain_id, address)
    if listed and listed.featured:
        return Standing.FEATURED
    if hashes.is_native(address):
        return Standing.NATIVE
    is_listed = using.lists(chain_id, address)
    if is_listed is None:
        return Standing.UNKNOWN
    return Standing.LISTED if is_listed else Standing.UNLISTED


def marks(
    chain_id: int | None, address: str | None, *, symbol: str | None, name: str | None, using: Names
) -> tuple[Mark, ...]:
    """The warnings that a token carries. `symbol` and `name` are as received."""
    if standing(chain_id, address, using=using) is Standing.UNLISTED:
        return (Mark("not on the service's list", "Anybody can give a token any name. Compare its address."),)
    return ()
