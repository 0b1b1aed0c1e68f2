"""Customer replies with the operator's greeting and signature."""

from collections.abc import Iterable

from django.urls import reverse

from intents_ui.display.sharing.customer_reply import Reply
from intents_ui.display.transfers.transfer import Transfer
from intents_ui.settings import ENV


def about(transfers: Iterable[Transfer], *, root: str) -> Reply:
    """Return the reply to the owner of these transfers. `root`: scheme and host of its links."""
    linked = [(each, page_url(each, root=root)) for each in transfers]
    return Reply(linked, ENV.intents_reply_greeting or "", ENV.intents_reply_signature or "")


def page_url(transfer: Transfer, *, root: str) -> str:
    return root + reverse("intent", args=[transfer.intent.intent_id])
