"""Single transfers and token pairs of the mirror as rows of tables, for clients that may see them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from intents_ui import wiring
from intents_ui.display.formatting import hashes, text
from intents_ui.display.formatting.amounts import Amount
from intents_ui.display.insight.scopes import chain_ids
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.token_amounts import Identity, Money
from intents_ui.display.transfers import statuses
from intents_ui.display.transfers.statuses import StatusLabel
from intents_ui.mirror.entry import TokenKey
from intents_ui.mirror.figures.lateness import Basis, OpenTransfer
from intents_ui.mirror.figures.queries import EndedTransfer, TokenCount
from intents_ui.mirror.figures.scopes import Level, ScopeName
from intents_ui.web.insight.figures import step_name
from intents_ui.web.insight.scopes import LinkedScope, linked

BASES = {Basis.ROUTE: "p99 of its route", Basis.PROVIDER: "p99 of its provider", Basis.RULE: "the usual maximum"}


@dataclass(frozen=True)
class EndedRow:
    """A transfer that ended. `is_linked`: its ID can be part of a URL."""

    intent_id: str
    is_linked: bool
    status: StatusLabel
    ended: datetime
    duration: timedelta | None
    step: str
    reason: str


@dataclass(frozen=True)
class TokenRow:
    """A pair of tokens, None if unknown, with the number of transfers and what the delivered ones sent."""

    origin: Identity | None
    destination: Identity | None
    count: int
    sent: Amount | None


@dataclass(frozen=True)
class LateRow:
    """An open transfer and how many times its limit it has been open: `7`, and by what the limit is set."""

    intent_id: str
    is_linked: bool
    status: StatusLabel
    scope: LinkedScope
    elapsed: timedelta
    limit: timedelta
    basis: str
    factor: str
    sent: Amount | None


def ended_rows(found: Sequence[EndedTransfer]) -> list[EndedRow]:
    now = datetime.now(UTC)
    return [
        EndedRow(
            intent_id=each.intent_id,
            is_linked=is_linked(each.intent_id),
            status=statuses.intent(each.status or None, now=now),
            ended=each.ended,
            duration=each.duration,
            step=step_name(each.step),
            reason=text.reason(each.reason).shown if each.reason else "",
        )
        for each in found
    ]


def token_rows(found: Sequence[TokenCount]) -> list[TokenRow]:
    _learn(token for each in found for token in (each.origin, each.destination))
    return [
        TokenRow(
            origin=each.origin and _identity(each.origin),
            destination=each.destination and _identity(each.destination),
            count=each.count,
            sent=each.origin and _amount(each.origin, each.sent),
        )
        for each in found
    ]


def late_rows(found: Sequence[OpenTransfer]) -> list[LateRow]:
    now = datetime.now(UTC)
    _learn(each.origin_token for each in found)
    scopes = linked(ScopeName(Level.ROUTE, *each.route) for each in found)
    return [
        LateRow(
            intent_id=each.intent_id,
            is_linked=is_linked(each.intent_id),
            status=statuses.intent(each.status or None, now=now),
            scope=scope,
            elapsed=each.elapsed,
            limit=each.limit,
            basis=BASES[each.basis],
            factor=f"{each.factor:.1f}" if each.factor < 10 else f"{each.factor:,.0f}",
            sent=None if each.origin_token is None or each.sent is None else _amount(each.origin_token, each.sent),
        )
        for each, scope in zip(found, scopes, strict=True)
    ]


def is_linked(intent_id: str) -> bool:
    """Whether an ID can be part of a URL."""
    return hashes.canonical_hash(intent_id) is not None


def _learn(tokens: Iterable[TokenKey | None]) -> None:
    wiring.catalog().learn(number for each in tokens if each for number in chain_ids((each.chain,)))


def _identity(token: TokenKey) -> Identity:
    chain_id = next(iter(chain_ids((token.chain,))), None)
    return token_amounts.identity(chain_id, token.address, using=wiring.catalog())


def _amount(token: TokenKey, value: int) -> Amount:
    chain_id = next(iter(chain_ids((token.chain,))), None)
    return token_amounts.amount(Money(value, chain_id, token.address), using=wiring.catalog())
