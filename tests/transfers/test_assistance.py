"""A next step to recover funds or contact support says where, on every surface."""

from dataclasses import replace

import pytest

from intents_ui.search.identifiers import Finding, Kind
from intents_ui.service.results import TRANSACTION_HASH, Hit, LookupQuestion, LookupResult
from intents_ui.transfers import rules, summary
from intents_ui.transfers.rules import Help
from intents_ui.transfers.transfer import Contacts, Transfer
from intents_ui.triage import lookup, rows
from intents_ui.triage.rows import Reading
from tests.transfers.builders import NOW, TXN_HASH, at, intent, receipt

RECOVERY = "https://app.example/recover"
SUPPORT = "support@app.example"
BOTH = Contacts(RECOVERY, SUPPORT)
ROOT = "https://dashboard.example"


def recoverable(contacts: Contacts) -> Transfer:
    transfer = at(intent("FAILED"), receipt("FAILED", deposit="SUCCEEDED", origin="FAILED"), has_balance=True)
    return replace(transfer, contacts=contacts)


def delivered(contacts: Contacts) -> Transfer:
    of_receipt = receipt("SUCCEEDED", deposit="SUCCEEDED", origin="SUCCEEDED", destination="SUCCEEDED")
    return replace(at(intent("SUCCEEDED"), of_receipt, has_balance=False), contacts=contacts)


def row(transfer: Transfer) -> rows.TriageRow:
    of_intent = intent("FAILED")
    found = LookupResult((Hit(of_intent, (LookupQuestion(TRANSACTION_HASH, TXN_HASH),)),), (), (), False)
    begun = rows.begin(1, Finding(Kind.HASH, TXN_HASH), now=transfer.now)
    return rows.one(begun, found, Reading(found.hits[0], transfer))


def test_a_next_step_for_support_links_no_recovery():
    transfer = at(intent("FAILED"), receipt("FAILED", deposit="SUCCEEDED", origin="FAILED"), has_balance=False)
    result = summary.of(replace(transfer, contacts=BOTH))
    assert "contact support" in result.next_step.lower()
    assert "recover" not in result.next_step.lower()
    assert result.help == (Help(rules.SUPPORT, f"mailto:{SUPPORT}"),)
    assert summary.of(replace(transfer, contacts=Contacts())).help == (Help(rules.SUPPORT_OF_THE_APP),)


@pytest.mark.parametrize("contacts", [BOTH, Contacts()])
def test_a_transfer_without_problems_links_neither_recovery_nor_support(contacts):
    assert summary.of(delivered(contacts)).help == ()


def test_the_row_of_a_ticket_and_its_copies_have_the_links():
    of_ticket = row(recoverable(BOTH))
    assert of_ticket.help == summary.of(recoverable(BOTH)).help
    plain, markdown, csv = (copy for _, _, copy in lookup.copies([of_ticket], root=ROOT, now=NOW))
    assert f"{rules.RECOVER}: {RECOVERY}" in plain
    assert f"{rules.SUPPORT}: {SUPPORT}" in plain
    assert f"[{rules.RECOVER}](<{RECOVERY}>)" in markdown
    assert f"[{rules.SUPPORT}](<mailto:{SUPPORT}>)" in markdown
    for link in (RECOVERY, SUPPORT):
        assert link in csv
