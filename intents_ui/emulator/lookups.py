"""GetIntent, GetIntentReceipt, SearchIntents, GetIntentHistory, and the long poll: WaitIntentReceipt."""

import asyncio
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Final

from intents_ui.emulator.documents import MICROSECONDS, Document
from intents_ui.emulator.errors import Ask, Refusal
from intents_ui.emulator.faults import TIE
from intents_ui.emulator.intents import Entry
from intents_ui.emulator.population import Ledger, Reach

STATUSES: Final = ("QUOTED", "COMMITTED", "EXECUTING", "FAILED", "SUCCEEDED", "ABORTED", "REFUNDED", "INVALID")
DEFAULT_PAGE: Final = 20
LARGEST_PAGE: Final = 100
# Limits of the unpaged search: newest intents scanned for words in IDs and memos, hits of such a scan, and hits
# overall.
SUBSTRING_REACH: Final = 5000
SUBSTRING_HITS: Final = 500
SEARCH_HITS: Final = 5000
# Intents that one page of a list examines, after which the request times out, as one of a database would.
MAX_EXAMINED: Final = 150_000
_LARGEST_SECONDS: Final = 10**11
# A complete address or hash, which isn't searched for as a substring.
_WHOLE_NAME: Final = re.compile(r"0[xX]([0-9a-fA-F]{40}|[0-9a-fA-F]{64})")
# A client sees a change that much later, which is less than between two polls of real ones.
LOOK_SECONDS: Final = 0.25
_TERMINAL: Final = frozenset({"SUCCEEDED", "FAILED", "REFUNDED", "ABORTED", "INVALID"})
_TERMINAL_AS_DESCRIBED: Final = frozenset({"SUCCEEDED", "FAILED"})


class Lookups:
    """Operations that read. `hold` is the longest wait of a long poll without a change, in seconds of real time."""

    def __init__(self, ledger: Ledger, now: Callable[[], int], hold: float) -> None:
        self.ledger = ledger
        self.now = now
        self.hold = hold

    def get_intent(self, ask: Ask) -> Document:
        return {"intent": self.ledger.requested(ask.body["intentId"], ask.now).intent()}

    def get_intent_receipt(self, ask: Ask) -> Document:
        """Return a receipt.

        For a quote it has only a summary. The real service may reject that (`quoted-not-found`).
        """
        entry = self.ledger.requested(ask.body["intentId"], ask.now)
        if "quoted-not-found" in ask.faults and entry.scene.started is None:
            raise Refusal("NotFound", f"no receipt for intent {entry.transfer.intent_id}")
        return {"intentReceipt": entry.receipt()}

    def search_intents(self, ask: Ask) -> Document:
        """Return the intents that meet all criteria. Without criteria there are none."""
        found = list(islice(self._search(ask), SEARCH_HITS))
        if "search-capped" in ask.faults:
            found = [entry for entry in found if entry.scene.status != "QUOTED"][:10]
        return {"intents": [entry.intent() for entry in found]}

    def get_intent_history(self, ask: Ask) -> Document:
        """Return a page of a list. Both sort columns have the same order, and so the same cursor.

        `after` continues in the sort order, `before` goes back.
        """
        body, page = ask.body, ask.body.get("page", {})
        sort = page.get("sort", [{}])[0]
        column = sort.get("column") or page.get("column", "id")
        order = "ASC" if sort.get("order", "").upper() == "ASC" else "DESC"
        if column not in ("id", "createdAt"):
            raise Refusal("InvalidArgument", f"page.sort: cannot sort by {column[:40]}")
        size = min(page.get("pageSize") or DEFAULT_PAGE, LARGEST_PAGE)
        if size < 0:
            raise Refusal("InvalidArgument", "page.pageSize must not be negative")
        backward = "before" in page and "after" not in page
        cursor = page.get("before" if backward else "after")
        upward = (order == "ASC") != backward  # whether IDs ascend in the direction in which the page is read
        # The resolution of `createdAt` in microseconds.
        tie = TIE if "created-ties" in ask.faults else 1
        listed = self.ledger.entries(
            ask.now,
            descending=not upward,
            reach=_reach(body, cursor, tie if column == "createdAt" else 1, tie, upward=upward),
            owner=body.get("byOwnerAddress", "").strip().lower() or None,
        )
        found = list(islice(filter(_filter(body), _examined(listed)), size + 1))
        more, found = len(found) > size, found[:size]
        if backward:
            found.reverse()
        following: Document | None = None
        if more:
            last = (found[0] if backward else found[-1]).transfer.born
            following = {
                "column": column,
                "before" if backward else "after": last // tie * tie if column == "createdAt" else last,
                "sort": [{"column": column, "order": order}],
                "pageSize": size,
                "more": True,
            }
            if "next-page-repeats" in ask.faults and cursor is not None:
                following["after"] = cursor
        return {"intents": [_history_row(entry, body) for entry in found], "nextPage": following}

    def _search(self, ask: Ask) -> Iterator[Entry]:
        criteria = {field: value.strip() for field, value in ask.body.items() if field in _CRITERIA}
        if "deposit-hash-ignored" in ask.faults:
            criteria.pop("byDepositTransactionHash", None)
        criteria = {field: value for field, value in criteria.items() if value}
        project, query = ask.body.get("byProjectId"), criteria.pop("byQueryString", None)
        if criteria:
            found = self.ledger.bearing(next(iter(criteria.values())), ask.now)
        elif query:
            found = self._mentioning(query, ask.now)
        elif project is not None:
            found = self.ledger.entries(ask.now, descending=True)
        elif "empty-search-refused" in ask.faults:
            raise Refusal("InvalidArgument", "at least one search criterion is required")
        else:
            return
        for entry in found:
            named = _names(entry) if criteria or query else {}
            if (
                project in (None, entry.transfer.project)
                and all(value.lower() in named[field] for field, value in criteria.items())
                and (not query or query.lower() in chain(*named.values()) or _mentions(entry, query))
            ):
                yield entry

    def _mentioning(self, query: str, now: int) -> Iterator[Entry]:
        """Yield the intents that a name belongs to, or that have a text in their ID, memo or symbols."""
        if exact := list(self.ledger.bearing(query, now)):
            yield from exact
        elif not _WHOLE_NAME.fullmatch(query):
            newest = islice(self.ledger.entries(now, descending=True), SUBSTRING_REACH)
            yield from islice((entry for entry in newest if _mentions(entry, query)), SUBSTRING_HITS)

    async def wait_intent_receipt(self, ask: Ask) -> Document:
        """Return at once if the intent is final or the cursor is outdated, otherwise on a change."""
        intent_id, cursor = ask.body["intentId"], ask.body.get("lastReceiptStates", [])
        ahead = ask.now - self.now()
        first = entry = self.ledger.requested(intent_id, ask.now)
        final = _TERMINAL_AS_DESCRIBED if "done-only-success-or-failure" in ask.faults else _TERMINAL
        known = first.scene.receipt_states[: 3 if "states-without-refund" in ask.faults else None]
        is_news = known != cursor or first.scene.status in final
        loop = asyncio.get_running_loop()
        until = loop.time() + (0.0 if is_news or {"wait-at-once", "wait-same-cursor"} & ask.faults else self.hold)
        while (left := until - loop.time()) > 0:
            await asyncio.sleep(min(left, LOOK_SECONDS))
            entry = self.ledger.requested(intent_id, self.now() + ahead)
            if entry.scene.status != first.scene.status or entry.scene.receipt_states != first.scene.receipt_states:
                break
        return {
            "intentReceipt": entry.receipt(),
            "receiptStates": cursor if "wait-same-cursor" in ask.faults else entry.scene.receipt_states,
            "done": entry.scene.status in final,
        }


