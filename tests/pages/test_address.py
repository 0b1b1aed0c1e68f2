"""Address page: roles, recoverable balances, open transfers, and the history with its cursors."""

import html
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import pytest
import time_machine
from django.http import HttpResponse
from django.test import Client

from intents_ui import wiring
from intents_ui.display.formatting import amounts, hashes
from intents_ui.display.search import input_errors
from intents_ui.emulator import names
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.names import Role
from intents_ui.emulator.transfers import OWNERS
from intents_ui.service.http.in_process import InProcessTransport
from tests.emulator.driving import call, quote

UNUSED_ADDRESS = "0x" + "12" * 20
USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
SOLANA = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
PARTIAL = {"HX-Request-Type": "partial"}
OPEN_STATUSES = ("QUOTED", "COMMITTED", "EXECUTING")


def visible_text(answer: HttpResponse) -> str:
    text = re.sub(r"<[^>]+>", " ", answer.content.decode())
    return html.unescape(re.sub(r"\s+", " ", text))


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
def busiest(emulator: Emulator) -> str:
    """Return the owner of about 200 intents of all kinds."""
    return names.address_of(Role.OWNER, 0)


@pytest.fixture
def operations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Operations called on the service."""
    found: list[str] = []
    send = InProcessTransport.handle_request

    def sent(transport: InProcessTransport, request: httpx.Request) -> httpx.Response:
        found.append(request.url.path.rpartition("/")[2])
        return send(transport, request)

    monkeypatch.setattr(InProcessTransport, "handle_request", sent)
    return found


def test_an_owner_is_shown_with_the_number_of_transfers(site: Client, emulator: Emulator, busiest: str) -> None:
    answer = site.get(f"/address/{busiest}")
    intents = owned(emulator, busiest)
    assert answer.status_code == 200
    assert f"Owner of {len(intents)} transfers" in visible_text(answer)
    assert hashes.checksum(busiest) in visible_text(answer)
    assert "at least" not in visible_text(answer)
    assert headings(answer) == ["Recoverable", "Open transfers", "Totals", "History"]
    page = answer.content.decode()
    assert '<meta name="robots" content="noindex">' in page
    assert max(Counter(re.findall(r' id="([^"]+)"', page)).values()) == 1


def test_recoverable_balances_come_first_with_amount_chain_and_link(
    site: Client, emulator: Emulator, busiest: str
) -> None:
    held = owned(emulator, busiest, onlyRecoverable=True, includeBalances=True)
    said = part(site.get(f"/address/{busiest}"), "Recoverable")
    page = site.get(f"/address/{busiest}").content.decode()
    tokens = [token for entry in held for group in entry["balances"] for token in group["tokens"]]
    catalog = wiring.catalog()
    assert tokens
    for token in tokens:
        assert f'title="{plain(int(token["balance"]), token["decimals"])} {token["symbol"]}"' in page
        assert str(catalog.chain(token["chainId"]).name) in said  # type: ignore[union-attr]
    assert amounts.usd(sum((Decimal(token["balanceUsd"]) for token in tokens), Decimal(0))) in said
    assert all(f'href="/intent/{entry["intentId"]}"' in page for entry in held)


def test_an_owner_without_recoverable_or_open_transfers_has_no_such_cards(site: Client, emulator: Emulator) -> None:
    newest = call(emulator, "GetIntentHistory", {"page": {"pageSize": 100}})["intents"]
    quiet = next(
        owner
        for owner in dict.fromkeys(entry["receipt"]["ownerAddress"] for entry in newest)
        if not owned(emulator, owner, onlyRecoverable=True) and not owned(emulator, owner, byStatuses=OPEN_STATUSES)
    )
    assert headings(site.get(f"/address/{quiet}")) == ["Totals", "History"]


def test_an_owners_lists_show_the_recipient_instead_of_the_owner(
    site: Client, emulator: Emulator, busiest: str
) -> None:
    page = site.get(f"/address/{busiest}").content.decode()
    tables = re.findall(r'<table class="rows intents">.*?</table>', page, re.DOTALL)
    assert len(tables) >= 2  # open, history
    for table in tables:
        assert f'data-address="{busiest}"' not in table
        assert '<th scope="col">Recipient</th>' in table
        assert '<th scope="col">Owner</th>' not in table
    assert '<td data-label="Recipient">to the owner</td>' in page


def test_recipients_of_an_owners_transfers_have_the_recipient_role(site: Client, emulator: Emulator) -> None:
    paid = emulator.finished("exact-output-payment")
    recipient = paid["quoteRequest"]["destinationToAddress"]
    assert recipient != paid["ownerAddress"]
    rows = site.get(f"/address/{paid['ownerAddress']}").content.decode().split("<tr")
    row = next(row for row in rows if row.startswith(f' id="row-{paid["intentId"]}"'))
    assert f'href="/address/{recipient}"' in row.partition('data-label="Recipient"')[2]


def test_open_transfers_are_listed_without_expired_quotes(site: Client, emulator: Emulator) -> None:
    made = quote(emulator, ownerAddress=UNUSED_ADDRESS)
    assert "Quoted" in part(site.get(f"/address/{UNUSED_ADDRESS}"), "Open transfers")
    with time_machine.travel("2026-11-21T13:00:00Z"):
        answer = site.get(f"/address/{UNUSED_ADDRESS}")
    assert "Open transfers" not in headings(answer)
    assert listed(answer) == [made["intentId"]]
    assert "Expired" in visible_text(answer)


def test_open_transfers_are_listed_once_if_the_history_is_filtered_by_them(site: Client, emulator: Emulator) -> None:
    made = quote(emulator, ownerAddress=UNUSED_ADDRESS)
    assert "Open transfers" in headings(site.get(f"/address/{UNUSED_ADDRESS}?status=FAILED"))
    filtered = site.get(f"/address/{UNUSED_ADDRESS}?status=in-flight")
    assert "Open transfers" not in headings(filtered)
    assert listed(filtered) == [made["intentId"]]


@pytest.mark.parametrize(("count", "folded"), [(5, False), (6, True)])
def test_a_phone_folds_recoverable_transfers_after_the_fifth(
    site: Client, emulator: Emulator, count: int, folded: bool
) -> None:
    made = [emulator.play("refund-failed", age=9999, owner=OWNERS + 1) for _ in range(count)]
    card = part(site.get(f"/address/{made[0]['ownerAddress']}"), "Recoverable")
    assert (f"Show all {count}" in card) is folded


def test_totals_equal_those_of_the_services_data(site: Client, emulator: Emulator, busiest: str) -> None:
    found = call(emulator, "SearchIntents", {"byOwnerAddress": busiest})["intents"]
    done = [intent for intent in found if intent["status"] == "SUCCEEDED"]
    answer = site.get(f"/address/{busiest}")
    said = part(answer, "Totals")
    assert f"{len(found)} transfers" in said
    for status, count in Counter(intent["status"] for intent in found).items():
        word = {"EXECUTING": "in progress"}.get(status, status.lower())
        assert f"{count} {word}" in said
    usd = sum((Decimal(str(intent["quote"]["fromAmountUsd"])) for intent in done), Decimal(0))
    assert f"{amounts.usd(usd)} in {len(done)} succeeded transfers" in said
    sums: Counter[tuple[int, str]] = Counter()
    for intent in done:
        request = intent["quoteRequest"]
        sums[request["originChainId"], request["originTokenAddress"].lower()] += int(intent["quote"]["fromAmount"])
    page = answer.content.decode()
    catalog = wiring.catalog()
    for (chain, address), units in sums.items():
        token = catalog.token(chain, address)
        if token and token.decimals is not None:
            assert f'title="{plain(units, token.decimals)} ' in page


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


@pytest.mark.parametrize("status", ["", "SUCCEEDED", "in-flight"])
def test_paging_shows_every_transfer_of_the_owner(site: Client, emulator: Emulator, busiest: str, status: str) -> None:
    statuses = {"": [], "in-flight": list(OPEN_STATUSES)}.get(status, [status])
    expected = [entry["intentId"] for entry in owned(emulator, busiest, byStatuses=statuses)]
    pages = list(walked(site, f"/address/{busiest}" + (f"?status={status}" if status else "")))
    assert [intent_id for answer in pages for intent_id in listed(answer)] == expected
    assert len(pages) == -(-len(expected) // 20) > 0
    assert all("Totals" not in headings(answer) for answer in pages[1:])


def test_paging_back_shows_the_same_pages(site: Client, emulator: Emulator, busiest: str) -> None:
    first, second, third = list(walked(site, f"/address/{busiest}"))[:3]
    assert listed(site.get(link(third, "prev"))) == listed(second)
    assert listed(site.get(link(second, "prev"))) == listed(first)


def test_a_later_page_requests_only_the_list(
    site: Client, emulator: Emulator, busiest: str, operations: list[str]
) -> None:
    following = link(site.get(f"/address/{busiest}"), "next")
    operations.clear()
    site.get(following)
    assert operations == ["GetIntentHistory"]
    operations.clear()
    fragment = site.get(following, headers=PARTIAL)
    assert operations == ["GetIntentHistory"]
    assert "<html" not in fragment.content.decode()
    assert "HX-Request-Type" in fragment["Vary"].split(", ")
    assert listed(fragment) == listed(site.get(following))


def test_a_cursor_of_another_address_restarts_the_list(site: Client, emulator: Emulator, busiest: str) -> None:
    following = link(site.get(f"/address/{busiest}"), "next")
    answer = site.get(following.replace(busiest, UNUSED_ADDRESS))
    assert (answer.status_code, answer["Location"]) == (302, f"/address/{UNUSED_ADDRESS}")
    assert site.get(following[:-3]).status_code == 400


@pytest.mark.parametrize("headers", [{}, PARTIAL], ids=["page", "fragment"])
def test_an_unknown_status_is_explained_without_a_request(
    site: Client, emulator: Emulator, busiest: str, operations: list[str], headers: dict[str, str]
) -> None:
    wiring.catalog().chains()
    operations.clear()
    answer = site.get(f"/address/{busiest}?status=GONE", headers=headers)
    assert answer.status_code == 400
    assert "Unknown status “GONE”" in visible_text(answer)
    assert f'href="/address/{busiest}?status=SUCCEEDED#list"' in answer.content.decode()
    assert not listed(answer)
    assert ("View address" in visible_text(answer)) is not bool(headers)
    assert operations == []


@pytest.mark.parametrize(
    ("field", "role"),
    [
        ("originIntentAddress", "Deposit address of 1 transfer"),
        ("destinationIntentAddress", "Destination intent address of 1 transfer"),
    ],
)
def test_an_intent_address_lists_its_transfer(site: Client, emulator: Emulator, field: str, role: str) -> None:
    intent = emulator.finished(3)
    answer = site.get(f"/address/{intent[field]}")
    assert answer.status_code == 200
    assert role in visible_text(answer)
    assert "Owner of" not in visible_text(answer)
    assert headings(answer) == ["Transfers"]
    assert f'href="/intent/{intent["intentId"]}"' in answer.content.decode()


@pytest.mark.parametrize(
    ("address", "explorer"), [(UNUSED_ADDRESS, "https://basescan.org/address"), (SOLANA, "https://solscan.io/account")]
)
def test_an_unknown_address_shows_possible_reasons(
    site: Client, emulator: Emulator, address: str, explorer: str
) -> None:
    answer = site.get(f"/address/{address}")
    assert answer.status_code == 404
    assert "No matches" in visible_text(answer)
    assert "Possible reasons" in visible_text(answer)
    assert f'href="{explorer}/{address}"' in answer.content.decode()


def test_a_token_contract_is_labeled_as_one(site: Client, emulator: Emulator) -> None:
    answer = site.get(f"/address/{USDC}")
    assert answer.status_code == 200
    assert "Token contract of USDC on Ethereum" in visible_text(answer)
    assert headings(answer) == []


@pytest.mark.parametrize("address", ["0x" + "0" * 40, "0x" + "e" * 40])
def test_the_native_token_address_is_explained_without_a_request(
    site: Client, emulator: Emulator, operations: list[str], address: str
) -> None:
    wiring.catalog().chains()
    operations.clear()
    answer = site.get(f"/address/{address}")
    assert answer.status_code == 200
    assert "placeholder address of the native token" in visible_text(answer)
    assert operations == []


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda address: address.removeprefix("0x"), id="without 0x"),
        pytest.param(lambda address: "0X" + address[2:].upper(), id="in capitals"),
        pytest.param(hashes.checksum, id="with its checksum"),
        pytest.param(lambda address: f"base:{address}", id="with a chain's short name"),
    ],
)
def test_other_spellings_redirect_to_the_canonical_address(site: Client, emulator: Emulator, write: Any) -> None:
    owner = emulator.finished(2)["ownerAddress"]
    answer = site.get(f"/address/{write(owner)}?status=FAILED")
    assert (answer.status_code, answer["Location"]) == (301, f"/address/{owner}?status=FAILED")


def test_a_wrong_checksum_is_shown_as_written_with_a_warning(site: Client, emulator: Emulator) -> None:
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


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("0x" + "ab" * 19 + "a", "An address has 40 hex characters. This one has 39."),
        ("0x" + "ab" * 32, "This isn't an address. It looks like this type: intent ID or transaction hash."),
        ("somebody", "Hashes and addresses use 0-9 and a-f only"),
        ("vitalik.eth", "ENS names aren't supported"),
        ("0x1234…abcd", input_errors.SHORTENED),
        ("0x1…2b", input_errors.TOO_SHORT),
    ],
)
def test_an_invalid_address_is_explained_without_a_request(
    site: Client, emulator: Emulator, operations: list[str], written: str, sentence: str
) -> None:
    answer = site.get(f"/address/{written}")
    assert answer.status_code == 404
    assert sentence in visible_text(answer)
    assert operations == []


def test_a_capped_search_is_noted_and_its_totals_are_marked_incomplete(
    site: Client, emulator: Emulator, busiest: str
) -> None:
    emulator.inject("SearchIntents", "search-capped")
    answer = site.get(f"/address/{busiest}")
    everything = len(owned(emulator, busiest))
    count = re.search(r"Owner of at least (\d+) transfers", visible_text(answer))
    assert count is not None
    assert 10 <= int(count[1]) < everything
    assert "The service may have returned only the most recent transfers." in visible_text(answer)
    assert "Newest 10 transfers only" in part(answer, "Totals")
    assert [each for page in walked(site, f"/address/{busiest}") for each in listed(page)] == [
        entry["intentId"] for entry in owned(emulator, busiest)
    ]


PARTS = [
    pytest.param("SearchIntents", "Lookup by owner", ["Recoverable", "Open transfers", "History"], id="search"),
    pytest.param("GetIntentHistory", "Couldn't load the history", ["Totals"], id="history"),
    pytest.param("GetTokenList", "", ["Recoverable", "Open transfers", "Totals", "History"], id="tokens"),
]


@pytest.mark.parametrize(("operation", "said", "others"), PARTS)
def test_a_failed_part_shows_its_error_and_the_others_stay(
    site: Client, emulator: Emulator, busiest: str, operation: str, said: str, others: list[str]
) -> None:
    emulator.inject(operation, "failing-500")
    answer = site.get(f"/address/{busiest}")
    assert answer.status_code == 200
    assert said in visible_text(answer)
    assert set(others) <= set(headings(answer))
    assert ("Try again" in visible_text(answer)) is bool(said)


def test_one_failed_list_leaves_the_other_two(site: Client, emulator: Emulator, busiest: str) -> None:
    emulator.inject("GetIntentHistory", "failing-500", times=1)
    answer = site.get(f"/address/{busiest}")
    assert answer.status_code == 200
    assert visible_text(answer).count("Couldn't load") == 1
    assert answer.content.decode().count('class="row-link"') > 0


def test_an_owner_whose_search_failed_is_recognized_by_the_history(
    site: Client, emulator: Emulator, busiest: str
) -> None:
    emulator.inject("SearchIntents", "failing-500")
    answer = site.get(f"/address/{busiest}")
    assert re.search(r"Owner of at least \d+ transfers", visible_text(answer))
    assert "only the most recent transfers" not in visible_text(answer)


def test_an_address_without_any_response_is_an_error_page(site: Client, emulator: Emulator, busiest: str) -> None:
    emulator.inject("*", "failing-500")
    answer = site.get(f"/address/{busiest}")
    assert answer.status_code == 503
    assert answer["Retry-After"] == "10"
    assert "Service error" in visible_text(answer)


@pytest.mark.parametrize("operation", ["SearchIntents", "GetIntentHistory"])
def test_no_matches_are_not_claimed_if_a_lookup_failed(site: Client, emulator: Emulator, operation: str) -> None:
    emulator.inject(operation, "failing-500")
    answer = site.get(f"/address/{UNUSED_ADDRESS}")
    assert answer.status_code == 503
    assert "Search incomplete" in visible_text(answer)
    assert "No matches" not in visible_text(answer)


def test_transfer_pages_and_searches_link_to_the_address_page(site: Client, emulator: Emulator, busiest: str) -> None:
    intent = emulator.finished(2)
    link = f'href="/address/{intent["ownerAddress"]}"'
    assert link in site.get(f"/intent/{intent['intentId']}").content.decode()
    assert site.get("/search", {"q": hashes.checksum(busiest)})["Location"] == f"/address/{busiest}"
    listed = site.get("/search", {"project": intent["projectId"]}).content.decode()
    assert "View address" not in listed
    assert link in listed


@pytest.mark.parametrize(
    "odd", ["sparse", "no-ids", "intents-null", "unsorted", "duplicate-rows", "numbers", "mixed-case", "chains-flat"]
)
def test_unusual_responses_break_no_address_page(site: Client, emulator: Emulator, busiest: str, odd: str) -> None:
    emulator.inject("*", odd)
    assert site.get(f"/address/{busiest}").status_code in (200, 404)


def test_a_cursor_that_never_advances_ends_the_list_with_a_note(site: Client, emulator: Emulator, busiest: str) -> None:
    following = link(site.get(f"/address/{busiest}"), "next")
    emulator.inject("GetIntentHistory", "next-page-repeats")
    answer = site.get(following)
    assert "returned the same page twice" in visible_text(answer)
    assert not link(answer, "next")


@pytest.fixture
def empty_pages(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each history page is empty, although it announces more."""
    transport = wiring.service().transport
    send = transport.handle_request

    def handle(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/GetIntentHistory"):
            return send(request)
        document = b'{"intents": [], "nextPage": {"column": "id", "after": 5, "more": true}}'
        return httpx.Response(200, stream=httpx.ByteStream(document), request=request)

    monkeypatch.setattr(transport, "handle_request", handle)


@pytest.mark.usefixtures("empty_pages")
def test_an_empty_page_with_more_announced_is_not_an_empty_history(site: Client, busiest: str) -> None:
    answer = site.get(f"/address/{busiest}")
    for heading in ("Recoverable", "Open transfers"):
        assert "The service returned an empty page." in part(answer, heading)
    assert visible_text(answer).count("The service returned an empty page.") == 3
    nobody = site.get(f"/address/{UNUSED_ADDRESS}")
    assert nobody.status_code == 200
    assert visible_text(nobody).count("The service returned an empty page.") == 3
    assert "No transfers owned by this address" not in visible_text(nobody)


def test_a_transfer_returned_twice_counts_once(site: Client, emulator: Emulator, busiest: str) -> None:
    before = visible_text(site.get(f"/address/{busiest}"))
    emulator.inject("*", "duplicate-rows")
    count = re.search(r"Owner of \d+ transfers", before)
    assert count is not None
    assert count[0] in visible_text(site.get(f"/address/{busiest}"))
