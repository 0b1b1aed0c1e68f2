"""One transfer: its intent and its receipt, asked for at once (interface.md 4.3, 4.4)."""

from intents_ui.service import operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import NotFound, ServiceError
from intents_ui.service.together import both, in_turn
from intents_ui.service.wire import Intent, IntentReceipt


def read(service: ServiceClient, intent_id: str) -> tuple[Intent, IntentReceipt | None, ServiceError | None]:
    """The intent, its receipt, and what kept us from the receipt. One that was never executed has none: no trouble.

    Raises what kept us from the intent itself.
    """
    intent, its_receipt = operations.get_intent(intent_id), operations.get_intent_receipt(intent_id)
    # What is known needs no thread to wait in.
    ask = in_turn if service.has_fresh(intent) and service.has_fresh(its_receipt) else both
    found, receipt = ask(lambda: service.ask(intent), lambda: service.ask(its_receipt))
    if isinstance(found, ServiceError):
        raise found
    if isinstance(receipt, ServiceError):
        return found, None, None if isinstance(receipt, NotFound) else receipt
    return found, receipt, None
