"""Status reasons in plain language: all known ones, exact to the base unit, and no guesses about others."""

from dataclasses import replace

import pytest

from intents_ui.service.models import TokenMetadata, TransactionPrecondition
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers import placeholders
from intents_ui.transfers import summary as summaries
from intents_ui.transfers import timeline as timelines
from intents_ui.transfers.rules import SUPPORT_OF_THE_APP, Actor, Help
from intents_ui.transfers.timeline import Name
from intents_ui.transfers.transfer import Contacts
from tests.tables import toml
from tests.transfers.builders import (
    ARBITRUM,
    BASE,
    CATALOGUE,
    USDC,
    USDC_ON_BASE,
    at,
    intent,
    named,
    receipt,
    refund,
    transaction,
)
from tests.transfers.scenes import MOMENTS, scene

KNOWN = TokenMetadata(chain_id=ARBITRUM, token_address=USDC, symbol="USDC", decimals=6)
NEEDED = Money(None, ARBITRUM, USDC, KNOWN, names=CATALOGUE)
UNKNOWN_TOKEN = Money(None, ARBITRUM, USDC, names=CATALOGUE)
SHORT = "precondition not met: balance 79712345 < 79800000"

EXPLAINED = toml(__file__, "explained_reasons")


@pytest.mark.parametrize("case", EXPLAINED.values(), ids=EXPLAINED)
def test_a_known_reason_is_explained(case):
    assert placeholders.explain(case["reason"], NEEDED) == case["known"]
    assert placeholders.explain(case["reason"], UNKNOWN_TOKEN) == case.get("unknown", case["known"])


NOT_EXPLAINED = named(
    ("empty", ""),
    ("more after it", "aborted by owner {chain.__class__}"),
    ("enough", "precondition not met: balance 2 < 1"),
    ("too many digits", f"precondition not met: balance 1 < {'9' * 5000}"),
    ("beyond the calendar", "aborted: not sent within 99999999999h"),
    ("another name", "TargetCallFailedSomewhere"),
)


@pytest.mark.parametrize("reason", NOT_EXPLAINED)
def test_an_unknown_reason_is_not_interpreted(reason):
    assert placeholders.explain(reason, NEEDED) == ""


def test_each_reason_of_the_scenarios_is_explained_beside_its_raw_text():
    for step in (step for moment in MOMENTS for step in scene(*moment).timeline().steps):
        assert bool(step.explanation) == bool(step.reason), step.reason


OTHER = "0x" + "d1" * 20
CONDITION = TransactionPrecondition(chain_id=BASE, token_address=OTHER)
SIDES = named(
    ("origin token", "origin", {}, "79.7123 USDC arrived"),
    (
        "token of the precondition",
        "destination",
        {"chain_id": BASE, "precondition": CONDITION.model_copy(update={"token_address": USDC_ON_BASE})},
        "79.7123 USDC arrived",
    ),
    (
        "unknown token of the precondition",
        "destination",
        {"chain_id": BASE, "precondition": CONDITION},
        "79,712,345 base units (unlisted: 0xD1d1d1…D1d1d1) arrived",
    ),
)


@pytest.mark.parametrize(("leg", "members", "words"), SIDES)
def test_a_missing_balance_is_in_the_token_that_the_step_needs(leg, members, words):
    failed = transaction("FAILED", status_reason=SHORT, **members)
    result = timelines.of(at(intent("FAILED"), receipt("FAILED", deposit="SUCCEEDED", **{leg: failed})))
    step = next(step for step in result.steps if step.name == Name(leg))
    assert step.explanation.startswith(words)
    assert step.reason.shown == SHORT


PAUSED = "Recovery isn't possible while USDC is paused on Arbitrum."
NEXT_STEPS = named(
    ("paused", "refund reverted: token paused", None, True),
    ("paused, and the funds have moved", "refund reverted: token paused", False, False),
    ("another reason", "refund reverted", None, False),
)


@pytest.mark.parametrize(("reason", "has_balance", "warns"), NEXT_STEPS)
def test_recovery_is_not_called_possible_while_the_token_is_paused(reason, has_balance, warns):
    failed = refund("FAILED", status_reason=reason)
    of_receipt = receipt("FAILED", deposit="SUCCEEDED", origin="FAILED", refund=failed)
    result = summaries.of(at(intent("FAILED"), of_receipt, has_balance=has_balance))
    assert (result.next_step == f"{PAUSED} Contact support.") == warns
    assert (PAUSED in result.instructions) == warns


def test_a_transfer_of_a_paused_token_links_to_no_recovery():
    failed = refund("FAILED", status_reason="refund reverted: token paused")
    of_receipt = receipt("FAILED", deposit="SUCCEEDED", origin="FAILED", refund=failed)
    contacts = Contacts("https://app.example/recover")
    shown = summaries.of(replace(at(intent("FAILED"), of_receipt), contacts=contacts))
    assert shown.next_step.startswith(PAUSED)
    assert shown.who is Actor.SUPPORT
    assert shown.help == (Help(SUPPORT_OF_THE_APP),)
