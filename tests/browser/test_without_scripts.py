"""Without JavaScript, each job is done to its result. Where the steps are those with scripts, one test does both (its
IDs say "without").
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Visit, some_intent, visiting
from tests.browser.kinds import OWNER
from tests.corpus import picked

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    with visiting(browser, server, theme="light", width=360, scripts=False) as visit:
        yield visit


def heading(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def looked_up_from_a_message(visit: Visit) -> None:
    intent_id = some_intent(visit, 2).removeprefix("/intent/")
    visit.open("/")
    visit.page.get_by_role("searchbox").fill(f"my transfer {intent_id} is gone")
    visit.page.get_by_role("button", name="Search").click()
    expect(visit.page).to_have_url(f"{visit.root}/intent/{intent_id}")
    visit.page.locator("#proof > summary").click()
    visit.page.get_by_role("link", name="All fields as a page").click()
    visit.page.locator("#raw > summary").click()
    expect(visit.page.locator("#raw pre").first).to_contain_text(f'"intentId": "{intent_id}"')


def looked_up_by_key(visit: Visit) -> None:
    visit.open("/")
    visit.page.get_by_role("link", name="advanced search").click()
    visit.page.get_by_label("Owner", exact=True).fill(OWNER.rpartition("/")[2])
    visit.page.get_by_role("region", name="Advanced search").get_by_role("button", name="Search", exact=True).click()
    expect(heading(visit.page)).to_have_text(re.compile(r"^\d+ transfers found$"))


def exported(visit: Visit) -> None:
    visit.open("/history?status=REFUNDED")
    visit.page.locator(".export > details > summary").click()
    with visit.page.expect_download() as download:
        visit.page.get_by_role("link", name="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()))
    assert {row["status"] for row in rows if row.get("status")} == {"REFUNDED"}


def read_an_address(visit: Visit) -> None:
    visit.open(OWNER)
    visit.page.get_by_role("navigation", name="Filter by status").get_by_role("link", name="Succeeded").click()
    shown = visit.page.locator("#list .intents tbody tr")
    expect(shown.first).to_contain_text("Succeeded")


def searched_tokens(visit: Visit) -> None:
    visit.open("/tokens")
    visit.page.get_by_role("searchbox", name="Search tokens").fill("usdc")
    visit.page.get_by_role("button", name="Search", exact=True).click()
    expect(visit.page).to_have_url(re.compile(r"q=usdc"))
    visit.page.get_by_role("link", name="USDC", exact=True).first.click()
    expect(heading(visit.page)).to_have_text("USDC")
    visit.page.get_by_role("link", name="Routes from this token").click()
    expect(visit.page.locator("#answer")).to_contain_text("reachable from USDC")


def narrowed_chains(visit: Visit) -> None:
    visit.open("/chains")
    visit.page.locator('[data-filter="provider"] summary').click()
    visit.page.get_by_label("Route provider", exact=True).fill("cctp")
    visit.page.get_by_role("button", name="Apply").click()
    expect(visit.page).to_have_url(f"{visit.root}/chains?provider=CCTP")
    visit.page.locator(".chains .row-link").first.click()
    expect(visit.page.get_by_role("heading", level=2, name="Connected chains")).to_be_visible()


def called_an_operation(visit: Visit) -> None:
    intent_id = some_intent(visit, 3).rpartition("/")[2]
    visit.open("/console")
    visit.page.get_by_role("link", name="GetIntent", exact=True).click()
    visit.page.get_by_label("intentId", exact=True).fill(intent_id)
    visit.page.get_by_role("button", name="Send", exact=True).click()
    expect(visit.page.get_by_role("heading", name="200 OK")).to_be_visible()
    visit.page.locator("summary", has_text="As JSON").click()
    visit.page.get_by_label("The whole request as JSON").fill(json.dumps({"intentId": "0x12"}))
    visit.page.get_by_role("button", name="Send this JSON").click()
    expect(visit.page.get_by_role("heading", name=re.compile("^4"))).to_be_visible()


def found_routes(visit: Visit) -> None:
    visit.open("/routes")
    find = visit.page.get_by_role("button", name="Find routes")
    destination = visit.page.get_by_role("region", name="To", exact=True)
    destination.get_by_label("Chain").select_option("Base")
    find.click()
    destination.get_by_label("Token", exact=True).select_option("USDC")
    find.click()
    expect(visit.page.locator("#answer")).to_contain_text("with a route to USDC on Base")


JOBS = [
    looked_up_from_a_message,
    looked_up_by_key,
    read_an_address,
    exported,
    narrowed_chains,
    searched_tokens,
    found_routes,
    called_an_operation,
]


@pytest.mark.parametrize(
    "job",
    picked({job.__name__.replace("_", " "): job for job in JOBS}, "exported", "called an operation"),
)
def test_each_task_can_be_completed(visit: Visit, job: Callable[[Visit], None]) -> None:
    job(visit)
