"""Address page: roles, recoverable balances, open transfers, and the history with its cursors."""

import html
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.http import HttpResponse
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.formatting import amounts, hashes
from intents_ui.service import operations
from tests.emulator.driving import call, quote
from tests.pages.cases import KNOWN, cases
from tests.pages.reading import visible_text
from tests.pages.recorded import rewrite

UNUSED_ADDRESS = "0x" + "12" * 20
OPEN_STATUSES = ("QUOTED", "COMMITTED", "EXECUTING")


def part(answer: HttpResponse, heading: str) -> str:
    """Return the text of the card with this heading."""
    page = answer.content.decode()
    cards = re.split(r"<section ", page)
    found = [card for card in cards if re.search(rf"<h2[^>]*>{heading}</h2>", card)]
    assert len(found) == 1, heading
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found[0])))


def headings(answer: HttpResponse) -> list[str]:
    return re.findall(r"<h2[^>]*>([^<]+)</h2>", answer.content.decode().partition("</main>")[0])


def listed(answer: HttpResponse) -> list[str]:
    """Return the Intent IDs of the history's rows."""
    _, _, history = answer.content.decode().partition('id="history"')
    return re.findall(r'class="row-link" href="/intent/([^"]+)"', history)


def owned(emulator: Emulator, owner: str, **filters: Any) -> list[dict[str, Any]]:
    """Return all entries of an owner from the service."""
    body: dict[str, Any] = {"byOwnerAddress": owner, **filters}
    page: Any = {"pageSize": 100, "sort": [{"column": "createdAt", "order": "DESC"}]}
    found = []
    while page:
        answer = call(emulator, "GetIntentHistory", body | {"page": page})
        found += answer["intents"]
        page = answer["nextPage"]
    return found


@pytest.fixture
def busy(emulator: Emulator) -> str:
    return KNOWN["BUSY"]


@pytest.mark.parametrize("case", cases("address"))
def test_a_page_says(pages, case):
    pages.check(case)


def test_an_owner_is_shown_with_the_number_of_transfers(site, emulator, busy):
    answer = site.get(f"/address/{busy}")
    intents = owned(emulator, busy)
    assert answer.status_code == 200
    assert f"Owner of {len(intents)} transfers" in visible_text(answer)
    assert hashes.checksum(busy) in visible_text(answer)
    assert "at least" not in visible_text(answer)
    assert headings(answer) == ["Recoverable", "Open transfers", "Totals", "History"]
    page = answer.content.decode()
    assert '<meta name="robots" content="noindex">' in page
    assert max(Counter(re.findall(r' id="([^"]+)"', page)).values()) == 1


def test_transfers_of_an_owner_that_a_search_has_not_read_are_counted(site, emulator, busy, monkeypatch):
    monkeypatch.setattr(operations, "MAX_HITS", 30)
    shown = visible_text(site.get(f"/address/{busy}"))
    assert f"Owner of at least {len(owned(emulator, busy))} transfers" in shown


def test_recoverable_balances_come_first_with_amount_chain_and_link(site, emulator, busy):
    held = owned(emulator, busy, onlyRecoverable=True, includeBalances=True)
    said = part(site.get(f"/address/{busy}"), "Recoverable")
    page = site.get(f"/address/{busy}").content.decode()
    tokens = [token for entry in held for group in entry["balances"] for token in group["tokens"]]
    catalog = app.current().catalog
    assert tokens
    for token in tokens:
        assert f'title="{plain(int(token["balance"]), token["decimals"])} {token["symbol"]}"' in page
        assert str(catalog.chain(token["chainId"]).name) in said  # type: ignore[union-attr]
    assert amounts.usd(sum((Decimal(token["balanceUsd"]) for token in tokens), Decimal(0))) in said
    assert all(f'href="/intent/{entry["intentId"]}"' in page for entry in held)


