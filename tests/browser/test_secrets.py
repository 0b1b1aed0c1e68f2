"""Recovery phrases and private keys that are pasted don't leave the browser."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visit, visiting
from tests.pages.test_secret_text import HARMLESS, SECRETS

pytestmark = pytest.mark.browser
FORMS = {"/": "[data-search]", "/triage": "[data-case]"}


@pytest.mark.parametrize("path", ["/", pytest.param("/triage", marks=pytest.mark.programs)])
def test_a_pasted_secret_is_not_sent(browser: Browser, server: str, path: str) -> None:
    with visiting(browser, server, theme="light", width=360) as visit:
        sent: list[str] = []
        visit.page.on("request", lambda request: sent.append(f"{request.url} {request.post_data or ''}"))
        visit.open(path)
        for name in ("twelve words", "eleven words alike", "WIF", "named digits"):
            field = visit.page.locator(FORMS[path])
            field.fill(SECRETS[name])
            sent.clear()
            field.press("Control+Enter" if path == "/triage" else "Enter")
            expect(visit.page.get_by_role("alert")).to_contain_text("It was not sent")
            expect(visit.page.locator("#palette:visible")).to_have_count(0)
            assert "abandon" not in visit.page.content()
            expect(field).to_have_value("")
            assert visit.page.url == visit.root + path
            assert [each for each in sent if "/static/" not in each] == []
        assert "abandon" not in str(visit.page.evaluate("({ ...localStorage, ...sessionStorage })"))


@pytest.mark.programs
def test_a_suggestion_to_search_for_a_secret_sends_nothing(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark", width=1280) as visit:
        visit.open("/")
        visit.page.locator("[data-search]").fill(SECRETS["twelve words"])
        visit.page.get_by_role("option", name="Search for").click()
        expect(visit.page.get_by_role("alert")).to_contain_text("It was not sent")
        assert visit.page.url == f"{server}/"


@pytest.mark.programs
def test_an_ordinary_message_is_looked_up(visit: Visit) -> None:
    # Its words look like those of a phrase until the list has been read.
    message = "please send help quickly because money went missing yesterday after lunch sadly 0x" + "cd" * 32
    for text in (message, HARMLESS["one word after another"]):
        visit.open("/")
        field = visit.page.locator("[data-search]")
        field.fill(text)
        field.press("Enter")
        visit.page.wait_for_url(f"**/search?q={text.split()[0]}*")
        visit.forgive(404)
