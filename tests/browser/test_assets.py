"""Minified style sheets have the same rules as the sources, and minified scripts can be parsed."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from intents_ui.web import assets

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parent.parent.parent / "static"
RULES = """(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  // Where a value names a variable, its text is kept as it was written.
  return Array.from(sheet.cssRules, (rule) => rule.cssText.replaceAll(/,\\s+/g, ","));
}"""


def test_minified_style_sheets_have_the_same_rules(browser: Browser) -> None:
    page = browser.new_page()
    for sheet in sorted((STATIC / "css").glob("*.css")):
        written = sheet.read_text()
        rules = page.evaluate(RULES, written)
        assert rules, sheet.name
        assert page.evaluate(RULES, assets.slim_sheet(written)) == rules, sheet.name
    page.close()


def test_minified_scripts_can_be_parsed(browser: Browser) -> None:
    page = browser.new_page()
    for script in (STATIC / "js").glob("*.js"):
        page.evaluate("(text) => { new Function(text); }", assets.slim_script(script.read_text()))
    page.close()
