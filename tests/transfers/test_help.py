"""Links to recovery and support follow from the message, never from words of strangers in it."""

from intents_ui.service.models import ChainInfo
from intents_ui.transfers import summary
from intents_ui.transfers.rules import MESSAGES, SUPPORT_OF_THE_APP, HelpKind
from tests.transfers.builders import Catalogue, at, intent, receipt


class Renamed(Catalogue):
    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return None if chain_id is None else ChainInfo(id=chain_id, name="Recoverium")


def test_a_chains_name_adds_no_link_to_recovery() -> None:
    made = receipt("SUCCEEDED", deposit="SUCCEEDED", origin="SUCCEEDED", destination="MINING")
    told = summary.of(at(intent("SUCCEEDED"), made, names=Renamed()))
    assert "Recoverium" in told.next_step
    assert [each.words for each in told.help] == [SUPPORT_OF_THE_APP]


def test_a_next_step_links_what_it_speaks_of() -> None:
    for row in MESSAGES.values():
        assert (HelpKind.RECOVERY in row.help) == ("recover" in row.next.lower()), row.key
        speaks_of_support = "contact support" in row.next.lower() or "{escalation}" in row.next
        assert (HelpKind.SUPPORT in row.help) == speaks_of_support, row.key
