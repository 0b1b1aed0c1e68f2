"""A ticket's rows by owner, with the transfers that the reply to each covers."""

from intents_ui.display.formatting import hashes
from intents_ui.display.transfers import statuses
from intents_ui.display.transfers.situation import Situation
from intents_ui.display.triage import cases
from intents_ui.display.triage.cases import Urgency
from intents_ui.display.triage.rows import TriageOutcome, TriageRow
from tests.display.builders import MERCHANT, NOW, OWNER, at, intent, receipt

FIRST, SECOND = hashes.checksum(OWNER), hashes.checksum(MERCHANT)


def transfer(number: int, status: str = "SUCCEEDED", owner: str = OWNER) -> Situation:
    """Return a transfer with its own ID. One that failed needs action, one that succeeded doesn't."""
    update = {"intent_id": f"0x{number:064x}", "owner_address": owner}
    legs = {"deposit": "SUCCEEDED", "origin": status, "destination": status}
    return at(intent(status).model_copy(update=update), receipt(status, **legs).model_copy(update=update))


def row(number: int, owner: str, *transfers: Situation, same_as: int = 0) -> TriageRow:
    first, *others = transfers or [None]
    return TriageRow(
        number, "", "", TriageOutcome.FOUND, statuses.INTENTS["SUCCEEDED"], "", NOW, situation=first,
        others=tuple(each for each in others if each), owner=owner, same_as=same_as,
    )  # fmt: skip


def covered(*rows: TriageRow) -> dict[str, list[int]]:
    """Return the transfers that the reply to each owner covers."""
    return {each.owner: [int(one.intent.intent_id, 16) for one in each.transfers] for each in cases.groups(rows)}


def test_a_reply_covers_every_transfer_of_its_rows_once() -> None:
    rows = row(1, FIRST, transfer(1)), row(2, FIRST, transfer(2), transfer(3), transfer(1)), row(3, SECOND)
    assert covered(*rows) == {FIRST: [1, 2, 3], SECOND: []}


def test_a_reply_covers_the_owners_transfers_in_rows_of_several_owners() -> None:
    shared = row(2, "", transfer(2), transfer(3, owner=MERCHANT), transfer(4, owner="0x" + "5" * 40))
    assert covered(row(1, FIRST, transfer(1)), shared) == {FIRST: [1, 2], "": [3, 4]}
    assert covered(row(1, FIRST, transfer(1, owner=MERCHANT))) == {FIRST: [1]}


def test_a_row_is_as_urgent_as_its_most_urgent_transfer() -> None:
    fine, failed = transfer(1), transfer(2, "FAILED")
    assert cases.urgency(row(1, FIRST, fine)) is Urgency.FINE
    assert cases.urgency(row(1, FIRST, failed)) is cases.urgency(row(1, FIRST, fine, failed)) < Urgency.FINE


def test_the_first_row_of_an_urgency_is_that_of_the_page() -> None:
    rows = row(1, SECOND, transfer(1)), row(2, FIRST, transfer(2)), row(3, FIRST, transfer(3, "FAILED"))
    found = {each.label: (each.count, each.first) for each in cases.counts(cases.groups(rows)) if each.count}
    urgent = cases.LABELS[cases.urgency(rows[2])]
    assert found == {urgent: (1, 3), cases.LABELS[Urgency.FINE]: (2, 2)}
    repeated = row(4, FIRST, transfer(3, "FAILED"), same_as=3)
    assert {each.count for each in cases.counts(cases.groups([*rows, repeated]))} == {0, 1, 2}
