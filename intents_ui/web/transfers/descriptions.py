"""Transfers described in words: what a text says, and which of the newest transfers fit."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from intents_ui import wiring
from intents_ui.display.search import shortened
from intents_ui.display.summary.glance import Transfer
from intents_ui.display.transfers.situation import Situation
from intents_ui.display.triage import description, guesses
from intents_ui.display.triage.description import Description, Vocabulary
from intents_ui.display.triage.guesses import Guess
from intents_ui.web.transfers import situations


@dataclass(frozen=True)
class Guesses:
    """Guesses for a description, the best first.

    `read_as`: what was understood. `searched`: a sentence about the transfers that it was compared with. `are_priced`:
    whether all their tokens have a price, if there was a need for one.
    """

    read_as: str
    found: tuple[Guess, ...]
    searched: str
    are_priced: bool

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        return tuple(each.transfer for each in self.found)

    @property
    def reasons(self) -> dict[str, tuple[str, ...]]:
        """Return what matches, by intent ID."""
        return {each.transfer.intent_id: each.reasons for each in self.found}


def read(written: str) -> Description | None:
    """Return what a text says about a transfer, or None. Raises ServiceError if chains or tokens are unavailable."""
    if not description.has_number(written):
        return None
    chains = wiring.catalog().listed_chains().entries
    tokens = wiring.token_lists().featured([chain.id for chain in chains]).tokens
    symbols = (*(token.symbol for token in tokens), *(chain.native_symbol for chain in chains))
    return description.read(written, known=Vocabulary.of(chains, symbols), today=datetime.now(UTC).date())


def guess(written: str) -> Guesses | None:
    """Return the newest transfers that fit a text, or None if it describes no transfer.

    Raises ServiceError: without the newest transfers, "no match" would be wrong.
    """
    described = read(written)
    if described is None:
        return None
    newest = situations.of_entries(situations.latest().entries)
    prices, are_priced = _prices(newest) if described.in_usd else ({}, True)
    found = guesses.best(described, newest, prices=prices)
    return Guesses(described.said(today=datetime.now(UTC).date()), found, shortened.searched(len(newest)), are_priced)


def _prices(transfers: Iterable[Situation]) -> tuple[guesses.Usd, bool]:
    """Return the known prices, and whether all are known."""
    wanted = guesses.tokens(transfers)
    found = wiring.prices().of(wanted)
    prices = {token: price.usd for token, price in found.items() if price.usd is not None}
    return prices, len(prices) == len(wanted)
