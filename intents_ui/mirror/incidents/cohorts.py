"""Transfers that have begun, and what they are a part of. Times are Unix seconds by the service's clock."""

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from intents_ui.mirror.incidents.rules import MAX_PROVIDERS, SERVICE, Level, Scope
from intents_ui.service.models import IntentStatus
from intents_ui.service.outcome import Outcome

WITHOUT_DEPOSIT = (IntentStatus.QUOTED, IntentStatus.COMMITTED)
UNDECIDED = 0  # time of a decision that isn't made yet
DEPOSIT = 0  # the first step, which is the owner's


class Begun(NamedTuple):
    """A transfer that has begun. `at`: when it was decided. All without an owner count as one."""

    route: int
    scopes: tuple[Scope, ...]
    owner: Hashable
    began: int
    at: int = UNDECIDED
    is_bad: bool = False


def scopes_of(
    route: int, providers: Iterable[str], chains: Iterable[str], tokens: Iterable[tuple[str, str]]
) -> tuple[Scope, ...]:
    """Return what a transfer is a part of, by its route's key in the copy. Tokens are pairs of chain and address."""
    chains = list(dict.fromkeys(filter(None, chains)))
    providers = list(dict.fromkeys(filter(None, providers)))[:MAX_PROVIDERS]
    return (
        Scope(Level.ROUTE, str(route)),
        *(Scope(Level.PROVIDER_ON_CHAIN, f"{chain}/{each}") for each in providers for chain in chains),
        *(Scope(Level.TOKEN, f"{chain}/{address}") for chain, address in dict.fromkeys(tokens)),
        *(Scope(Level.PROVIDER, each) for each in providers),
        *(Scope(Level.CHAIN, each) for each in chains),
        SERVICE,
    )


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
