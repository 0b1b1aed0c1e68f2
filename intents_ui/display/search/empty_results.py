"""Why a transfer matched a search, or why nothing did."""

from collections.abc import Sequence

from intents_ui.display import failures
from intents_ui.display.formatting import hashes
from intents_ui.display.search.form import Criteria, Form
from intents_ui.display.search.identifiers import Finding, Kind
from intents_ui.service.wire.results import LookupQuestion, LookupResult

LOOKS_LIKE = {
    Kind.HASH: "intent ID or transaction hash",
    Kind.INTENT: "intent ID",
    Kind.TRANSACTION: "transaction hash",
    Kind.ADDRESS: "address",
    Kind.SOLANA_ADDRESS: "Solana address",
    Kind.SOLANA_SIGNATURE: "Solana transaction signature",
    Kind.WORDS: "text",
    Kind.SHORTENED: "shortened ID",
    Kind.NEAR_MISS: "incomplete value",
}

TOO_NEW = "The transfer is new. It can take up to a minute to appear."
OTHER_PROJECT = "It belongs to a project or service that this dashboard has no access to."

CAUSES = {
    Kind.HASH: (
        "The transaction isn't part of a transfer on this service.",
        "It was sent to the wrong address, so it wasn't matched to a transfer. Search by owner instead.",
        TOO_NEW,
        OTHER_PROJECT,
    ),
    Kind.INTENT: ("A character is missing or wrong. Copy the ID again from its source.", TOO_NEW, OTHER_PROJECT),
    Kind.ADDRESS: (
        "The wallet has never used this service.",
        "This is a recipient address. Search by owner or deposit address instead.",
        TOO_NEW,
        OTHER_PROJECT,
    ),
    Kind.SOLANA_SIGNATURE: (
        "The transaction isn't part of a transfer on this service.",
        "Only the Solana transaction has a signature. Search by the other chain's hash (0x and 64 hex characters).",
        TOO_NEW,
        OTHER_PROJECT,
    ),
    Kind.SOLANA_ADDRESS: (
        "Few transfers start or end on Solana. Their owner is usually an address that starts with 0x.",
        "This is a recipient address. Search by owner or deposit address instead.",
        TOO_NEW,
        OTHER_PROJECT,
    ),
    Kind.WORDS: (
        "Text search covers only text that the service stores with a transfer.",
        "For better results, search by transaction hash, address or intent ID.",
        OTHER_PROJECT,
    ),
}
CAUSES[Kind.TRANSACTION] = CAUSES[Kind.HASH]

KINDS = {
    Form.ID: Kind.INTENT,
    Form.HASH: Kind.TRANSACTION,
    Form.ADDRESS: Kind.ADDRESS,
    Form.WORDS: Kind.WORDS,
}
OF_A_PROJECT = ("The project has no transfers yet, or the project ID is wrong.", OTHER_PROJECT)
OF_SEVERAL_KEYS = ("No single transfer matches all fields.", TOO_NEW, OTHER_PROJECT)


def looks_like(finding: Finding) -> str:
    return LOOKS_LIKE[finding.kind]


def likely_causes(findings: Sequence[Finding], asked: Criteria | None = None) -> tuple[str, ...]:
    """Return each likely cause once, for pasted identifiers or for the fields of the form."""
    if asked is None:
        causes = (cause for finding in findings for cause in CAUSES[finding.kind])
        return tuple(sorted(dict.fromkeys(causes), key=(TOO_NEW, OTHER_PROJECT).__contains__))
    if len(asked.forms) > 1:
        return OF_SEVERAL_KEYS
    kind = KINDS.get(asked.forms[0])
    return CAUSES[kind] if kind else OF_A_PROJECT


def reason(question: LookupQuestion, *, found: LookupResult) -> str:
    """Return `transaction hash 0x12…34`, or the key alone if there was only one value."""
    return f"{question.key} {hashes.short_hash(question.value)}" if len(found.values) > 1 else question.key


def was_asked(found: LookupResult) -> tuple[str, ...]:
    """Return the completed lookups, a line for each value: `intent ID or transaction hash`."""
    keys: dict[str, list[str]] = {}
    for question in found.answered:
        keys.setdefault(question.value, []).append(question.key)
    return tuple(_was_asked(value, keys=each, alone=len(found.values) == 1) for value, each in keys.items())


def _was_asked(value: str, *, keys: Sequence[str], alone: bool) -> str:
    *others, last = keys
    called = f"{', '.join(others)} or {last}" if others else last
    return called if alone or not value else f"{hashes.short_hash(value)} as {called}"


def not_asked(found: LookupResult) -> tuple[str, ...]:
    """Return a sentence for each kind of failed lookup, and one for unreadable entries."""
    together: dict[str, list[str]] = {}
    for question, error in found.failed:
        together.setdefault(failures.words(error).title, []).append(reason(question, found=found))
    result = [
        f"Lookup by {', '.join(reasons)} failed: {title[0].lower()}{title[1:]}." for title, reasons in together.items()
    ]
    if found.unreadable:
        what = "1 entry" if found.unreadable == 1 else f"{found.unreadable:,} entries"
        result.append(
            f"{what} in the response couldn't be read and {'was' if found.unreadable == 1 else 'were'} skipped."
        )
    return tuple(result)
