"""Checks of the service: whether it responds to this access key, and how it differs from docs/contract.md.

Each check sends requests and yields its findings. No request is sent twice.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from statistics import median
from typing import Any

from intents_ui.doctor import Finding, note, ok, problem, warning
from intents_ui.service import errors
from intents_ui.service.client import ServiceClient
from intents_ui.service.console import Attempt
from intents_ui.service.errors import Reason
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
LIMITS = ("credits", "quota")  # how headers begin that tell a limit


class ProbeFailed(Exception):
    """A call failed, so nothing that needs its response can be checked."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(attempt.operation)
        self.attempt = attempt


def config_of(config: ServiceConfig, *, held: float = HELD) -> ServiceConfig:
    """Return the configuration for checks, in which a long poll that takes `held` seconds counts as held."""
    return replace(config, policies={**config.policies, Kind.WAIT: Policy(held, held)})


class Responses:
    """The responses of a service. No request is sent twice."""

    def __init__(self, client: ServiceClient) -> None:
        self.client = client
        self._attempts: dict[tuple[str, str], Attempt] = {}

    def attempt(self, operation: str, request: Document | None = None, *, kind: Kind = Kind.BALANCES) -> Attempt:
        """Return what came of a call, also if it failed."""
        text = json.dumps(request or {})
        if (operation, text) not in self._attempts:
            self._attempts[operation, text] = self.client.attempt(operation, text, kind=kind)
        return self._attempts[operation, text]

    def document(self, operation: str, request: Document | None = None, *, kind: Kind = Kind.BALANCES) -> Document:
        """Return a response. Raises Unanswered."""
        attempt = self.attempt(operation, request, kind=kind)
        if attempt.error:
            raise ProbeFailed(attempt)
        return dict(json.loads(attempt.text))

    def history(self, **request: Any) -> Sequence[Document]:
        return self.document("GetIntentHistory", {"page": {"pageSize": ROWS}, **request}).get("intents") or ()

    def between(self, first: timedelta, last: timedelta) -> Sequence[Document]:
        """Return transfers that were created between these ages, the newest."""
        now = datetime.now(UTC)
        return self.history(fromTime=int((now - first).timestamp()), toTime=int((now - last).timestamp()))

    @cached_property
    def chains(self) -> Sequence[Document]:
        return self.document("GetChains").get("chains") or ()

    @cached_property
    def newest(self) -> Sequence[Document]:
        return self.history()

    @cached_property
    def started(self) -> Sequence[Document]:
        """Transfers that were created two hours ago, most of which have ended."""
        return self.between(timedelta(hours=3), timedelta(hours=2))

    @cached_property
    def of_yesterday(self) -> Sequence[Document]:
        return self.between(timedelta(hours=27), timedelta(hours=26))

    def first(self, *statuses: str) -> Document | None:
        """Return the newest transfer with one of these statuses."""
        found = (each for each in self.newest if each.get("status") in statuses)
        return next(found, None) or next(iter(self.history(byStatuses=list(statuses))), None)


type Check = Callable[[Responses], Iterator[Finding]]


def quick(responses: Responses) -> Iterator[Finding]:
    """Yield whether the service answers with this key."""
    answer = responses.attempt("GetChains", kind=Kind.CHAINS)
    if answer.error:
        yield failure(answer)
    elif not responses.chains:
        yield problem("GetChains lists no chain.", "Names of chains and tokens are missing on every page.")
    else:
        yield ok(f"The service answers: {len(responses.chains)} chains in {answer.seconds * 1000:.0f} ms.")


def checks(responses: Responses) -> Iterator[Finding]:
    """Yield the findings of all checks. If the service doesn't answer, there is only that one."""
    if responses.attempt("GetChains", kind=Kind.CHAINS).error:
        yield from quick(responses)
        return
    failed: list[str] = []
    for check in CHECKS:
        try:
            yield from check(responses)
        except ProbeFailed as error:
            if error.attempt.operation not in failed:
                failed.append(error.attempt.operation)
                yield failure(error.attempt)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            yield problem(
                f"A response doesn't have the documented form: {type(error).__name__} in {check.__name__}.",
                "Pages that need it may be incomplete.",
                "Compare the service's responses with docs/contract.md.",
            )


