"""All fields of a transfer: a filter shows matching fields of all sections, in the browser only."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.conftest import Visit, some_intent, visiting
from tests.browser.kinds import transfer

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    with visiting(browser, server, theme="light", width=360) as visit:
        yield visit


def unfold(visit: Visit, path: str) -> Locator:
    """Open a transfer's page and its fields. Return the filter."""
    visit.open(path)
    visit.page.locator("#proof > summary").click()
    expect(visit.page.locator("#raw")).to_be_visible()
    return visit.page.get_by_role("searchbox", name="Filter fields")


def found(visit: Visit) -> Locator:
    return visit.page.locator("#fields [data-field]:visible, #fields .arguments tbody tr:visible")


def test_a_part_of_a_name_or_value_shows_the_fields_of_all_sections_that_contain_it(visit: Visit) -> None:
    page, field = visit.page, unfold(visit, some_intent(visit, 11))
    fields, folds = found(visit), page.locator("#fields > .fold")
    open_folds = page.locator("#fields .fold[open]")
    expect(open_folds).to_have_count(0)
    sections = folds.count()

    field.press_sequentially("OWNERaddr")
    owner = page.locator('[data-field="intent.ownerAddress"]')
    expect(owner).to_be_visible()
    assert all("owneraddress" in row.lower() for row in fields.evaluate_all("all => all.map((each) => each.innerHTML)"))
    counts = re.compile(rf"^{fields.count()} of \d{{3}} fields$")
    expect(page.get_by_role("status").filter(has_text=" fields")).to_have_text(counts)
    assert open_folds.count() == folds.locator("visible=true").count() < sections

    value = owner.locator("[title^='0x']").first.get_attribute("title")
    field.fill(str(value)[10:30])
    expect(owner).to_be_visible()

    field.fill("no field contains this")
    expect(page.locator("#fields-found")).to_have_text(re.compile(r"^0 of \d+ fields$"))
    expect(folds.locator("visible=true")).to_have_count(0)

    field.press("Escape")
    expect(field).to_have_value("")
    expect(page.locator("#fields-found")).to_be_empty()
    expect(folds.locator("visible=true")).to_have_count(sections)
    expect(open_folds).to_have_count(0)


@pytest.mark.slow
def test_the_filter_sends_nothing_and_holds_when_the_fields_are_loaded_again(visit: Visit, server: str) -> None:
    """The fields of an open transfer are loaded again when the user unfolds one of their sections."""
    page, field = visit.page, unfold(visit, transfer(server))
    sent = list[str]()
    page.on("request", lambda request: sent.append(request.url))
    field.fill("ownerAddress")
    expect(page.locator("#fields-found")).to_contain_text(" of ")
    found_first = page.locator("#fields-found").inner_text()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")  # toggle events
    assert not [url for url in sent if "/proof" in url]

    with page.expect_response("**/proof"):
        page.locator("#proof > summary").click()
        page.locator("#proof > summary").click()
    expect(page.locator("#fields-found")).to_have_text(found_first)
    expect(page.locator('[data-field="intent.status"]')).to_be_hidden()
    field.press("Escape")
    with page.expect_response("**/proof"):
        page.locator("#raw > summary").click()
