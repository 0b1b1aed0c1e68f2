"""Words for what a search asked: why an intent was found, or why there may be nothing."""

from collections.abc import Sequence

from intents_ui.display import failures, hashes
from intents_ui.display.criteria import Criteria, Form
from intents_ui.display.pasted import Finding, Kind
from intents_ui.service.lookup import Found, Question

LOOKS_LIKE = {
    Kind.HASH: "an intent id or a transaction hash",
    Kind.INTENT: "an intent id",
    Kind.TRANSACTION: "a transaction hash",
    Kind.ADDRESS: "an address",
    Kind.SOLANA_ADDRESS: "a Solana address",
    Kind.SOLANA_SIGNATURE: "a Solana transaction signature",
    Kind.WORDS: "a text",
    Kind.SHORTENED: "a shortened ID",
    Kind.NEAR_MISS: "something that is cut off",
}

TOO_NEW = "The transfer was started only just now: it can take a minute until the service knows it."
OTHER_PROJECT = "It belongs to another project or another service, whose transfers this dashboard cannot see."

CAUSES = {
    Kind.HASH: (
        "The transaction is an ordinary one and not part of a transfer of this service.",
        "It went to the wrong address, so the service never connected it with a transfer. Search by the owner.",
        TOO_NEW,
        OTHER_PROJECT,
    ),
    Kind.INTENT: ("A digit is missing or wrong. Copy the id again from where it came from.", TOO_NEW, OTHER_PROJECT),
    Kind.ADDRESS: (
        "The wallet has never used this service.",
        "The address is the recipient's: transfers are found by their owner and by their deposit addresses.",
        TOO_NEW,
        OTHER_PROJECT,
    ),
    Kind.SOLANA_SIGNATURE: (
        "The transaction is an ordinary one of Solana and not part of a transfer of this service.",
        "Only the side on Solana has a signature. The other side's hash (0x and 64 hex digits) finds the transfer too.",
        TOO_NEW,
        OTHER_PROJECT,
    ),
    Kind.SOLANA_ADDRESS: (
        "Few transfers start or end on Solana, and their owner is mostly an address that starts with 0x.",
        "The address is the recipient's: transfers are found by their owner and by their deposit addresses.",
        TOO_NEW,
        OTHER_PROJECT,
    ),
    Kind.WORDS: (
        "Only what the service keeps with a transfer can be found by text.",
        "A hash, an address or an intent id finds more than words do.",
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
OF_A_PROJECT = ("The project has no transfers yet, or its number is another one.", OTHER_PROJECT)
OF_SEVERAL_KEYS = ("The keys that were given do not belong to the same transfer.", TOO_NEW, OTHER_PROJECT)


def looks_like(finding: Finding) -> str:
    return LOOKS_LIKE[finding.kind]


def likely_causes(findings: Sequence[Finding], asked: Criteria | None = None) -> tuple[str, ...]:
    """Each once, for whatever was looked for: in what was pasted, or by the keys of the form."""
    if asked is None:
        causes = (cause for finding in findings for cause in CAUSES[finding.kind])
        return tuple(sorted(dict.fromkeys(causes), key=(TOO_NEW, OTHER_PROJECT).__contains__))
    if len(asked.forms) > 1:
        return OF_SEVERAL_KEYS
    kind = KINDS.get(asked.forms[0])
    return CAUSES[kind] if kind else OF_A_PROJECT


def reason(question: Question, *, found: Found) -> str:
    """`transaction hash 0x12…34`; the key alone where only one value was asked for."""
    return f"{question.key} {hashes.short_hash(question.value)}" if len(found.values) > 1 else question.key


def was_asked(found: Found) -> tuple[str, ...]:
    """What the service was asked for and has answered, a line for each value: `an intent with this as owner`."""
    keys: dict[str, list[str]] = {}
    for question in found.answered:
        keys.setdefault(question.value, []).append(question.key)
    return tuple(_was_asked(value, keys=each, alone=len(found.values) == 1) for value, each in keys.items())


def _was_asked(value: str, *, keys: Sequence[str], alone: bool) -> str:
    *others, last = keys
    called = f"{', '.join(others)} or {last}" if others else last
    if not value:
        return f"an intent with {called}"
    return f"an intent with {'this' if alone else hashes.short_hash(value)} as {called}"


def not_asked(found: Found) -> tuple[str, ...]:
    """What could not be asked, in one sentence for each thing that stood in the way, and what could not be read."""
    together: dict[str, list[str]] = {}
    for question, error in found.failed:
        together.setdefault(failures.words(error).title, []).append(reason(question, found=found))
    told = [f"Could not be asked as {', '.join(reasons)}: {title}." for title, reasons in together.items()]
    if found.unreadable:
        what = "1 entry" if found.unreadable == 1 else f"{found.unreadable:,} entries"
        told.append(f"{what} of the answer could not be read and {'is' if found.unreadable == 1 else 'are'} left out.")
    return tuple(told)
