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
from types import MappingProxyType
from typing import Final

from intents_ui.console.commit import NOT_REACHED
from intents_ui.formatting import failures, text
from intents_ui.formatting.hashes import is_placeholder
from intents_ui.service import decode
from intents_ui.service.console import Attempt, JsonFieldKind, Member
from intents_ui.service.decode import Brand, Verbatim
from intents_ui.service.errors import KNOWN, Overloaded, Reason, Refused, ServiceError, Unreachable, Unreadable
from intents_ui.service.fields import CHAIN_ID_LIMIT, read_intent_id
from intents_ui.service.models import IntentHistory, IntentReceipt, IntentReceiptSummary, IntentStatus
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import Names
from intents_ui.tokens.token_amounts import Money

FLAGS = (("", "not sent"), ("true", "true"), ("false", "false"))


@dataclass(frozen=True, slots=True)
class FormField:
    """`label`: the field's name under the operator's brand. `choices`: the only possible values, if limited.

    `meaning`: the chain, token or amount of this value, "" if unknown.
    """

    member: Member
    label: str
    value: str
    example: str
    choices: tuple[tuple[str, str], ...] = ()
    meaning: str = ""

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def known(self) -> tuple[str, ...]:
        """Known values of a list field, which has no suggestions because several can be entered."""
        return () if self.member.kind is JsonFieldKind.TEXT else self.member.words

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Suggestions while typing. Other values are possible."""
        if self.choices or self.member.kind.is_json:
            return ()
        words = self.member.words if self.member.kind is JsonFieldKind.TEXT else ()
        return words or ((self.example,) if self.example else ())


@dataclass(frozen=True, slots=True)
class FormGroup:
    """Fields of an object inside the request. `name` is "" for the request's own fields."""

    name: str
    fields: tuple[FormField, ...]

    @property
    def is_open(self) -> bool:
        return any(field.value for field in self.fields)


def groups(
    known: Iterable[Member],
    *,
    values: Mapping[str, str],
    examples: Mapping[str, str],
    meanings: Mapping[str, str],
    names: Brand,
) -> list[FormGroup]:

    def choices(member: Member) -> tuple[tuple[str, str], ...]:
        # Other values of a boolean field can only be sent as JSON.
        is_flag = member.kind is JsonFieldKind.FLAG and values.get(member.name, "") in ("", "true", "false")
        return SCENARIOS if member is SCENARIO else FLAGS if is_flag else ()

    fields = (
        FormField(
            member,
            member.under(names),
            values.get(member.name, ""),
            examples.get(member.name, ""),
            choices(member),
            meanings.get(member.name, ""),
        )
        for member in known
    )
    grouped = groupby(fields, key=lambda field: field.label.rpartition(".")[0].partition(".")[0])
    return [FormGroup(name, tuple(inside)) for name, inside in grouped]


SIDES: Final = ("origin", "destination")
MAX_DIGITS: Final = 78  # of a 256-bit integer


def chain_ids(values: Mapping[str, str]) -> list[int]:
    """Return the chain IDs in the fields of a request."""
    found = (_whole(values.get(f"{side}ChainId")) for side in SIDES)
    return [each for each in found if each and each < CHAIN_ID_LIMIT]


def meanings(values: Mapping[str, str], *, using: Names) -> Iterator[tuple[str, str]]:
    """Yield `8453: Base`, `0x8335…: USDC on Base` and `40000000: 40 USDC` with the field, where known.

    Each repeats its value, so that it stays true when the user edits the field.
    """
    for side in SIDES:
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
SCENARIO = Member("scenario", JsonFieldKind.TEXT, "Scenario to simulate (demo only).")

NOT_SENT = "The request wasn't sent."
MAYBE_DONE = "No response doesn't mean the request failed. Check the intent before retrying."


@dataclass(frozen=True)
class CallOutcome:
    """Result of a call. `name` and `code` come from the service."""

    tone: str
    icon: str
    status: str
    title: str
    meaning: str = ""
    name: str = ""
    code: int | None = None
    message: str = ""
    cause: str = ""
    warning: str = ""


