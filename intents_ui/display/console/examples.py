"""Example request values, taken from the newest transfers. Missing values are left out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType

from intents_ui.display.formatting.hashes import is_placeholder
from intents_ui.display.tokens.names import Names
from intents_ui.service.models import IntentHistory, IntentReceipt, IntentReceiptSummary, IntentStatus
from intents_ui.service.wire.schemas import Member

NOTHING: Mapping[str, str] = MappingProxyType({})
PAGE_SIZE = "5"  # entries include full receipts
LIMIT = "10"
# Skip quotes that expire before the user can send the request.
TIME_TO_READ = timedelta(seconds=30)
# Optional fields that a form starts with.
BEGUN_WITH: Mapping[str, tuple[str, ...]] = {
    "SearchIntents": ("byIntentId",),
    "GetIntentHistory": ("page.pageSize",),
    "QuoteIntent": ("destinationToAddress", "originTokenAmount", "destinationTokenAmount", "tradeType"),
}


@dataclass(frozen=True)
class Examples:
    """Values by field name. `quoted`, `committed`: IDs of the newest unexpired intents with these statuses."""

    values: Mapping[str, str] = field(default=NOTHING)
    quoted: str = ""
    committed: str = ""

    def of(self, operation: str) -> Mapping[str, str]:
        return {"intentId": self.committed} if operation == "ExecuteIntent" else self.values

    def to_begin_with(self, operation: str, known: Sequence[Member]) -> Mapping[str, str]:
        """Return the initial values of a form. Forms that commit or execute start empty."""
        if operation in ("CommitIntent", "ExecuteIntent"):
            return {}
        begun = BEGUN_WITH.get(operation, ())
        return {each.name: self.values.get(each.name, "") for each in known if each.is_required or each.name in begun}


NONE = Examples()


def examples_of(entries: Sequence[IntentHistory], *, using: Names, now: datetime) -> Examples:
    values: dict[str, str] = {}
    model = next(_models(entries, using), None)
    if model and model.summary:
        values |= _of_receipt(model) | _of_summary(model.summary, using)
    return Examples(
        {name: value for name, value in values.items() if value},
        quoted=_newest(entries, IntentStatus.QUOTED, now=now),
        committed=_newest(entries, IntentStatus.COMMITTED, now=now),
    )


def _models(entries: Sequence[IntentHistory], using: Names) -> Iterator[IntentReceipt]:
    """Yield succeeded transfers of featured tokens, cross-chain ones first, then any others."""
    receipts = [entry.receipt for entry in entries if entry.receipt and entry.receipt.summary]
    ordinary = [receipt for receipt in receipts if _hash(receipt) and _is_of_featured(receipt.summary, using)]
    yield from (receipt for receipt in ordinary if receipt.origin_chain_id != receipt.destination_chain_id)
    yield from ordinary
    yield from receipts


def _is_of_featured(summary: IntentReceiptSummary | None, using: Names) -> bool:
    if summary is None or summary.status != IntentStatus.SUCCEEDED:
        return False
    origin = using.token(summary.origin_chain_id, summary.origin_token_address)
    destination = using.token(summary.destination_chain_id, summary.destination_token_address)
    return bool(origin and origin.featured and destination and destination.featured)


def _hash(receipt: IntentReceipt) -> str:
    sent = (receipt.deposit_transaction, receipt.origin_transaction, receipt.destination_transaction)
    hashes = [each.txn_hash for each in sent if each and not is_placeholder(each.txn_hash)]
    return hashes[0] or "" if hashes else ""


def _of_receipt(receipt: IntentReceipt) -> dict[str, str]:
    legs = (receipt.deposit_transaction, receipt.origin_transaction, receipt.destination_transaction)
    created = receipt.created_at
    return {
        "intentId": receipt.intent_id,
        "byIntentId": receipt.intent_id,
        "byProjectId": _number(receipt.project_id),
        "byTransactionHash": _hash(receipt),
        "byDepositTransactionHash": _hash(receipt),
        "byStatus": receipt.status or "",
        "byStatuses": f"{IntentStatus.FAILED}, {IntentStatus.REFUNDED}",
        "fromTime": _number(int((created - timedelta(hours=1)).timestamp())) if created else "",
        "toTime": _number(int(created.timestamp())) if created else "",
        "lastReceiptStates": ", ".join(each.status for each in legs if each and each.status),
        "page.pageSize": PAGE_SIZE,
        "page.sort": '[{"column":"createdAt","order":"DESC"}]',
        "limit": LIMIT,
    }


def _of_summary(summary: IntentReceiptSummary, using: Names) -> dict[str, str]:
    owner, chain, token = summary.owner_address or "", summary.origin_chain_id, summary.origin_token_address or ""
    known = using.token(chain, token)
    is_output = summary.trade_type == "EXACT_OUTPUT"
    return {
        "byOwnerAddress": owner,
        "byQueryString": owner,
        "ownerAddress": owner,
        "byOriginIntentAddress": summary.origin_intent_address or "",
        "byDestinationIntentAddress": summary.destination_intent_address or "",
        "originChainId": _number(chain),
        "originTokenAddress": token,
        "destinationChainId": _number(summary.destination_chain_id),
        "destinationTokenAddress": summary.destination_token_address or "",
        "destinationToAddress": summary.destination_to_address or owner,
        "tradeType": summary.trade_type or "",
        "originTokenAmount": "" if is_output else _number(summary.origin_token_amount),
        "destinationTokenAmount": _number(summary.destination_token_amount) if is_output else "",
        "routeProvider": next((each for each in summary.route_providers if each), ""),
        "chainIds": _number(chain),
        "tokenAddress": token,
        "excludeTokens": token,
        "searchQuery": (known.symbol if known else "") or "",
        "tokens": f'[{{"chainId":{chain},"tokenAddress":"{token}"}}]' if chain and token.isalnum() else "",
    }


def _newest(entries: Sequence[IntentHistory], status: IntentStatus, *, now: datetime) -> str:
    limit = now + TIME_TO_READ
    waiting = (entry for entry in entries if entry.status == status and entry.expires_at and entry.expires_at > limit)
    return next((entry.intent_id for entry in waiting), "")


def _number(number: int | None) -> str:
    return "" if number is None else str(number)
