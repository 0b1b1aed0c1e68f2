"""No sentence about a transfer is longer than 22 words, whatever its chains, tokens, amounts and times."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import cycle
from typing import Any

import pytest

from intents_ui.formatting import times
from intents_ui.formatting.text import fill, parts_of
from intents_ui.service.models import (
    ChainInfo,
    IntentProviderQuote,
    TokenBalance,
    TokenInfo,
)
from intents_ui.transfers import placeholders, timeline
from intents_ui.transfers import summary as summaries
from intents_ui.transfers.transfer import UNCHECKED, Balances, Check, Transfer
from intents_ui.web.customer_reply import ReplyPlaceholders
from tests import words
from tests.transfers.builders import ARBITRUM, BASE, MERCHANT, USDC, Catalogue, at
from tests.transfers.states import pairs
from tests.transfers.test_contradictions import INTENT, PAUSED
from tests.transfers.test_customer_reply import STEPS, plain
from tests.transfers.test_every_state import STATUSES, cases

WETH = "0x82af49447d8a07e3bd95bd0d56f35241523fbab1"
SENT, LEAST, LITTLE, RECEIVED = 1_234_567_123_456, 1_234_000_987_654, 1_233_333_123_456, 1_233_987_123_456
QUOTE = IntentProviderQuote(
    from_amount=SENT,
    from_amount_min=LEAST,
    to_amount=RECEIVED,
    estimated_duration=12,
    route_providers_request_ids=("0xc3115e5a5e5a5e5a5e5a5e5a5e5a5e5a5e5a5e5a5e5a5e5a5e5a5e5a5e5a90cd",),
)
REASONS = (
    *placeholders.FIXED,
    PAUSED,
    f"precondition not met: balance {LITTLE} < {LEAST}",
    "aborted: not sent within 1h10m0s",
    "TargetCallFailed",
)


class LongNames(Catalogue):
    """Chains of three words, and tokens with long symbols."""

    def __init__(self, *, are_listed: bool) -> None:
        self.are_listed = are_listed
        self.derived: dict[Any, Any] = {}

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        names = {ARBITRUM: "BNB Smart Chain", BASE: "Arbitrum Nova Chain"}
        return ChainInfo(id=chain_id or 0, name=names.get(chain_id, "Polygon Proof Chain"))

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        if address is None:
            return None
        symbol = "WETH.AXL" if address == WETH else "USDC.AXL"
        return TokenInfo(chain_id=chain_id or 0, address=address, symbol=symbol, decimals=6)

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        return self.are_listed

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        return () if self.are_listed else (FEATURED,)


FEATURED = TokenInfo(chain_id=BASE, address=MERCHANT, symbol="USDC.AXL", featured=True)
LISTED, LOOKALIKES = LongNames(are_listed=True), LongNames(are_listed=False)
# What else a text depends on, beside statuses, balances and times.
USUAL: dict[str, Any] = {"destination_token_amount": RECEIVED, "route_providers": ("LZ_TRANSFER",)}
VARIANTS: tuple[dict[str, Any], ...] = (
    {},
    {"destination_to_address": MERCHANT},
    {"route_providers": ("OIF",)},
    {"destination_token_amount": None},
)
DEPOSITS: tuple[dict[str, Any], ...] = (
    {"token_amount": SENT},
    {"token_amount": LITTLE},
    {"token_amount": SENT, "token_address": WETH},
    {"token_amount": SENT, "chain_id": 137},
    {"token_amount": None},
)
REFUNDS: tuple[dict[str, Any], ...] = (
    {"token_amount": SENT},
    {"token_amount": SENT, "token_address": WETH},
    {"token_amount": SENT, "token_address": WETH, "to_address": MERCHANT},
    {"token_amount": SENT, "chain_id": 137},
    {"token_amount": None},
)
HELD = (
    (TokenBalance(balance=SENT, contract_address=USDC), TokenBalance(balance=SENT, contract_address=WETH)),
    (TokenBalance(balance=LITTLE, contract_address=USDC),),
    (TokenBalance(balance=SENT, contract_address=WETH),),
)


def transfers(status: str) -> Iterator[Transfer]:
    """Yield the transfers of a status, each with the next of the variants."""
    variants, deposits, refunds, held, whys = map(cycle, (VARIANTS, DEPOSITS, REFUNDS, HELD, REASONS))
    names = cycle((LISTED, LISTED, LOOKALIKES))
    for same_chain in (False, True):
        for _, made, (has_balance, balances), now in cases(status, same_chain=same_chain, combine=pairs):
            intent = INTENT.model_copy(update={"quote": QUOTE})
            checked = UNCHECKED if has_balance is None else Balances(Check.CHECKED, has_balance, balances, now)
            for _ in range(3):
                told = plain(made)
                steps = {name: step for name in STEPS if (step := getattr(told, name))}
                for name, step in steps.items():
                    more = {"status_reason": next(whys), "token_address": USDC}
                    if name == "deposit_transaction":
                        more |= next(deposits)
                    if name == "refund_transaction":
                        more |= next(refunds)
                    steps[name] = step.model_copy(update=more)
                of_receipt = told.model_copy(
                    update={**steps, "summary": told.summary.model_copy(update=USUAL | next(variants))}
                )
                groups = tuple(each.model_copy(update={"tokens": next(held)}) for each in balances)
                yield at(intent, of_receipt, now=now, names=next(names)).at(now, replace(checked, groups=groups))
    yield at(INTENT, None, names=LISTED, unread=True)
    yield at(INTENT, None, names=LISTED)


def texts(transfer: Transfer) -> Iterator[tuple[str, str]]:
    told = summaries.of(transfer)
    yield "headline", told.headline
    yield "sentence", told.sentence
    yield "where", told.location
    yield "next", told.instructions
    yield "whose turn", summaries.waiting_on(told)
    yield "balances", told.finding
    # A reply says in full why a token isn't what it seems.
    if not transfer.sent.token.marks:
        yield "reply", fill(told.row.reply, ReplyPlaceholders(transfer))
    for step in timeline.of(transfer).steps:
        yield "step", step.sentence
        yield "explanation", step.explanation


def with_dates(text: str) -> str:
    """Return a text as a reader of another day gets it."""
    parts = parts_of(text)
    return "".join(times.dated(part.at) if isinstance(part, times.Time) else part for part in parts)


@cache
def longest_sentence(text: str) -> str:
    return max(words.sentences(text), key=words.length)


@pytest.mark.parametrize("status", STATUSES)
def test_no_sentence_about_a_transfer_is_too_long(status: str) -> None:
    long: dict[str, str] = {}
    for transfer in transfers(status):
        for name, text in texts(transfer):
            found = longest_sentence(with_dates(text))
            if words.length(found) > words.LONGEST:
                place = f"{summaries.of(transfer).key} {name}"
                long[place] = max(long.get(place, ""), found, key=words.length)
    assert not long, "\n".join(f"{place}: {words.length(text)}: {text}" for place, text in sorted(long.items()))
