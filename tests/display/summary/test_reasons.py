"""Status reasons in plain language: all known ones, exact to the base unit, and no guesses about others."""

from dataclasses import replace

import pytest

from intents_ui.display.summary import reasons
from intents_ui.display.summary import summary as summaries
from intents_ui.display.summary import timeline as timelines
from intents_ui.display.summary.timeline import Name
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.assistance import RECOVER, Contacts, Help
from intents_ui.service.wire.models import TokenMetadata, TransactionPrecondition
from tests.display.builders import (
    ARBITRUM,
    BASE,
    CATALOGUE,
    USDC,
    USDC_ON_BASE,
    at,
    intent,
    receipt,
    refund,
    transaction,
)
from tests.display.scenes import MOMENTS, scene

KNOWN = TokenMetadata(chain_id=ARBITRUM, token_address=USDC, symbol="USDC", decimals=6)
NEEDED = Money(None, ARBITRUM, USDC, KNOWN)
UNKNOWN_TOKEN = Money(None, ARBITRUM, USDC)
NOWHERE = Money(None, None, None)
SHORT = "precondition not met: balance 79712345 < 79800000"
GIANT = 2**64 * 10**9

EXPLAINED = [
    pytest.param(
        SHORT,
        NEEDED,
        "0.087655 USDC too little arrived: 79.712345 of the 79.80 USDC that the step needs.",
        id="underfunded",
    ),
    pytest.param(
        f"precondition not met: balance {GIANT - 1} < {GIANT}",
        NEEDED,
        "0.000001 USDC too little arrived: 18,446,744,073,709,551,615,999.999999 of the "
        "18,446,744,073,709,551,616,000.00 USDC that the step needs.",
        id="underfunded by one unit of many",
    ),
    pytest.param(
        SHORT,
        UNKNOWN_TOKEN,
        "87,655 base units too little arrived: 79,712,345 of the 79,800,000 base units that the step needs.",
        id="underfunded, unknown token",
    ),
    pytest.param(
        "token paused", NEEDED, "USDC is paused on Arbitrum, so no transfer of it can go through.", id="paused"
    ),
    pytest.param(
        "refund reverted: token paused",
        NEEDED,
        "USDC is paused on Arbitrum, so no transfer of it can go through.",
        id="refund of a paused token",
    ),
    pytest.param(
        "token paused",
        UNKNOWN_TOKEN,
        "The token is paused on Arbitrum, so no transfer of it can go through.",
        id="paused, unknown token",
    ),
    pytest.param(
        "token paused", NOWHERE, "The token is paused on its chain, so no transfer of it can go through.", id="nowhere"
    ),
    pytest.param("aborted by owner", NEEDED, "The owner aborted the transfer.", id="by the owner"),
    pytest.param("aborted: not sent within 10m0s", NEEDED, "Not sent within 10 min.", id="minutes"),
    pytest.param("aborted: not sent within 1h30m0s", NEEDED, "Not sent within 1 h 30 min.", id="hours"),
    pytest.param("aborted: not sent within 45s", NEEDED, "Not sent within 45 s.", id="seconds"),
    pytest.param(
        "deposit below required minimum", NEEDED, "The deposit was smaller than the required minimum.", id="too small"
    ),
    pytest.param(
        "relayer: estimation failed, will retry",
        NEEDED,
        "The relayer couldn't estimate the network fee on Arbitrum. It retries automatically.",
        id="estimation",
    ),
    pytest.param(
        "TargetCallFailed: vault\npaused", NEEDED, "The call to the target contract on Arbitrum failed.", id="call"
    ),
    pytest.param("TargetCallFailed", NEEDED, "The call to the target contract on Arbitrum failed.", id="bare call"),
    pytest.param("execution reverted", NEEDED, "The transaction reverted on Arbitrum.", id="reverted"),
]


@pytest.mark.parametrize(("reason", "needed", "words"), EXPLAINED)
def test_a_known_reason_is_explained(reason, needed, words):
    assert reasons.explain(reason, needed, using=CATALOGUE) == words


