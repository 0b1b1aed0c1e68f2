"""Show addresses, hashes and IDs in full when two on one page would be shortened to the same text.

Address poisoning relies on people who compare only the first and last characters."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from intents_ui.display.formatting import hashes, text

LONGEST = 128  # a Solana signature has 88 characters; anything longer would fill the page


class Whole(str):
    """A full value, because another one on the page has the same short form."""

    __slots__ = ()


class ShortForms:
    """The short forms used so far on a page."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._shared: set[str] = set()

    def of(self, value: str, short: str) -> str:
        """Return `short` unless another value has it too, ignoring case, which people overlook."""
        form = short.lower()
        known = self._values.setdefault(form, value)
        if known != value and _plain(known) != _plain(value):
            self._shared.add(form)
        return Whole(text.isolated(value)) if form in self._shared and len(value) <= LONGEST else short

    def draw(self, page: Callable[[], str]) -> str:
        """Render `page`; again if a later value conflicts with one that was already shortened."""
        before = len(self._shared)
        with self._in_use():
            drawn = page()
            return drawn if len(self._shared) == before else page()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        token = _of_the_page.set(self)
        try:
            yield
        finally:
            _of_the_page.reset(token)


_of_the_page: ContextVar[ShortForms | None] = ContextVar("short_forms", default=None)


def shown(value: str | None, *, whole: Callable[[str], str], shorten: Callable[[str | None], str]) -> str:
    """Return the shortened value unless it's ambiguous on the page being rendered."""
    short, forms = shorten(value), _of_the_page.get()
    if forms is None or not value or "…" not in short or "…" in value:
        return short  # already shortened in the input
    return forms.of(whole(value), short)


def _plain(value: str) -> str:
    return value.lower() if hashes.HEX.fullmatch(value) else value
