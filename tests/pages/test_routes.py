"""Route search: routes from and to a token, and a specific route."""

import html
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.settings import ENV
from tests.pages.reading import PARTIAL, read, visible_text
from tests.pages.recorded import Recorded, rewrite

NATIVE = "0x" + "0" * 40
USDC_ON_BASE = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
USDC_ON_OPTIMISM = "0x0b2c639c533813f4aa9d7837caf62653d097ff85"
AERO = "0x940181a94a35a4569e4529a3cdfb74e38fd98631"
UNKNOWN_TOKEN = "0x" + "12" * 20
OWNER = "0x" + "1" * 40
ROUTES = ("GetExactInputRoutes", "GetExactOutputRoutes")


def headline(page: str) -> str:
    found = re.search(r'<h2 id="answer">(.*?)</h2>', page, re.DOTALL)
    assert found
    return html.unescape(found[1])


def question(origin: Any = None, token: Any = None, to: Any = None, wanted: Any = None, owner: Any = None) -> str:
    given = {"from": origin, "token": token, "to": to, "for": wanted, "owner": owner}
    return "/routes?" + urlencode({name: value for name, value in given.items() if value})


def asked(transport: Recorded) -> list[tuple[str, dict[str, Any]]]:
    """Return the requests about routes."""
    return sorted((each for each in transport.sent if each[0] in ROUTES), key=lambda each: each[0])


def received(**members: Any) -> tuple[str, dict[str, Any]]:
    return "GetExactInputRoutes", {"originChainId": 8453, "originTokenAddress": NATIVE} | members


def paid(**members: Any) -> tuple[str, dict[str, Any]]:
    return "GetExactOutputRoutes", {"destinationChainId": 8453, "destinationTokenAddress": USDC_ON_BASE} | members


BOTH = {
    "originChainId": 10,
    "originTokenAddress": NATIVE,
    "destinationChainId": 8453,
    "destinationTokenAddress": USDC_ON_BASE,
}
ACROSS = BOTH | {"originChainId": 11155111}


ROUTE = question(10, NATIVE, 8453, USDC_ON_BASE)
# A search, its answer, and the requests to the service.
SEARCHES = [
    (question(8453, NATIVE), "99 tokens on 19 chains reachable from ETH on Base", [received()]),
    (
        question(8453, NATIVE, to=10),
        "8 tokens on Optimism reachable from ETH on Base",
        [received(destinationChainId=10)],
    ),
    (
        question(8453, NATIVE, to=84532),
        "No listed token on Base Sepolia reachable from ETH on Base",
        [received(destinationChainId=84532)],
    ),
    (question(to=8453, wanted=USDC_ON_BASE), "70 tokens on 19 chains with a route to USDC on Base", [paid()]),
    (
        question(to=8453, wanted=USDC_ON_BASE, owner=OWNER),
        "31 tokens on 15 chains held by 0x111111…111111 with a route to USDC on Base",
        [paid(ownerAddress=OWNER)],
    ),
    (
        ROUTE,
        "Yes: a route from ETH on Optimism to USDC on Base is listed",
        [("GetExactInputRoutes", BOTH), ("GetExactOutputRoutes", BOTH)],
    ),
    (
        question(11155111, NATIVE, 8453, USDC_ON_BASE),
        "No listed route from ETH on Sepolia to USDC on Base",
        [("GetExactInputRoutes", ACROSS), ("GetExactOutputRoutes", ACROSS)],
    ),
    (
        f"{ROUTE}&owner={OWNER}",
        "Yes, to spend an exact amount: a route from ETH on Optimism to USDC on Base is listed",
        [("GetExactInputRoutes", BOTH), ("GetExactOutputRoutes", BOTH | {"ownerAddress": OWNER})],
    ),
]
RECEIVE, PAY, ONE_ROUTE = question(8453, NATIVE), question(to=8453, wanted=NATIVE), question(8453, NATIVE, 10, NATIVE)


