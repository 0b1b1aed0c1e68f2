"""Checks of the service: whether it responds to this access key, and how it differs from docs/contract.md.

Each check sends requests and returns its findings. No request is sent twice.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from intents_ui.doctor import TEXTS, Finding, finding
from intents_ui.service import errors
from intents_ui.service.client import ServiceClient
from intents_ui.service.console import Attempt
from intents_ui.service.fields import read_timestamp
from intents_ui.service.models import ChainInfo, IntentStatus
from intents_ui.service.operations import Kind, Policy, ServiceConfig

type Document = Mapping[str, Any]

ROWS = 100  # of a page of the history
SLOW = 1.0  # seconds
HELD = 1.5  # seconds without a response after which a long poll counts as held
SKEW = timedelta(seconds=5)
TOLERANCE = timedelta(minutes=5)  # of a time filter, also with another clock
UNUSED_ADDRESS = "0x000000000000000000000000000000000000dead"
UNKNOWN_ID = "0x" + "12" * 32
AMOUNTS = ("originTokenAmount", "destinationTokenAmount")
TIMES = ("createdAt", "updatedAt", "expiresAt")
NESTED, FLAT = "nativeCurrency", "tokenSymbol"  # fields of chains
KINDS = {"GetChains": Kind.CHAINS, "WaitIntentReceipt": Kind.WAIT}
LIMITS = ("credits", "quota")  # how headers begin that tell a limit


class CallFailed(Exception):
    """A call failed, so nothing that needs its response can be checked."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(attempt.operation)
        self.attempt = attempt


def config_of(config: ServiceConfig, *, held: float = HELD) -> ServiceConfig:
    """Return the configuration for checks, in which a long poll that takes `held` seconds counts as held."""
    return replace(config, policies={**config.policies, Kind.WAIT: Policy(held, held)})


class Responses:
    """The responses of a service, each requested once."""

    def __init__(self, client: ServiceClient) -> None:
        self.client = client
        self.now = datetime.now(UTC)
        self._attempts: dict[tuple[str, str], Attempt] = {}

    def attempt(self, operation: str, **request: Any) -> Attempt:
        """Return what came of a call, also if it failed."""
        call = operation, json.dumps(request)
        if call not in self._attempts:
            self._attempts[call] = self.client.attempt(*call, kind=KINDS.get(operation, Kind.BALANCES))
        return self._attempts[call]

    def document(self, operation: str, **request: Any) -> Document:
        """Return a response. Raises CallFailed."""
        attempt = self.attempt(operation, **request)
        if attempt.error:
            raise CallFailed(attempt)
        return dict(json.loads(attempt.text))

    def history(self, **request: Any) -> Sequence[Document]:
        return self.document("GetIntentHistory", page={"pageSize": ROWS}, **request).get("intents") or ()

    def created(self, *, hours_ago: int) -> Sequence[Document]:
        """Return transfers that were created in the hour that began so many hours ago, the newest."""
        first, last = (self.now - timedelta(hours=each) for each in (hours_ago, hours_ago - 1))
        return self.history(fromTime=int(first.timestamp()), toTime=int(last.timestamp()))

    @property
    def chains(self) -> Sequence[Document]:
        return self.document("GetChains").get("chains") or ()

    @property
    def started(self) -> Sequence[Document]:
        """Transfers that were created two hours ago, most of which have ended."""
        return self.created(hours_ago=3)

    def first(self, status: str) -> Document | None:
        """Return the newest transfer with this status."""
        found = (each for each in self.history() if each.get("status") == status)
        return next(found, None) or next(iter(self.history(byStatuses=[status])), None)


# What a check found: names of findings, each with its values, or whether it holds.
type Found = Mapping[str, Mapping[str, object] | bool]
type Check = Callable[[Responses], Found]


def quick(responses: Responses) -> Iterator[Finding]:
    """Yield whether the service answers with this key."""
    answer = responses.attempt("GetChains")
    if answer.error:
        yield failure(answer)
    elif chains := responses.chains:
        yield finding("answers", chains=len(chains), ms=answer.seconds * 1000)
    else:
        yield finding("no-chains")


