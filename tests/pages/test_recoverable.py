"""Recoverable balances: every one is listed, with totals that match the service's data."""

import html
import json
import re
from collections import defaultdict
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from django.http import HttpResponse
from django.test import Client

from intents_ui import wiring
from intents_ui.display.formatting import amounts
from intents_ui.display.summary.rules import EXPLANATIONS, SECOND_DEPOSIT
from intents_ui.emulator.app import Emulator
from intents_ui.pages import recoverable
from intents_ui.service.queries.worklist import MOST_PAGES
from tests import raw_service

POLYGON = 137


def ask(operation: str, **request: Any) -> dict[str, Any]:
    """Return the raw response."""
    answer = raw_service.post(wiring.service(), operation, request)
    found: dict[str, Any] = answer.json()
    return found


def raw_entries(**filters: Any) -> list[dict[str, Any]]:
    """Return all recoverable intents, newest first."""
    page: dict[str, Any] | None = {"pageSize": 100, "sort": [{"column": "createdAt", "order": "DESC"}]}
    entries: list[dict[str, Any]] = []
    while page:
        answer = ask("GetIntentHistory", page=page, onlyRecoverable=True, includeBalances=True, **filters)
        entries += answer["intents"]
        page = answer["nextPage"]
    return entries


class Requests:
    """Recorded requests, with modified responses. `fail`: numbers of the requests that fail."""

    def __init__(self) -> None:
        self.operations: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.fail: set[int] = set()
        self.change: Any = None
        transport = wiring.service().transport
        self._send = transport.handle_request
        transport.handle_request = self._handle  # type: ignore[method-assign]

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.operations.append(request.url.path.rpartition("/")[2])
        if self.operations[-1] != "GetIntentHistory":
            return self._send(request)
        self.bodies.append(json.loads(request.content))
        if len(self.bodies) in self.fail:
            raise httpx.ConnectError("down")
        answer = self._send(request)
        if self.change is None:
            return answer
        document = json.dumps(self.change(json.loads(answer.read()))).encode()
        return httpx.Response(200, stream=httpx.ByteStream(document), request=request)


@pytest.fixture(autouse=True)
def frozen_emulator(emulator: Emulator) -> None:
    """Stop new transfers, so that the page and the test read the same data."""
    now = emulator.now()
    emulator.now = lambda: now


@pytest.fixture
def requests(site: Client) -> Requests:
    return Requests()


def page(site: Client, **query: str) -> str:
    answer = site.get("/recoverable", query)
    assert answer.status_code == 200
    return answer.content.decode()


def rows(text: str) -> list[str]:
    return re.findall(r'<tr id="row-(0x[0-9a-f]+)"', text)


