"""Response types of the service's operations, with counts of entries that couldn't be parsed."""

import logging
from collections.abc import Callable, Sequence
from typing import ClassVar, Self

from intents_ui.service.errors import Flaw, Unreadable
from intents_ui.service.wire.lenient_models import Wire
from intents_ui.service.wire.models import (
    ChainInfo,
    GasFeeOptions,
    Intent,
    IntentHistory,
    IntentReceipt,
    Page,
    TokenInfo,
    TokenPrice,
)
from intents_ui.service.wire.scalars import Flag, IntentId, Text, TextInList

log = logging.getLogger("intents_ui.service")


class IntentAnswer(Wire):
    """Response of GetIntent."""

    intent: Intent


class ReceiptAnswer(Wire):
    """Response of GetIntentReceipt."""

    intent_receipt: IntentReceipt


class WaitAnswer(Wire):
    """Response of WaitIntentReceipt.

    `done` means "stop polling", not success. Send `receipt_states` back as `last_receipt_states`.
    """

    intent_receipt: IntentReceipt
    receipt_states: tuple[TextInList, ...] = ()
    done: Flag | None = None


class _Listed(Wire):
    """Response that lists the intents matching a filter."""

    def fitting[T: Wire](self, entries: Sequence[T], fits: Callable[[T], bool]) -> Self:
        """Return the response without the entries for which `fits` is false.

        They count as entries that couldn't be parsed. Raises Unreadable if no entry fits, because an empty list would
        say that there are no matches.
        """
        matching = tuple(entry for entry in entries if fits(entry))
        unfit = len(entries) - len(matching)
        if not unfit:
            return self
        if not matching:
            raise Unreadable.because(Flaw.OTHER_FILTER)
        log.warning("%d of %d listed intents do not match the filter and were dropped", unfit, len(entries))
        self._note("unfit", unfit)
        self.__dict__["intents"] = matching
        return self


class SearchAnswer(_Listed):
    """Response of SearchIntents, unordered."""

    essential: ClassVar[frozenset[str]] = frozenset({"intents"})

    intents: tuple[Intent, ...] = ()

    @property
    def beyond(self) -> int:
        """Number of older matches that were not read."""
        return int(self._noted("beyond") or 0)

    def without(self, beyond: int) -> "SearchAnswer":
        self._note("beyond", beyond)
        return self


class HistoryAnswer(_Listed):
    """Response of GetIntentHistory: one page of a paginated list."""

    essential: ClassVar[frozenset[str]] = frozenset({"intents"})

    intents: tuple[IntentHistory, ...] = ()
    next_page: Page | None = None

    @property
    def following(self) -> Page | None:
        """The next page to request, with its cursor unchanged, or None at the end of the list.

        The list ends where `nextPage` is missing, `more` is false, the page is empty, the cursor didn't advance, or the
        cursor isn't a number and so can't belong to this list.
        """
        return None if self.is_over or self.is_stuck or self.is_lost else self.next_page

    @property
    def is_over(self) -> bool:
        """Whether this is the last page: the service reports no more, or the page is empty."""
        return self.next_page is None or self.next_page.more is False or self.is_empty

    @property
    def is_empty(self) -> bool:
        return not (self.intents or self.unreadable_entries)

    @property
    def breaks_off(self) -> bool:
        """Whether the service reports more entries after an empty page."""
        return self.is_empty and self.next_page is not None and self.next_page.more is True

    @property
    def is_stuck(self) -> bool:
        """Whether the service reports more entries but the cursor didn't advance."""
        page = self.next_page
        if page is None or self.is_over or self.is_lost:
            return False
        requested: Page | None = self._noted("asked")
        return requested is not None and page.cursor == requested.cursor

    @property
    def is_lost(self) -> bool:
        """Whether the service reports more entries but the cursor isn't a number."""
        if self.next_page is None or self.is_over:
            return False
        return not {"before", "after"}.isdisjoint(self.next_page.unreadable)

    def asked_with(self, page: Page | None) -> "HistoryAnswer":
        self._note("asked", page)
        return self


class CommitAnswer(Wire):
    """Response of CommitIntent."""

    intent_id: IntentId


class TokensAnswer(Wire):
    """Response of the operations that list tokens."""

    essential: ClassVar[frozenset[str]] = frozenset({"tokens"})

    tokens: tuple[TokenInfo, ...] = ()


class ChainsAnswer(Wire):
    """Response of the operations that list chains."""

    essential: ClassVar[frozenset[str]] = frozenset({"chains"})

    chains: tuple[ChainInfo, ...] = ()


class QuoteAnswer(Wire):
    """Response of QuoteIntent."""

    intent: Intent
    gas_fee_options: GasFeeOptions | None = None


class ExecuteAnswer(Wire):
    """Response of ExecuteIntent."""

    intent_id: IntentId
    intent_status: Text | None = None


class PricesAnswer(Wire):
    """Response of GetTokenPrices.

    Tokens without a price may be missing, and the order can differ from the request's.
    """

    essential: ClassVar[frozenset[str]] = frozenset({"token_prices"})

    token_prices: tuple[TokenPrice, ...] = ()
