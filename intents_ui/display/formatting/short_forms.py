"""Shortened values of one page: two that would have the same short form are shown in full.

Address poisoning relies on people who compare only the first and last characters.
"""

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import Any

from intents_ui.display.formatting import text
from intents_ui.display.formatting.hashes import HEX

LONGEST = 128  # a Solana signature has 88 characters; anything longer would fill the page
MOST_FRAGMENTS = 32  # of one transfer


class Whole(str):
    """A full value, because another one on the page has the same short form."""

    __slots__ = ()


class ShortForms:
    """The short forms used so far on a page, and the values that have them."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._shared: set[str] = set()
        self._used: dict[str, str] = {}  # by the fragment that is being drawn

    def of(self, value: str, short: str) -> str:
        """Return `short` unless another value has it too, ignoring case, which people overlook."""
        form = short.lower()
        self._used[form] = value
        known = self._values.setdefault(form, value)
        if known != value and _plain(known) != _plain(value):
            self._shared.add(form)
        return Whole(text.isolated(value)) if form in self._shared and len(value) <= LONGEST else short

    def draw(self, page: Callable[[], str]) -> str:
        """Render `page`; again if a later value conflicts with one that was already shortened."""
        before, token = len(self._shared), _of_the_page.set(self)
        try:
            drawn = page()
            return drawn if len(self._shared) == before else page()
        finally:
            _of_the_page.reset(token)

    def reuse(self, fragments: dict[Hashable, Any], key: Hashable, draw: Callable[[], str]) -> str:
        """Return what `draw` drew before, or draws now because a value in it looks like another one of the page."""
        known: tuple[str, dict[str, str]] | None = fragments.get(key)
        if known:
            drawn, forms = known
            for form, value in forms.items():
                if self._values.setdefault(form, value) != value:
                    self.of(value, form)
            self._used |= forms
            if self._shared.isdisjoint(forms):
                return drawn
        around, self._used = self._used, {}
        drawn, forms = draw(), self._used
        self._used = around | forms
        if self._shared.isdisjoint(forms) and len(fragments) < MOST_FRAGMENTS:
            fragments[key] = drawn, forms
        return drawn


_of_the_page: ContextVar[ShortForms | None] = ContextVar("short_forms", default=None)


def of_the_page() -> ShortForms | None:
    """Return the short forms of the page being rendered, or None outside of one."""
    return _of_the_page.get()


def shown(value: str | None, *, whole: Callable[[str], str], shorten: Callable[[str | None], str]) -> str:
    """Return the shortened value unless it's ambiguous on the page being rendered."""
    short, forms = shorten(value), _of_the_page.get()
    if forms is None or not value or "…" not in short or "…" in value:
        return short  # already shortened in the input
    return forms.of(whole(value), short)


def _plain(value: str) -> str:
    return value.lower() if HEX.fullmatch(value) else value
