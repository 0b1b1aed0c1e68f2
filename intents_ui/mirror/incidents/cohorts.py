"""Transfers that have begun, and what they are a part of. Times are Unix seconds by the service's clock."""

from collections.abc import Hashable, Iterable
from itertools import product
from typing import NamedTuple

from intents_ui.mirror.entry import RouteKey, TokenKey
from intents_ui.mirror.figures import scopes
from intents_ui.mirror.figures.scopes import Level, ScopeName, scopes_of_tokens
from intents_ui.mirror.incidents.rules import MAX_PROVIDERS
from intents_ui.service.models import IntentStatus
from intents_ui.service.outcome import Outcome

WITHOUT_DEPOSIT = (IntentStatus.QUOTED, IntentStatus.COMMITTED)
UNDECIDED = 0  # time of a decision that isn't made yet
DEPOSIT = 0  # the first step, which is the owner's


class Begun(NamedTuple):
    """A transfer that has begun, in its `scopes`. `at`: when it was decided. All without an owner count as one."""

    scopes: tuple[ScopeName, ...]
    owner: Hashable
    began: int
    at: int = UNDECIDED
    is_bad: bool = False

    @property
    def route(self) -> ScopeName:
        return self.scopes[0]


def scopes_of(route: RouteKey, tokens: Iterable[TokenKey | None]) -> tuple[ScopeName, ...]:
    """Return what a transfer is a part of, its route first."""
    found = scopes.scopes_of(route)
    own, service = found[0], found[-1]
    providers = [each for each in found if each.level is Level.PROVIDER][:MAX_PROVIDERS]
    chains = [each for each in found if each.level is Level.CHAIN]
    on_chains = (
        ScopeName(Level.PROVIDER_ON_CHAIN, each.providers, chain.origin_chain)
        for each, chain in product(providers, chains)
    )
    return (own, *on_chains, *scopes_of_tokens(tokens), *providers, *chains, service)


def decided(
    outcome: str, status: str, failed_step: int | None, *, began: int, ended: int, limit: int, now: int
) -> tuple[int, bool] | None:
    """Return when a transfer was decided and whether it is bad, or None if it says nothing about its route.

    It is decided when it is delivered, when its route fails, or when it is still open after `limit` seconds, and then
    bad at once. `ended` doesn't matter while it is open. The route isn't to blame for rejected or missing deposits and
    for what the owner aborts in time, and nothing is known of unconfirmed ends.
    """
    late_at = began + limit
    match outcome:
        case Outcome.OPEN if status not in WITHOUT_DEPOSIT:
            return (late_at, True) if late_at <= now else (UNDECIDED, False)
        case Outcome.DELIVERED:
            return (ended, False) if ended <= late_at else (late_at, True)
        case Outcome.REFUNDED | Outcome.FAILED if failed_step != DEPOSIT:
            return min(ended, late_at), True
        case Outcome.ABORTED if ended > late_at:
            return late_at, True
    return None