def failure(attempt: Attempt) -> Finding:
    """Return why a call failed, and what to do."""
    error, operation = attempt.error or errors.Unreachable(), attempt.operation
    numbers = [*([f"HTTP {attempt.status}"] if attempt.status else []), *([f"code {error.code}"] if error.code else [])]
    told = f" ({', '.join(numbers)})" if numbers else ""
    by_code = CODES.get(error.code or 0)
    if by_code:
        return problem(f"{operation}: {error.name}{told}. {by_code[0]}", to_do=by_code[1])
    if isinstance(error, errors.TooBusy):
        wait = attempt.headers.get("retry-after")
        asked = f"It asks to wait: Retry-After is {wait}." if wait else "It doesn't say how long to wait."
        return problem(
            f"{operation}: {error.name or 'rate limited'}{told}. {asked}",
            "Other programs may use the same access key.",
            "Wait, then try again. Ask for a higher limit if this stays.",
        )
    if isinstance(error, errors.AccessDenied):
        key = "The access key is rejected" if error.is_key_rejected else "Access is denied"
        return problem(
            f"{operation}: {error.name or 'denied'}{told}. {key}.",
            "No page can show a transfer.",
            "Set INTENTS_SERVICE_ACCESS_KEY to a key for this service.",
        )
    means, to_do = REASONS.get(error.reason, ("", "")) if error.reason else ("", "")
    name = error.name or ("an empty response" if attempt.status and not attempt.size else error.reason)
    return problem(f"{operation}: {name}{told}. {means}".strip(), to_do=to_do)


# By error code: what it means, and what to do.
CODES: Mapping[int, tuple[str, str]] = {
    1200: ("The quota of the access key is used up.", "Ask the service's operator for a larger quota."),
    errors.GEOBLOCKED: (
        "The service doesn't serve the country of this machine.", "Run the dashboard in another region."
    ),
    errors.PAUSED: ("The service's operator has paused it.", "Wait until it is resumed."),
    8009: ("The service no longer supports this version of the dashboard.", "Upgrade intents-ui."),
    8000: ("The service doesn't know what every service has.", "Check INTENTS_SERVICE_URL and INTENTS_SERVICE_NAME."),
    9001: ("A node of a chain that the service reads is down.", "Try again later."),
}  # fmt: skip
URL = "Check INTENTS_SERVICE_URL and INTENTS_SERVICE_NAME."
NETWORK = "Check INTENTS_SERVICE_URL, and the network and firewall between this machine and the service."
REASONS: Mapping[Reason, tuple[str, str]] = {
    Reason.REFUSED: ("Nothing listens at that address.", NETWORK),
    Reason.DNS: ("The host name doesn't exist.", NETWORK),
    Reason.TLS: ("There is no secure connection: look at the certificate.", NETWORK),
    Reason.TIMEOUT: ("There was no response in time.", NETWORK),
    Reason.BROKEN: ("The connection broke off before the response was complete.", NETWORK),
    Reason.FAILED: ("The service or a proxy in front of it failed.", "Try again later."),
    Reason.NOT_JSON: ("The response isn't JSON.", URL),
    Reason.WRONG_SHAPE: ("The response isn't one of this service.", URL),
    Reason.CONTENT_TYPE: ("The response isn't JSON but a page, perhaps a proxy's.", URL),
    Reason.REDIRECT: ("The service redirects, which would send the access key elsewhere.", URL),
}


# The history


def page(responses: Responses) -> Iterator[Finding]:
    rows = responses.newest
    if not rows:
        yield warning("The history is empty.", "There are no transfers yet, or the key may not see them.")
        return
    ids = [each.get("intentId") for each in rows]
    if len(set(ids)) < len(ids):
        yield note(
            f"Duplicate rows: {len(ids) - len(set(ids))} of {len(ids)} in a page of the history.",
            "Lists show each transfer once.",
        )
    created = [
        time for each in {each.get("intentId"): each for each in rows}.values() if (time := _time(each, "createdAt"))
    ]
    if created != sorted(created, reverse=True):
        yield warning(
            "The history is unsorted: the newest transfers don't come first.",
            "A list shows the rows in the service's order, and the mirror reads more often.",
        )
    else:
        yield ok(f"The history lists {len(ids)} transfers, the newest first.")
    if len(set(created)) < len(created):
        yield note(
            f"Ties: {len(created) - len(set(created))} of {len(created)} transfers share a creation time with another.",
            "Lists are read by ID, which has no ties.",
        )


