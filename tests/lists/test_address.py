"""Roles of an address, its number of intents and their totals."""

from decimal import Decimal

import pytest

from intents_ui.formatting import hashes
from intents_ui.lists import address
from intents_ui.service import results
from intents_ui.service.models import (
    DepositTransaction,
    Intent,
    IntentHistory,
    IntentProviderQuote,
    QuoteIntentRequest,
    SearchAnswer,
)
from tests.transfers.builders import ARBITRUM, BASE, CATALOGUE, NOW, USDC, USDC_ON_BASE, before, named

NATIVE_ALIAS = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"


def hit(number: int, status: str = "SUCCEEDED", *, usd: str | None = "1.10", **request: object) -> Intent:
    usual: dict[str, object] = {
        "origin_chain_id": ARBITRUM,
        "origin_token_address": USDC,
        "destination_chain_id": BASE,
        "destination_token_address": USDC_ON_BASE,
    }
    return Intent(
        intent_id=f"0x{number:064x}",
        status=status,
        created_at=before(hours=number),
        origin_chain_id=ARBITRUM,
        destination_chain_id=BASE,
        quote_request=QuoteIntentRequest(**{**usual, **request}),
        quote=IntentProviderQuote(
            from_amount=10**30 + number, to_amount=7, from_amount_usd=None if usd is None else Decimal(usd)
        ),
        deposit_transaction=DepositTransaction(decimals=6),
    )


def entry(number: int, **members: object) -> IntentHistory:
    return IntentHistory(intent_id=f"0x{number:064X}".replace("0X", "0x"), status="FAILED", **members)


ROLES = named(
    ("one", [1], [], "Owner of 1 transfer", False),
    ("thousands", range(1234), [3], "Owner of 1,234 transfers", False),
    ("ten may be the ten newest", range(10), [], "Owner of at least 10 transfers", True),
    ("the history lists one that the search lacks", range(8), [7, 8], "Owner of at least 9 transfers", True),
    ("the same in both, in another letter case", range(11, 14), [11, 12, 13], "Owner of 3 transfers", False),
    ("only the history answered", None, [1, 2], "Owner of at least 2 transfers", True),
)


@pytest.mark.parametrize(("found", "listed", "shown", "may_be_more"), ROLES)
def test_a_role_counts_each_intent_once_and_says_when_there_may_be_more(found, listed, shown, may_be_more):
    searched = None if found is None else SearchAnswer(intents=tuple(hit(number) for number in found))
    role = address.role(results.OWNER, searched, listed=[entry(number) for number in listed])
    assert (role.shown, role.may_be_more) == (shown, may_be_more)


def test_sums_are_exact_and_rest_on_what_succeeded():
    found = [hit(1), hit(2, usd="2.20"), hit(3, usd=None), hit(4, "FAILED"), hit(5, "QUOTED")]
    totals = address.totals(found, using=CATALOGUE, now=NOW)
    (sent,) = totals.sent
    assert (totals.intents, totals.succeeded) == (5, 3)
    assert [(word, count) for _, word, count in totals.mix] == [("Succeeded", 3), ("Failed", 1), ("Quoted", 1)]
    assert sent.side.amount.base_units == str(3 * 10**30 + 6)
    assert sent.side.amount.full == "3" + "0" * 24 + ".000006"
    assert (sent.intents, sent.side.chain) == (3, "Arbitrum")
    assert (sent.value.shown, sent.value.rests_on) == ("$3.30", "2 of 3 tokens priced")
    assert (totals.usd.usd, totals.usd.priced, totals.usd.of) == (Decimal("3.30"), 2, 3)
    assert (totals.latest, totals.first) == (before(hours=1), before(hours=5))


def test_tokens_are_summed_separately_and_both_native_placeholders_together():
    found = [
        hit(1),
        hit(2, origin_token_address=NATIVE_ALIAS),
        hit(3, origin_token_address=hashes.ZERO_ADDRESS),
        hit(4, origin_token_address=hashes.ZERO_ADDRESS.upper().replace("0X", "0x")),
        hit(5, origin_token_address=USDC.upper().replace("0X", "0x")),
        hit(6, origin_token_address=None),
    ]
    totals = address.totals(found, using=CATALOGUE, now=NOW)
    assert [(each.side.token.address, each.intents) for each in totals.sent] == [(hashes.ZERO_ADDRESS, 3), (USDC, 2)]
    assert totals.succeeded == 6
