"""Roles of an address, and the totals of an owner's transfers.

Based on searches, which return intents without receipts, and possibly only the newest ten (docs/contract.md#search).
Totals are in base units per token, with the number of intents that they cover.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from intents_ui.formatting import amounts, text
from intents_ui.search.filters import IN_FLIGHT
from intents_ui.service.models import Intent, IntentHistory, IntentStatus, TokenInfo
from intents_ui.service.results import CAPPED_FROM, DELIVERY_ADDRESS, DEPOSIT_ADDRESS, OWNER
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import Names
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers import statuses, summary
from intents_ui.transfers.balances import Value
from intents_ui.transfers.statuses import Share, mix
from intents_ui.transfers.transfer import Transfer

ROLES = {
    OWNER: "Owner",
    DEPOSIT_ADDRESS: "Deposit address",
    DELIVERY_ADDRESS: "Destination intent address",
}
ENDS = (
    IntentStatus.SUCCEEDED,
    IntentStatus.FAILED,
    IntentStatus.REFUNDED,
    IntentStatus.ABORTED,
    IntentStatus.INVALID,
)
# Filters of an owner's transfers, by their words.
CHOICES = {"All": (), "Open": IN_FLIGHT, **{statuses.INTENTS[each].word: (each,) for each in ENDS}}


@dataclass(frozen=True)
class Role:
    """A role and its number of transfers: None if the lookup failed, a minimum if `may_be_more`."""

    key: str
    intents: int | None
    may_be_more: bool = False

    @property
    def name(self) -> str:
        return ROLES[self.key]

    @property
    def shown(self) -> str:
        """Return `Owner of 37 transfers` or `Owner of at least 10 transfers`."""
        least = "at least " if self.may_be_more else ""
        return f"{self.name} of {least}{text.counted(self.intents or 0, 'transfer')}"


def role(key: str, found: Sequence[Intent] | None, *, beyond: int = 0, listed: Iterable[IntentHistory] = ()) -> Role:
    """`listed`: entries of the owner's history. A search without one of them is incomplete.

    `beyond`: number of matches of the search that were not read.
    """
    elsewhere = {entry.intent_id.lower() for entry in listed}
    if found is None:
        return Role(key, len(elsewhere) or None, may_be_more=True)
    given = {intent.intent_id.lower() for intent in found}
    may_be_more = len(found) == CAPPED_FROM or beyond > 0 or not elsewhere <= given
    # Those of the history may be among the matches that were not read.
    return Role(key, max(len(given | elsewhere), len(given) + beyond), may_be_more=may_be_more)


def token_names(listed: Sequence[TokenInfo], *, using: Names) -> tuple[str, ...]:
    """Return `USDC on Ethereum` for each token whose contract has this address."""
    return tuple(
        f"{token_amounts.of_token(token, using=using).named} on {names.of_chain(token.chain_id, using=using)}"
        for token in listed
    )


def used_on(*, owned: Sequence[Intent], deposits: Sequence[Intent], deliveries: Sequence[Intent]) -> tuple[int, ...]:
    """Return the chains an address is active on, most frequent first. An owner is active on the origin chain."""
    used = Counter(intent.origin_chain_id for intent in (*owned, *deposits))
    used.update(intent.destination_chain_id for intent in deliveries)
    return tuple(chain for chain, _ in used.most_common() if chain is not None)


@dataclass(frozen=True)
class Sum:
    """The amount of one token on one chain, its number of transfers, and its value according to their quotes."""

    side: summary.Side
    value: Value
    intents: int


@dataclass(frozen=True)
class Sums:
    """Totals per token, most valuable first. `untold`: the number of transfers without a token or an amount."""

    tokens: tuple[Sum, ...]
    untold: int


@dataclass(frozen=True)
class Totals:
    """The totals of an owner's transfers. Amounts include succeeded transfers only.

    `sent` and `received` are the quoted amounts, because a search returns no receipts, and `usd` the quoted value.
    """

    intents: int
    succeeded: int
    mix: tuple[Share, ...]
    usd: Value
    sent: Sums
    received: Sums
    first: datetime | None
    latest: datetime | None


def totals(found: Sequence[Intent], *, using: Names, now: datetime) -> Totals:
    transfers = [Transfer.of(each, None, now=now, names=using, unread=True) for each in found]
    shown = [transfer.shown_status for transfer in transfers]
    succeeded = [transfer for transfer in transfers if transfer.status == IntentStatus.SUCCEEDED]
    created = [intent.created_at for intent in found if intent.created_at]
    return Totals(
        intents=len(found),
        succeeded=len(succeeded),
        mix=mix(shown),
        usd=_value([transfer.quote.from_amount_usd for transfer in succeeded]),
        sent=_sums([(transfer.requested, transfer.quote.from_amount_usd) for transfer in succeeded]),
        received=_sums([(transfer.expected, transfer.quote.to_amount_usd) for transfer in succeeded]),
        first=min(created, default=None),
        latest=max(created, default=None),
    )


def _value(quoted: Sequence[Decimal | None]) -> Value:
    priced = [usd for usd in quoted if usd is not None]
    return Value(amounts.total(priced), len(priced), len(quoted))


def _sums(moneys: Sequence[tuple[Money, Decimal | None]]) -> Sums:
    groups: dict[tuple[int, str, int | None], list[tuple[Money, Decimal | None]]] = {}
    for money, usd in moneys:
        if money.value is not None and money.chain_id is not None and money.token_address:
            token = (money.chain_id, token_amounts.key(money.token_address), money.token.decimals)
            groups.setdefault(token, []).append((money, usd))
    sums = []
    for (chain_id, address, decimals), group in groups.items():
        units = sum(money.value or 0 for money, _ in group)
        money = Money(units, chain_id, address, own_decimals=decimals, names=group[0][0].names)
        value = _value([usd for _, usd in group])
        side = summary.Side(money, value.usd if value.priced else None)
        sums.append(Sum(side, value, len(group)))
    ordered = sorted(sums, key=lambda each: (each.value.priced == 0, -each.value.usd, each.side.token.symbol))
    return Sums(tuple(ordered), len(moneys) - sum(each.intents for each in sums))


def standing(owner: Role | None, *, in_flight: int, more_in_flight: bool, recoverable: int) -> str:
    """Return `12 transfers, 1 open, 2 recoverable` for an owner, "" for other addresses or if the lookup failed."""
    if owner is None or not owner.intents:
        return ""
    parts = [f"{'at least ' if owner.may_be_more else ''}{text.counted(owner.intents, 'transfer')}"]
    if in_flight:
        parts.append(f"{'at least ' if more_in_flight else ''}{in_flight} open")
    if recoverable:
        parts.append(f"{recoverable} recoverable")
    return ", ".join(parts)