def test_an_owner_without_recoverable_or_open_transfers_has_no_such_cards(site, emulator):
    newest = call(emulator, "GetIntentHistory", {"page": {"pageSize": 100}})["intents"]
    quiet = next(
        owner
        for owner in dict.fromkeys(entry["receipt"]["ownerAddress"] for entry in newest)
        if not owned(emulator, owner, onlyRecoverable=True) and not owned(emulator, owner, byStatuses=OPEN_STATUSES)
    )
    assert headings(site.get(f"/address/{quiet}")) == ["Totals", "History"]


def test_an_owners_lists_show_the_recipient_instead_of_the_owner(site, busy):
    page = site.get(f"/address/{busy}").content.decode()
    tables = re.findall(r'<table class="rows intents">.*?</table>', page, re.DOTALL)
    assert len(tables) >= 2  # open, history
    for table in tables:
        assert busy.lower() not in table.lower()
        assert '<th scope="col">Recipient</th>' in table
        assert '<th scope="col">Owner</th>' not in table
    assert '<td data-label="Recipient">to the owner<td' in page


def test_open_transfers_are_listed_without_expired_quotes(site, emulator):
    made = quote(emulator, ownerAddress=UNUSED_ADDRESS)
    assert "Quoted" in part(site.get(f"/address/{UNUSED_ADDRESS}"), "Open transfers")
    with time_machine.travel("2026-11-21T13:00:00Z"):
        answer = site.get(f"/address/{UNUSED_ADDRESS}")
    assert "Open transfers" not in headings(answer)
    assert listed(answer) == [made["intentId"]]
    assert "Expired" in visible_text(answer)


def test_totals_equal_those_of_the_services_data(site, emulator, busy):
    found = call(emulator, "SearchIntents", {"byOwnerAddress": busy})["intents"]
    done = [intent for intent in found if intent["status"] == "SUCCEEDED"]
    answer = site.get(f"/address/{busy}")
    said = part(answer, "Totals")
    assert f"{len(found)} transfers" in said
    for status, count in Counter(intent["status"] for intent in found).items():
        word = {"EXECUTING": "in progress", "COMMITTED": "accepted"}.get(status, status.lower())
        assert f"{count} {word}" in said
    usd = sum((Decimal(str(intent["quote"]["fromAmountUsd"])) for intent in done), Decimal(0))
    assert f"{amounts.usd(usd)} in {len(done)} succeeded transfers" in said
    sums: Counter[tuple[int, str]] = Counter()
    for intent in done:
        request = intent["quoteRequest"]
        sums[request["originChainId"], request["originTokenAddress"].lower()] += int(intent["quote"]["fromAmount"])
    page = answer.content.decode()
    # Every digit is on hover, or shown.
    amount = re.compile(r'<span class="amount"(?: data-long)?(?: title="([\d.]+) [^"]*")?>([\d.,]+) <small>')
    exact = {Decimal(full or short.replace(",", "")) for full, short in amount.findall(page)}
    catalog = app.current().catalog
    for (chain, address), units in sums.items():
        token = catalog.token(chain, address)
        if token and token.decimals is not None:
            assert Decimal(plain(units, token.decimals)) in exact


def test_totals_say_how_many_transfers_they_lack(site, emulator, busy):
    answer = call(emulator, "SearchIntents", {"byOwnerAddress": busy})
    [unknown, *_] = [intent for intent in answer["intents"] if intent["status"] == "SUCCEEDED"]
    unknown["quoteRequest"]["originTokenAddress"] = unknown["depositTransaction"] = None
    with rewrite("SearchIntents", lambda _: answer):
        said = part(site.get(f"/address/{busy}"), "Totals")
    assert said.count("1 without a token or amount.") == 1


def plain(units: int, decimals: int) -> str:
    digits = str(units).zfill(decimals + 1)
    whole, fraction = digits[: len(digits) - decimals], digits[len(digits) - decimals :].rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def walked(site: Client, url: str) -> Iterator[HttpResponse]:
    while url:
        answer = site.get(url)
        assert answer.status_code == 200
        yield answer
        url = link(answer, "next")


