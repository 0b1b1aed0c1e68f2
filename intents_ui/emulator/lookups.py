"""GetIntent, GetIntentReceipt, SearchIntents, GetIntentHistory, and the long poll: WaitIntentReceipt."""

import asyncio
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from intents_ui.emulator import errors
from intents_ui.emulator.documents import MICROSECONDS, Document
from intents_ui.emulator.errors import Ask, Refusal
from intents_ui.emulator.faults import TIE
from intents_ui.emulator.intents import balances, history_entry, intent, receipt
from intents_ui.emulator.population import Entry, Ledger, Reach

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
        self.catalogue = ledger.catalogue

    def get_intent(self, ask: Ask) -> Document:
        entry = self._requested_entry(ask)
        return {"intent": intent(entry.transfer, entry.scene, self.catalogue)}

    def get_intent_receipt(self, ask: Ask) -> Document:
        """Return a receipt.

        For a quote it has only a summary. The real service may reject that (`quoted-not-found`).
        """
        entry = self._requested_entry(ask)
        if "quoted-not-found" in ask.faults and entry.scene.started is None:
            raise Refusal("NotFound", f"no receipt for intent {entry.transfer.intent_id}")
        return {"intentReceipt": receipt(entry.transfer, entry.scene, self.catalogue)}

    def search_intents(self, ask: Ask) -> Document:
        """Return the intents that meet all criteria. Without criteria there are none."""
        found = list(islice(self._search(ask), SEARCH_HITS))
        if "search-capped" in ask.faults:
            found = [entry for entry in found if entry.scene.status != "QUOTED"][:10]
        return {"intents": [intent(entry.transfer, entry.scene, self.catalogue) for entry in found]}

    def get_intent_history(self, ask: Ask) -> Document:
        """Return a page of a list. Both sort columns have the same order, and so the same cursor.

        `after` continues in the sort order, `before` goes back.
        """
        body, page = ask.body, errors.members(ask.body, "page")
        sort = (errors.objects(page, "sort") or [{}])[0]
        column = errors.text(sort, "column") or errors.text(page, "column") or "id"
        order = "ASC" if (errors.text(sort, "order") or "").upper() == "ASC" else "DESC"
        if column not in ("id", "createdAt"):
            raise Refusal("InvalidArgument", f"page.sort: cannot sort by {column[:40]}")
        size = min(errors.whole(page, "pageSize") or DEFAULT_PAGE, LARGEST_PAGE)
        if size < 0:
            raise Refusal("InvalidArgument", "page.pageSize must not be negative")
        after, before = errors.whole(page, "after"), errors.whole(page, "before")
        backward, cursor = after is None and before is not None, before if after is None else after
        upward = (order == "ASC") != backward  # whether IDs ascend in the direction in which the page is read
        # The resolution of `createdAt` in microseconds.
        tie = TIE if "created-ties" in ask.faults else 1
        owner, passes = errors.text(body, "byOwnerAddress"), _filter(body)
        listed = self.ledger.entries(
            ask.now,
            descending=not upward,
            reach=_reach(body, cursor, tie if column == "createdAt" else 1, tie, upward=upward),
            owner=owner.strip().lower() if owner else None,
        )
        found = list(islice(filter(passes, _examined(listed)), size + 1))
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
        return {"intents": [self._history_row(entry, body) for entry in found], "nextPage": following}

    def _history_row(self, entry: Entry, body: Document) -> Document:
        row = history_entry(entry.transfer, entry.scene, self.catalogue)
        if errors.flag(body, "includeBalances"):
            found = balances(entry.transfer, entry.scene, self.catalogue)
            return row | {"hasBalance": bool(found), "balances": found}
        return row | {"hasBalance": True} if errors.flag(body, "onlyRecoverable") else row

    def _requested_entry(self, ask: Ask) -> Entry:
        intent_id = errors.required(errors.text(ask.body, "intentId"), "intentId")
        return self.ledger.requested(intent_id, ask.now)

    def _search(self, ask: Ask) -> Iterator[Entry]:
        keys = {field: errors.text(ask.body, field) for field in _KEYS}
        project = errors.whole(ask.body, "byProjectId")
        if "deposit-hash-ignored" in ask.faults:
            keys["byDepositTransactionHash"] = None
        given = {field: value.strip().lower() for field, value in keys.items() if value and value.strip()}
        exact = [keys[field].strip() for field in given if field != "byQueryString"]  # type: ignore[union-attr]
        if exact:
            found = self.ledger.bearing(exact[0], ask.now)
        elif "byQueryString" in given:
            found = self._query(str(keys["byQueryString"]).strip(), ask)
        elif project is not None:
            found = self.ledger.entries(ask.now, descending=True)
        elif "empty-search-refused" in ask.faults:
            raise Refusal("InvalidArgument", "at least one search criterion is required")
        else:
            return
        for entry in found:
            if project in (None, entry.transfer.project) and all(
                _KEYS[field](entry, value) for field, value in given.items()
            ):
                yield entry

    def _query(self, query: str, ask: Ask) -> Iterator[Entry]:
        exact = list(self.ledger.bearing(query, ask.now))
        if exact or _WHOLE_NAME.fullmatch(query):
            yield from exact
            return
        newest = islice(self.ledger.entries(ask.now, descending=True), SUBSTRING_REACH)
        wanted = query.lower()
        yield from islice((entry for entry in newest if _mentions(entry, wanted)), SUBSTRING_HITS)

    async def wait_intent_receipt(self, ask: Ask) -> Document:
        """Return at once if the intent is final or the cursor is outdated, otherwise on a change."""
        intent_id = errors.required(errors.text(ask.body, "intentId"), "intentId")
        cursor = errors.words(ask.body, "lastReceiptStates") or []
        ahead = ask.now - self.now()
        first = entry = self.ledger.requested(intent_id, ask.now)
        loop = asyncio.get_running_loop()
        until = loop.time() + self._hold(ask, first, cursor)
        while (left := until - loop.time()) > 0:
            await asyncio.sleep(min(left, LOOK_SECONDS))
            entry = self.ledger.requested(intent_id, self.now() + ahead)
            if entry.scene.status != first.scene.status or entry.scene.receipt_states != first.scene.receipt_states:
                break
        states = cursor if "wait-same-cursor" in ask.faults else entry.scene.receipt_states
        document = receipt(entry.transfer, entry.scene, self.catalogue)
        return {"intentReceipt": document, "receiptStates": states, "done": _is_done(entry, ask)}

    def _hold(self, ask: Ask, entry: Entry, cursor: list[str]) -> float:
        news = entry.scene.receipt_states != cursor
        if "states-without-refund" in ask.faults:
            news = entry.scene.receipt_states[:3] != cursor
        if {"wait-at-once", "wait-same-cursor"} & ask.faults or news or _is_done(entry, ask):
            return 0.0
        return self.hold