def visible_text(text: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


def status_of(text: str) -> str:
    found = re.search(r'<p class="list-note">(.*?)</p>', text, re.DOTALL)
    assert found is not None
    return visible_text(found[1]).strip()


def totals(text: str) -> set[tuple[str, str, str, int]]:
    """Return each total of the page: exact amount with unit, chain, value and number of transfers."""
    found = set()
    for item in re.findall(r"<li>(.*?)</li>", text[text.index('id="totals"') : text.index("<table")], re.DOTALL):
        amount = re.search(r'class="amount" title="([^"]+)"', item)
        chain, count = re.findall(r'class="sub">([^<]+)<', item)
        value = re.search(r'class="usd">([^<]+)<', item)
        assert amount is not None
        assert value is not None
        found.add((amount[1], chain, value[1], int(count.split()[0])))
    return found


def expected_totals(entries: list[dict[str, Any]]) -> set[tuple[str, str, str, int]]:
    """Compute the totals independently from the raw responses."""
    chains = {chain["id"]: chain["name"] for chain in ask("GetChains")["chains"]}
    units: dict[tuple[int, str], int] = defaultdict(int)
    usd: dict[tuple[int, str], Decimal] = defaultdict(Decimal)
    intents: dict[tuple[int, str], set[str]] = defaultdict(set)
    said: dict[tuple[int, str], tuple[str, int]] = {}
    for entry in entries:
        for token in (token for group in entry["balances"] for token in group["tokens"]):
            key = (token["chainId"], token["contractAddress"])
            units[key] += int(token["balance"])
            usd[key] += Decimal(token["balanceUsd"])
            intents[key].add(entry["intentId"])
            said[key] = (token["symbol"], token["decimals"])
    return {
        (f"{exact(units[key], decimals)} {symbol}", chains[key[0]], amounts.usd(usd[key]), len(intents[key]))
        for key, (symbol, decimals) in said.items()
    }


def exact(units: int, decimals: int) -> str:
    written = f"{Decimal(units).scaleb(-decimals):f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def usd_of(entry: dict[str, Any]) -> Decimal:
    return sum((Decimal(token["balanceUsd"]) for group in entry["balances"] for token in group["tokens"]), Decimal(0))


def test_the_totals_are_the_sums_of_the_services_own_data(site: Client, emulator: Emulator) -> None:
    entries = raw_entries()
    assert len(entries) > 50  # more than one page of the service
    text = page(site)
    assert totals(text) == expected_totals(entries)
    assert f">{amounts.usd(sum(map(usd_of, entries)))}</strong>" in text
    assert re.fullmatch(rf"{len(entries)} transfers \(all\)\. Last updated 12:00:\d\d UTC .", status_of(text))


def test_every_transfer_is_listed_once_the_oldest_first(site: Client, emulator: Emulator) -> None:
    assert rows(page(site)) == [entry["intentId"] for entry in reversed(raw_entries())]


def test_by_usd_the_largest_comes_first(site: Client, emulator: Emulator) -> None:
    entries = {entry["intentId"]: entry for entry in raw_entries()}
    text = page(site, sort="usd")
    values = [usd_of(entries[intent_id]) for intent_id in rows(text)]
    assert len(values) == len(entries)
    assert values == sorted(values, reverse=True)
    assert '<th scope="col" aria-sort="descending">' in text
    assert text.count("aria-sort") == 1


def test_a_row_shows_balance_place_reason_owner_and_next_step(site: Client, emulator: Emulator) -> None:
    intent, result = emulator.finished(13), EXPLANATIONS["aborted.recoverable"]
    text = page(site, owner=intent["ownerAddress"])
    row = text[text.index(f'id="row-{intent["intentId"]}"') :]
    said = visible_text(row[: row.index("</tr>")])
    assert f"Aborted {result.headline}" in said
    assert "aborted: not sent within 10m0s" in said
    assert "30.00 USDT deposit address on Polygon $30.00" in said
    assert f"{result.next} {SECOND_DEPOSIT} Waiting on: owner" in said
    assert f'href="/intent/{intent["intentId"]}"' in row
    assert f'href="/address/{intent["ownerAddress"]}"' in row


def test_both_flags_and_the_filters_are_sent_to_the_service(site: Client, requests: Requests) -> None:
    owner = "0x" + "1a" * 20
    page(site, owner=owner, origin="137", destination="10")
    assert requests.bodies == [
        {
            "page": {"pageSize": 50, "sort": [{"column": "createdAt", "order": "DESC"}]},
            "byOwnerAddress": owner,
            "originChainId": POLYGON,
            "destinationChainId": 10,
            "includeBalances": True,
            "onlyRecoverable": True,
        }
    ]


def test_a_filter_narrows_the_list_and_can_be_removed(site: Client, emulator: Emulator) -> None:
    text = page(site, origin="137", sort="usd")
    assert set(rows(text)) == {entry["intentId"] for entry in raw_entries(originChainId=POLYGON)}
    assert totals(text) == expected_totals(raw_entries(originChainId=POLYGON))
    assert 'href="/recoverable?sort=usd"' in text[text.index('class="take-off"') :].partition(">")[0]
    assert 'aria-label="Remove filter: From Polygon"' in text
    assert '<option value="137" selected>Polygon</option>' in text


def test_filters_without_a_field_in_the_form_are_preserved(site: Client, emulator: Emulator) -> None:
    text = page(site, status="FAILED", sort="usd")
    assert '<input type="hidden" name="status" value="FAILED">' in text
    assert "Remove filter: Status: failed" in text


def test_the_form_redirects_to_the_lists_one_url(site: Client, requests: Requests) -> None:
    moved = site.get("/recoverable", {"owner": "", "origin": "Polygon", "destination": "", "sort": "usd"})
    assert (moved.status_code, moved["Location"]) == (302, "/recoverable?origin=137&sort=usd")
    assert site.get("/recoverable", {"sort": "age"})["Location"] == "/recoverable"
    assert requests.bodies == []


WRONG = [
    pytest.param({"owner": "0x12"}, "An address has 40 hex characters. This one has 2.", id="invalid owner"),
    pytest.param({"origin": "Atlantis"}, "Unknown chain", id="unknown chain"),
    pytest.param({"sort": "colour"}, "Unknown sort. Valid values: age, usd.", id="unknown order"),
]


@pytest.mark.parametrize(("query", "sentence"), WRONG)
def test_an_invalid_filter_is_explained_without_a_request(
    site: Client, requests: Requests, query: dict[str, str], sentence: str
) -> None:
    answer = site.get("/recoverable", query)
    assert answer.status_code == 400
    assert sentence in visible_text(answer.content.decode())
    assert requests.bodies == []


def test_a_forged_cursor_is_rejected_without_a_request(site: Client, requests: Requests) -> None:
    answer = site.get("/recoverable", {"cursor": "eyJh:bcd"})
    assert answer.status_code == 400
    assert "Invalid page link" in visible_text(answer.content.decode())
    assert requests.operations == []


def test_a_long_list_is_paged_without_losing_a_transfer(
    site: Client, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recoverable, "PAGE_SIZE", 5)
    everything = [entry["intentId"] for entry in raw_entries()]
    requests.bodies.clear()
    text, read, links = page(site), list[str](), list[str]()
    assert status_of(text).startswith("20 transfers. Load older ones to continue.")
    assert len(requests.bodies) == MOST_PAGES
    while True:
        read += reversed(rows(text))
        onward = re.search(r'rel="next" href="([^"]+)"', text)
        if onward is None:
            break
        links.append(html.unescape(onward[1]))
        text = site.get(links[-1]).content.decode()
    assert read == everything
    assert "more transfers (end of list)." in status_of(text)
    back = re.search(r'rel="prev" href="([^"]+)"', text)
    assert back is not None
    assert html.unescape(back[1]) == links[-2]


def test_the_page_is_preserved_with_another_order_and_dropped_with_other_filters(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recoverable, "PAGE_SIZE", 5)
    onward = re.search(r'rel="next" href="/recoverable\?([^"]+)"', page(site))
    assert onward is not None
    link = html.unescape(onward[1])
    by_age = site.get(f"/recoverable?{link}").content.decode()
    other = re.search(r'<a href="/recoverable\?([^"]+)"[^>]*>USD<', by_age)
    assert other is not None
    by_usd = site.get(f"/recoverable?{html.unescape(other[1])}").content.decode()
    assert set(rows(by_usd)) == set(rows(by_age)) != set(rows(page(site)))
    elsewhere = site.get(f"/recoverable?{link}&{urlencode({'origin': POLYGON})}")
    assert (elsewhere.status_code, elsewhere["Location"]) == (302, f"/recoverable?origin={POLYGON}")


def test_an_error_midway_leaves_the_rows_and_says_the_list_is_incomplete(
    site: Client, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recoverable, "PAGE_SIZE", 5)
    requests.fail = {3}
    text = page(site)
    assert len(rows(text)) == 10
    assert "Loaded 10 transfers, then a request failed: service unreachable. The list is incomplete." in visible_text(
        text
    )
    assert 'role="alert"' in text
    onward = re.search(r'rel="next" href="([^"]+)"', text)
    assert onward is not None
    assert "Retry from here" in text
    again = site.get(html.unescape(onward[1])).content.decode()
    assert not set(rows(text)) & set(rows(again))


def test_without_a_readable_response_there_is_no_list(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetIntentHistory", "node-down-503")
    answer = site.get("/recoverable")
    assert answer.status_code == 503
    assert "No money" not in answer.content.decode()
    assert "<h1>Service error</h1>" in answer.content.decode()


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        pytest.param({}, "No recoverable balances.", id="at all"),
        pytest.param({"origin": "10"}, "No recoverable balances match the filters.", id="with these filters"),
    ],
)
def test_an_empty_list_is_a_calm_sentence(
    site: Client, requests: Requests, query: dict[str, str], sentence: str
) -> None:
    requests.change = lambda document: {"intents": [], "nextPage": None}
    text = page(site, **query)
    assert sentence in visible_text(text)
    assert "<table" not in text
    assert "transfers (all)" not in text