@pytest.mark.parametrize(("url", "said", "sent"), SEARCHES, ids=[said for _, said, _ in SEARCHES])
def test_the_routes_of_both_operations_are_listed(
    site: Client,
    transport: Recorded,
    url: str,
    said: str,
    sent: list[tuple[str, dict[str, Any]]],
) -> None:
    page = read(site, url)
    assert headline(page) == said
    assert asked(transport) == sent
    assert ("A route may still exist." in visible_text(page)) == said.startswith("No listed")


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ({"from": "8453", "token": "eth"}, question(8453, NATIVE)),
        ({"to": " BASE ", "for": f" {USDC_ON_BASE[2:]} ", "utm_source": "x"}, question(to=8453, wanted=USDC_ON_BASE)),
        ({"from": "10", "token": "0x" + "Ee" * 20, "to": "8453", "for": USDC_ON_BASE.upper()}, ROUTE),
        ({"from": " ", "token": ""}, "/routes"),
    ],
)
def test_a_route_query_has_one_canonical_form(site: Client, written: dict[str, str], canonical: str) -> None:
    answer = site.get("/routes", written)
    assert (answer.status_code, answer["Location"]) == (302, canonical)


SEVERAL = "Several featured tokens on Optimism have the symbol USDC. Select one."
NOT_FEATURED = "AERO is listed but not featured on Base. Enter its address."
NO_SYMBOL = "No token on Base has the symbol XYZ. Enter a token address or a featured token's symbol."


@pytest.mark.parametrize(
    ("query", "said", "meant"),
    [
        ("to=10&for=USDC", SEVERAL, ["to=10&for=" + USDC_ON_OPTIMISM, "to=10&for=" + UNKNOWN_TOKEN]),
        ("from=8453&token=AERO", NOT_FEATURED, ["from=8453&token=" + AERO]),
        ("from=8453&token=XYZ", NO_SYMBOL, []),
    ],
    ids=["two of a name", "not featured", "unknown"],
)
def test_a_symbol_that_is_not_one_token_is_explained(
    site: Client, transport: Recorded, query: str, said: str, meant: list[str]
) -> None:
    twin = token(10, UNKNOWN_TOKEN, symbol="usdc", featured=True)
    transport.changes["GetTokenList"] = lambda answer: {"tokens": [*answer["tokens"], twin]}
    page = read(site, f"/routes?{query}", status=400)
    assert said in visible_text(page)
    assert all(f'href="/routes?{html.escape(each)}"' in page for each in meant)
    options = re.findall(r'<option value="([^"]+)"', site.get("/routes/tokens?to=10", headers=PARTIAL).content.decode())
    assert {"ETH", USDC_ON_OPTIMISM, UNKNOWN_TOKEN} <= {*options}
    assert "USDC" not in options


@pytest.mark.parametrize(
    ("received", "paid", "said"),
    [
        ([(10, UNKNOWN_TOKEN)], [], "Possibly: the service listed other tokens for a route from ETH on Base"),
        (["?"], [], "Unknown: couldn't check for a route from ETH on Base"),
        ([], [(8453, "0x" + "Ee" * 20)], "Yes, to receive an exact amount: a route from ETH on Base"),
    ],
    ids=["other tokens", "unreadable", "one operation"],
)
def test_two_responses_make_one_sentence(
    site: Client, transport: Recorded, received: list[Any], paid: list[Any], said: str
) -> None:
    for operation, listed in zip(ROUTES, (received, paid), strict=True):
        tokens = [each if each == "?" else token(*each) for each in listed]
        transport.scripts[operation] = lambda _, tokens=tokens: {"tokens": tokens}
    assert headline(read(site, ONE_ROUTE)).startswith(said)


@pytest.mark.parametrize("url", [RECEIVE, PAY, ONE_ROUTE], ids=["receive", "pay", "one route"])
def test_an_empty_list_of_routes_does_not_rule_out_a_route(site: Client, emulator: Emulator, url: str) -> None:
    for operation in ROUTES:
        emulator.inject(operation, "routes-stub")
    page = read(site, url)
    assert headline(page).startswith("No listed ")
    assert "A route may still exist. Request a quote to confirm." in visible_text(page)


@pytest.mark.parametrize(
    ("behaviour", "status", "said"),
    [
        ("node-down-503", 503, "Service error"),
        ("busy-60", 429, "Rate limited by the service"),
        ("broken-json", 503, "Unexpected response"),
    ],
)
@pytest.mark.parametrize("url", [RECEIVE, PAY, ONE_ROUTE], ids=["receive", "pay", "one route"])
def test_a_failure_is_not_an_empty_result_and_the_form_stays(
    site: Client, emulator: Emulator, url: str, behaviour: str, status: int, said: str
) -> None:
    for operation in ROUTES:
        emulator.inject(operation, behaviour)
    answer = site.get(url)
    assert answer.status_code == status
    assert headline(answer.content.decode()) == said
    assert "A route may still exist" not in visible_text(answer)
    assert "No listed" not in visible_text(answer)
    assert ("Retry-After" in answer) == (status in (429, 503))
    assert f'href="{html.escape(url)}">Try again</a>' in answer.content.decode()
    assert '<bdi>ETH</bdi></a> <span class="sub">on Base' in answer.content.decode()


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ("GetExactInputRoutes", "To spend an exact amount no response"),
        ("GetExactOutputRoutes", "To receive an exact amount no response"),
    ],
)
def test_one_failed_request_of_two_is_noted(site: Client, emulator: Emulator, failing: str, said: str) -> None:
    emulator.inject(failing, "node-down-503")
    page = read(site, question(8453, NATIVE, 10, NATIVE))
    assert headline(page) == "Yes: a route from ETH on Base to ETH on Optimism is listed"
    assert f"{said} {failing} : Service error".replace(" :", ":") in visible_text(page)


