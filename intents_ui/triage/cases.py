"""Case: the rows of a ticket by owner, with the most urgent first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from intents_ui.transfers import summary
from intents_ui.transfers.rules import Attention, Certainty
from intents_ui.transfers.statuses import StatusLabel, Tone
from intents_ui.transfers.transfer import Transfer
from intents_ui.triage.rows import TriageOutcome, TriageRow, owner_of


class Urgency(IntEnum):
    """What support should do about a row, most urgent first."""

    ACT = 0
    CHECK = 1
    FINE = 2


LABELS = {
    Urgency.ACT: StatusLabel("Needs action", Tone.BAD, "triangle-alert", "Support or the owner must act."),
    Urgency.CHECK: StatusLabel("Check", Tone.ATTENTION, "search", "Watch it, or find out more."),
    Urgency.FINE: StatusLabel("Fine", Tone.GOOD, "check", "No action needed."),
}
FINE = (TriageOutcome.FOUND, TriageOutcome.TOKEN, TriageOutcome.NOTHING)
DOUBTFUL = (Certainty.UNKNOWN, Certainty.CONFLICTING)


@dataclass(frozen=True)
class OwnerGroup:
    """Rows of one owner, and all transfers of the owner for a reply, each once.

    `owner` is "" for rows without one, or with several, and for transfers of owners without rows of their own."""

    owner: str
    rows: tuple[TriageRow, ...]
    transfers: tuple[Transfer, ...]


def groups(rows: Sequence[TriageRow]) -> tuple[OwnerGroup, ...]:
    """OwnerGroup by owner. A transfer's repetitions stand below its first row."""
    first = {row.number: row for row in rows}

    def place(row: TriageRow) -> tuple[Urgency, int, int]:
        leading = first.get(row.same_as, row)
        return urgency(leading), leading.number, row.number

    by_owner: dict[str, list[TriageRow]] = {}
    for row in sorted(rows, key=place):
        by_owner.setdefault(row.owner, []).append(row)
    shown: dict[str, dict[str, Transfer]] = {owner: {} for owner in by_owner}
    for group, each in (
        (row.owner, each) for owned in by_owner.values() for row in owned for each in row.replied_about
    ):
        owner = owner_of([each])
        shown[owner if owner in shown else group].setdefault(each.intent.intent_id.lower(), each)
    found = [OwnerGroup(owner, tuple(owned), tuple(shown[owner].values())) for owner, owned in by_owner.items()]
    return tuple(sorted(found, key=lambda group: (urgency(group.rows[0]), not group.owner)))


def counts(groups: Iterable[OwnerGroup]) -> list[tuple[StatusLabel, int, int]]:
    """Return the number of rows of each urgency, without repetitions, and the number of the first, 0 if none has it.

    The first row is that of the page, in the order of the groups.
    """
    numbers: dict[Urgency, list[int]] = {each: [] for each in Urgency}
    for row in (row for group in groups for row in group.rows if not row.same_as):
        numbers[urgency(row)].append(row.number)
    return [(LABELS[each], len(found), next(iter(found), 0)) for each, found in numbers.items()]


def urgency(row: TriageRow) -> Urgency:
    """Return the urgency of the most urgent transfer that the row shows, or else of its lookup."""
    told = [summary.of(each) for each in row.transfers]
    if any(each.attention is Attention.ACT for each in told):
        return Urgency.ACT
    if any(each.attention is Attention.WATCH or each.certainty in DOUBTFUL for each in told):
        return Urgency.CHECK
    is_fine = row.outcome in FINE and not row.is_incomplete
    return Urgency.FINE if is_fine else Urgency.CHECK