NOT_EXPLAINED = [
    pytest.param("", id="empty"),
    pytest.param("Aborted by owner", id="another case"),
    pytest.param("aborted by owner {chain.__class__}", id="more after it"),
    pytest.param("note: token paused", id="more before it"),
    pytest.param("token paused\n", id="a line break"),
    pytest.param("execution reverted: 0x1234", id="another revert"),
    pytest.param("precondition not met: balance 2 < 1", id="enough"),
    pytest.param("precondition not met: balance -1 < 1", id="negative"),
    pytest.param("precondition not met: balance \u0661 < \u0662", id="other digits"),
    pytest.param(f"precondition not met: balance 1 < {'9' * 5000}", id="too many digits"),
    pytest.param("precondition not met: balance 1.5 < 2", id="a fraction"),
    pytest.param("aborted: not sent within ", id="no time"),
    pytest.param("aborted: not sent within 0s", id="no time at all"),
    pytest.param("aborted: not sent within 99999999999h", id="beyond the calendar"),
    pytest.param("TargetCallFailedSomewhere", id="another name"),
]


@pytest.mark.parametrize("reason", NOT_EXPLAINED)
def test_an_unknown_reason_is_not_interpreted(reason):
    assert reasons.explain(reason, NEEDED, using=CATALOGUE) == ""


@pytest.mark.parametrize(("which", "at_second", "variant"), MOMENTS)
def test_each_reason_of_the_scenarios_is_explained_beside_its_raw_text(which, at_second, variant):
    for step in scene(which, at_second, variant).timeline().steps:
        assert bool(step.explanation) == bool(step.reason), step.reason


OTHER = "0x" + "d1" * 20
CONDITION = TransactionPrecondition(chain_id=BASE, token_address=OTHER)
SIDES = [
    pytest.param("origin", {}, "0.087655 USDC too little", id="origin token"),
    pytest.param("destination", {"chain_id": BASE}, "0.087655 USDC too little", id="destination token"),
    pytest.param(
        "destination",
        {"chain_id": BASE, "precondition": CONDITION.model_copy(update={"token_address": USDC_ON_BASE})},
        "0.087655 USDC too little",
        id="token of the precondition",
    ),
    pytest.param(
        "destination",
        {"chain_id": BASE, "precondition": CONDITION},
        "87,655 base units (unlisted: 0xD1d1d1…D1d1d1) too little",
        id="unknown token of the precondition",
    ),
]


@pytest.mark.parametrize(("leg", "members", "words"), SIDES)
def test_a_missing_balance_is_in_the_token_that_the_step_needs(leg, members, words):
    failed = transaction("FAILED", status_reason=SHORT, **members)
    result = timelines.of(at(intent("FAILED"), receipt("FAILED", deposit="SUCCEEDED", **{leg: failed})))
    step = next(step for step in result.steps if step.name == Name(leg))
    assert step.explanation.startswith(words)
    assert step.reason.shown == SHORT


PAUSED = "Recovery isn't possible while USDC is paused on Arbitrum."
NEXT_STEPS = [
    pytest.param("refund reverted: token paused", None, True, id="paused"),
    pytest.param("refund reverted: token paused", True, True, id="paused, funds still there"),
    pytest.param("refund reverted: token paused", False, False, id="paused, and the funds have moved"),
    pytest.param("refund reverted", None, False, id="another reason"),
    pytest.param(None, None, False, id="no reason"),
]


@pytest.mark.parametrize(("reason", "has_balance", "warns"), NEXT_STEPS)
def test_recovery_is_not_called_possible_while_the_token_is_paused(reason, has_balance, warns):
    failed = refund("FAILED", status_reason=reason)
    of_receipt = receipt("FAILED", deposit="SUCCEEDED", origin="FAILED", refund=failed)
    result = summaries.of(at(intent("FAILED"), of_receipt, has_balance=has_balance))
    assert result.next_step.endswith(PAUSED) == warns
    assert (PAUSED in result.instructions) == warns


def test_a_transfer_of_a_paused_token_still_links_to_its_recovery():
    """The pause was observed when the refund failed. It may have ended since."""
    failed = refund("FAILED", status_reason="refund reverted: token paused")
    of_receipt = receipt("FAILED", deposit="SUCCEEDED", origin="FAILED", refund=failed)
    contacts = Contacts("https://app.example/recover")
    shown = summaries.of(replace(at(intent("FAILED"), of_receipt), contacts=contacts))
    assert PAUSED in shown.next_step
    assert Help(RECOVER, "https://app.example/recover") in shown.help


def test_a_pending_refund_of_a_paused_token_changes_no_next_step():
    pending = refund("MINING", status_reason="token paused")
    of_receipt = receipt("FAILED", deposit="SUCCEEDED", origin="FAILED", refund=pending)
    assert "paused" not in summaries.of(at(intent("FAILED"), of_receipt)).next_step
