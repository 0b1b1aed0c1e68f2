"""The history: requests that its URL causes, and how it shows the responses."""

import html
import re
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.formatting.hashes import checksum
from intents_ui.http import cursors
from intents_ui.service.lookup import Position
from intents_ui.service.models import Page
from tests.pages.cases import cases
from tests.pages.reading import PARTIAL, read, rows

NOW = 1_795_262_400  # 2026-11-21T12:00:00Z
LIST = "GetIntentHistory"


def link(page: str, rel: str) -> str | None:
    found = re.search(rf'<a class="button" href="([^"]+)"[^>]* rel="{rel}"', page)
    return html.unescape(found[1]) if found else None


def stop(emulator: Emulator) -> None:
    """Stop new transfers and changes."""
    moment = emulator.now()
    emulator.now = lambda: moment


@pytest.mark.parametrize("case", cases("history"))
def test_a_page_says(pages, case):
    pages.check(case)


def test_the_next_page_is_requested_with_the_services_cursor(site, transport):
    following = link(read(site, "/history?status=FAILED"), "next")
    assert following
    read(site, following)
    born = transport.requests(LIST)[1]["page"]["after"]
    assert transport.requests(LIST)[1] == {
        "page": {
            "column": "id",
            "after": born,
            "sort": [{"column": "id", "order": "DESC"}],
            "pageSize": 20,
            "more": True,
        },
        "byStatus": "FAILED",
    }


def test_a_cursor_is_sent_back_with_all_that_the_service_wrote_into_it(site, transport):
    cursor = {"after": 7, "shard": "b/2", "at": 1.10, "more": True}
    transport.changes[LIST] = lambda answer: answer | {"nextPage": cursor}
    following = link(read(site, "/history"), "next")
    assert following
    read(site, following)
    assert transport.requests(LIST)[1]["page"] == cursor


def test_another_spelling_of_the_filters_keeps_the_page(site):
    following = link(read(site, "/history?origin=8453"), "next")
    assert following
    answer = site.get(following.replace("origin=8453", "origin=BASE"))
    assert answer["Location"] == following


def word_of(at: Position, query: str = "") -> str:
    return cursors.write(at, query=query)


DEEP = Position().onward(Page.from_text('{"column":"createdAt","after":5,"pageSize":20}'))


@pytest.mark.parametrize("headers", [{}, PARTIAL], ids=["page", "fragment"])
def test_a_modified_cursor_is_rejected_without_a_request_for_a_list(site, transport, headers):
    word = word_of(DEEP)
    for touched in (word[:-1], word[:20], "x" + word, word[1:]):
        answer = site.get("/history", {"cursor": touched}, headers=headers)
        assert answer.status_code == 400
        assert "Invalid page link" in answer.content.decode()
    assert transport.requests(LIST) == []


def test_a_changed_filter_drops_the_cursor(site, transport):
    answer = site.get("/history", {"status": "FAILED", "cursor": word_of(DEEP)})
    assert (answer.status_code, answer["Location"]) == (302, "/history?status=FAILED")
    assert transport.requests(LIST) == []


def test_paging_back_from_page_25_shows_the_same_pages(site, emulator):
    stop(emulator)
    path: str | None = "/history?size=1"
    seen = []
    for _ in range(26):
        assert path
        assert len(path) < 2_000
        page = read(site, path)
        seen.append(rows(page))
        path = link(page, "next")
    for shown in reversed(seen[:-1]):
        path = link(page, "prev")
        assert path
        assert len(path) < 2_000
        page = read(site, path)
        assert rows(page) == shown
    assert link(page, "prev") is None


def test_the_first_page_has_no_previous_and_the_last_no_next_page(site):
    first = read(site, "/history?status=REFUNDED&order=ASC&size=30")
    assert link(first, "prev") is None
    assert "← Earlier" in first
    following = link(first, "next")
    assert following
    assert ">Oldest</a>" in read(site, following)
    last = first
    while onward := link(last, "next"):
        last = read(site, onward)
    assert rows(last)
    assert "Later →" in last


@pytest.mark.usefixtures("still")
def test_a_fragment_is_only_the_list_and_announces_it(site):
    page = read(site, "/history?status=in-flight", **PARTIAL)
    assert "<html" not in page
    assert page.startswith("<title>Transfers: Status: open · Intents</title>")
    assert 'data-said="20 transfers, newest first"' in page
    assert len(rows(page)) == 20
    onward = read(site, str(link(page, "next")), **PARTIAL)
    assert 'data-said="20 transfers, page 2"' in onward
    back = read(site, str(link(onward, "prev")), **PARTIAL)
    assert 'data-said="20 transfers, newest first"' in back


