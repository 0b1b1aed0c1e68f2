"""Fragments of pages about transfers, each drawn once.

A fragment is cached with its `Transfer`, the table of a list with its `Rows`, and figures with their `Report`, which
pages reuse for a few seconds. It shows their time.
"""

from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from intents_ui.display.formatting import short_forms

# Fragments of one transfer or list. A page has up to three, and a row has one for each kind of list.
MOST_FRAGMENTS = 16

_now: ContextVar[datetime | None] = ContextVar("now", default=None)


class Drawable(Protocol):
    """What fragments are of, at a time."""

    @property
    def now(self) -> datetime: ...

    @property
    def fragments(self) -> dict[Hashable, Any]: ...


@dataclass(frozen=True, slots=True)
class Fragment:
    """HTML with the values that it shortens, by their short forms."""

    html: str
    short_forms: Mapping[str, str]


def now() -> datetime:
    """Return the time that templates show: that of the fragment being drawn, or else the current time."""
    return _now.get() or datetime.now(UTC)


def cached_fragment(of: Drawable, *key: Hashable, caller: Callable[[], str]) -> str:
    """Return what the body of a `{% call %}` block draws, or drew before of the same object and key.

    The body may use the transfer or the rows, what is derived from them, and the values of the key. Its `key` starts
    with a name of its own. It is drawn again on a page where one of its shortened values looks like another one.
    """
    forms = short_forms.of_the_page()
    if forms is None:
        return caller()
    known: Fragment | None = of.fragments.get(key)
    if known and forms.repeat(known.short_forms):
        return known.html
    token = _now.set(of.now)
    try:
        html, used = forms.used_in(caller)
    finally:
        _now.reset(token)
    if forms.are_unique(used):
        if len(of.fragments) >= MOST_FRAGMENTS:
            of.fragments.clear()
        of.fragments[key] = Fragment(html, used)
    return html