def paging(responses: Responses) -> Iterator[Finding]:
    """Follow the cursor for two pages, and look at the form of the last one."""
    size = 5
    first = responses.document("GetIntentHistory", {"page": {"pageSize": size}})
    second = _following(responses, first)
    if second is not None:
        third = _following(responses, second)
        if third is not None and _ids(third) == _ids(second):
            yield problem(
                "The cursor repeats: the third page of the history is the second again.",
                "Lists end after two pages, and exports are incomplete.",
                "Report it to the service's operator.",
            )
        else:
            yield ok("The cursor leads to further pages.")
    end = responses.document("GetIntentHistory", {"page": {"pageSize": 1}, "byOwnerAddress": UNUSED_ADDRESS})
    if "nextPage" not in end:
        yield note("The last page has no nextPage (absent instead of null).")
    elif end["nextPage"] is not None:
        yield note("The last page has a nextPage with `more: false` instead of null.")
    if end.get("intents", ()) is None:
        yield note("An empty list is null.")


def _following(responses: Responses, document: Document) -> Document | None:
    cursor = document.get("nextPage")
    return responses.document("GetIntentHistory", {"page": cursor}) if cursor else None


def _ids(document: Document) -> Sequence[str]:
    return [each.get("intentId") for each in document.get("intents") or ()]


def time_filters(responses: Responses) -> Iterator[Finding]:
    rows = responses.started
    outside = [each for each in rows if not _is_between(_time(each, "createdAt"), 3, 2)]
    if outside:
        yield problem(
            f"Time filters are ignored: {len(outside)} of {len(rows)} transfers are outside the time.",
            "Lists by date are wrong, and the mirror can't be complete.",
            "Report it to the service's operator.",
        )
    elif rows:
        yield ok("Time filters work.")
    else:
        yield note("No transfers were created from 3 to 2 hours ago, so time filters weren't checked.", "")


def _is_between(time: datetime | None, first: float, last: float) -> bool:
    age = datetime.now(UTC) - time if time else timedelta(0)
    return timedelta(hours=last) - TOLERANCE <= age <= timedelta(hours=first) + TOLERANCE


def quotes(responses: Responses) -> Iterator[Finding]:
    quoted = responses.history(byStatuses=[IntentStatus.QUOTED])
    others = [each for each in quoted if each.get("status") != IntentStatus.QUOTED]
    if others:
        yield warning(
            f"The filter by status is ignored: {len(others)} of {len(quoted)} rows have another status.",
            "Lists drop the other rows, and take longer.",
        )
    if quoted:
        yield ok("The history has quotes (QUOTED).")
    else:
        yield note("The history has no quotes (QUOTED).", "A quote without a deposit is found by its intent ID only.")


def courses(responses: Responses) -> Iterator[Finding]:
    """Look at how long transfers took between their times."""
    waits = [
        (started - created).total_seconds()
        for each in responses.started
        if (created := _time(each, "createdAt"))
        and (started := _time((each.get("receipt") or {}).get("depositTransaction") or {}, "createdAt"))
    ]
    if waits and (usual := timedelta(seconds=median(waits))) > timedelta(minutes=1):
        yield warning(
            f"Transfers become visible late, at the median {_duration(usual)} after they were created.",
            "Lists by status show them that much later.",
        )
    rows = responses.of_yesterday
    changed = [
        each
        for each in rows
        if (created := _time(each, "createdAt"))
        and (updated := _time(each, "updatedAt"))
        and updated - created > timedelta(hours=1)
    ]
    if rows and len(changed) > len(rows) / 10:
        yield note(
            f"Late changes: {len(changed)} of {len(rows)} transfers of yesterday changed more than an hour after they"
            " were created.",
            "Figures of past hours change, too.",
        )
    known = frozenset(IntentStatus)
    unknown = {str(each.get("status")) for each in (*rows, *responses.started) if each.get("status") not in known}
    if unknown:
        yield warning(
            f"Unknown statuses: {', '.join(sorted(unknown))[:100]}.",
            "Pages show them as they are, without saying what they mean. No filter can name them.",
            "Upgrade intents-ui if there is a newer version.",
        )


# The form of documents


