"""The proof, folded below the answer: each field of intent and receipt under the words that readers look for."""

from collections.abc import Sequence
from dataclasses import dataclass

from intents_ui.display.records import Group

# In the order on the page; `path` as in `records.Group`. What belongs nowhere else is the record of its object.
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
    groups: tuple[Group, ...]

    @property
    def facts(self) -> int:
        return sum(len(group.rows) for group in self.groups)


def sections(groups: Sequence[Group]) -> tuple[Section, ...]:
    """The sections that have something to show; each group stands in the first that names it or an object around it."""
    left = list(groups)
    found = []
    for title, paths in SECTIONS:
        own = tuple(group for group in left if _is_of(group, paths))
        left = [group for group in left if group not in own]
        found.append(Section(title, own))
    return tuple(section for section in found if section.groups)


def _is_of(group: Group, paths: Sequence[str]) -> bool:
    return any(path == group.path or group.path.startswith(f"{path}.") for path in paths)
