"""Recoverable balances: equal tokens are added up, others listed separately, unpriced ones last."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from intents_ui.display.lists import recoverable
from intents_ui.display.lists.recoverable import Sort, Worklist
from intents_ui.display.summary.rules import EXPLANATIONS
from intents_ui.display.tokens.warnings import TokenStanding
from intents_ui.display.transfers.situation import Situation
from intents_ui.service.errors import Reason, Unreachable
from intents_ui.service.wire.models import BalanceGroup, IntentHistory, TokenBalance
from intents_ui.service.wire.results import Read, Stop
from tests.display.builders import (
    ARBITRUM,
    BASE,
    CATALOGUE,
    MERCHANT,
    NOW,
    OWNER,
    USDC,
    USDC_ON_BASE,
    before,
    receipt,
    summary,
    transaction,
)

DEPOSIT = "0x" + "0d" * 20
ZERO = "0x" + "0" * 40
EEE = "0x" + "eE" * 20
FAILED = receipt("FAILED", deposit="SUCCEEDED", origin="REVERTED", summary=summary(origin_intent_address=DEPOSIT))


def token(balance: int | None = 1_000_000, usd: str | None = "1", **members: Any) -> TokenBalance:
    given = None if usd is None else Decimal(usd)
    usual: dict[str, Any] = {
        "contract_address": USDC,
        "decimals": 6,
        "symbol": "USDC",
        "price_usd": given and Decimal(1),
    }
    return TokenBalance(balance=balance, balance_usd=given, **{**usual, **members})


def entry(number: int, *tokens: TokenBalance, chain_id: int = ARBITRUM, **members: Any) -> IntentHistory:
    usual: dict[str, Any] = {
        "status": "FAILED",
        "created_at": before(hours=number),
        "receipt": FAILED,
        "has_balance": True,
        "balances": (BalanceGroup(intent_address=DEPOSIT, chain_id=chain_id, tokens=tokens),) if tokens else (),
    }
    return IntentHistory(intent_id=f"0x{number:02}", **{**usual, **members})


def of(*entries: IntentHistory, sort: Sort = Sort.AGE) -> Worklist:
    return recoverable.worklist([Situation.of_entry(each, now=NOW, names=CATALOGUE) for each in entries], sort=sort)


def sums(*entries: IntentHistory) -> list[tuple[str, str, str, int]]:
    return [
        (total.side.amount.full or total.side.amount.short, total.side.chain, total.value.shown, total.intents)
        for total in of(*entries).totals
    ]


TOTALS = [
    (
        "the same token of several intents",
        [entry(1, token(1_000_000)), entry(2, token(2_500_000, "2.5"))],
        [("3.5", "Arbitrum", "$3.50", 2)],
    ),
    (
        "twice in one intent",
        [entry(1, token(1_000_000), token(1_000_000))],
        [("2", "Arbitrum", "$2.00", 1)],
    ),
    (
        "in other letters",
        [entry(1, token()), entry(2, token(contract_address=USDC.upper().replace("X", "x")))],
        [("2", "Arbitrum", "$2.00", 2)],
    ),
    (
        "on two chains",
        [entry(1, token(2_000_000, "2")), entry(2, token(contract_address=USDC), chain_id=BASE)],
        [("2", "Arbitrum", "$2.00", 1), ("1", "Base", "$1.00", 1)],
    ),
    (
        "with other decimals",
        [entry(1, token(2_000_000, "2")), entry(2, token(1_000_000, "1", decimals=18))],
        [("2", "Arbitrum", "$2.00", 1), ("0.000000000001", "Arbitrum", "$1.00", 1)],
    ),
    (
        "native token under both of its addresses",
        [entry(1, token(contract_address=ZERO)), entry(2, token(contract_address=EEE))],
        [("2", "Arbitrum", "$2.00", 2)],
    ),
    (
        "of a token that is not named",
        [entry(1, token(contract_address=None)), entry(2, token(contract_address=None))],
        [("1", "Arbitrum", "$1.00", 1), ("1", "Arbitrum", "$1.00", 1)],
    ),
    (
        "an amount that nobody knows",
        [entry(1, token()), entry(2, token(None, None))],
        [("1", "Arbitrum", "$1.00", 1), ("—", "Arbitrum", "no price", 1)],
    ),
    ("nothing", [entry(1, token(0, "0"))], []),
]


@pytest.mark.parametrize(("entries", "expected"), [row[1:] for row in TOTALS], ids=[row[0] for row in TOTALS])
def test_only_equal_tokens_are_added_up(entries, expected):
    assert sums(*entries) == expected


def test_a_sum_is_exact_beyond_any_float():
    large = 10**30 + 1
    assert sums(entry(1, token(large, None)), entry(2, token(large, None))) == [
        ("2000000000000000000000000.000002", "Arbitrum", "no price", 2)
    ]


def test_the_value_says_how_many_tokens_are_priced():
    work = of(entry(1, token(usd="5.005")), entry(2, token(usd=None)), entry(3, token(usd="0.1")))
    assert (work.value.shown, work.value.rests_on) == ("$5.10", "2 of 3 tokens priced")
    assert work.value.usd == Decimal("5.105")


ENTRIES = (
    entry(3, token(usd="7")),
    entry(1, token(usd=None)),
    entry(2, token(usd="9")),
    entry(4, token(usd="0", price_usd=Decimal(0))),
    entry(5, token(usd="7")),
    entry(6, token(usd="100"), created_at=None),
)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        pytest.param(Sort.AGE, ["0x05", "0x04", "0x03", "0x02", "0x01", "0x06"], id="oldest first, unknown last"),
        pytest.param(Sort.USD, ["0x06", "0x02", "0x05", "0x03", "0x04", "0x01"], id="largest first, no price last"),
    ],
)
def test_the_order_of_the_list_is_named(sort, expected):
    assert [row.transfer.intent_id for row in of(*ENTRIES, sort=sort).rows] == expected


def failed(status: str, why: str | None, **members: Any) -> Any:
    return transaction(status, status_reason=why, **members)


REASONS = [
    ("none failed", receipt("EXECUTING", deposit="PENDING"), None),
    ("a step failed", receipt("FAILED", origin=failed("REVERTED", "no liquidity")), "no liquidity"),
    (
        "a later step echoes it",
        receipt("FAILED", origin=failed("FAILED", "no liquidity"), destination=failed("ABORTED", "aborted: origin")),
        "no liquidity",
    ),
    (
        "a step that worked in the end",
        receipt("FAILED", deposit=failed("SUCCEEDED", "retried"), origin=failed("FAILED", "paused")),
        "paused",
    ),
    (
        "the return failed",
        receipt("FAILED", origin=failed("FAILED", "no liquidity"), refund=failed("FAILED", "token paused")),
        "token paused",
    ),
    ("nobody says why", receipt("FAILED", origin=failed("FAILED", None)), None),
    ("no receipt", None, None),
    ("a hostile one", receipt("FAILED", origin=failed("FAILED", "a\u202eb")), "a⟨U+202E⟩b"),
]


@pytest.mark.parametrize(("of_receipt", "shown"), [row[1:] for row in REASONS], ids=[row[0] for row in REASONS])
def test_a_stuck_transfer_shows_the_services_reason(of_receipt, shown):
    (row,) = of(entry(1, token(), receipt=of_receipt)).rows
    assert (row.transfer.reason and row.transfer.reason.shown) == shown


def test_a_row_says_where_the_balance_is_and_what_to_do():
    (row,) = of(entry(1, token())).rows
    assert row.transfer.summary.headline == EXPLANATIONS["failed.origin_recoverable"].headline
    assert (row.transfer.owner, row.transfer.status.word) == (OWNER, "Failed")
    (holding,) = row.holdings
    assert (holding.called, str(holding.side.amount), holding.side.chain) == (
        "deposit address",
        "1.00 USDC",
        "Arbitrum",
    )


def test_transfers_reported_as_empty_are_left_out():
    work = of(entry(1, has_balance=False), entry(2, token(0, "0"), has_balance=False), entry(3, token()))
    assert [row.transfer.intent_id for row in work.rows] == ["0x03"]
    assert work.left_out == 2


@pytest.mark.parametrize("has", [True, None])
def test_unmapped_values_stay_unchanged(has):
    (row,) = of(entry(1, has_balance=has)).rows
    assert row.holdings == ()


def test_an_unlisted_token_is_called_so():
    work = of(entry(1, token(contract_address=MERCHANT)), entry(2, token(contract_address=USDC_ON_BASE), chain_id=BASE))
    assert {total.side.token_address: total.side.token.standing is TokenStanding.UNLISTED for total in work.totals} == {
        MERCHANT: True,
        USDC_ON_BASE: False,
    }


def read(count: int, stop: Stop, **more: Any) -> Read:
    return Read(tuple(entry(number) for number in range(count)), stop, **more)


BROKEN = Unreachable.because(Reason.FAILED)
COUNTS = [
    (read(38, Stop.END), True, "38 transfers (all)."),
    (read(1, Stop.END), True, "1 transfer (all)."),
    (read(12, Stop.END), False, "12 more transfers (end of list)."),
    (read(200, Stop.ENOUGH), True, "200 transfers. Load older ones to continue."),
    (read(50, Stop.TIME), True, "Loaded 50 transfers before the time limit. Load older ones to continue."),
    (
        read(50, Stop.TROUBLE, error=BROKEN),
        True,
        "Loaded 50 transfers, then a request failed: service unreachable. The list is incomplete.",
    ),
    (
        read(50, Stop.CIRCLES),
        True,
        "Loaded 50 transfers. The service returned the same page twice. The list may be incomplete.",
    ),
    (
        read(50, Stop.LOST),
        True,
        "Loaded 50 transfers. More transfers exist but couldn't be loaded.",
    ),
    (
        read(50, Stop.EMPTY_PAGE),
        True,
        "Loaded 50 transfers. The service returned an empty page. The list may be incomplete.",
    ),
]


@pytest.mark.parametrize(("found", "is_beginning", "words"), COUNTS, ids=[row[0].stop.value for row in COUNTS])
def test_the_loaded_part_of_the_list_is_stated(found, is_beginning, words):
    assert recoverable.how_much(found, is_beginning=is_beginning) == words


EMPTY = [
    ("at all", read(0, Stop.END), {}, "No recoverable balances."),
    ("any more", read(0, Stop.END), {"is_beginning": False}, "No more recoverable balances."),
    ("with these filters", read(0, Stop.END), {"is_narrowed": True}, "No recoverable balances match the filters."),
    (
        "so far",
        read(50, Stop.TIME),
        {},
        "No recoverable balances in the transfers loaded so far. The list is incomplete.",
    ),
    ("on an empty page", read(0, Stop.EMPTY_PAGE), {}, "The list is incomplete."),
    ("as far as it can be read", read(0, Stop.END, unreadable=2), {}, "The list is incomplete."),
]


@pytest.mark.parametrize(("found", "how", "words"), [row[1:] for row in EMPTY], ids=[row[0] for row in EMPTY])
def test_only_a_list_that_was_read_to_its_end_is_empty(found, how, words):
    assert words in recoverable.nothing(found, **{"is_beginning": True, "is_narrowed": False} | how)


def test_ages_are_those_of_the_quote():
    (row,) = of(entry(5, token())).rows
    assert isinstance(row.transfer.created_at, datetime)
    assert row.transfer.created_at == before(hours=5)