def checks(responses: Responses) -> Iterator[Finding]:
    """Yield the findings of all checks. If the service doesn't answer, there is only that one."""
    yield from quick(responses)
    failed: set[str] = set()
    for check in () if responses.attempt("GetChains").error else CHECKS:
        try:
            for name, holds in check(responses).items():
                if holds:
                    yield finding(name, **(holds if isinstance(holds, Mapping) else {}))
        except CallFailed as error:
            if error.attempt.operation not in failed:
                failed.add(error.attempt.operation)
                yield failure(error.attempt)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            yield finding("wrong-form", error=type(error).__name__, check=check.__name__)


def failure(attempt: Attempt) -> Finding:
    """Return why a call failed, and what to do."""
    error, wait = attempt.error or errors.Unreachable(), attempt.headers.get("retry-after")
    name = error.name or ("an empty response" if attempt.status and not attempt.size else error.reason)
    if f"failed-{error.code}" in TEXTS:
        found = f"failed-{error.code}"
    elif isinstance(error, errors.TooBusy):
        found, name = "busy-until" if wait else "busy", error.name or "rate limited"
    elif isinstance(error, errors.AccessDenied):
        found, name = "key-rejected" if error.is_key_rejected else "denied", error.name or "denied"
    else:
        found = f"failed-{error.reason.name}" if error.reason else "failed"
    numbers = [*([f"HTTP {attempt.status}"] if attempt.status else []), *([f"code {error.code}"] if error.code else [])]
    call = f"{attempt.operation}: {name}" + (f" ({', '.join(numbers)})" if numbers else "")
    return finding(found if found in TEXTS else "failed", call=call, wait=wait)


# The history


def page(responses: Responses) -> Found:
    newest = responses.history()
    rows = {each.get("intentId"): each for each in newest}
    created = [time for each in rows.values() if (time := time_of(each, "createdAt"))]
    is_sorted = created == sorted(created, reverse=True)
    return {
        "empty-history": not rows,
        "duplicates": part(len(newest) - len(rows), newest),
        "unsorted": not is_sorted,
        "sorted": bool(rows) and is_sorted and {"rows": len(newest)},
        "ties": part(len(created) - len(set(created)), created),
    }


def paging(responses: Responses) -> Found:
    """Follow the cursor for two pages, and look at the form of the last one."""
    pages: list[Document] = []
    cursor: Document | None = {"pageSize": 5}
    while cursor and len(pages) < 3:
        pages.append(responses.document("GetIntentHistory", page=cursor))
        cursor = pages[-1].get("nextPage")
    repeats = len(pages) == 3 and ids_of(pages[1]) == ids_of(pages[2])
    end = responses.document("GetIntentHistory", page={"pageSize": 1}, byOwnerAddress=UNUSED_ADDRESS)
    return {
        "cursor-repeats": repeats,
        "cursor": len(pages) > 1 and not repeats,
        "last-page-absent": "nextPage" not in end,
        "last-page-more-false": end.get("nextPage") is not None,
        "empty-list-null": end.get("intents", ()) is None,
    }


def time_filters(responses: Responses) -> Found:
    rows, now = responses.started, responses.now
    earliest, latest = now - timedelta(hours=3) - TOLERANCE, now - timedelta(hours=2) + TOLERANCE
    outside = [each for each in rows if not earliest <= (time_of(each, "createdAt") or now) <= latest]
    return {
        "time-filters-ignored": part(len(outside), rows),
        "time-filters": bool(rows) and not outside,
        "time-filters-unchecked": not rows,
    }


def quotes(responses: Responses) -> Found:
    quoted = responses.history(byStatuses=[IntentStatus.QUOTED])
    others = sum(each.get("status") != IntentStatus.QUOTED for each in quoted)
    return {
        "status-filter-ignored": part(others, quoted),
        "quotes": bool(quoted),
        "no-quotes": not quoted,
    }


