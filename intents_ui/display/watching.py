"""Whether a transfer is worth watching: whether anything can still change by itself (domain.md 1.1, 1.3)."""

from datetime import datetime, timedelta

from intents_ui.display import statuses
from intents_ui.display.facts import Facts
from intents_ui.service.wire import Intent, IntentReceipt

# A refund or a retry may follow what looks like an end; after this it is not waited for any more.
SECOND_LOOK = timedelta(minutes=30)


def may_change(intent: Intent, receipt: IntentReceipt | None, *, now: datetime) -> bool:
    facts = Facts.of(intent, receipt)
    if facts.status in statuses.TERMINAL_FOR_NOW:
        return facts.last_change is None or now - facts.last_change < SECOND_LOOK
    if facts.status in statuses.TERMINAL:
        return False
    expired = statuses.is_expired(
        facts.status, now=now, expires_at=facts.expires_at, updated_at=facts.updated_at
    )  # fmt: skip
    return facts.has_moved or not expired