def encodings(responses: Responses) -> Iterator[Finding]:
    rows = responses.started or responses.newest
    summaries = [(each.get("receipt") or {}).get("summary") or {} for each in rows]
    amounts = [each[name] for each in summaries for name in AMOUNTS if each.get(name) is not None]
    text = responses.attempt("GetIntentHistory", {"page": {"pageSize": ROWS}}).text
    if any(isinstance(each, float) for each in amounts):
        yield note("Amounts are numbers with exponents (1e+21).", "Digits can be lost before they reach the dashboard.")
    elif any(isinstance(each, int) for each in amounts):
        yield note("Amounts are numbers instead of text.")
    if any(re.match("0x.*[A-F]", each.get("originTokenAddress") or "") for each in summaries):
        yield note("Addresses have capital letters.", "They are compared without case.")
    if rows and not any("id" in (each.get("receipt") or {}) for each in rows):
        yield note("Transfers have no internal number.", "Nothing needs it.")
    times = [each[name] for each in rows for name in TIMES if isinstance(each.get(name), str)]
    digits = {len(fraction[1]) if (fraction := re.search(r"\.(\d+)", each)) else 0 for each in times}
    if len(times) > 20 and len(digits) == 1:
        yield note(f"All times have {digits.pop()} digits of a fraction.")
    if any(not each.endswith("Z") for each in times):
        yield note("Times have an offset (+00:00) instead of Z.")
    if rows and "null" not in text and '""' not in text:
        yield note("Empty fields are omitted (no null, no empty text).")


def fields(responses: Responses) -> Iterator[Finding]:
    known = {str(each.alias) for each in ChainInfo.model_fields.values()} | {FLAT, NESTED}
    unknown = {name for each in responses.chains for name in each} - known
    if unknown:
        yield note(f"Unknown fields of chains: {', '.join(sorted(unknown))[:100]}.", "The service may be newer.", "")
    for present, absent, form in ((FLAT, NESTED, "flat"), (NESTED, FLAT, "nested")):
        if any(present in each for each in responses.chains) and not any(absent in each for each in responses.chains):
            yield note(f"Chains are {form}: they have `{present}`, but no `{absent}`.")
    if not responses.newest:
        return
    intent = responses.document("GetIntent", {"intentId": responses.newest[0]["intentId"]}).get("intent") or {}
    if "calls" in intent:
        form = "besides the first" if "originCalls" in intent else "only"
        yield note(f"Intents use the second names of fields {form} (calls, preconditions, metaTxns).")


def error_forms(responses: Responses) -> Iterator[Finding]:
    attempt = responses.attempt("GetIntent", {"intentId": UNKNOWN_ID})
    if not isinstance(attempt.error, errors.NotFound):
        yield warning(
            "An unknown intent isn't answered with NotFound.", "Pages can't tell an unknown intent from a failure."
        )
    if '"webrpcError"' in attempt.text:
        yield note("Errors are wrapped (webrpcError).")
    if attempt.status == 200:
        yield note("Errors have HTTP status 200.")


def clock(responses: Responses) -> Iterator[Finding]:
    ahead = responses.client.health.clock_ahead()
    direction = "ahead of" if ahead > timedelta(0) else "behind"
    if abs(ahead) <= SKEW:
        yield ok("The service's clock agrees with this machine's.")
    else:
        yield warning(
            f"The service's clock is {_duration(abs(ahead))} {direction} this machine's.",
            "Pages correct it, except in times that the browser counts.",
            "Let both machines keep their time by NTP.",
        )


def limits(responses: Responses) -> Iterator[Finding]:
    headers = responses.attempt("GetChains", kind=Kind.CHAINS).headers
    told = [f"{name}: {value}" for name, value in headers.items() if name.startswith(LIMITS)]
    yield ok(f"Rate limits: {', '.join(told)}." if told else "The service tells no rate limit in its headers.")


def speed(responses: Responses) -> Iterator[Finding]:
    slow = responses.attempt("GetChains", kind=Kind.CHAINS).seconds
    if slow > SLOW:
        yield warning(f"The service is slow: GetChains took {slow:.1f} s.", "Pages take at least as long.")


# Other operations


def receipts(responses: Responses) -> Iterator[Finding]:
    if quote := responses.first(IntentStatus.QUOTED):
        attempt = responses.attempt("GetIntentReceipt", {"intentId": quote["intentId"]})
        if isinstance(attempt.error, errors.NotFound):
            yield note("A quote has no receipt (NotFound).", "Pages show the quote alone.")
    refunds = responses.history(byStatuses=[IntentStatus.REFUNDED])
    refunded = next((each for each in refunds if (each.get("receipt") or {}).get("refundTransaction")), None)
    if refunded:
        request = {"intentId": refunded["intentId"], "lastReceiptStates": []}
        response = responses.document("WaitIntentReceipt", request, kind=Kind.WAIT)
        if len(response.get("receiptStates") or ()) == 3:
            yield note("The states of a receipt leave out its refund.", "A refund is seen a few seconds later.")
        if response.get("done") is False:
            yield note(
                "A refunded transfer isn't done for WaitIntentReceipt (only success and failure are).",
                "Live pages decide by the status.",
            )