_CRITERIA: Final = (
    "byIntentId", "byTransactionHash", "byDepositTransactionHash", "byOriginIntentAddress",
    "byDestinationIntentAddress", "byOwnerAddress", "byQueryString",
)  # fmt: skip


def _names(entry: Entry) -> dict[str, list[str]]:
    """Return what an intent is found by, in lower case, by criterion."""
    transfer, hashes = entry.transfer, {leg: each.lower() for leg, each in entry.hashes().items()}
    return {
        "byIntentId": [transfer.intent_id, transfer.intent_id[2:]],
        "byTransactionHash": [*hashes.values()],
        "byDepositTransactionHash": [hashes.get("deposit", "")],
        "byOriginIntentAddress": [transfer.origin_address],
        "byDestinationIntentAddress": [transfer.destination_address],
        "byOwnerAddress": [transfer.owner],
    }


def _mentions(entry: Entry, query: str) -> bool:
    transfer = entry.transfer
    texts = (transfer.intent_id, transfer.deal.memo or "", transfer.origin.symbol, transfer.destination.symbol)
    return any(query.lower() in text.lower() for text in texts)


def _history_row(entry: Entry, body: Document) -> Document:
    row = entry.history_row()
    if body.get("includeBalances"):
        found = entry.balances()
        return row | {"hasBalance": bool(found), "balances": found}
    return row | {"hasBalance": True} if body.get("onlyRecoverable") else row


def _examined(found: Iterator[Entry]) -> Iterator[Entry]:
    for examined, entry in enumerate(found):
        if examined >= MAX_EXAMINED:
            raise Refusal("Timeout", f"more than {MAX_EXAMINED} intents examined")
        yield entry


def _filter(body: Document) -> Callable[[Entry], bool]:
    """Return the filter of a list, except for its owner and times."""
    # An unknown status becomes the first one, as in the real server's decoder.
    asked = body.get("byStatuses", [body["byStatus"]] if "byStatus" in body else [])
    statuses = {word if word in STATUSES else "QUOTED" for word in asked}
    wanted = [body.get(field) for field in ("byProjectId", "originChainId", "destinationChainId")]

    def passes(entry: Entry) -> bool:
        transfer = entry.transfer
        there = (transfer.project, transfer.origin.chain_id, transfer.destination.chain_id)
        return (
            (not statuses or entry.scene.status in statuses)
            and (not body.get("onlyRecoverable") or bool(entry.scene.marks.get("balance")))
            and all(each in (None, own) for each, own in zip(wanted, there, strict=True))
        )

    return passes


def _reach(body: Document, cursor: int | None, step: int, tie: int, *, upward: bool) -> Reach:
    """Return what is left of a list beyond the cursor, which is `step` before the next intent."""
    for field in ("fromTime", "toTime"):
        if body.get(field, 0) > _LARGEST_SECONDS:
            raise Refusal("InvalidArgument", f"{field} must be Unix seconds, not milliseconds")
    since, until, earliest = body.get("fromTime"), body.get("toTime", _LARGEST_SECONDS), 0
    # In terms of the exact times, of which clients get only the ties.
    first = -(-since * MICROSECONDS // tie) * tie if since else None
    last = until * MICROSECONDS // tie * tie + tie - 1
    if cursor is not None and upward:
        earliest = cursor + step
    elif cursor is not None:
        last = min(last, cursor - 1)
    return Reach(first, earliest, last)
