"""Customer replies with the operator's greeting and signature."""

from collections.abc import Iterable

from django.urls import reverse

from intents_ui.display.sharing.customer_reply import Reply
from intents_ui.display.transfers.situation import Situation
from intents_ui.settings import ENV


def about(situations: Iterable[Situation], *, root: str) -> Reply:
    """Return the reply to the owner of these transfers. `root`: scheme and host of its links."""
    transfers = [(each, page_url(each, root=root)) for each in situations]
    return Reply(transfers, ENV.intents_reply_greeting or "", ENV.intents_reply_signature or "")


def page_url(situation: Situation, *, root: str) -> str:
    return root + reverse("intent", args=[situation.intent.intent_id])
