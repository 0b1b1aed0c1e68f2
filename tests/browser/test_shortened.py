"""Saved items are compared with a shortened ID in the browser, without sending any of them."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Request

from tests.browser.conftest import Visit, some_intent, visiting

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.forgive(404)
        yield visit
        visit.forgive(404)


def search(visit: Visit, shortened: str) -> Page:
    visit.open(f"/search?q={quote(shortened)}")
    return visit.page


def saved(page: Page) -> list[str]:
    links = page.get_by_role("region", name="Saved in this browser").locator("li a")
    return [str(link) for link in links.evaluate_all("links => links.map(link => link.getAttribute('href'))")]


def short(path: str) -> str:
    return f"{path.rpartition('/')[2][:6]}…{path[-4:]}"


def test_saved_items_are_never_sent(visit: Visit) -> None:
    first, second = some_intent(visit, 2), some_intent(visit, 8)
    for path in (first, second):
        visit.open(path)
    visit.open("/help")  # parts of those pages may still be loading
    sent: list[Request] = []
    visit.page.on("request", lambda request: sent.append(request))
    assert saved(search(visit, short(second))) == [second]
    for request in sent:
        written = f"{request.url} {request.headers} {request.post_data}"
        assert all(path.rpartition("/")[2] not in written for path in (first, second))
