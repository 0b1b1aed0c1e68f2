"""Every kind of page, opened once with scripts and once without, and checked for what holds on each page.

Each page is checked with all its sections open:

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
| landmarks, headings, tables, errors of fields, nothing in a live region that changes every second | 320 px |
| scrollable regions can be reached by keyboard | 320 px |
| no animation with reduced motion | 320 px |
| every word is one of ours (docs/style.md) | with scripts and without |
| no visible control does nothing | without scripts |

A new page gets a line in places.txt. `make test` opens the eight kinds of pages that differ the most,
`make programs` all.
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


class Walk:
    """Findings by claim, and the number of pages checked for each claim."""

    def __init__(
        self,
        browser: Browser,
        roots: dict[str, list[kinds.Kind]],
        look: Look,
        *,
        widths: Sequence[int],
        **window: Any,
    ) -> None:
        self.wrong: dict[str, list[str]] = defaultdict(list)
        self.looked: Counter[str] = Counter()
        self.titles: dict[str, list[kinds.Kind]] = defaultdict(list)
        for root, all_kinds in roots.items():
            with visiting(browser, root, width=widths[0], **window) as visit:
                visit.page.add_init_script(looks.AXE_SCRIPT)  # axe then isn't compiled at each page
                visit.page.add_init_script(looks.COLLECT_SHIFTS)
                for kind, width in zip(all_kinds, cycle(widths), strict=False):
                    show(visit.page, width)
                    kind.open(visit)
                    self.titles[visit.page.title()].append(kind)
                    for claim, found in look(visit.page):
                        self._note(claim, kind, found)
                    self._note("the browser reports no error", kind, visit.faults)
                    visit.faults.clear()
        self.pages = sum(map(len, roots.values()))

    def assert_all_hold(self) -> None:
        assert min(self.looked.values()) >= self.pages
        wrong = [f"{claim}: {each}" for claim, found in self.wrong.items() for each in found]
        assert not wrong, "\n".join(wrong)

    def _note(self, claim: str, kind: kinds.Kind, found: list[str]) -> None:
        self.looked[claim] += 1
        self.wrong[claim] += [f"{kind.name}: {each}" for each in found]


EXTENTS: Final = ["chosen", pytest.param("all", marks=pytest.mark.programs)]


@pytest.fixture(scope="module", params=EXTENTS)
def roots(request: pytest.FixtureRequest) -> Iterator[dict[str, list[kinds.Kind]]]:
    """Yield dashboards, with the pages to open of each."""
    if request.param == "chosen":
        server = request.getfixturevalue("server")
        yield {server: kinds.chosen(server)}
        return
    mirror = request.getfixturevalue("sample_mirror")
    with (
        serving(kinds.of_an_intent) as odd,
        serving(kinds.failing) as broken,
        dashboard(INTENTS_DATABASE=mirror, INTENTS_EMBED_HOSTS="helpdesk.example") as root,
        dashboard(INTENTS_SERVICE_URL=odd.url, SECRET_KEY="a key of the test") as first,
        dashboard(INTENTS_SERVICE_URL=odd.url, SECRET_KEY="a key of the test") as second,
        dashboard(INTENTS_SERVICE_URL=broken.url, SECRET_KEY="a key of the test") as third,
    ):
        troubled = {first: kinds.OF_A_FAILING_INTENT, second: kinds.BUSY, third: kinds.TROUBLED}
        yield {root: [*kinds.every(root), *kinds.side_bar(root)], **troubled}


def show(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})


def too_wide(page: Page, width: int, how: str = "") -> list[str]:
    show(page, width)
    return [] if fits(page) else [f"wider than {width} px {how}"]


def foreign_words(page: Page) -> list[str]:
    """Return what the lint of words finds on a page."""
    text = words.markup(page.content())
    return [f"{found.pattern}: …{found.around}…" for found in words.findings(text, page.url, is_message=True)]


def look_with_scripts(*, is_brief: bool) -> Look:
    """Return the checks of a page. `is_brief`: fewer widths, and axe in the two themes in turn."""
    known: dict[str, set[str]] = {"light": set(), "dark": set()}
    turns = cycle(["light", "dark"])

    def look(page: Page) -> Findings:
        turn = next(turns)
        loaded(page)
        yield "nothing shifts while the page loads", looks.look(page, "shifted")
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        for width in (360,) if is_brief else (1280, 360, 320):
            yield "nothing is wider than the screen", too_wide(page, width)
            if width == 360:
                yield "the page is short enough for a phone", looks.look(page, "tooLong")
        kinds.unfold(page)
        yield "every word is one of ours", foreign_words(page)
        yield "nothing is wider than the screen", too_wide(page, 320, "with open sections")
        yield "nothing is cut off", looks.look(page, "cutOff")
        yield "the structure is accessible", looks.look(page, "wronglyBuilt")
        yield "scrollable regions can be reached by keyboard", looks.look(page, "scrolledWithoutKeyboard")
        yield "nothing is animated", looks.look(page, "moving")
        yield "nothing is wider than the screen", too_wide(page, 360, "with open sections")
        yield "controls are large enough", looks.look(page, "tooSmall")
        yield "nothing is wider than the screen", too_wide(page, 640, "with open sections")
        looks.look(page, "enlarge", "200%")
        yield "nothing is wider than the screen with large text", too_wide(page, 640, "with large text")
        yield "nothing is cut off", looks.look(page, "cutOff")
        looks.look(page, "enlarge", "")
        for width in (1280,) if is_brief else (768, 1280):
            yield "nothing is wider than the screen", too_wide(page, width, "with open sections")
        looks.look(page, "shorten")
        for theme, width in (("light", 1280), ("dark", 360)):
            if is_brief and theme != turn:
                continue
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            show(page, width)
            shapes = looks.new_shapes(page, known[theme])
            yield "axe finds nothing", looks.axe(page, shapes, is_whole=theme == turn)

    return look


def look_without(page: Page) -> Findings:
    yield "nothing is wider than the screen", too_wide(page, 360)
    yield "the page is short enough for a phone", looks.look(page, "tooLong")
    kinds.unfold(page)
    yield "nothing is wider than the screen", too_wide(page, 360, "with open sections")
    yield "controls are large enough", looks.look(page, "tooSmall")
    yield "no visible control does nothing", looks.look(page, "dead")
    yield "every word is one of ours", foreign_words(page)


@pytest.fixture(scope="module")
def walked(browser: Browser, roots: dict[str, list[kinds.Kind]]) -> Walk:
    look = look_with_scripts(is_brief=len(roots) == 1)
    return Walk(browser, roots, look, theme="light", widths=(1280, 768, 360))


@pytest.fixture(scope="module")
def walked_without_scripts(browser: Browser, roots: dict[str, list[kinds.Kind]]) -> Walk:
    root, *others = roots
    # The quote that the other walk has committed can't be committed again.
    opened = kinds.every(root) if others else roots[root]
    return Walk(browser, {root: opened}, look_without, theme="dark", widths=(360,), scripts=False)


def test_every_kind_of_page_with_scripts(walked: Walk) -> None:
    walked.assert_all_hold()


def test_every_kind_of_page_without_scripts(walked_without_scripts: Walk) -> None:
    walked_without_scripts.assert_all_hold()


def test_each_kind_of_page_has_a_title_of_its_own(walked_without_scripts: Walk) -> None:
    """The title of an error page is the error. No other page has it."""
    for title, called in walked_without_scripts.titles.items():
        assert title.endswith(" · Intents"), called
        assert len(title) > len(" · Intents"), called
        standing = [kind for kind in called if kind.status in (200, 400)]
        assert called in (standing[:1], [kind for kind in called if kind.status >= 403]), title