def _is_done(entry: Entry, ask: Ask) -> bool:
    narrow = "done-only-success-or-failure" in ask.faults
    return entry.scene.status in (_TERMINAL_AS_DESCRIBED if narrow else _TERMINAL)


def _has_hash(entry: Entry, wanted: str) -> bool:
    return any(each and each.lower() == wanted for each in entry.hashes())


def _has_deposit_hash(entry: Entry, wanted: str) -> bool:
    return entry.scene.legs[0] is not None and (entry.hashes()[0] or "").lower() == wanted


def _mentions(entry: Entry, wanted: str) -> bool:
    transfer = entry.transfer
    texts = (transfer.intent_id, transfer.deal.memo or "", transfer.origin.symbol, transfer.destination.symbol)
    return any(wanted in text.lower() for text in texts)


def _matches_query(entry: Entry, wanted: str) -> bool:
    transfer = entry.transfer
    exact = (transfer.intent_id, transfer.owner, transfer.origin_address, transfer.destination_address)
    return wanted in exact or _has_hash(entry, wanted) or _mentions(entry, wanted)


# Predicates of the search criteria.
_KEYS: Final[dict[str, Callable[[Entry, str], bool]]] = {
    "byIntentId": lambda entry, wanted: entry.transfer.intent_id.removeprefix("0x") == wanted.removeprefix("0x"),
    "byTransactionHash": _has_hash,
    "byDepositTransactionHash": _has_deposit_hash,
    "byOriginIntentAddress": lambda entry, wanted: entry.transfer.origin_address == wanted,
    "byDestinationIntentAddress": lambda entry, wanted: entry.transfer.destination_address == wanted,
    "byOwnerAddress": lambda entry, wanted: entry.transfer.owner == wanted,
    "byQueryString": _matches_query,
}


def _examined(found: Iterator[Entry]) -> Iterator[Entry]:
    for examined, entry in enumerate(found):
        if examined >= MAX_EXAMINED:
            raise Refusal("Timeout", f"more than {MAX_EXAMINED} intents examined")
        yield entry


def _filter(body: Document) -> Callable[[Entry], bool]:
    """Return the filter of a list, except for its owner and times."""
    one, several = errors.text(body, "byStatus"), errors.words(body, "byStatuses")
    # An unknown status becomes the first one, as in the real server's decoder.
    statuses = {word if word in STATUSES else "QUOTED" for word in several or ([one] if one else [])}
    wanted = [errors.whole(body, field) for field in ("byProjectId", "originChainId", "destinationChainId")]
    recoverable = errors.flag(body, "onlyRecoverable")

    def passes(entry: Entry) -> bool:
        transfer = entry.transfer
        there = (transfer.project, transfer.origin.chain_id, transfer.destination.chain_id)
        return (
            (not statuses or entry.scene.status in statuses)
            and (not recoverable or bool(entry.scene.marks.get("balance")))
            and all(each in (None, own) for each, own in zip(wanted, there, strict=True))
        )

    return passes


def _reach(body: Document, cursor: int | None, step: int, tie: int, *, upward: bool) -> Reach:
    """Return what is left of a list beyond the cursor, which is `step` before the next intent."""
    since, until = _seconds(body, "fromTime") or None, _seconds(body, "toTime")
    # In terms of the exact times, of which clients get only the ties.
    first = None if since is None else -(-since * MICROSECONDS // tie) * tie
    last = None if until is None else until * MICROSECONDS // tie * tie + tie - 1
    if cursor is None:
        return Reach(first, latest=last)
    if upward:
        return Reach(first, cursor + step, last)
    return Reach(first, latest=cursor - 1 if last is None else min(last, cursor - 1))


def _seconds(body: Document, field: str) -> int | None:
    seconds = errors.whole(body, field)
    if seconds is not None and seconds > _LARGEST_SECONDS:
        raise Refusal("InvalidArgument", f"{field} must be Unix seconds, not milliseconds")
    return seconds
