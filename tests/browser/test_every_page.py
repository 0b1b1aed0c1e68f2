"""Every kind of page, opened once with scripts and once without, and looked at for all that must be so of each.

What the other tests of this folder need not look at again is what is proved here, of every page and with everything in
it unfolded:

| claim | where |
|---|---|
| nothing is wider than the screen | 320, 360, 640 (1280 at 200 %), 768 and 1280 px; folded at 320, 360, 1280 |
| | 640 px with words of twice the size; 360 px without scripts too |
| nothing is cut off | 320 px; 640 px with words of twice the size |
| no error in the console, no request to another host | while it is looked at, and in every visit of any test; it |
| | loads at 1280, 768 or 360 px in turn, at 360 px without scripts |
| links and buttons of at least 24 px | 360 px, with scripts and without |
| axe-core finds nothing (WCAG 2.0 to 2.2 A and AA, best practice) | light at 1280 px, dark at 360 px: of every page |
| | the colours in both, what is no matter of colour in one of them by turns |
| contrast under the pointer, with the focus, of placeholders, of fields' edges, of the focus' ring | both themes |
| landmarks, headings, tables, errors of fields, nothing that ticks where it is read out | 320 px |
| what scrolls by itself is reached by keyboard | 320 px |
| nothing moves where a reader wants no motion | 320 px |
| every word is ours (docs/style.md) | unfolded, with scripts and without |
| no control that is seen does nothing | without scripts |
| light and dark | what depends on it, as told; the colours of a theme, and that it is kept: test_look_up.py |

A journey (search, filter, page, export, follow) is made once with scripts and once without where both lead there, in
the two themes and on the two widths that differ most, and not in each product of these. How each is made:

| page | with scripts | without |
|---|---|---|
| search, an intent, its raw JSON | test_look_up.py | test_look_up.py |
| an intent that moves | test_live.py: stream, polling | test_live.py: refresh |
| what its addresses hold | test_balances.py | test_balances.py |
| the response on the first screen; on paper | test_answer.py; test_print.py | |
| history: filters, pages, the way back | test_history.py | test_history.py |
| an address | test_address.py | test_address.py |
| triage | test_triage.py | test_triage.py |
| exports | test_export.py | test_export.py |
| routes: chosen, swapped, asked; chains against chains | test_routes.py | test_routes.py |

Which pages there are is told in kinds.py; a new page gets a line there. `make test` opens those kinds of pages
that its seed draws; `make deep` opens all of them both ways.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page

from tests import words
from tests.browser import kinds, looks
from tests.browser.conftest import fits, loaded, visiting
from tests.service.scripted_server import serving
from tests.serving import dashboard

pytestmark = pytest.mark.browser

type Findings = Iterator[tuple[str, list[str]]]
type Look = Callable[[Page], Findings]

WITH_SCRIPTS: Final = [
    "nothing is wider than the screen",
    "nothing is wider than the screen with large words",
    "nothing is cut off",
    "nothing goes wrong in the browser",
    "nothing has moved while it loaded",
    "it is short enough for a phone",
    "what is pressed is large enough",
    "axe finds nothing in the light",
    "axe finds nothing in the dark",
    "nothing is faint in any state",
    "it is built for everybody",
    "what scrolls is reached by keyboard",
    "nothing moves",
    "every word is ours",
]
WITHOUT: Final = [
    "nothing is wider than the screen",
    "it is short enough for a phone",
    "nothing goes wrong in the browser",
    "what is pressed is large enough",
    "no control that is seen does nothing",
    "every word is ours",
]


class Walk:
    """What was wrong where, by claim, and the number of pages checked for each claim."""

    def __init__(
        self, browser: Browser, roots: dict[str, list[kinds.Kind]], look: Look, *, widths: Sequence[int], **window: Any
    ) -> None:
        self.wrong: dict[str, list[str]] = defaultdict(list)
        self.looked: Counter[str] = Counter()
        self.titles: dict[str, list[kinds.Kind]] = defaultdict(list)
        for root, all_kinds in roots.items():
            with visiting(browser, root, width=widths[0], **window) as visit:
                for kind, width in zip(all_kinds, cycle(widths), strict=False):
                    show(visit.page, width)
                    kind.open(visit)
                    self.titles[visit.page.title()].append(kind)
                    for claim, found in look(visit.page):
                        self._note(claim, kind, found)
                    self._note("nothing goes wrong in the browser", kind, visit.faults)
                    visit.faults.clear()
        self.pages = sum(map(len, roots.values()))

    def assert_holds(self, claim: str) -> None:
        assert self.looked[claim] >= self.pages
        assert not self.wrong[claim], "\n".join(self.wrong[claim])

    def _note(self, claim: str, kind: kinds.Kind, found: list[str]) -> None:
        self.looked[claim] += 1
        self.wrong[claim] += [f"{kind.name}: {each}" for each in found]


@pytest.fixture(scope="module")
def server(sample_mirror: str) -> Iterator[str]:
    """Yield a dashboard with higher limits for write operations, whose pages wait for balances."""
    limits = {"INTENTS_RATE_CONSOLE_WRITES": "1000", "INTENTS_RATE_CONSOLE_READS": "1000"}
    with dashboard(INTENTS_DATABASE=sample_mirror, INTENTS_BALANCE_TIMEOUT="5", **limits) as root:
        yield root


@pytest.fixture(scope="module")
def troubled() -> Iterator[dict[str, list[kinds.Kind]]]:
    """Yield dashboards with a failing service, with their kinds of pages."""
    with (
        serving(kinds.of_an_intent) as odd,
        serving(kinds.in_trouble) as broken,
        dashboard(INTENTS_SERVICE_URL=odd.url, SECRET_KEY="a key of the test") as first,
        dashboard(INTENTS_SERVICE_URL=odd.url, SECRET_KEY="a key of the test") as second,
        dashboard(INTENTS_SERVICE_URL=broken.url, SECRET_KEY="a key of the test") as third,
    ):
        yield {first: kinds.OF_AN_INTENT_IN_TROUBLE, second: kinds.BUSY, third: kinds.TROUBLED}


def show(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})


def too_wide(page: Page, width: int, how: str = "") -> list[str]:
    show(page, width)
    return [] if fits(page) else [f"wider than {width} px {how}"]


def foreign_words(page: Page) -> list[str]:
    """Return what the lint of words finds on a page."""
    text = words.markup(page.content())
    return [f"{found.pattern}: …{found.around}…" for found in words.findings(text, page.url, is_message=True)]


def look_with_scripts() -> Look:
    known: dict[str, set[str]] = {"light": set(), "dark": set()}
    in_light = cycle([True, False])

    def look(page: Page) -> Findings:
        is_whole_in_light = next(in_light)
        loaded(page)
        yield "nothing has moved while it loaded", page.evaluate(looks.SHIFTED)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        for width in (1280, 360, 320):
            yield "nothing is wider than the screen", too_wide(page, width)
            if width == 360:
                yield "it is short enough for a phone", page.evaluate(looks.LONG)
        kinds.unfold(page)
        yield "every word is ours", foreign_words(page)
        yield "nothing is wider than the screen", too_wide(page, 320, "unfolded")
        yield "nothing is cut off", page.evaluate(looks.CUT)
        yield "it is built for everybody", page.evaluate(looks.BUILT)
        yield "what scrolls is reached by keyboard", page.evaluate(looks.SCROLLED)
        yield "nothing moves", page.evaluate(looks.MOVING)
        yield "nothing is wider than the screen", too_wide(page, 360, "unfolded")
        yield "what is pressed is large enough", page.evaluate(looks.SMALL)
        yield "nothing is wider than the screen", too_wide(page, 640, "unfolded")
        page.evaluate(looks.LARGE_WORDS, "200%")
        yield "nothing is wider than the screen with large words", too_wide(page, 640, "with large words")
        yield "nothing is cut off", page.evaluate(looks.CUT)
        page.evaluate(looks.LARGE_WORDS, "")
        for width in (768, 1280):
            yield "nothing is wider than the screen", too_wide(page, width, "unfolded")
        page.evaluate(looks.SHORTEN)
        shapes = looks.new_shapes(page, known["light"])
        yield "axe finds nothing in the light", looks.axe(page, shapes, is_whole=is_whole_in_light)
        yield "nothing is faint in any state", looks.faint(page, shapes)
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        show(page, 360)
        shapes = looks.new_shapes(page, known["dark"])
        yield "axe finds nothing in the dark", looks.axe(page, shapes, is_whole=not is_whole_in_light)
        yield "nothing is faint in any state", looks.faint(page, shapes)

    return look


def look_without(page: Page) -> Findings:
    yield "nothing is wider than the screen", too_wide(page, 360)
    yield "it is short enough for a phone", page.evaluate(looks.LONG)
    kinds.unfold(page)
    yield "nothing is wider than the screen", too_wide(page, 360, "unfolded")
    yield "what is pressed is large enough", page.evaluate(looks.SMALL)
    yield "no control that is seen does nothing", page.evaluate(looks.DEAD)
    yield "every word is ours", foreign_words(page)


@pytest.fixture(scope="module")
def walked(
    browser: Browser, server: str, troubled: dict[str, list[kinds.Kind]], draw: Callable[[Sequence, int], list]
) -> Walk:
    roots = {server: draw(kinds.every(server), 14)}
    roots |= {root: draw(all_kinds, 1) for root, all_kinds in troubled.items()}
    return Walk(browser, roots, look_with_scripts(), theme="light", widths=(1280, 768, 360))


@pytest.fixture(scope="module")
def walked_without_scripts(browser: Browser, server: str, draw: Callable[[Sequence, int], list]) -> Walk:
    roots = {server: draw(kinds.every(server), 40)}
    return Walk(browser, roots, look_without, theme="dark", widths=(360,), scripts=False)


@pytest.mark.parametrize("claim", WITH_SCRIPTS)
def test_every_kind_of_page_with_scripts(walked: Walk, claim: str) -> None:
    walked.assert_holds(claim)


@pytest.mark.parametrize("claim", WITHOUT)
def test_every_kind_of_page_without_scripts(walked_without_scripts: Walk, claim: str) -> None:
    walked_without_scripts.assert_holds(claim)


def test_each_kind_of_page_has_a_title_of_its_own(walked_without_scripts: Walk) -> None:
    """An error page is titled by what went wrong, unlike any other page."""
    for title, called in walked_without_scripts.titles.items():
        assert title.endswith(" · Intents"), called
        assert len(title) > len(" · Intents"), called
        standing = [kind for kind in called if kind.status in (200, 400)]
        assert called in (standing[:1], [kind for kind in called if kind.status >= 403]), title
