"""Two addresses, hashes or ids of one page that are shortened to the same are both shown whole (faults.md S-ADDR).

Whoever has an address made that begins and ends like another one counts on readers who look at the ends alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from intents_ui.display import hashes, text

LONGEST = 128  # a transaction hash of Solana has 88; what is longer is none, and would fill the page


class Whole(str):
    """Shown whole, because something else on the page has the same short form."""

    __slots__ = ()


class ShortForms:
    """Those of one page, as far as it was drawn."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._shared: set[str] = set()

    def of(self, value: str, short: str) -> str:
        """`short`, unless it stands for another value too. Letter case tells nothing apart: no reader sees it."""
        form = short.lower()
        known = self._values.setdefault(form, value)
        if known != value and _plain(known) != _plain(value):
            self._shared.add(form)
        return Whole(text.isolated(value)) if form in self._shared and len(value) <= LONGEST else short

    def draw(self, page: Callable[[], str]) -> str:
        """What `page` draws; once more if only its end told that something at its beginning is not to be shortened."""
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
    """As `shorten` has it, where the page that is being drawn has no other value of that short form."""
    short, forms = shorten(value), _of_the_page.get()
    if forms is None or not value or "…" not in short or "…" in value:
        return short  # what came shortened stands for nothing else on the page
    return forms.of(whole(value), short)


def _plain(value: str) -> str:
    return value.lower() if hashes.HEX.fullmatch(value) else value
