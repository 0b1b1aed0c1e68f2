"""Lookups of the identifiers in a text, for the search page and the API."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from intents_ui import app
from intents_ui.formatting import hashes
from intents_ui.search import facts
from intents_ui.search.facts import TicketFacts
from intents_ui.search.form import KEYS_AFTER_A_MISS, KEYS_OF_KIND
from intents_ui.search.identifiers import Finding, Kind, ParsedText
from intents_ui.service import lookup, results
from intents_ui.service.errors import ServiceError

MAX_AT_ONCE = 4  # findings of one text
MAX_ADDRESSES = 8  # of one text, compared with the tokens


def of_text(read: ParsedText) -> results.LookupResult:
    """Look up what tells a transfer best, and what is less specific only after a miss."""
    most_specific = read.most_specific[:MAX_AT_ONCE]
    return lookup.in_turn(
        app.current().service,
        lambda: questions(most_specific),
        lambda: questions(most_specific, KEYS_AFTER_A_MISS),
        lambda: questions(accounts(read)[:MAX_AT_ONCE]),
    )


def questions(
    findings: Sequence[Finding], keys: Mapping[Kind, Sequence[str]] = KEYS_OF_KIND
) -> list[results.LookupQuestion]:
    """Return the lookups of the identifiers by their kinds, or those after a miss with KEYS_AFTER_A_MISS."""
    service = app.current().service
    return [
        question
        for finding in findings
        for question in lookup.as_any(service, keys.get(finding.kind, ()), finding.value)
    ]


def accounts(read: ParsedText) -> Sequence[Finding]:
    """Return the addresses that can be accounts; tokens only if the text has nothing else."""
    if len(read.lookups) == 1:
        return read.addresses
    chains = [chain.id for chain in app.current().catalog.chains()]
    given = [finding for finding in read.addresses if not hashes.is_native(finding.value)][:MAX_ADDRESSES]
    tokens = lookup.tokens_among(app.current().service, chains, [finding.value for finding in given])
    kept = [finding for finding in given if finding.value not in tokens]
    return kept if kept or read.most_specific else read.addresses


def facts_of(written: str, read: ParsedText | None = None) -> TicketFacts:
    """Return what a text says about a transfer. Without the lists of chains and tokens, their names say nothing."""
    try:
        chains = app.current().catalog.listed_chains().entries
        tokens = app.current().catalog.listed_featured([chain.id for chain in chains]).entries
    except ServiceError:
        chains, tokens = (), ()
    symbols = (*(token.symbol for token in tokens), *(chain.native_symbol for chain in chains))
    return facts.read(written, chains=chains, symbols=symbols, now=datetime.now(UTC), pasted=read)
