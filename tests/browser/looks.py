"""Checks of an open page. Each returns its findings as sentences.

Colors and sizes are checked by shape: elements with the same names, classes and states within the same ancestors look
the same. The first and the last element of each shape on a page are checked, and none on later pages.
"""

from pathlib import Path
from typing import Any, Final

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

SCRIPT: Final = Path(__file__).with_suffix(".js").read_text()
COLLECT_SHIFTS: Final = f"{SCRIPT}.collectShifts()"
AXE: Final[dict[str, Any]] = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
    "preload": False,
}
# These rules depend on an element's shape and surroundings only, and take most of the time.
RULES_BY_SHAPE: Final = {
    "color-contrast": "[data-looked-at]",
    "link-in-text-block": "a[href][data-looked-at]",
    "target-size": "[data-looked-at]",
}


def function(name: str) -> str:
    """Return a function of looks.js."""
    return f"(given) => {SCRIPT}.{name}(given)"


def look(page: Page, check: str, given: object = None) -> list[str]:
    """Return what this check of looks.js finds."""
    found: list[str] = page.evaluate(function(check), given)
    return found


def new_shapes(page: Page, known: set[str]) -> list[str]:
    """Return the shapes on this page that no earlier page had, and remember them."""
    found = [shape for shape in look(page, "byShape") if shape not in known]
    known.update(found)
    return found


def axe(page: Page, shapes: list[str], *, is_whole: bool) -> list[str]:
    """Return axe-core's findings: about colors and sizes in these shapes, about everything else only if `is_whole`."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    # The header of a list covers rows that have scrolled below it, and a bar at the bottom of the screen what is there.
    page.evaluate("scrollTo(0, 0)")
    look(page, "uncover")
    assert page.viewport_size
    page.set_viewport_size(page.viewport_size | {"height": page.evaluate("document.documentElement.scrollHeight")})
    return look(page, "runAxe", [shapes, AXE, RULES_BY_SHAPE, is_whole])
