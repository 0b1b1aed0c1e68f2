"""Why a transfer matched a search, or why nothing did; from empty_results.json."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from intents_ui import tables
from intents_ui.formatting import failures, hashes, text
from intents_ui.search.facts import TicketFacts
from intents_ui.search.filters import SearchKey
from intents_ui.search.identifiers import Finding, Kind
from intents_ui.service.results import Doubt, LookupQuestion, LookupResult

_TABLE: Mapping[str, Any] = tables.read(__package__, "empty_results.json")
COMMON: Mapping[str, str] = _TABLE["common"]  # causes that are listed last


def _causes(written: Iterable[str]) -> tuple[str, ...]:
    return tuple(cause.format(**COMMON) for cause in written)


LOOKS_LIKE: dict[Kind, str] = {Kind(kind): words for kind, words in _TABLE["looks_like"].items()}
CAUSES: dict[Kind, tuple[str, ...]] = {Kind(kind): _causes(written) for kind, written in _TABLE["causes"].items()}
CAUSES[Kind.TRANSACTION] = CAUSES[Kind.HASH]
OF_A_PROJECT, OF_SEVERAL_KEYS = _causes(_TABLE["of_a_project"]), _causes(_TABLE["of_several_fields"])


def looks_like(finding: Finding) -> str:
    """Return `intent ID or transaction hash`, `Bitcoin address`."""
    return LOOKS_LIKE[finding.kind].format(chain=finding.chain)


def likely_causes(
    findings: Sequence[Finding], keys: Sequence[SearchKey] = (), *, has_recipients: bool = False
) -> tuple[str, ...]:
    """Return each likely cause once, for pasted identifiers or for the fields of the form.

    `has_recipients`: the page says which transfers paid an address.
    """
    if not keys:
        causes = dict.fromkeys(cause for finding in findings for cause in CAUSES[finding.kind])
        if has_recipients:
            causes.pop(COMMON["recipient"], None)
        return tuple(sorted(causes, key=list(COMMON.values()).__contains__))
    if len(keys) > 1:
        return OF_SEVERAL_KEYS
    return CAUSES[keys[0].kind] if keys[0].kind else OF_A_PROJECT


def question(told: TicketFacts) -> str:
    """Return the question to a customer whose text has no identifier: for one, and for the facts that are missing."""
    words: Mapping[str, str] = _TABLE["question"]
    known = {"amount": told.amounts and told.symbols, "route": told.origin and told.destination, "time": told.since}
    missing = [words[fact] for fact, value in known.items() if not value]
    also = [words["also"].format(what=text.listed(missing))] if missing else []
    return " ".join([words["ask"], words["help"], *also])


def reason(question: LookupQuestion, *, found: LookupResult) -> str:
    """Return `transaction hash 0x12…34`, or the key alone if there was only one value."""
    return f"{question.key} {hashes.short_hash(question.value)}" if len(found.values) > 1 else question.key


def warning(doubt: Doubt) -> str:
    words: str = _TABLE["doubts"]["stray" if doubt.checked else "unchecked"]
    return words.format(
        transaction=hashes.short_hash(doubt.transaction_hash), transfer=hashes.short_id(doubt.intent_id)
    )


def was_asked(found: LookupResult) -> tuple[str, ...]:
    """Return the completed lookups, a line for each value: `intent ID or transaction hash`."""
    keys: dict[str, list[str]] = {}
    for question in found.answered:
        keys.setdefault(question.value, []).append(question.key)
    lines = []
    for value, names in keys.items():
        called = text.listed(names, "or")
        lines.append(called if len(found.values) == 1 or not value else f"{hashes.short_hash(value)} as {called}")
    return tuple(lines)


def not_asked(found: LookupResult) -> tuple[str, ...]:
    """Return a sentence for each kind of failed lookup, and one for unreadable entries."""
    together: dict[str, list[str]] = {}
    for question, error in found.failed:
        together.setdefault(failures.words(error).title, []).append(reason(question, found=found))
    result = [
        f"Lookup by {text.listed(reasons)} failed: {title[0].lower()}{title[1:]}."
        for title, reasons in together.items()
    ]
    if found.unreadable:
        what = text.counted(found.unreadable, "entry", "entries")
        result.append(
            f"{what} in the response couldn't be read and {'was' if found.unreadable == 1 else 'were'} skipped."
        )
    return tuple(result)
