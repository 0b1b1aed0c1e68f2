"""Every kind of page, opened once with scripts and once without, and checked for what holds on each page.

Other tests of this folder don't repeat these checks. Each page is checked with all its sections open:

| claim | checked at |
|---|---|
| nothing is wider than the screen | 320, 360, 640 (1280 at 200%), 768 and 1280 px; closed at 320, 360 and 1280 px; |
| | 640 px with text of twice the size; 360 px without scripts |
| nothing is cut off | 320 px; 640 px with text of twice the size |
| no error in the console, no request to another host | during these checks, and in each visit of any test. A page |
| | loads at 1280, 768 or 360 px in turn, and at 360 px without scripts |
| links and buttons of at least 24 px | 360 px, with scripts and without |
| axe-core finds nothing (WCAG 2.0 to 2.2 A and AA, best practice) | light at 1280 px and dark at 360 px. Rules about |
| | colors and sizes run in both, the others in one of them in turn |
| contrast of hover and focus states, placeholders, borders of fields and focus rings | both themes |
| landmarks, headings, tables, errors of fields, nothing in a live region that changes every second | 320 px |
| scrollable regions can be reached by keyboard | 320 px |
| no animation with reduced motion | 320 px |
| every word is one of ours (docs/style.md) | with scripts and without |
| no visible control does nothing | without scripts |
| light and dark | test_look_up.py: a theme's colors, and that the choice is kept |

A journey (search, filter, page, export, follow) is made once with scripts and once without where both lead to its end,
in the two themes and on the two widths that differ most, not in each combination of them:

| page | with scripts | without |
|---|---|---|
| search, a transfer, its raw JSON | test_look_up.py | test_look_up.py |
| a running transfer | test_live.py: stream, polling | test_live.py: refresh |
| its on-chain balances | test_balances.py | test_balances.py |
| its summary on the first screen; in print | test_answer.py; test_print.py | |
| history: filters, pages, back | test_history.py | test_history.py |
| an address | test_address.py | test_address.py |
| triage | test_triage.py | test_triage.py |
| exports | test_export.py | test_export.py |
| routes: choice, swap, lookup, matrix | test_routes.py | test_routes.py |

The kinds of pages are in kinds.py. A new page gets a line there. `make test` opens a sample of them, `make deep` all.
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
    "nothing is wider than the screen with large text",
    "nothing is cut off",
    "the browser reports no error",
    "nothing shifts while the page loads",
    "the page is short enough for a phone",
    "controls are large enough",
    "axe finds nothing in the light theme",
    "axe finds nothing in the dark theme",
    "contrast is high enough in every state",
    "the structure is accessible",
    "scrollable regions can be reached by keyboard",
    "nothing is animated",
    "every word is one of ours",
]
WITHOUT: Final = [
    "nothing is wider than the screen",
    "the page is short enough for a phone",
    "the browser reports no error",
    "controls are large enough",
    "no visible control does nothing",
    "every word is one of ours",
]


class Walk:
    """Findings by claim, and the number of pages checked for each claim."""

    def __init__(
        self, browser: Browser, roots: dict[str, list[kinds.Kind]], look: Look, *, widths: Sequence[int], **window: Any
    ) -> None:
        self.wrong: dict[str, list[str]] = defaultdict(list)
        self.looked: Counter[str] = Counter()
        self.titles: dict[str, list[kinds.Kind]] = defaultdict(list)
        for root, all_kinds in roots.items():
            with visiting(browser, root, width=widths[0], **window) as visit:
                visit.page.add_init_script(looks.AXE_SCRIPT)  # which then isn't compiled at each page
                for kind, width in zip(all_kinds, cycle(widths), strict=False):
                    show(visit.page, width)
                    kind.open(visit)
                    self.titles[visit.page.title()].append(kind)
                    for claim, found in look(visit.page):
                        self._note(claim, kind, found)
                    self._note("the browser reports no error", kind, visit.faults)
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
        yield "nothing shifts while the page loads", page.evaluate(looks.SHIFTED)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        for width in (1280, 360, 320):
            yield "nothing is wider than the screen", too_wide(page, width)
            if width == 360:
                yield "the page is short enough for a phone", page.evaluate(looks.LONG)
        kinds.unfold(page)
        yield "every word is one of ours", foreign_words(page)
        yield "nothing is wider than the screen", too_wide(page, 320, "with open sections")
        yield "nothing is cut off", page.evaluate(looks.CUT)
        yield "the structure is accessible", page.evaluate(looks.BUILT)
        yield "scrollable regions can be reached by keyboard", page.evaluate(looks.SCROLLED)
        yield "nothing is animated", page.evaluate(looks.MOVING)
        yield "nothing is wider than the screen", too_wide(page, 360, "with open sections")
        yield "controls are large enough", page.evaluate(looks.SMALL)
        yield "nothing is wider than the screen", too_wide(page, 640, "with open sections")
        page.evaluate(looks.LARGE_WORDS, "200%")
        yield "nothing is wider than the screen with large text", too_wide(page, 640, "with large text")
        yield "nothing is cut off", page.evaluate(looks.CUT)
        page.evaluate(looks.LARGE_WORDS, "")
        for width in (768, 1280):
            yield "nothing is wider than the screen", too_wide(page, width, "with open sections")
        page.evaluate(looks.SHORTEN)
        shapes = looks.new_shapes(page, known["light"])
        yield "axe finds nothing in the light theme", looks.axe(page, shapes, is_whole=is_whole_in_light)
        yield "contrast is high enough in every state", looks.faint(page, shapes)
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        show(page, 360)
        shapes = looks.new_shapes(page, known["dark"])
        yield "axe finds nothing in the dark theme", looks.axe(page, shapes, is_whole=not is_whole_in_light)
        yield "contrast is high enough in every state", looks.faint(page, shapes)

    return look


def look_without(page: Page) -> Findings:
    yield "nothing is wider than the screen", too_wide(page, 360)
    yield "the page is short enough for a phone", page.evaluate(looks.LONG)
    kinds.unfold(page)
    yield "nothing is wider than the screen", too_wide(page, 360, "with open sections")
    yield "controls are large enough", page.evaluate(looks.SMALL)
    yield "no visible control does nothing", page.evaluate(looks.DEAD)
    yield "every word is one of ours", foreign_words(page)


@pytest.fixture(scope="module")
def walked(
    browser: Browser, server: str, troubled: dict[str, list[kinds.Kind]], draw: Callable[[Sequence, int], list]
) -> Walk:
    roots = {server: draw(kinds.every(server), 8)}
    roots |= {root: draw(all_kinds, 1) for root, all_kinds in troubled.items()}
    return Walk(browser, roots, look_with_scripts(), theme="light", widths=(1280, 768, 360))


@pytest.fixture(scope="module")
def walked_without_scripts(browser: Browser, server: str, draw: Callable[[Sequence, int], list]) -> Walk:
    roots = {server: draw(kinds.every(server), 24)}
    return Walk(browser, roots, look_without, theme="dark", widths=(360,), scripts=False)


@pytest.mark.parametrize("claim", WITH_SCRIPTS)
def test_every_kind_of_page_with_scripts(walked: Walk, claim: str) -> None:
    walked.assert_holds(claim)


@pytest.mark.parametrize("claim", WITHOUT)
def test_every_kind_of_page_without_scripts(walked_without_scripts: Walk, claim: str) -> None:
    walked_without_scripts.assert_holds(claim)


def test_each_kind_of_page_has_a_title_of_its_own(walked_without_scripts: Walk) -> None:
    """The title of an error page is the error. No other page has it."""
    for title, called in walked_without_scripts.titles.items():
        assert title.endswith(" · Intents"), called
        assert len(title) > len(" · Intents"), called
        standing = [kind for kind in called if kind.status in (200, 400)]
        assert called in (standing[:1], [kind for kind in called if kind.status >= 403]), title