@pytest.mark.parametrize("path", ["/history", "/history?status=foo", "/history?status=failed", "/history?cursor=x"])
def test_a_cache_distinguishes_fragments_from_pages(site, path):
    assert "HX-Request-Type" in site.get(path)["Vary"]


def row_of(site: Client, intent: dict[str, Any], query: str = "") -> str:
    """Return the text of an intent's row."""
    born = int(datetime.fromisoformat(intent["createdAt"]).timestamp())
    page = read(site, f"/history?owner={intent['ownerAddress']}&from={born}&to={born + 1}{query}")
    found = re.search(rf'<tr id="row-{intent["intentId"]}">.*?</tr>', page, re.DOTALL)
    assert found
    return re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]+>", " ", found[0])))


def test_a_refunded_row_shows_the_refund(site, emulator):
    intent = emulator.finished("refunded-on-origin")
    sent = re.search(r"([\d.,]+) USDC", row_of(site, intent))
    amounts = re.findall(r"([\d.,]+) USDC", row_of(site, intent))
    assert sent
    assert len(amounts) == 2
    assert amounts[1] < amounts[0]


def test_equal_addresses_on_a_page_can_be_highlighted(site, emulator):
    intent = emulator.finished("exact-output-payment")
    page = read(site, f"/history?owner={intent['ownerAddress']}")
    places = re.findall(r'<span class="hash" data-address><a href="[^"]+" title="([^"]+)"', page)
    places += re.findall(r'title="([^"]+)" data-address', page)
    assert places.count(checksum(intent["ownerAddress"])) > 1
    assert checksum(intent["quoteRequest"]["destinationToAddress"]) in places


def test_new_transfers_are_announced_on_the_first_page_only(site, emulator):
    page = read(site, "/history")
    watched = re.search(r'id="newer"[^>]*hx-get="([^"]+)"', page)
    assert watched
    following = link(page, "next")
    assert following
    assert 'id="newer"' not in read(site, following)
    url = html.unescape(watched[1])
    assert "newer" not in read(site, url)
    emulator.play(2)
    emulator.play(3)
    assert ">2 new transfers</a>" in read(site, url)
    assert 'href="/history"' in read(site, url)


def test_new_transfers_are_counted_with_the_filters(site, emulator):
    stopped = emulator.now()
    emulator.now = lambda: stopped
    page = read(site, "/history?status=COMMITTED&balances=1")
    url = html.unescape(str(re.search(r'id="newer"[^>]*hx-get="([^"]+)"', page)[1]))  # type: ignore[index]
    emulator.play(2)
    assert "newer" not in read(site, url)
    emulator.play(2, age=9)
    assert "1 new transfer<" in read(site, url)


CIRCLES = "The service returned the same page twice. The list may be incomplete."


def test_a_cursor_that_never_advances_ends_the_list_with_a_note(site, emulator):
    emulator.inject(LIST, "next-page-repeats")
    following = link(read(site, "/history"), "next")
    assert following
    page = read(site, following)
    assert CIRCLES in html.unescape(page)
    assert link(page, "next") is None
    assert link(page, "prev")
    assert len(rows(page)) == 20


@pytest.mark.parametrize("order", ["", "&order=ASC"], ids=["newest first", "oldest first"])
def test_rows_are_in_the_requested_order(site, emulator, order):
    right = rows(read(site, f"/history?to={NOW - 60}{order}"))
    emulator.inject(LIST, "unsorted")
    assert rows(read(site, f"/history?to={NOW - 60}{order}")) == right


def test_a_page_that_has_become_empty_links_onward(site, transport):
    following = link(read(site, "/history"), "next")
    transport.scripts[LIST] = lambda body: {"intents": [], "nextPage": None}
    page = read(site, str(following))
    assert "No longer available" in page
    assert ">Newest</a>" in page
    assert link(page, "prev")


@pytest.mark.parametrize("ends", ["both", "before alone"])
def test_a_cursor_with_its_own_start_pages_forward_and_not_back(site, transport, ends):
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        page = body["page"]
        top = (page["after"] if "after" in page else page["before"]) - 1 if "column" in page else 100
        entries = [{"intentId": f"0x{number:064x}", "createdAt": NOW + number} for number in (top, top - 1)]
        cursor = {"before": top - 1} if ends == "before alone" else {"before": top, "after": top - 1}
        return {"intents": entries, "nextPage": {"column": "id", **cursor, "more": True}}

    transport.scripts[LIST] = answer
    path: str | None = "/history"
    met = []
    for _ in range(4):
        assert path
        page = read(site, path)
        met += rows(page)
        path = link(page, "next")
    assert met == [f"0x{number:064x}" for number in range(100, 92, -1)]