def outcome(attempt: Attempt, *, is_write: bool) -> CallOutcome:
    error = attempt.error
    if error is None:
        return CallOutcome("good", "check", phrase(attempt.status), "Success")
    tone, icon = ("attention", "triangle-alert") if isinstance(error, Refused) else ("bad", "circle-x")
    known = KNOWN.get(error.code) if error.code is not None else None
    message = failures.words(error)
    return CallOutcome(
        tone,
        icon,
        phrase(attempt.status),
        "Rejected" if isinstance(error, Refused) and not isinstance(error, Overloaded) else message.title,
        meaning=failures.MEANINGS[error.code] if known and error.code is not None else _meaning(error),
        name=known[0] if known else error.name or "",
        code=error.code,
        message=error.message if error.code is not None else "",
        cause=error.cause or "",
        warning=MAYBE_DONE if is_write and _may_be_done(error) else "",
    )


def _may_be_done(error: ServiceError) -> bool:
    """Return whether a write may have succeeded although its response doesn't say so."""
    if isinstance(error, Unreachable):
        is_said = error.status is not None and error.status < 500 and error.reason is not Reason.TIMEOUT
        return error.reason not in NOT_REACHED and not is_said
    return isinstance(error, Unreadable)


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


def size(attempt: Attempt) -> str:
    whole, transferred = (text.counted(each, "byte") for each in (attempt.size, attempt.wire_size))
    return whole if attempt.wire_size == attempt.size else f"{whole}, {transferred} transferred"


SOMEWHERE = "https://intent-service.example"  # hides the address of a real service


def curl(url: str, body: str, *, has_key: bool) -> str:
    """Return the call as a shell command, or "" if it contains control characters."""
    if any(unicodedata.category(each) == "Cc" and each not in "\n\t" for each in body):
        return ""
    lines = [f"curl -sS {shlex.quote(url)}", "-H 'Content-Type: application/json'"]
    lines += ["-H 'X-Access-Key: …'"] if has_key else []
    lines += [f"--data-raw {shlex.quote(body)}"]
    return " \\\n  ".join(lines)


# By operation: the response field that the next request sends back, and its request field.
CARRIED = {"GetIntentHistory": ("nextPage", "page"), "WaitIntentReceipt": ("receiptStates", "lastReceiptStates")}
WATCH = "watch"


def next_operation(attempt: Attempt) -> str:
    """Return what an operator does next with the changed intent: an operation, `WATCH` at the end, or ""."""
    order = {"QuoteIntent": "CommitIntent", "CommitIntent": "ExecuteIntent", "ExecuteIntent": WATCH}
    return order[attempt.operation] if changed(attempt) else ""


def quoted(attempt: Attempt) -> str:
    """Return the JSON text of the intent that was just quoted, or "" if none was."""
    return _came(attempt).get("intent", "") if attempt.operation == "QuoteIntent" else ""


def changed(attempt: Attempt) -> str:
    """Return the ID of the intent that was quoted or changed, or "" if none was or it has no page here."""
    if attempt.operation not in ("QuoteIntent", "CommitIntent", "ExecuteIntent"):
        return ""
    members = _members(quoted(attempt)) if attempt.operation == "QuoteIntent" else _came(attempt)
    try:
        return read_intent_id(decode.read(members["intentId"]))
    except (KeyError, ValueError):
        return ""


def found_nothing(attempt: Attempt) -> bool:
    """Return whether the response has only empty lists."""
    lists = [text for text in _came(attempt).values() if text.startswith("[")]
    return bool(lists) and all(not text.strip("[] \t\r\n") for text in lists)


def again(attempt: Attempt) -> str:
    """Return the request for the next page or the next change, or "" if there is none."""
    if attempt.operation not in CARRIED:
        return ""
    member, asked_as = CARRIED[attempt.operation]
    came = _came(attempt)
    carried = came.get(member, "null")
    if carried == "null" or came.get("done") == "true" or _members(carried).get("more") == "false":
        return ""
    request = {**_members(attempt.sent), asked_as: carried}
    return decode.write({name: Verbatim(text) for name, text in request.items()}).decode()


def _came(attempt: Attempt) -> Mapping[str, str]:
    return _members(attempt.text) if attempt.error is None else {}


def _members(text: str) -> Mapping[str, str]:
    """Return the fields of a JSON object, or none for other text: masking can break a response's JSON."""
    try:
        return decode.members(text) if isinstance(decode.read(text), dict) else {}
    except ValueError:
        return {}
