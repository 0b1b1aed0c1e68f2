"""One transfer: its intent and its receipt, asked for at once (interface.md 4.3, 4.4)."""

from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import NotFound, ServiceError
from intents_ui.service.together import both
from intents_ui.service.wire import Intent, IntentReceipt


def read(service: ServiceClient, intent_id: str) -> tuple[Intent, IntentReceipt | None, ServiceError | None]:
    """The intent, its receipt, and what kept us from the receipt. One that was never executed has none: no trouble.

    Raises what kept us from the intent itself.
    """
    found, receipt = both(lambda: service.get_intent(intent_id), lambda: service.get_intent_receipt(intent_id))
    if isinstance(found, ServiceError):
        raise found
    if isinstance(receipt, ServiceError):
        return found, None, None if isinstance(receipt, NotFound) else receipt
    return found, receipt, None