def long_polls(responses: Responses) -> Iterator[Finding]:
    """Ask twice for changes of an open transfer: the second time from its present states on, which has to wait."""
    opened = responses.first(IntentStatus.EXECUTING)
    if opened is None:
        yield note("No transfer is running, so long polls weren't checked.", "")
        return
    request = {"intentId": opened["intentId"], "lastReceiptStates": ["UNKNOWN"] * 7}
    states = responses.document("WaitIntentReceipt", request, kind=Kind.WAIT).get("receiptStates")
    if states == request["lastReceiptStates"]:
        yield warning("WaitIntentReceipt returns the caller's own cursor.", "Live pages ask every few seconds instead.")
        return
    attempt = responses.attempt(
        "WaitIntentReceipt", {"intentId": opened["intentId"], "lastReceiptStates": states}, kind=Kind.WAIT
    )
    if attempt.error is None and _is_unchanged(json.loads(attempt.text), states):
        yield warning("WaitIntentReceipt returns at once.", "Live pages ask every few seconds instead.")
    else:
        yield ok("Long polls are held until something changes.")


def _is_unchanged(response: Document, states: object) -> bool:
    return response.get("receiptStates") == states and not response.get("done")


def searches(responses: Responses) -> Iterator[Finding]:
    if isinstance(responses.attempt("SearchIntents").error, errors.Refused):
        yield note("A search without criteria is an error.", "The dashboard sends none.")
    deposited = next(filter(_deposit, responses.started), None)
    if deposited:
        found = responses.document("SearchIntents", {"byDepositTransactionHash": _deposit(deposited)})
        if not found.get("intents"):
            yield warning(
                "A search by deposit hash finds nothing (the field is ignored).",
                "Transfers are found by their other hashes, intent ID, owner and addresses.",
            )
    if quote := responses.first(IntentStatus.QUOTED):
        owner = (quote.get("receipt") or {}).get("ownerAddress")
        found = responses.document("SearchIntents", {"byOwnerAddress": owner})
        if quote["intentId"] not in _ids(found):
            yield note(
                "A search is capped, and leaves out quotes.", "Lists of an owner are read from the history instead."
            )


def _deposit(row: Document) -> str | None:
    found = ((row.get("receipt") or {}).get("depositTransaction") or {}).get("txnHash")
    return found if found and set(found[2:]) - {"0", "f"} else None


def prices(responses: Responses) -> Iterator[Finding]:
    rows = responses.history(onlyRecoverable=True, includeBalances=True)
    balances = [token for row in rows for token in _balances(row.get("balances"))]
    if not balances:
        return
    if not any("priceUsd" in each for each in balances):
        yield note("Balances have no prices (priceUsd).", "Pages show them without dollars.")
    elif not any(str(each.get("priceUsd") or 0).strip("0.") for each in balances):
        yield note("All prices of balances are 0.", "Pages show them without dollars.")
    if not any("symbol" in each for each in balances):
        yield note("Balances are bare: without symbol and decimals.", "Pages take them from the token list.")


def _balances(value: Any) -> Iterator[Document]:
    """Yield the balances of tokens in a document."""
    if isinstance(value, Mapping):
        if "balance" in value:
            yield value
        for each in value.values():
            yield from _balances(each)
    elif isinstance(value, list):
        for each in value:
            yield from _balances(each)


def routes(responses: Responses) -> Iterator[Finding]:
    chain = next((each for each in responses.chains if each.get("supportsBridging")), None)
    if chain is None:
        return
    tokens = responses.document("GetTokenList", {"chainIds": [chain["id"]]}).get("tokens") or ()
    token = next((each for each in tokens if each.get("supportsBridging")), None)
    if token is None:
        return
    origin = {"originChainId": chain["id"], "originTokenAddress": token["address"]}
    if not responses.document("GetExactInputRoutes", origin).get("tokens"):
        yield note(
            f"Routes are always empty: none from {token.get('symbol')} on {chain.get('name')}.",
            "The pages about routes show none.",
        )


CHECKS: Sequence[Check] = (
    quick, speed, clock, limits, page, paging, time_filters, quotes, courses, encodings, fields, error_forms, receipts,
    searches, prices, routes, long_polls,
)  # fmt: skip


def _time(document: Document, name: str) -> datetime | None:
    try:
        return read_timestamp(document.get(name))
    except ValueError:
        return None


def _duration(length: timedelta) -> str:
    seconds = round(length.total_seconds())
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
