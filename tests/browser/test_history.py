"""The list of transfers in a real browser: filters, pages, Back, and its announcements."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from intents_ui.emulator import names
from intents_ui.emulator.names import Role
from tests.browser.conftest import PATIENCE_MS, Visit, fits, visiting
from tests.serving import dashboard, free_port, running

pytestmark = pytest.mark.browser

JOURNEYS = pytest.mark.parametrize(
    ("theme", "width", "scripts"), [("light", 360, True), ("dark", 1280, False)], ids=["with scripts", "without"]
)
# On a busy machine a list is shown as it was, if the newer one isn't there within 0.3 s.
SLOW_RESPONSES = 3


@pytest.fixture
def past() -> str:
    """Return a list that no longer grows. Transfers of the last half day may still fail or be refunded."""
    return f"to={int((datetime.now(UTC) - timedelta(hours=12)).timestamp())}"


def rows(page: Page) -> list[str]:
    return [str(row.get_attribute("id")) for row in page.locator("tr[id^=row-]").all()]


def assert_shows(page: Page, ids: list[str]) -> None:
    """Check the list once its last row is there."""
    expect(page.locator("tr[id^=row-]").last).to_have_id(ids[-1])
    assert rows(page) == ids


def pill(page: Page, name: str) -> Locator:
    return page.locator(f'.pill[data-filter="{name}"]')


def said(page: Page) -> Locator:
    return page.locator("#said")


def is_at_its_top(page: Page) -> bool:
    return bool(page.evaluate("document.querySelector('#list h1').getBoundingClientRect().top < innerHeight / 2"))


@JOURNEYS
def test_a_user_filters_pages_goes_back_and_removes_the_filter(
    browser: Browser, server: str, theme: str, width: int, scripts: bool, past: str
) -> None:
    with visiting(browser, server, theme=theme, width=width, scripts=scripts) as visit:
        page = visit.page
        visit.open(f"/history?{past}")
        pill(page, "status").locator("summary").click()
        page.get_by_role("checkbox", name="Failed").check()
        page.get_by_role("checkbox", name="Refunded").check()
        assert fits(page)
        pill(page, "status").get_by_role("button", name="Apply").click()
        expect(page).to_have_url(f"{server}/history?status=FAILED&status=REFUNDED&{past}")
        expect(page).to_have_title(re.compile("^Transfers: Status: failed or refunded, Created until .* · Intents$"))
        expect(pill(page, "status").locator("summary")).to_have_text("Status: failed or refunded")
        expect(page.get_by_role("link", name="Older →")).to_be_visible()
        words = page.locator("tr[id^=row-] .status").all_inner_texts()
        assert {word.strip() for word in words} == {"Failed", "Refunded"}
        first = rows(page)

        page.get_by_role("link", name="Older →").click()
        expect(page).to_have_url(re.compile("cursor="))
        expect(page.get_by_role("link", name="← Newer")).to_be_visible()
        second = rows(page)
        assert len(first) == 20
        assert second
        assert not set(first) & set(second)
        if scripts:
            expect(said(page)).to_have_text(f"{len(second)} transfers, older page")
            expect(page.get_by_role("heading", name="Transfers")).to_be_focused()
            assert is_at_its_top(page)

        page.get_by_role("link", name="← Newer").click()
        assert_shows(page, first)
        expect(page.get_by_role("link", name="← Newer")).to_have_count(0)
        page.go_back()
        assert_shows(page, second)
        page.go_forward()
        assert_shows(page, first)
        expect(page.get_by_role("link", name="← Newer")).to_have_count(0)

        page.get_by_role("link", name="Remove filter: Status: failed or refunded").click()
        expect(page).to_have_url(f"{server}/history?{past}")
        expect(pill(page, "status").locator("summary")).to_have_text("Status")
        page.get_by_role("link", name="Clear all").click()
        expect(page).to_have_url(f"{server}/history")
        expect(page).to_have_title("Transfers · Intents")
        assert fits(page)


def test_a_shared_link_shows_the_same_page(browser: Browser, server: str, past: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open(f"/history?origin=8453&{past}")
        for _ in range(3):
            before = rows(visit.page)
            visit.page.get_by_role("link", name="Older →").click()
            expect(visit.page.locator(f"#{before[0]}")).to_have_count(0)
        shown, path = rows(visit.page), visit.page.url.removeprefix(server)
        visit.page.reload()
        assert_shows(visit.page, shown)
    with visiting(browser, server, theme="dark", width=360, scripts=False) as other:
        other.open(path)
        assert_shows(other.page, shown)
        other.page.get_by_role("link", name="← Newer").click()
        assert_shows(other.page, before)


@JOURNEYS
def test_invalid_input_is_reported_next_to_its_field(
    browser: Browser, server: str, width: int, theme: str, scripts: bool
) -> None:
    with visiting(browser, server, theme=theme, width=width, scripts=scripts) as visit:
        page = visit.page
        visit.open("/history?origin=8453")
        pill(page, "owner").locator("summary").click()
        field = page.get_by_role("textbox", name="Owner")
        field.fill("0x12")
        field.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("An address has 40 hex characters. This one has 2.")
        expect(field).to_be_visible()
        expect(field).to_have_value("0x12")
        expect(pill(page, "origin").locator("summary")).to_have_text("From Base")
        assert fits(page)
        page.go_back()
        expect(page.locator("tr[id^=row-]")).to_have_count(20)
        visit.forgive(400)


def test_an_invalid_field_has_the_error_color(browser: Browser, server: str, theme: str) -> None:
    with visiting(browser, server, theme=theme, width=1280) as visit:
        visit.open("/history?status=LOST&order=x&size=x")
        bad = visit.page.locator(".note[data-tone=bad] > .icon").first.evaluate("each => getComputedStyle(each).color")
        for name in ("status", "order", "size"):
            expect(visit.page.locator(f"#about-{name}")).to_have_css("color", bad)
        visit.forgive(400)


def test_an_invalid_cursor_is_reported_above_the_unchanged_list(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        visit.open("/history?order=ASC")
        onward = page.locator("a[rel=next]")
        onward.evaluate("link => link.setAttribute('hx-get', '/history?order=ASC&cursor=x')")
        onward.click()
        expect(page.get_by_role("heading", name="Invalid page link")).to_be_focused()
        expect(page.get_by_role("link", name="Try again")).to_have_count(0)
        expect(page.locator("tr[id^=row-]")).to_have_count(20)
        expect(page).to_have_url(f"{server}/history?order=ASC")
        visit.forgive(400)


@pytest.mark.parametrize(
    ("path", "on", "title"),
    [
        ("/history?origin=8453", "Older →", "Transfers: From Base · Intents"),
        (f"/address/{names.address_of(Role.OWNER, 0)}", "Older →", None),
    ],
)
def test_an_outage_leaves_the_page_as_it_is(browser: Browser, path: str, on: str, title: str | None) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = ("-m", "intents_ui.emulator", "--port", str(port))
    with ExitStack() as service:
        service.enter_context(running(*command, url=url))
        with (
            dashboard(INTENTS_SERVICE_URL=url, SECRET_KEY="a key of the test") as root,
            visiting(browser, root, theme="light", width=360) as visit,
        ):
            page = visit.page
            visit.open(path)
            before, address, own = page.locator("#list .row-link").count(), page.url, page.title()
            assert title in (own, None)
            service.close()
            trouble = page.locator(".list-failure")
            page.get_by_role("link", name=on).first.click()
            for _ in range(2):
                expect(trouble.get_by_role("heading")).to_be_focused()
                expect(trouble).to_have_count(1)
                expect(trouble).to_be_in_viewport()
                expect(said(page)).to_have_text(re.compile(r"The list was not updated\.$"))
                expect(page).to_have_title(f"{trouble.get_by_role('heading').inner_text()} · Intents")
                assert page.url == address
                assert page.locator("#list .row-link").count() == before > 0
                trouble.get_by_role("link", name="Try again").click()
            with running(*command, url=url):
                trouble.get_by_role("link", name="Try again").click()
                expect(trouble).to_have_count(0)
                expect(page).to_have_url(re.compile("cursor="))
                expect(page).to_have_title(own)
            visit.forgive(503)


@contextmanager
def abroad(browser: Browser, server: str, zone: str) -> Iterator[Visit]:
    context = browser.new_context(timezone_id=zone, locale="de-DE")
    context.set_default_timeout(PATIENCE_MS)
    yield Visit(context.new_page(), server)
    context.close()


def test_times_are_entered_in_the_users_zone(browser: Browser, server: str) -> None:
    with abroad(browser, server, "Australia/Adelaide") as visit:
        page = visit.page
        visit.open("/history")
        pill(page, "created").locator("summary").click()
        expect(page.get_by_label("Time zone")).to_have_value("Australia/Adelaide")
        page.get_by_label("From", exact=True).fill("2026-11-20T10:30")
        pill(page, "created").get_by_role("button", name="Apply").click()
        expect(page).to_have_url(f"{server}/history?from=1795132800")
        expect(pill(page, "created").locator("summary")).to_contain_text("Created from")
        expect(page.get_by_label("From", exact=True)).to_have_value("2026-11-20T10:30")
        # Another filter keeps the time filter.
        pill(page, "project").locator("summary").click()
        page.get_by_role("textbox", name="Project").fill("1042")
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{server}/history?project=1042&from=1795132800")


def test_an_address_is_marked_in_all_its_places(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        visit.open("/history?size=100")
        places = [str(each.get_attribute("data-address")) for each in page.locator("[data-address]:visible").all()]
        owners = [str(each.get_attribute("data-address")) for each in page.locator(".hash[data-address]:visible").all()]
        often = max(owners, key=places.count)
        alone = min(places, key=places.count)
        assert places.count(often) > 1
        marked = page.locator("[data-marked]")
        page.locator(f'[data-address="{often}"]:visible').first.hover()
        expect(marked).to_have_count(places.count(often))
        page.get_by_role("heading", name="Transfers").hover()
        expect(marked).to_have_count(0)
        if places.count(alone) == 1:
            page.locator(f'[data-address="{alone}"]:visible').hover()
            expect(marked).to_have_count(0)
        page.mouse.move(0, 0)  # the focus scrolls rows under the pointer
        page.locator(f'[data-address="{often}"] button:visible').first.focus()
        expect(marked).to_have_count(places.count(often))
        page.keyboard.press("Tab")
        expect(page.locator(f'[data-address="{often}"][data-marked]')).to_have_count(0)


def test_a_panel_closes_on_escape_and_on_a_click_outside(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        visit.open("/history")
        summary = pill(page, "origin").locator("summary")
        summary.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("combobox", name="From chain")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("combobox", name="From chain")).to_be_hidden()
        expect(summary).to_be_focused()
        summary.click()
        pill(page, "sort").locator("summary").click()
        expect(page.get_by_role("combobox", name="From chain")).to_be_hidden()
        page.get_by_role("heading", name="Transfers").click()
        expect(page.get_by_role("combobox", name="Order")).to_be_hidden()


def test_the_order_and_page_size_can_be_selected(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark", width=1280) as visit:
        page = visit.page
        visit.open("/history?status=SUCCEEDED")
        pill(page, "sort").locator("summary").click()
        page.get_by_role("combobox", name="Order").select_option("Oldest first")
        page.get_by_role("combobox", name="Rows per page").select_option("10")
        pill(page, "sort").get_by_role("button", name="Apply").click()
        expect(page).to_have_url(f"{server}/history?status=SUCCEEDED&order=ASC&size=10")
        expect(page.locator("tr[id^=row-]")).to_have_count(10)
        expect(said(page)).to_have_text("10 transfers, oldest first")
        expect(page.get_by_role("link", name="Later →")).to_be_visible()


def test_new_transfers_are_announced_and_shown_on_request(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        visit.open("/history")
        before = rows(page)
        newer = page.get_by_role("link", name=re.compile(r"\d+ new transfers?"))
        for _ in range(SLOW_RESPONSES):
            expect(newer).to_be_visible(timeout=2 * PATIENCE_MS)
            assert rows(page) == before
            newer.click()
            expect(newer).to_have_count(0)
            if rows(page)[0] != before[0]:
                break
        assert rows(page)[0] != before[0]
        expect(page).to_have_url(f"{server}/history")


LONGEST_TIMES = """document.querySelectorAll("time.sub").forEach(
  (time) => (time.textContent = "2026-11-22 23:55:38 GMT+12:45"))"""
GROWTH = """() => {
  const told = document.querySelectorAll("[data-headline], [data-reason], [data-late]");
  const heights = () => Array.from(document.querySelectorAll(".intents tbody tr"), (row) => row.offsetHeight);
  const tall = heights();
  for (const each of told) each.hidden = true;
  const low = heights();
  return tall.map((height, at) => height - low[at]);
}"""
TWO_LINES = 44  # pixels


@pytest.mark.parametrize("query", ["status=FAILED", "recoverable=1", "balances=1"])
def test_the_headline_makes_a_row_at_most_two_lines_higher(browser: Browser, server: str, query: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open(f"/history?size=100&{query}")
        assert visit.page.locator("[data-headline]").count() > 10
        assert fits(visit.page)
        assert max(visit.page.evaluate(GROWTH)) <= TWO_LINES


@pytest.mark.parametrize("width", [360, 900, 1024, 1180])
def test_a_long_list_fits_every_screen(browser: Browser, server: str, width: int) -> None:
    with visiting(browser, server, theme="dark", width=width) as visit:
        for query in ("status=FAILED&status=ABORTED", ""):
            visit.open(f"/history?size=100&{query}")
            visit.page.evaluate(LONGEST_TIMES)
            assert fits(visit.page), query
