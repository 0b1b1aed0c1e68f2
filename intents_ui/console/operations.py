"""Form of an operation's request, with examples from the newest transfers, and the result of its call.

The next call is of the same operation, or of the next one. It sends back values from the response verbatim.
"""

import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from itertools import groupby
from typing import Any, Final

from intents_ui.console.commit import CommitOutcome, outcome_of
from intents_ui.formatting import failures, text
from intents_ui.formatting.hashes import is_placeholder
from intents_ui.service import decode
from intents_ui.service.console import Attempt, Member
from intents_ui.service.decode import Brand, Verbatim
from intents_ui.service.errors import KNOWN, Overloaded, Refused, ServiceError, Unreachable, Unreadable
from intents_ui.service.fields import CHAIN_ID_LIMIT, read_intent_id
from intents_ui.service.models import IntentHistory, IntentReceipt, IntentStatus
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import Names
from intents_ui.tokens.token_amounts import Money

# Scenarios of the emulator, by their slug. The first is the default.
SCENARIOS: tuple[tuple[str, str], ...] = (
    ("", "Succeeds within seconds"),
    ("cross-chain-fast", "Succeeds at the speed of a real bridge, in 20 seconds"),
    ("relayer-retries", "Succeeds after a relayer retry, in 30 seconds"),
    ("refunded-inside", "Fails on the origin chain, refunded in the same transaction, in 4 seconds"),
    ("refunded-on-origin", "Fails on the origin chain, refunded there, in 20 seconds"),
    ("refunded-on-destination", "Fails at the last step, refunded on the destination chain, in 30 seconds"),
    ("deposit-reverted", "Deposit reverts, no funds move"),
    ("refund-failed", "Fails, and so does the refund, funds recoverable"),
    ("failed-but-arrived", "Reported as failed, but delivered, in 2 minutes"),
    ("stalled-in-bridge", "Stalls in the bridge for hours"),
)
# A field that only the emulator's ExecuteIntent supports.
SCENARIO = Member("scenario", "string", "Scenario to simulate (demo only).")
MAX_DIGITS: Final = 78  # of a 256-bit integer
# Skip quotes that expire before the user can send the request.
TIME_TO_READ = timedelta(seconds=30)
# Optional fields that a form starts with. Forms that commit or execute start empty.
BEGUN_WITH: Mapping[str, tuple[str, ...]] = {
    "SearchIntents": ("byIntentId",),
    "GetIntentHistory": ("page.pageSize",),
    "QuoteIntent": ("destinationToAddress", "originTokenAmount", "destinationTokenAmount", "tradeType"),
}
NOT_SENT = "The request wasn't sent."
MAYBE_DONE = "No response doesn't mean the request failed. Check the intent before retrying."
SOMEWHERE = "https://intent-service.example"  # hides the address of a real service
# By operation: the response field that the next request sends back, and its request field.
CARRIED = {"GetIntentHistory": ("nextPage", "page"), "WaitIntentReceipt": ("receiptStates", "lastReceiptStates")}
WATCH = "watch"
# What an operator does next with the changed intent: an operation, or `WATCH` at the end.
NEXT = {"QuoteIntent": "CommitIntent", "CommitIntent": "ExecuteIntent", "ExecuteIntent": WATCH}


# The form


def groups(known: Iterable[Member], *, names: Brand) -> list[tuple[str, list[tuple[Member, str]]]]:
    """Return the fields with their names under the operator's brand, those of an object inside the request together.

    The request's own fields have the group "".
    """
    labeled = [(member, member.under(names)) for member in known]
    grouped = groupby(labeled, key=lambda each: each[1].partition(".")[0] if "." in each[1] else "")
    return [(name, list(inside)) for name, inside in grouped]


def chain_ids(values: Mapping[str, str]) -> list[int]:
    """Return the chain IDs in the fields of a request."""
    found = (_whole(values.get(name)) for name in ("originChainId", "destinationChainId"))
    return [each for each in found if each and each < CHAIN_ID_LIMIT]


