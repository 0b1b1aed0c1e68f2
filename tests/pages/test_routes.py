"""Route search: routes from and to a token, and a specific route."""

import html
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from tests.pages.cases import Pages, cases
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


@pytest.mark.parametrize("case", cases("routes"))
def test_a_page_says(pages: Pages, case: list[dict[str, Any]]) -> None:
    pages.check(case)


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


@pytest.mark.parametrize("alias", [NATIVE, "0x" + "Ee" * 20], ids=["the same address", "the other native address"])
def test_the_same_token_on_both_sides_is_explained_without_a_request(
    site: Client, transport: Recorded, alias: str
) -> None:
    answer = site.get(question(8453, NATIVE, 8453, alias), follow=True)
    assert answer.status_code == 200
    assert headline(answer.content.decode()) == "Both sides are the same token on the same chain"
    assert asked(transport) == []


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
