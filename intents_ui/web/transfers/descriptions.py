"""Transfers described in words."""

from datetime import UTC, datetime

from intents_ui import wiring
from intents_ui.display.triage import description
from intents_ui.display.triage.description import Description, Vocabulary


def read(written: str) -> Description | None:
    """Return what a text says about a transfer, or None. Raises ServiceError if chains or tokens are unavailable."""
    if not description.has_number(written):
        return None
    chains = wiring.catalog().listed_chains().entries
    tokens = wiring.token_lists().featured([chain.id for chain in chains]).tokens
    symbols = (*(token.symbol for token in tokens), *(chain.native_symbol for chain in chains))
    return description.read(written, known=Vocabulary.of(chains, symbols), today=datetime.now(UTC).date())