def link(answer: HttpResponse, rel: str) -> str:
    found = re.search(rf'<a[^>]* rel="{rel}"[^>]*>', answer.content.decode())
    address = re.search(r'href="([^"]+)"', found[0]) if found else None
    return html.unescape(address[1]).partition("#")[0] if address else ""


@pytest.mark.parametrize("status", ["", pytest.param("SUCCEEDED", marks=pytest.mark.slow), "in-flight"])
def test_paging_shows_every_transfer_of_the_owner(site, emulator, busy, status):
    statuses = {"": [], "in-flight": list(OPEN_STATUSES)}.get(status, [status])
    expected = [entry["intentId"] for entry in owned(emulator, busy, byStatuses=statuses)]
    pages = list(walked(site, f"/address/{busy}" + (f"?status={status}" if status else "")))
    assert [intent_id for answer in pages for intent_id in listed(answer)] == expected
    assert len(pages) == -(-len(expected) // 20) > 0
    assert all("Totals" not in headings(answer) for answer in pages[1:])


def test_paging_back_shows_the_same_pages(site, busy):
    first, second, third = list(walked(site, f"/address/{busy}"))[:3]
    assert listed(site.get(link(third, "prev"))) == listed(second)
    assert listed(site.get(link(second, "prev"))) == listed(first)


def test_a_cursor_of_another_address_restarts_the_list(site, busy):
    following = link(site.get(f"/address/{busy}"), "next")
    answer = site.get(following.replace(busy, UNUSED_ADDRESS))
    assert (answer.status_code, answer["Location"]) == (302, f"/address/{UNUSED_ADDRESS}")
    assert site.get(following[:-3]).status_code == 400


def test_a_wrong_checksum_is_shown_as_written_with_a_warning(site, emulator):
    owner = emulator.finished(2)["ownerAddress"]
    right = hashes.checksum(owner)
    letter = re.search("[a-fA-F]", right[2:])
    assert letter is not None
    at = letter.start() + 2
    answer = site.get(f"/address/{right[:at] + right[at].swapcase() + right[at + 1 :]}")
    assert answer.status_code == 200
    assert "Checksum mismatch" in visible_text(answer)
    assert f'rel="canonical" href="/address/{owner}"' in answer.content.decode()
    assert "checksum" not in visible_text(site.get(f"/address/{owner}"))


def test_a_capped_search_is_noted_and_its_totals_are_marked_incomplete(site, emulator, busy):
    emulator.inject("SearchIntents", "search-capped")
    answer = site.get(f"/address/{busy}")
    everything = len(owned(emulator, busy))
    count = re.search(r"Owner of at least (\d+) transfers", visible_text(answer))
    assert count is not None
    assert 10 <= int(count[1]) < everything
    assert "The service may have returned only the most recent transfers." in visible_text(answer)
    assert "Newest 10 transfers only" in part(answer, "Totals")
    assert [each for page in walked(site, f"/address/{busy}") for each in listed(page)] == [
        entry["intentId"] for entry in owned(emulator, busy)
    ]


def test_an_empty_page_with_more_announced_is_not_an_empty_history(site, busy):
    empty = {"intents": [], "nextPage": {"column": "id", "after": 5, "more": True}}
    with rewrite("GetIntentHistory", lambda _: empty):
        answer, unused = (site.get(f"/address/{address}") for address in (busy, UNUSED_ADDRESS))
    for heading in ("Recoverable", "Open transfers"):
        assert "The service returned an empty page." in part(answer, heading)
    assert visible_text(answer).count("The service returned an empty page.") == 3
    assert unused.status_code == 200
    assert visible_text(unused).count("The service returned an empty page.") == 3
    assert "No transfers owned by this address" not in visible_text(unused)


def test_a_transfer_returned_twice_counts_once(site, emulator, busy):
    before = visible_text(site.get(f"/address/{busy}"))
    emulator.inject("*", "duplicate-rows")
    count = re.search(r"Owner of \d+ transfers", before)
    assert count is not None
    assert count[0] in visible_text(site.get(f"/address/{busy}"))
