"""The page, the list, the export and the mirror of a transfer have the same outcome, amount and reason."""

import pytest

from intents_ui import exports
from intents_ui.formatting.text import bare
from intents_ui.mirror import entry as mirror
from intents_ui.mirror.entry import ADDRESS, HASH, packed, unpacked
from intents_ui.service import operations
from intents_ui.service.models import IntentStatus, Page
from intents_ui.service.outcome import Outcome
from intents_ui.tokens.names import NO_NAMES
from intents_ui.transfers import summary
from intents_ui.transfers.rules import Certainty, Delivery
from intents_ui.transfers.transfer import Transfer
from tests.tables import toml
from tests.transfers.builders import NOW, at, intent
from tests.transfers.scenes import MOMENTS, SERVICE, scene

OUTCOMES = {message: {Outcome[each] for each in names} for message, names in toml(__file__, "outcomes").items()}


def outcomes(message: str) -> set[Outcome]:
    return OUTCOMES[max((each for each in OUTCOMES if message.startswith(each)), key=len)]


def quarrel(transfer: Transfer) -> str:
    """Return how the outcome disagrees with the page, or ""."""
    told, found = summary.of(transfer), transfer.outcome
    compared = told.row.comparison
    problems = {
        "not with this message": found not in outcomes(told.key),
        "delivered, or not": (found is Outcome.DELIVERED) != (compared is Delivery.DELIVERED),
        "a conflict, and sure of it": told.certainty is Certainty.CONFLICTING
        and found not in (Outcome.UNCONFIRMED, Outcome.OPEN, Outcome.FAILED),
        "lapsed with a deposit": compared is Delivery.NO_DEPOSIT and found is not Outcome.NO_DEPOSIT,
    }
    return ", ".join(f"{told.key} {found}: {problem}" for problem, is_one in problems.items() if is_one)


@pytest.mark.parametrize("status", [*IntentStatus])
def test_a_transfer_without_a_receipt_agrees_with_its_page(status: str) -> None:
    assert not quarrel(at(intent(status), None))


@pytest.mark.parametrize("which", sorted({which for which, _, _ in MOMENTS}))
def test_page_list_and_export_of_a_scenario_have_the_same_outcome(which: int) -> None:
    for moment in (each for each in MOMENTS if each[0] == which):
        agree(scene(*moment).at())


def agree(page: Transfer) -> None:
    assert not quarrel(page)
    if page.is_missing or page.owner is None:
        return
    call = operations.get_intent_history(by_owner_address=page.owner, page=Page.first(size=100))
    listed = SERVICE.ask(call).intents
    entry = next(each for each in listed if each.intent_id == page.intent.intent_id)
    row = Transfer.of_entry(entry, now=NOW, names=NO_NAMES)
    assert row.outcome is page.outcome
    assert not quarrel(row)
    exported = exports.row_of(row, root="")
    assert (exported["headline"], exported["outcome"]) == (bare(summary.of(row).headline), page.outcome.value)
    stored, recipient, refund = mirror.read(entry, now=NOW), row.recipient, row.refund and row.refund.to_address
    assert (stored.status, stored.outcome, stored.reason) == (row.status, page.outcome, row.failure_reason)
    assert unpacked(stored.intent_id, HASH) == entry.intent_id
    owner = packed(row.owner, ADDRESS)
    for kept, other in ((stored.recipient, recipient), (stored.refund, refund)):
        assert (kept or owner, stored.owner) == (packed(other, ADDRESS) or owner, owner)
    assert stored.sent == (None if row.sent.value is None else str(row.sent.value))
    assert stored.route.providers == ";".join(row.providers)
    times = (row.started_at, row.finished_at)
    assert (stored.started, stored.ended) == tuple(at and mirror.milliseconds(at) for at in times)
