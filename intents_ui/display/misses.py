"""Words for a search that found nothing: what the pasted thing looks like, and why there may be nothing."""

from intents_ui.display.pasted import Finding, Kind

LOOKS_LIKE = {
    Kind.HASH: "an intent id or a transaction hash",
    Kind.INTENT: "an intent id",
    Kind.TRANSACTION: "a transaction hash",
    Kind.ADDRESS: "an address",
    Kind.SOLANA_ADDRESS: "a Solana address",
    Kind.SOLANA_SIGNATURE: "a Solana transaction signature",
    Kind.WORDS: "a text",
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
    Kind.WORDS: (
        "Only what the service keeps with a transfer can be found by text.",
        "A hash, an address or an intent id finds more than words do.",
        OTHER_PROJECT,
    ),
}

SAME_AS = {
    Kind.TRANSACTION: Kind.HASH,
    Kind.SOLANA_SIGNATURE: Kind.HASH,
    Kind.SOLANA_ADDRESS: Kind.ADDRESS,
    Kind.NEAR_MISS: Kind.WORDS,
}


def looks_like(finding: Finding) -> str:
    return LOOKS_LIKE[finding.kind]


def likely_causes(finding: Finding | None) -> tuple[str, ...]:
    if finding is None:
        return ("The keys that were given do not belong to the same transfer.", TOO_NEW, OTHER_PROJECT)
    return CAUSES[SAME_AS.get(finding.kind, finding.kind)]