@pytest.mark.parametrize("alias", [NATIVE, "0x" + "Ee" * 20], ids=["the same address", "the other native address"])
def test_the_same_token_on_both_sides_is_explained_without_a_request(
    site: Client, transport: Recorded, alias: str
) -> None:
    answer = site.get(question(8453, NATIVE, 8453, alias), follow=True)
    assert answer.status_code == 200
    assert headline(answer.content.decode()) == "Both sides are the same token on the same chain"
    assert asked(transport) == []


def test_typed_values_stay_in_their_fields(site: Client) -> None:
    page = site.get("/routes?from=8453&token=NOPE&owner=%22me%22").content.decode()
    assert 'name="token_typed" value="NOPE"' in page
    assert 'name="owner" value="&#34;me&#34;"' in page
    assert '<option value="8453" selected>Base</option>' in page


def test_unknown_chains_show_their_id_and_unknown_tokens_their_address(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetChains", "node-down-503")
    emulator.inject("GetTokenList", "node-down-503")
    page = read(site, question(8453, USDC_ON_BASE))
    assert headline(page).startswith("99 tokens on 19 chains reachable from 0x833589…A02913 on Chain 8453")
    assert '<input id="from" name="from" value="8453"' in page
    page = read(site, "/routes?from=8453&token=ETH", status=400)
    assert "Couldn't look up token names on" in visible_text(page)


def test_each_token_links_to_its_page_and_to_its_route(site: Client) -> None:
    page = site.get(question(8453, NATIVE, to=10)).content.decode()
    assert f'href="/token/10/{USDC_ON_OPTIMISM}"><bdi>USDC</bdi>' in page
    url = html.escape(question(8453, NATIVE, 10, USDC_ON_OPTIMISM))
    assert f'href="{url}" aria-label="Is there a route to USDC on Optimism?"' in page
    assert f'href="{html.escape(question(8453, NATIVE))}">Search all chains</a>' in page


def test_a_suspicious_token_in_a_search_has_a_warning(site: Client) -> None:
    said = visible_text(site.get(question(8453, UNKNOWN_TOKEN)))
    assert "unnamed token on Base" in said
    assert "Unlisted." in said
    assert "Unlisted." not in visible_text(site.get(question(8453, AERO)))


def test_the_reverse_route_is_a_link_without_the_owner(site: Client) -> None:
    page = site.get(question(10, NATIVE, 8453, USDC_ON_BASE, owner=OWNER)).content.decode()
    assert re.search(
        rf'href="{re.escape(html.escape(question(8453, USDC_ON_BASE, 10, NATIVE)))}"><svg[^>]*>.*? Swap</a>', page
    )


def test_a_route_links_to_its_quote_if_the_console_can_write(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    url = question(10, NATIVE, 8453, USDC_ON_BASE)
    link = f'href="/console/QuoteIntent?originChainId=10&amp;originTokenAddress={NATIVE}'
    assert link in site.get(url).content.decode()
    monkeypatch.setattr(ENV, "intents_console", "read")
    assert "QuoteIntent" not in site.get(url).content.decode()


def token(chain_id: object, address: object, **others: object) -> dict[str, object]:
    return {"chainId": chain_id, "address": address, "name": "Some Token", "symbol": "SOME", "decimals": 18} | others


UNUSUAL_NAMES = (
    token(10, UNKNOWN_TOKEN, symbol="USDC", name="USD Coin"),
    token(10, "TX/../..?<b>", symbol="<i>TRON</i>"),
    token(999999999, UNKNOWN_TOKEN, symbol="", name=""),
    token(10**30, UNKNOWN_TOKEN, symbol="FAR"),
    token(10, NATIVE, symbol="ETH"),
    token(10, "0x" + "e" * 40, symbol="ETH"),
    token(10, None),
    "no token at all",
)


def test_unusual_names_break_no_route_page(site: Client) -> None:
    with rewrite("GetExactInputRoutes", lambda _: {"tokens": list(UNUSUAL_NAMES)}):
        page = read(site, question(8453, NATIVE))
    said = visible_text(page)
    assert headline(page) == "5 tokens on 3 chains reachable from ETH on Base"
    assert "2 entries couldn't be read." in said
    assert re.search(r"Optimism 3 tokens .* Chain 999999999 1 token", said)
    assert "unlisted" in said
    assert "&lt;i&gt;TRON&lt;/i&gt;" in page
    assert f'href="/token/10/{UNKNOWN_TOKEN}"' in page


def test_an_unreadable_response_is_not_an_empty_one(site: Client) -> None:
    with rewrite("GetExactInputRoutes", lambda _: {"tokens": ["?", {"chainId": 10}]}):
        page = read(site, question(8453, NATIVE))
    assert headline(page).startswith("Unknown: couldn't load the tokens")
    assert "No listed" not in visible_text(page)


def test_a_chain_with_many_tokens_shows_the_first_and_then_all(site: Client) -> None:
    many = {"tokens": [token(10, f"0x{number:040x}", symbol=f"T{number}") for number in range(1, 301)]}
    with rewrite("GetExactInputRoutes", lambda _: many):
        among = site.get(question(8453, NATIVE))
        alone = site.get(question(8453, NATIVE, to=10))
        whole = site.get(question(8453, NATIVE, to=10) + "&show=all")
    shown = [page.content.decode().count('class="route-ask"') for page in (among, alone, whole)]
    assert shown == [12, 240, 300]
    assert (
        f'href="{html.escape(question(8453, NATIVE, to=10))}">All 300 tokens on Optimism</a>' in among.content.decode()
    )
    assert '&amp;show=all">Show 60 more tokens</a>' in alone.content.decode()


@pytest.mark.parametrize(
    ("url", "said", "chosen"),
    [
        ("/routes/tokens?from=10&token=USDC", "6 featured tokens on Optimism", "USDC"),
        ("/routes/tokens?to=10&for=AERO", "6 featured tokens on Optimism", None),
        ("/routes/tokens?from=99999", "No chain selected", None),
    ],
)
def test_the_token_menu_follows_the_chain(site: Client, url: str, said: str, chosen: str | None) -> None:
    part = site.get(url, headers=PARTIAL).content.decode()
    assert f'data-said="{said}"' in part
    assert re.findall(r'<option value="([^"]*)" selected>', part) == ([chosen] if chosen else [])
    assert "<html" not in part


def test_the_token_menu_without_javascript_is_the_form(site: Client) -> None:
    answer = site.get("/routes/tokens?from=10&token=")
    assert (answer.status_code, answer["Location"]) == (302, "/routes?from=10")
    assert site.get("/routes/tokens?from=%20")["Location"] == "/routes"


@pytest.mark.parametrize(
    ("query", "said", "links"),
    [
        (
            "from=8453",
            ["reachable from ETH on Base", "Featured tokens on Base", "Destination chains", "Optimism 8 tokens"],
            [question(8453, USDC_ON_BASE), question(8453, NATIVE, to=10)],
        ),
        (
            "to=8453",
            ["with a route to ETH on Base", "Featured tokens on Base", "Origin chains", "Optimism"],
            [question(to=8453, wanted=USDC_ON_BASE), question(10, to=8453, wanted=NATIVE)],
        ),
    ],
)
def test_a_chain_alone_lists_its_featured_tokens_and_the_chains_it_is_connected_to(
    site: Client, transport: Recorded, query: str, said: list[str], links: list[str]
) -> None:
    page = read(site, f"/routes?{query}")
    assert [words for words in said if words not in visible_text(page)] == []
    assert [link for link in links if f'href="{html.escape(link)}"' not in page] == []
    assert len(asked(transport)) == 1


def test_a_chain_alone_whose_routes_fail_to_load_is_not_a_chain_without_routes(
    site: Client, emulator: Emulator
) -> None:
    emulator.inject("GetExactInputRoutes", "node-down-503")
    page = read(site, "/routes?from=8453", status=503)
    assert "No listed token" not in visible_text(page)


def test_without_a_search_nothing_is_requested(site: Client, transport: Recorded) -> None:
    assert site.get("/routes").status_code == 200
    assert asked(transport) == []