def test_transfers_without_a_balance_by_now_are_excluded_and_counted(site: Client, requests: Requests) -> None:
    def emptied(document: dict[str, Any]) -> dict[str, Any]:
        first, *others = document["intents"]
        return document | {"intents": [first | {"hasBalance": False, "balances": []}, *others]}

    requests.change = emptied
    text = page(site, origin=str(POLYGON))
    assert "1 no longer holds a balance and is hidden." in status_of(text)
    assert len(rows(text)) == len(raw_entries_of(requests)) - 1


def raw_entries_of(requests: Requests) -> list[dict[str, Any]]:
    requests.change = None
    return raw_entries(originChainId=POLYGON)


@pytest.mark.parametrize(
    ("behaviour", "said", "unsaid"),
    [
        pytest.param("prices-missing", "no price", "$", id="no price"),
        pytest.param("prices-zero", "priced at $0", "no price", id="a price of 0"),
    ],
)
def test_a_missing_price_is_not_a_price_of_zero(
    site: Client, emulator: Emulator, behaviour: str, said: str, unsaid: str
) -> None:
    emulator.inject("GetIntentHistory", behaviour)
    text = page(site, sort="usd")
    held = visible_text(text[text.index("<tbody") :])
    assert held.count(said) == len(rows(text))
    assert unsaid not in held