def courses(responses: Responses) -> Found:
    """Look at how long transfers took between their times."""
    waits = [
        (started - created).total_seconds()
        for each in responses.started
        if (created := time_of(each, "createdAt")) and (started := time_of(deposit_of(each), "createdAt"))
    ]
    usual = timedelta(seconds=median(waits or [0]))
    rows = responses.created(hours_ago=27)
    late = sum(
        updated - created > timedelta(hours=1)
        for each in rows
        if (created := time_of(each, "createdAt")) and (updated := time_of(each, "updatedAt"))
    )
    unknown = {str(each.get("status")) for each in (*rows, *responses.started)} - set(IntentStatus)
    return {
        "late-visibility": usual > timedelta(minutes=1) and {"delay": duration(usual)},
        "late-changes": late > len(rows) / 10 and part(late, rows),
        "unknown-statuses": bool(unknown) and {"names": ", ".join(sorted(unknown))[:100]},
    }


# The form of documents


def encodings(responses: Responses) -> Found:
    rows = responses.started or responses.history()
    summaries = [receipt_of(each).get("summary") or {} for each in rows]
    amounts = {type(each[name]) for each in summaries for name in AMOUNTS if each.get(name) is not None}
    text = responses.attempt("GetIntentHistory", page={"pageSize": ROWS}).text
    times = [each[name] for each in rows for name in TIMES if isinstance(each.get(name), str)]
    digits = {len(fraction[1]) if (fraction := re.search(r"\.(\d+)", each)) else 0 for each in times}
    return {
        "amounts-exponents": float in amounts,
        "amounts-numbers": int in amounts and float not in amounts,
        "capital-letters": any(re.match("0x.*[A-F]", each.get("originTokenAddress") or "") for each in summaries),
        "no-internal-number": bool(rows) and not any("id" in receipt_of(each) for each in rows),
        "fractions": len(times) > 20 and len(digits) == 1 and {"digits": min(digits)},
        "offsets": any(not each.endswith("Z") for each in times),
        "omitted": bool(rows) and "null" not in text and '""' not in text,
    }


def fields(responses: Responses) -> Found:
    names = {name for each in responses.chains for name in each}
    unknown = names - {str(each.alias) for each in ChainInfo.model_fields.values()} - {FLAT, NESTED}
    intent: Document = {}
    if newest := responses.history():
        intent = responses.document("GetIntent", intentId=newest[0]["intentId"]).get("intent") or {}
    form, present, absent = ("flat", FLAT, NESTED) if FLAT in names else ("nested", NESTED, FLAT)
    return {
        "unknown-fields": bool(unknown) and {"names": ", ".join(sorted(unknown))[:100]},
        "chains-of-one-form": present in names
        and absent not in names
        and {"form": form, "present": present, "absent": absent},
        "second-names": "calls" in intent and {"form": "besides the first" if "originCalls" in intent else "only"},
    }


def error_forms(responses: Responses) -> Found:
    attempt = responses.attempt("GetIntent", intentId=UNKNOWN_ID)
    return {
        "unknown-intent": not isinstance(attempt.error, errors.NotFound),
        "wrapped-errors": '"webrpcError"' in attempt.text,
        "error-200": attempt.status == 200,
    }


# The connection


def connection(responses: Responses) -> Found:
    ahead, attempt = responses.client.health.clock_ahead(), responses.attempt("GetChains")
    direction = "ahead of" if ahead > timedelta(0) else "behind"
    told = ", ".join(f"{name}: {value}" for name, value in attempt.headers.items() if name.startswith(LIMITS))
    return {
        "slow": attempt.seconds > SLOW and {"seconds": attempt.seconds},
        "clock": abs(ahead) <= SKEW,
        "clock-differs": abs(ahead) > SKEW and {"difference": duration(abs(ahead)), "direction": direction},
        "limits": bool(told) and {"headers": told},
        "no-limits": not told,
    }


# Other operations


