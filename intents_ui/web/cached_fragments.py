"""Fragments of pages about transfers, each drawn once for as long as it is true.

A fragment is cached with its `Situation`, which pages reuse while the same facts, names and balances describe the
transfer, and while its moment covers the current time. The clock that a fragment shows is that moment, so it ends when
the fragment's text would change. The table of a list is cached with its `Rows` in the same way.

Balances are checked more often than they change, and the time of a check is shown with its age. So a fragment has a
placeholder for it.
"""

import secrets
from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime

from intents_ui.display.formatting import short_forms
from intents_ui.display.lists.rows import Rows
from intents_ui.display.transfers.situation import Situation

# Fragments of one situation or list. A page has up to three, and a row has one for each kind of list.
MOST_FRAGMENTS = 16
# Placeholder for the time of a check. Random, so that no value from outside can contain it.
CHECK_TIME = f"check-time-{secrets.token_hex(16)}"

_now: ContextVar[datetime | None] = ContextVar("now", default=None)


@dataclass(frozen=True, slots=True)
class Fragment:
    """HTML with the values that it shortens, by their short forms."""

    html: str
    short_forms: Mapping[str, str]


def now() -> datetime:
    """Return the time that templates show: the moment of the fragment being drawn, or else the current time."""
    return _now.get() or datetime.now(UTC)


def cached_fragment(of: Situation | Rows, *key: Hashable, caller: Callable[[], str], check_time: str = "") -> str:
    """Return what the body of a `{% call %}` block draws, or drew before of the same object and key.

    The body may use the situation or the rows, what is derived from them, and the values of the key. Its `key` starts
    with a name of its own. It is drawn again on a page where one of its shortened values looks like another one.
    `check_time` is HTML that replaces the placeholder CHECK_TIME.
    """
    html = _fragment(of, key, caller)
    return html.replace(CHECK_TIME, check_time) if check_time else html


def _fragment(of: Situation | Rows, key: tuple[Hashable, ...], caller: Callable[[], str]) -> str:
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
