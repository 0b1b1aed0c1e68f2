"""Labels of the API's fields and objects."""

from pydantic import BaseModel

from intents_ui.service.wire.models import Intent, IntentReceipt

# Fields whose name would be unclear. Other labels are derived from the name.
FIELDS = {
    "id": "Record",
    "project_id": "Project",
    "intent_id": "Intent ID",
    "owner_address": "Owner",
    "origin_intent_address": "Deposit address",
    "destination_intent_address": "Destination intent address",
    "destination_to_address": "Recipient",
    "destination_approve_address": "Spender to approve",
    "destination_call_data": "Call on the destination chain",
    "destination_call_value": "Value sent with that call",
    "destination_has_call_data": "Calls a contract on delivery",
    "destination_has_call_value": "Sends value with that call",
    "only_native_gas_fee": "Native token fee only",
    "expires_at": "Quote expires",
    "to_amount_min": "Minimum received",
    "txn_hash": "Transaction",
    "txn_mined_at": "Mined",
    "status_reason": "Reason",
    "meta_txn_id": "Meta transaction",
    "created_at": "Created",
    "updated_at": "Updated",
    "started_at": "Started",
    "finished_at": "Finished",
    "behavior_on_error": "On error",
    "fee_native": "Fee",
    "to": "To",
    "logo_uri": "Logo",
}
WORDS = {"usd": "USD", "txn": "transaction", "txns": "transactions", "min": "minimum", "ids": "IDs"}

TITLES = {
    "intent": "Intent",
    "quote_request": "Quote request",
    "options": "Options",
    "service_address_overrides": "Wallet contracts",
    "origin_calls": "Origin calls",
    "destination_calls": "Destination calls",
    "calls": "Calls",
    "origin_meta_txn": "Origin meta transaction",
    "destination_meta_txn": "Destination meta transaction",
    "meta_txns": "Meta transaction",
    "preconditions": "Precondition",
    "quote": "Quote",
    "price_impact_details": "Price impact",
    "fees": "Fees",
    "origin_gas": "Network fee (origin chain)",
    "destination_gas": "Network fee (destination chain)",
    "provider": "Provider",
    "service_contracts": "Contracts",
    "receipt": "Receipt",
    "origin_transaction": "Origin (transaction)",
    "destination_transaction": "Destination (transaction)",
    "refund_transaction": "Refund (transaction)",
    "deposit_intent_entry": "Gasless deposit",
    "summary": "Summary",
    "origin_token_metadata": "Origin token",
    "destination_token_metadata": "Destination token",
}


def field(name: str) -> str:
    return FIELDS.get(name) or words(name)


def title(name: str) -> str:
    return TITLES.get(name) or words(name)


def part(name: str, *, inside: type[BaseModel], title: str) -> str:
    """Return the title of a nested object. Below the top level it includes the parent's title."""
    if name == "deposit_transaction":
        return "Deposit (transaction)" if issubclass(inside, IntentReceipt) else "Deposit to make"
    own = TITLES.get(name) or words(name)
    if name == "calls" and not issubclass(inside, Intent):
        return f"{title}: call"
    return own if issubclass(inside, Intent | IntentReceipt) else f"{title}: {own[0].lower()}{own[1:]}"


def words(name: str) -> str:
    """Return `Route providers fee USD` for `route_providers_fee_usd`."""
    known = [WORDS.get(word, word) for word in name.split("_")]
    if known[-1] in ("id", "at") and len(known) > 1:
        known.pop()
    text = " ".join(known)
    return text[0].upper() + text[1:]