def receipts(responses: Responses) -> Found:
    attempt: Attempt | None = None
    response: Document = {}
    if quote := responses.first(IntentStatus.QUOTED):
        attempt = responses.attempt("GetIntentReceipt", intentId=quote["intentId"])
    refunds = responses.history(byStatuses=[IntentStatus.REFUNDED])
    if refunded := next((each for each in refunds if receipt_of(each).get("refundTransaction")), None):
        response = wait(responses, refunded, [])
    return {
        "quote-without-receipt": attempt is not None and isinstance(attempt.error, errors.NotFound),
        "states-without-refund": len(response.get("receiptStates") or ()) == 3,
        "refund-not-done": response.get("done") is False,
    }


def long_polls(responses: Responses) -> Found:
    """Ask twice for changes of an open transfer: the second time from its present states on, which has to wait."""
    opened = responses.first(IntentStatus.EXECUTING)
    if opened is None:
        return {"long-polls-unchecked": True}
    invented = ["UNKNOWN"] * 7
    states = wait(responses, opened, invented).get("receiptStates")
    if states == invented:
        return {"own-cursor": True}
    try:
        response = wait(responses, opened, states)
    except CallFailed:
        response = {}
    is_unchanged = response.get("receiptStates") == states and not response.get("done")
    return {"returns-at-once": is_unchanged, "long-polls": not is_unchanged}


def wait(responses: Responses, row: Document, states: Any) -> Document:
    return responses.document("WaitIntentReceipt", intentId=row["intentId"], lastReceiptStates=states)


def searches(responses: Responses) -> Found:
    is_ignored = is_capped = False
    hashes = (deposit_of(each).get("txnHash") for each in responses.started)
    if deposited := next((each for each in hashes if each and set(each[2:]) - {"0", "f"}), None):
        is_ignored = not ids_of(responses.document("SearchIntents", byDepositTransactionHash=deposited))
    if quote := responses.first(IntentStatus.QUOTED):
        found = responses.document("SearchIntents", byOwnerAddress=receipt_of(quote).get("ownerAddress"))
        is_capped = quote["intentId"] not in ids_of(found)
    return {
        "empty-search": isinstance(responses.attempt("SearchIntents").error, errors.Refused),
        "deposit-hash-ignored": is_ignored,
        "search-capped": is_capped,
    }


def prices(responses: Responses) -> Found:
    rows = responses.history(onlyRecoverable=True, includeBalances=True)
    balances = [token for row in rows for group in row.get("balances") or () for token in group.get("tokens") or ()]
    if not balances:
        return {}
    is_priced = any("priceUsd" in each for each in balances)
    return {
        "no-prices": not is_priced,
        "zero-prices": is_priced and not any(str(each.get("priceUsd") or 0).strip("0.") for each in balances),
        "bare-balances": not any("symbol" in each for each in balances),
    }


def routes(responses: Responses) -> Found:
    chain = next((each for each in responses.chains if each.get("supportsBridging")), None)
    listed = responses.document("GetTokenList", chainIds=[chain["id"]]).get("tokens") if chain else None
    token = next((each for each in listed or () if each.get("supportsBridging")), None)
    if chain is None or token is None:
        return {}
    origin = {"originChainId": chain["id"], "originTokenAddress": token["address"]}
    found = responses.document("GetExactInputRoutes", **origin).get("tokens")
    return {"no-routes": not found and {"token": token.get("symbol"), "chain": chain.get("name")}}


CHECKS: Sequence[Check] = (
    connection, page, paging, time_filters, quotes, courses, encodings, fields, error_forms, receipts, searches, prices,
    routes, long_polls,
)  # fmt: skip


def part(count: int, whole: Sequence[object]) -> Mapping[str, int] | bool:
    return count > 0 and {"part": count, "whole": len(whole)}


# Parts of documents


def receipt_of(row: Document) -> Document:
    return row.get("receipt") or {}


def deposit_of(row: Document) -> Document:
    return receipt_of(row).get("depositTransaction") or {}


def ids_of(document: Document) -> Sequence[str]:
    return [each.get("intentId") for each in document.get("intents") or ()]


def time_of(document: Document, name: str) -> datetime | None:
    try:
        return read_timestamp(document.get(name))
    except ValueError:
        return None


def duration(length: timedelta) -> str:
    seconds = round(length.total_seconds())
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
