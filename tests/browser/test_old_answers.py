"""An open page while the service fails and after it recovers: what it shows and announces."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from intents_ui.emulator.app import Emulator
from tests.browser.conftest import fits, visiting
from tests.faults.upstream import STATUSES, Upstream, refusing, upstream
from tests.serving import dashboard

REASON = re.compile(r"Last updated .+ \(.+\): transfer list\. (Service error|The service is slow to respond)\.")
LOOK = 11_000  # milliseconds after which the home page has refreshed


@pytest.fixture(scope="module")
def service() -> Iterator[Upstream]:
    with upstream(Emulator(service_name="Service")) as made:
        yield made


@pytest.fixture(scope="module")
def root(service: Upstream) -> Iterator[str]:
    how = {
        "INTENTS_SERVICE_URL": service.url,
        "SECRET_KEY": "of-a-test" * 6,
        "INTENTS_CACHE_TTL": "history=0/0/3600",
    }
    with dashboard(**how) as url:
        yield url


@pytest.mark.browser
def test_a_stale_list_says_so_until_it_is_refreshed(browser: Browser, service: Upstream, root: str) -> None:
    service.clear_faults()
    with visiting(browser, root, theme="dark", width=360) as visit:
        page = visit.page
        page.clock.install()
        visit.open("/")
        note, said = page.locator("#old-answers"), page.locator("#old-said")
        expect(note).to_be_empty()
        service.inject(STATUSES["502 with a page"], "GetIntentHistory")
        page.clock.fast_forward(LOOK)
        expect(note).to_contain_text(REASON)
        expect(said).to_contain_text(re.compile(r"^Last updated \d\d:\d\d UTC: transfer list\. [^.]+\.$"))
        expect(page.locator("#unanswered")).to_be_empty()
        assert fits(page)
        service.clear_faults()
        for _ in range(40):
            page.clock.fast_forward(LOOK)
            page.wait_for_timeout(800)
            if not note.inner_text().strip():
                break
        expect(note).to_be_empty()
        expect(said).to_be_empty()


@pytest.mark.browser
def test_a_pause_of_the_service_is_announced_on_every_page(browser: Browser, service: Upstream, root: str) -> None:
    service.clear_faults()
    service.inject(refusing(9000, "IntentsDisabled", 400))
    with visiting(browser, root, theme="light", width=360) as visit:
        visit.open("/history")
        visit.forgive(503)
        visit.open("/help")
        expect(visit.page.locator(".banner")).to_contain_text("The service is paused.")
        assert fits(visit.page)
    service.clear_faults()
