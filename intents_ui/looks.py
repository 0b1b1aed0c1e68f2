"""What the addresses of intents held when somebody last looked; all pages of this process share it.

A look is slow, because the service reads chains for it: whoever only wants to say more asks for the newest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import TypedDict

from cachetools import TTLCache

from intents_ui import wiring
from intents_ui.display import balances
from intents_ui.display.facts import Facts
from intents_ui.service.balances import entry_of
from intents_ui.service.sharing import as_of, shared
from intents_ui.service.wire import BalanceGroup, Intent, IntentHistory, IntentReceipt

LOOKS_HELD = 200
SHARED_SECONDS = 15
REMEMBERED_SECONDS = 600


@dataclass(frozen=True)
class Look:
    """`entry` None: the intent was not found in its owner's history; `checked_at` None: that could not be asked for."""

    intent: Intent
    entry: IntentHistory | None
    checked_at: datetime | None


@shared(TTLCache(maxsize=LOOKS_HELD, ttl=SHARED_SECONDS))
def look(intent_id: str) -> Look:
    """Shared by all who look at the same intent within a few seconds. Raises any ServiceError."""
    service = wiring.service()
    intent = service.get_intent(intent_id)
    owner, created_at = Facts.of(intent, None).owner, intent.created_at
    if owner is None or created_at is None:
        return Look(intent, None, None)
    entry = entry_of(service, intent.intent_id, owner=owner, created_at=created_at)
    found = Look(intent, entry, as_of())
    with _lock:
        _newest[intent_id] = found
    return found


def newest(intent_id: str, *, since: datetime | None) -> Look | None:
    """The last look that found the intent, if the transfer has not moved since; it asks nobody."""
    with _lock:
        found = _newest.get(intent_id)
    if found is None or found.entry is None or found.checked_at is None:
        return None
    return found if since is None or found.checked_at >= since else None


class Held(TypedDict, total=False):
    """What the story can be told with; empty when nobody has looked since the transfer last moved."""

    has_balance: bool | None
    balances: Sequence[BalanceGroup]
    checked_at: datetime | None


def holdings(found: Intent, receipt: IntentReceipt | None) -> Held:
    latest = newest(found.intent_id, since=Facts.of(found, receipt).last_change)
    if latest is None or latest.entry is None:
        return {}
    return {
        "has_balance": balances.has_balance(latest.entry),
        "balances": latest.entry.balances,
        "checked_at": latest.checked_at,
    }


def forget() -> None:
    look.cache_clear()
    with _lock:
        _newest.clear()


_lock = Lock()
_newest: TTLCache[str, Look] = TTLCache(maxsize=LOOKS_HELD, ttl=REMEMBERED_SECONDS)
