"""Reads a transfer: its intent and its receipt, concurrently. And the call for others on its route."""

from intents_ui.service import operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.context.concurrency import in_turn
from intents_ui.service.errors import NotFound, ServiceError
from intents_ui.service.models import HistoryAnswer, Intent, IntentReceipt, Page
from intents_ui.service.operations import ServiceCall

ROUTE_PAGE = Page.first(size=50)


def newest_of_route(origin: int, destination: int, page: Page = ROUTE_PAGE) -> ServiceCall[HistoryAnswer]:
    """Return the call for the newest transfers between two chains."""
    return operations.get_intent_history(page=page, origin_chain_id=origin, destination_chain_id=destination)


def read(service: ServiceClient, intent_id: str) -> tuple[Intent, IntentReceipt | None, ServiceError | None]:
    """Return the intent, its receipt, and the error for the receipt. An intent that was never executed has neither.

    Raises the error for the intent itself.
    """
    intent, its_receipt = operations.get_intent(intent_id), operations.get_intent_receipt(intent_id)
    # Cached responses need no thread to wait in.
    ask = in_turn if service.has_fresh(intent) and service.has_fresh(its_receipt) else service.threads.both
    found, receipt = ask(lambda: service.ask(intent), lambda: service.ask(its_receipt))
    if isinstance(found, ServiceError):
        raise found
    if isinstance(receipt, ServiceError):
        return found, None, None if isinstance(receipt, NotFound) else receipt
    return found, receipt, None
