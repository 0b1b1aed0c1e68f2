"""What the operations answer with (interface.md section 4): the objects of `wire` and how many could not be read."""

import logging
from collections.abc import Callable, Sequence
from typing import ClassVar, Self

from intents_ui.service.errors import Flaw, Unreadable
from intents_ui.service.scalars import Flag, IntentId, Text, TextInList
from intents_ui.service.tolerance import Wire
from intents_ui.service.wire import (
    ChainInfo,
    GasFeeOptions,
    Intent,
    IntentHistory,
    IntentReceipt,
    Page,
    TokenInfo,
    TokenPrice,
)

log = logging.getLogger("intents_ui.service")


class IntentAnswer(Wire):
    """4.3"""

    intent: Intent


class ReceiptAnswer(Wire):
    """4.4"""

    intent_receipt: IntentReceipt


class WaitAnswer(Wire):
    """4.5; `done` means "stop waiting", not success. `receipt_states` goes back as `last_receipt_states`."""

    intent_receipt: IntentReceipt
    receipt_states: tuple[TextInList, ...] = ()
    done: Flag | None = None


class _Listed(Wire):
    """Intents that were asked for by a filter."""

    def fitting[T: Wire](self, entries: Sequence[T], fits: Callable[[T], bool]) -> Self:
        """Return the answer without the entries that do not meet the filter; they count as entries that can't be read.

        Raise Unreadable where none meets it: an empty list would say that there are none."""
        kept = tuple(entry for entry in entries if fits(entry))
        unfit = len(entries) - len(kept)
        if not unfit:
            return self
        if not kept:
            raise Unreadable.because(Flaw.OTHER_FILTER)
        log.warning("%d of %d listed intents do not meet the filter and are left out", unfit, len(entries))
        self._note("unfit", unfit)
        object.__setattr__(self, "intents", kept)
        return self


class SearchAnswer(_Listed):
    """4.1; in no particular order."""

    essential: ClassVar[frozenset[str]] = frozenset({"intents"})

    intents: tuple[Intent, ...] = ()

    @property
    def beyond(self) -> int:
        """How many older hits there are that were not read."""
        return int(self._noted("beyond") or 0)

    def without(self, beyond: int) -> "SearchAnswer":
        self._note("beyond", beyond)
        return self


class HistoryAnswer(_Listed):
    """4.2"""

    essential: ClassVar[frozenset[str]] = frozenset({"intents"})

    intents: tuple[IntentHistory, ...] = ()
    next_page: Page | None = None

    @property
    def following(self) -> Page | None:
        """The page to ask for next, to be sent as it is; None at the end of the list.

        It ends on no `nextPage`, on `more: false`, on an empty page, on a cursor that did not move, and on one that is
        no number and so cannot have come from this list.
        """
        return None if self.is_over or self.is_stuck or self.is_lost else self.next_page

    @property
    def is_over(self) -> bool:
        """The service says that there is no more, or there is nothing on this page to go on from."""
        return self.next_page is None or self.next_page.more is False or self.is_empty

    @property
    def is_empty(self) -> bool:
        return not (self.intents or self.unreadable_entries)

    @property
    def breaks_off(self) -> bool:
        """There is said to be more, after a page on which there is nothing."""
        return self.is_empty and self.next_page is not None and self.next_page.more is True

    @property
    def is_stuck(self) -> bool:
        """There is said to be more, and the cursor to it did not move."""
        page = self.next_page
        if page is None or self.is_over or self.is_lost:
            return False
        asked: Page | None = self._noted("asked")
        return asked is not None and page.cursor == asked.cursor

    @property
    def is_lost(self) -> bool:
        """There is said to be more, and the cursor to it is no number."""
        if self.next_page is None or self.is_over:
            return False
        return not {"before", "after"}.isdisjoint(self.next_page.unreadable)

    def asked_with(self, page: Page | None) -> "HistoryAnswer":
        self._note("asked", page)
        return self


class CommitAnswer(Wire):
    """4.6"""

    intent_id: IntentId


class TokensAnswer(Wire):
    """4.7, 4.8, 4.9"""

    essential: ClassVar[frozenset[str]] = frozenset({"tokens"})

    tokens: tuple[TokenInfo, ...] = ()


class ChainsAnswer(Wire):
    """4.7a"""

    essential: ClassVar[frozenset[str]] = frozenset({"chains"})

    chains: tuple[ChainInfo, ...] = ()


class QuoteAnswer(Wire):
    """domain.md 3b"""

    intent: Intent
    gas_fee_options: GasFeeOptions | None = None


class ExecuteAnswer(Wire):
    """domain.md 3b"""

    intent_id: IntentId
    intent_status: Text | None = None


class PricesAnswer(Wire):
    """domain.md 3.5; a token without a price may be missing, and the order is not that of the question."""

    essential: ClassVar[frozenset[str]] = frozenset({"token_prices"})

    token_prices: tuple[TokenPrice, ...] = ()
