"""What the operations answer with (interface.md section 4): the objects of `wire` and how many could not be read."""

from typing import ClassVar

from pydantic import PrivateAttr

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


class SearchAnswer(Wire):
    """4.1; in no particular order."""

    essential: ClassVar[frozenset[str]] = frozenset({"intents"})

    intents: tuple[Intent, ...] = ()


class HistoryAnswer(Wire):
    """4.2"""

    essential: ClassVar[frozenset[str]] = frozenset({"intents"})

    intents: tuple[IntentHistory, ...] = ()
    next_page: Page | None = None

    _asked: Page | None = PrivateAttr(default=None)

    @property
    def following(self) -> Page | None:
        """The page to ask for next, to be sent as it is; None at the end of the list.

        It ends on no `nextPage`, on `more: false`, on an empty page, on a cursor that did not move, and on one that is
        no number and so cannot have come from this list.
        """
        page = self.next_page
        if page is None or page.more is False or not (self.intents or self.unreadable_entries):
            return None
        if {"before", "after"} & page.unreadable.keys() or (self._asked and _cursor(self._asked) == _cursor(page)):
            return None
        return page

    def asked_with(self, page: Page | None) -> "HistoryAnswer":
        self._asked = page
        return self


def _cursor(page: Page) -> tuple[str | None, int | None, int | None]:
    return page.column, page.before, page.after


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