def meanings(values: Mapping[str, str], *, using: Names) -> Iterator[tuple[str, str]]:
    """Yield `8453: Base`, `0x8335…: USDC on Base` and `40000000: 40 USDC` with the field, where known.

    Each repeats its value, so that it stays true when the user edits the field.
    """
    for side in ("origin", "destination"):
        chain_id, address = _whole(values.get(f"{side}ChainId")), values.get(f"{side}TokenAddress", "").strip()
        info = using.chain(chain_id)
        if info is None:
            continue
        chain = names.chain(chain_id, info=info)
        yield f"{side}ChainId", f"{chain_id}: {chain}"
        if not address:
            continue
        money = Money(_whole(values.get(f"{side}TokenAmount")), chain_id, token_amounts.key(address), names=using)
        if money.called:
            yield f"{side}TokenAddress", f"{text.visible(address)}: {money.called} on {chain}"
        if money.value is not None and money.token.decimals is not None:
            yield f"{side}TokenAmount", f"{money.value}: {money.amount.in_full}"


def _whole(written: str | None) -> int | None:
    digits = (written or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS else None


# Examples


@dataclass(frozen=True)
class Examples:
    """Values by field name. `quoted`, `committed`: IDs of the newest unexpired intents with these statuses."""

    values: Mapping[str, str] = field(default_factory=dict)
    quoted: str = ""
    committed: str = ""

    def of(self, operation: str) -> Mapping[str, str]:
        return {"intentId": self.committed} if operation == "ExecuteIntent" else self.values

    def to_begin_with(self, operation: str, known: Sequence[Member]) -> Mapping[str, str]:
        """Return the initial values of a form."""
        if operation in ("CommitIntent", "ExecuteIntent"):
            return {}
        begun = BEGUN_WITH.get(operation, ())
        return {each.name: self.values.get(each.name, "") for each in known if each.is_required or each.name in begun}


def examples_of(entries: Sequence[IntentHistory], *, using: Names, now: datetime) -> Examples:
    """Return values of the newest succeeded transfer, or of any other if there is none."""
    receipts = [entry.receipt for entry in entries if entry.receipt and entry.receipt.summary]
    succeeded = [each for each in receipts if each.status == IntentStatus.SUCCEEDED and _hash(each)]
    values = _values_of((succeeded or receipts)[0], using) if receipts else {}
    return Examples(
        {name: str(value) for name, value in values.items() if value not in (None, "")},
        quoted=_newest(entries, IntentStatus.QUOTED, now=now),
        committed=_newest(entries, IntentStatus.COMMITTED, now=now),
    )


def _hash(receipt: IntentReceipt) -> str:
    sent = (receipt.deposit_transaction, receipt.origin_transaction, receipt.destination_transaction)
    return next((each.txn_hash or "" for each in sent if each and not is_placeholder(each.txn_hash)), "")


def _values_of(receipt: IntentReceipt, using: Names) -> dict[str, object]:
    """Return an example of each field, empty where the transfer has none."""
    summary, created = receipt.summary, receipt.created_at
    if summary is None:
        return {}
    owner, chain, token = summary.owner_address, summary.origin_chain_id, summary.origin_token_address or ""
    known, is_output = using.token(chain, token), summary.trade_type == "EXACT_OUTPUT"
    legs = (receipt.deposit_transaction, receipt.origin_transaction, receipt.destination_transaction)
    return {
        **dict.fromkeys(("intentId", "byIntentId"), receipt.intent_id),
        **dict.fromkeys(("byTransactionHash", "byDepositTransactionHash"), _hash(receipt)),
        **dict.fromkeys(("byOwnerAddress", "byQueryString", "ownerAddress"), owner),
        **dict.fromkeys(("originTokenAddress", "tokenAddress", "excludeTokens"), token),
        **dict.fromkeys(("originChainId", "chainIds"), chain),
        "byProjectId": receipt.project_id,
        "byStatus": receipt.status,
        "byStatuses": f"{IntentStatus.FAILED}, {IntentStatus.REFUNDED}",
        "fromTime": int((created - timedelta(hours=1)).timestamp()) if created else "",
        "toTime": int(created.timestamp()) if created else "",
        "lastReceiptStates": ", ".join(each.status for each in legs if each and each.status),
        "page.pageSize": 5,  # entries include full receipts
        "page.sort": '[{"column":"createdAt","order":"DESC"}]',
        "limit": 10,
        "byOriginIntentAddress": summary.origin_intent_address,
        "byDestinationIntentAddress": summary.destination_intent_address,
        "destinationChainId": summary.destination_chain_id,
        "destinationTokenAddress": summary.destination_token_address,
        "destinationToAddress": summary.destination_to_address or owner,
        "tradeType": summary.trade_type,
        "originTokenAmount": None if is_output else summary.origin_token_amount,
        "destinationTokenAmount": summary.destination_token_amount if is_output else None,
        "routeProvider": next((each for each in summary.route_providers if each), ""),
        "searchQuery": known.symbol if known else "",
        "tokens": f'[{{"chainId":{chain},"tokenAddress":"{token}"}}]' if chain and token.isalnum() else "",
    }


def _newest(entries: Sequence[IntentHistory], status: IntentStatus, *, now: datetime) -> str:
    limit = now + TIME_TO_READ
    waiting = (entry for entry in entries if entry.status == status and entry.expires_at and entry.expires_at > limit)
    return next((entry.intent_id for entry in waiting), "")


# The result


def outcome(attempt: Attempt, *, is_write: bool) -> dict[str, Any]:
    """Return the result of a call as the page shows it. `name` and `code` come from the service.

    `warning`: the write may have succeeded although its response doesn't say so.
    """
    error, is_refused = attempt.error, isinstance(attempt.error, Refused)
    if error is None:
        return {"tone": "good", "icon": "check", "warning": ""}
    known = KNOWN.get(error.code) if error.code is not None else None
    is_rejected = is_refused and not isinstance(error, Overloaded)
    return {
        "tone": "attention" if is_refused else "bad",
        "icon": "triangle-alert" if is_refused else "circle-x",
        "title": "Rejected" if is_rejected else failures.words(error).title,
        "meaning": failures.MEANINGS[error.code] if known and error.code is not None else _meaning(error),
        "name": known[0] if known else error.name or "",
        "warning": MAYBE_DONE if is_write and outcome_of(error) is CommitOutcome.UNKNOWN else "",
    }


def _meaning(error: ServiceError) -> str:
    """Return the meaning of an error without a known code."""
    if isinstance(error, Overloaded):
        return f"Too many concurrent requests. {NOT_SENT} Try again in a few seconds."
    if isinstance(error, Unreadable):
        return f"Invalid response: it is {error.reason}."
    if isinstance(error, Unreachable):
        return f"No response: {error.reason}." if error.status is None else "The service or its proxy failed."
    return "Undocumented error code." if error.code is not None else failures.words(error).what


def phrase(status: int | None) -> str:
    if status is None:
        return "No response"
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def time_taken(seconds: float) -> str:
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"


def curl(url: str, body: str, *, has_key: bool) -> str:
    """Return the call as a shell command, or "" if it contains control characters."""
    if any(unicodedata.category(each) == "Cc" and each not in "\n\t" for each in body):
        return ""
    lines = [f"curl -sS {shlex.quote(url)}", "-H 'Content-Type: application/json'"]
    lines += ["-H 'X-Access-Key: …'"] if has_key else []
    lines += [f"--data-raw {shlex.quote(body)}"]
    return " \\\n  ".join(lines)


# What follows


def quoted(attempt: Attempt) -> str:
    """Return the JSON text of the intent that was just quoted, or "" if none was."""
    return received(attempt).get("intent", "") if attempt.operation == "QuoteIntent" else ""


def changed(attempt: Attempt) -> str:
    """Return the ID of the intent that was quoted or changed, or "" if none was or it has no page here."""
    if attempt.operation not in NEXT:
        return ""
    members = _members(quoted(attempt)) if attempt.operation == "QuoteIntent" else received(attempt)
    try:
        return read_intent_id(decode.read(members["intentId"]))
    except (KeyError, ValueError):
        return ""


def found_nothing(attempt: Attempt) -> bool:
    """Return whether the response has only empty lists."""
    lists = [text for text in received(attempt).values() if text.startswith("[")]
    return bool(lists) and all(not text.strip("[] \t\r\n") for text in lists)


def again(attempt: Attempt) -> str:
    """Return the request for the next page or the next change, or "" if there is none."""
    if attempt.operation not in CARRIED:
        return ""
    member, asked_as = CARRIED[attempt.operation]
    came = received(attempt)
    carried = came.get(member, "null")
    if carried == "null" or came.get("done") == "true" or _members(carried).get("more") == "false":
        return ""
    request = {**_members(attempt.sent), asked_as: carried}
    return decode.write({name: Verbatim(text) for name, text in request.items()}).decode()


def received(attempt: Attempt) -> Mapping[str, str]:
    """Return the JSON text of each field of a response without an error."""
    return _members(attempt.text) if attempt.error is None else {}


def _members(text: str) -> Mapping[str, str]:
    """Return the fields of a JSON object, or none for other text: masking can break a response's JSON."""
    try:
        return decode.members(text) if isinstance(decode.read(text), dict) else {}
    except ValueError:
        return {}
