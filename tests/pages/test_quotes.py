"""What the page and the reply of a quote say while nothing has been deposited."""

import html
import re
from datetime import datetime, timedelta

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import Scenario
from intents_ui.transfers import summary
from intents_ui.transfers.rules import SECOND_DEPOSIT
from tests.pages.kinds import EVERY_SCENARIO
from tests.transfers.builders import NOW, at, intent, receipt, transaction


def reply(site: Client, intent_id: str) -> str:
    page = site.get(f"/intent/{intent_id}/reply", headers={"HX-Request-Type": "partial"}).content.decode()
    return html.unescape(re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)[0])


@pytest.fixture
def unchecked(emulator: Emulator) -> None:
    """Make requests for balances fail."""
    emulator.inject("GetIntentHistory", "failing-500")


@pytest.mark.parametrize("scenario", [5, 6], ids=["quoted", "committed"])
def test_an_offer_is_not_followed_by_a_warning_against_accepting_it(
    site: Client, emulator: Emulator, scenario: int
) -> None:
    page = site.get(f"/intent/{emulator.play(scenario, age=60)['intentId']}").content.decode()
    assert SECOND_DEPOSIT not in page


@pytest.mark.parametrize(("scenario", "age"), [(5, 400), (6, 605), (7, 400), (7, 800)])
def test_the_reply_for_an_expired_quote_invites_to_no_payment(
    site: Client, emulator: Emulator, scenario: int, age: int
) -> None:
    opening = reply(site, emulator.play(scenario, age=age)["intentId"]).partition("\n")[0]
    assert re.search(r" expired at .* UTC\b.*We haven't seen a deposit|and we haven't seen a deposit", opening), opening
    assert "Please don't send anything to the old deposit address" in opening
    assert "waiting for" not in opening


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("scenario", "age", "said"),
    [(5, 60, "is ready"), (6, 60, "hasn't been started"), (7, 60, "is waiting for your deposit")],
)
def test_the_status_decides_what_the_reply_says_while_balances_are_unknown(
    site: Client, emulator: Emulator, scenario: int, age: int, said: str
) -> None:
    assert said in reply(site, emulator.play(scenario, age=age)["intentId"]).partition("\n")[0]


@pytest.mark.parametrize("expires_at", [None, NOW + timedelta(hours=1)], ids=["unknown", "ahead"])
def test_a_deposit_that_is_long_awaited_is_not_called_late_for_a_quote_that_has_not_expired(
    expires_at: datetime | None,
) -> None:
    of_intent = intent(expires_at=expires_at)
    long_ago = NOW - timedelta(days=1)
    waiting = receipt(deposit=transaction("PENDING", txn_hash=None, updated_at=long_ago), updated_at=long_ago)
    told = summary.of(at(of_intent, waiting, now=NOW, has_balance=False))
    assert "expired" not in f"{told.headline} {told.sentence}"


@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_page_reply_and_api_warn_alike_of_a_second_deposit(
    site: Client, emulator: Emulator, scenario: Scenario
) -> None:
    intent_id = emulator.worst(scenario.number)["intentId"]
    page = site.get(f"/intent/{intent_id}").content.decode()
    told = site.get(f"/api/v1/transfers/{intent_id}").json()["summary"]["warnSecondDeposit"]
    assert (SECOND_DEPOSIT in page) == (SECOND_DEPOSIT in reply(site, intent_id)) == told