def test_another_order_causes_no_request(site: Client, requests: Requests) -> None:
    page(site)
    requested = len(requests.bodies)
    page(site, sort="usd")
    page(site)
    assert requested == len(requests.bodies) == 2


def test_a_fragment_is_only_the_list(site: Client, emulator: Emulator) -> None:
    answer = site.get("/recoverable", {"sort": "usd"}, headers={"HX-Request-Type": "partial"})
    assert "<html" not in answer.content.decode()
    assert '<nav class="frame-nav"' not in answer.content.decode()
    assert "HX-Request-Type" in answer["Vary"].split(", ")
    assert rows(answer.content.decode()) == rows(page(site, sort="usd"))


def test_the_attention_page_links_to_the_recoverable_list(site: Client, emulator: Emulator) -> None:
    response: HttpResponse = site.get("/attention")
    assert 'href="/recoverable"' in response.content.decode()


def test_a_cursor_of_the_history_is_no_cursor_of_the_recoverable_list(site: Client, emulator: Emulator) -> None:
    older = re.search(
        r'href="/history\?(cursor=[^"]+)"[^>]*rel="next"|rel="next"[^>]*href="/history\?(cursor=[^"]+)"',
        site.get("/history").content.decode(),
    )
    assert older
    moved = site.get(f"/recoverable?{older[1] or older[2]}")
    assert (moved.status_code, moved["Location"]) == (302, "/recoverable")
