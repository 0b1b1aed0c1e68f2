"""Sections of raw fields below the answer: each field of the intent and receipt under a familiar heading."""

from collections.abc import Sequence
from dataclasses import dataclass

from intents_ui.display.fields.tables import FieldGroup

# In page order. `path` as in `tables.FieldGroup`. Fields without a section belong to their object's record.
SECTIONS = (
    ("Quote", ("intent.quote", "intent.quote_request")),
    ("Fees", ("intent.fees",)),
    ("Calls", ("intent.origin_calls", "intent.destination_calls", "intent.calls")),
    ("Preconditions", ("intent.origin_precondition", "intent.destination_precondition", "intent.preconditions")),
    ("Meta transactions", ("intent.origin_meta_txn", "intent.destination_meta_txn", "intent.meta_txns")),
    ("Contracts", ("intent.service_contracts",)),
    (
        "Transactions",
        (
            "intent.deposit_transaction",
            "receipt.deposit_transaction",
            "receipt.origin_transaction",
            "receipt.destination_transaction",
            "receipt.refund_transaction",
        ),
    ),
    ("Intent and receipt", ("intent", "receipt")),
)


@dataclass(frozen=True)
class Section:
    title: str
    groups: tuple[FieldGroup, ...]

    @property
    def facts(self) -> int:
        return sum(len(group.rows) for group in self.groups)


def sections_of(groups: Sequence[FieldGroup]) -> tuple[Section, ...]:
    """Return the non-empty sections. Each group is in the first section that names it or an enclosing object."""
    left = list(groups)
    found = []
    for title, paths in SECTIONS:
        own = tuple(group for group in left if _is_of(group, paths))
        left = [group for group in left if group not in own]
        found.append(Section(title, own))
    return tuple(section for section in found if section.groups)


def _is_of(group: FieldGroup, paths: Sequence[str]) -> bool:
    return any(path == group.path or group.path.startswith(f"{path}.") for path in paths)
