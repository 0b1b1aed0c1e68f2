"""Requests that are rejected before they are read, in a browser: their error pages, and long URLs that are accepted."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import FITS, visiting
from tests.browser.kinds import transfer
from tests.serving import dashboard
from tests.waiting import PATIENCE

pytestmark = pytest.mark.browser

VISITOR = {"X-Forwarded-For": "203.0.113.7"}
SEND_70_KB = """() => {
  const form = document.querySelector("form[action='/search']");
  form.method = "post";
  form.querySelector("input[type=search], textarea").value = "x".repeat(70_000);
  HTMLFormElement.prototype.submit.call(form);
}"""


@pytest.fixture(scope="module")
def strict() -> Iterator[str]:
    """Yield a dashboard behind a proxy that permits one page per second and bursts of eight."""
    with dashboard(TRUSTED_PROXIES="127.0.0.1", INTENTS_RATE_PAGES="1") as root:
        yield root


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_rate_and_size_limits_have_pages_that_say_what_to_do(
    browser: Browser, strict: str, theme: str, width: int
) -> None:
    with visiting(browser, strict, theme=theme, width=width) as visit:
        page = visit.page
        visit.open("/search")
        page.evaluate(SEND_70_KB)
        expect(page.get_by_role("heading", level=1)).to_have_text("Request too large")
        assert page.evaluate(FITS)
        page.set_extra_http_headers(VISITOR)
        with httpx.Client(base_url=strict, headers=VISITOR, trust_env=False, timeout=PATIENCE) as client:
            while client.get("/robots.txt").status_code == 200:
                pass
        visit.open("/history")
        expect(page.get_by_role("heading", level=1)).to_have_text("Too many requests")
        expect(page.get_by_role("link", name="Try again")).to_be_visible()
        assert page.evaluate(FITS)
        visit.forgive(413)
        visit.forgive(429)


def test_a_page_with_a_long_url_is_live_too(browser: Browser, server: str) -> None:
    """htmx would send the whole URL in a header of each request, longer than servers accept."""
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open(f"{transfer(server, commit=True, execute=True)}?x={'a' * 9_000}")
        expect(visit.page.locator("html")).to_have_attribute("data-stream", "open")
