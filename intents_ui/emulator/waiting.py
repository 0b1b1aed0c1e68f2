"""WaitIntentReceipt: the long poll."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from intents_ui.emulator import requests
from intents_ui.emulator.documents import Document
from intents_ui.emulator.errors import NOT_FOUND, Refusal
from intents_ui.emulator.ledger import Entry, Ledger
from intents_ui.emulator.lookups import Ask
from intents_ui.emulator.receipts import receipt

# Poll interval for changes by callers. The scenario's own changes are known in advance.
LOOK_SECONDS: Final = 0.25
_TERMINAL: Final = frozenset({"SUCCEEDED", "FAILED", "REFUNDED", "ABORTED", "INVALID"})
_TERMINAL_AS_DESCRIBED: Final = frozenset({"SUCCEEDED", "FAILED"})

# Waits for so many seconds. Returns True if the caller disconnected.
type Pause = Callable[[float], Awaitable[bool]]


class Waiting:
    """Long polls. `hold` is the longest wait without a change, in seconds of real time."""

    def __init__(self, ledger: Ledger, now: Callable[[], int], hold: float) -> None:
        self.ledger = ledger
        self.now = now
        self.hold = hold

    async def wait_intent_receipt(self, ask: Ask, pause: Pause) -> Document | None:
        """Return at once if the intent is final or the cursor is outdated, otherwise on a change.

        None: the caller disconnected.
        """
        intent_id = requests.required(requests.text(ask.body, "intentId"), "intentId")
        cursor = requests.words(ask.body, "lastReceiptStates") or []
        ahead = ask.now - self.now()
        first = entry = self._entry(intent_id, ask.now, ask)
        loop = asyncio.get_running_loop()
        until = loop.time() + self._hold(ask, first, cursor)
        while (left := until - loop.time()) > 0:
            if await pause(min(left, LOOK_SECONDS, self._until_next_change(entry, ahead, ask))):
                return None
            entry = self._entry(intent_id, self.now() + ahead, ask)
            if _state(entry) != _state(first):
                break
        states = cursor if "wait-same-cursor" in ask.faults else entry.scene.receipt_states
        document = receipt(entry.transfer, entry.scene, self.ledger.world.catalogue)
        return {"intentReceipt": document, "receiptStates": states, "done": _is_done(entry, ask)}

    def _hold(self, ask: Ask, entry: Entry, cursor: list[str]) -> float:
        news = entry.scene.receipt_states != cursor
        if "states-without-refund" in ask.faults:
            news = entry.scene.receipt_states[:3] != cursor
        if {"wait-at-once", "wait-same-cursor"} & ask.faults or news or _is_done(entry, ask):
            return 0.0
        return self.hold

    def _until_next_change(self, entry: Entry, ahead: int, ask: Ask) -> float:
        seconds = self.ledger.next_change(entry.transfer.number, self.now() + ahead, ask.faults)
        # Rather a millisecond late than a microsecond early, which would cost another poll interval.
        return LOOK_SECONDS if seconds is None else max(0.0, seconds) + 0.001

    def _entry(self, intent_id: str, now: int, ask: Ask) -> Entry:
        entry = self.ledger.named(intent_id, now, ask.faults)
        if entry is None:
            raise Refusal(NOT_FOUND, f"intent {intent_id[:80]} not found")
        return entry


def _state(entry: Entry) -> tuple[str, list[str]]:
    return entry.scene.status, entry.scene.receipt_states


def _is_done(entry: Entry, ask: Ask) -> bool:
    narrow = "done-only-success-or-failure" in ask.faults
    return entry.scene.status in (_TERMINAL_AS_DESCRIBED if narrow else _TERMINAL)
