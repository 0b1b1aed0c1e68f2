"""Route search: routes from and to a token, and a specific route."""

import html
import re
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.pages.cases import cases
from tests.pages.reading import PARTIAL, read, visible_text
from tests.pages.recorded import rewrite

NATIVE = "0x" + "0" * 40
USDC_ON_OPTIMISM = "0x0b2c639c533813f4aa9d7837caf62653d097ff85"
AERO = "0x940181a94a35a4569e4529a3cdfb74e38fd98631"
UNKNOWN_TOKEN = "0x" + "12" * 20


def headline(page: str) -> str:
    found = re.search(r'<h2 id="answer">(.*?)</h2>', page, re.DOTALL)
    assert found
    return html.unescape(found[1])


def question(origin: Any = None, token: Any = None, to: Any = None, wanted: Any = None, owner: Any = None) -> str:
    given = {"from": origin, "token": token, "to": to, "for": wanted, "owner": owner}
    return "/routes?" + urlencode({name: value for name, value in given.items() if value})


@pytest.mark.parametrize("case", cases("routes"))
def test_a_page_says(pages, case):
    pages.check(case)


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
def test_a_symbol_that_is_not_one_token_is_explained(site, transport, query, said, meant):
    twin = token(10, UNKNOWN_TOKEN, symbol="usdc", featured=True)
    transport.changes["GetTokenList"] = lambda answer: {"tokens": [*answer["tokens"], twin]}
    page = read(site, f"/routes?{query}", status=400)
    assert said in visible_text(page)
    assert all(f'href="/routes?{html.escape(each)}"' in page for each in meant)
    options = re.findall(r'<option value="([^"]+)"', site.get("/routes/tokens?to=10", headers=PARTIAL).content.decode())
    assert {"ETH", USDC_ON_OPTIMISM, UNKNOWN_TOKEN} <= {*options}
    assert "USDC" not in options


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


def test_unusual_names_break_no_route_page(site):
    with rewrite("GetExactInputRoutes", lambda _: {"tokens": list(UNUSUAL_NAMES)}):
        page = read(site, question(8453, NATIVE))
    said = visible_text(page)
    assert headline(page) == "5 tokens on 3 chains reachable from ETH on Base"
    assert "2 entries couldn't be read." in said
    assert re.search(r"Optimism 3 tokens .* Chain 999999999 1 token", said)
    assert "unlisted" in said
    assert "&lt;i&gt;TRON&lt;/i&gt;" in page
    assert f'href="/token/10/{UNKNOWN_TOKEN}"' in page


def test_a_chain_with_many_tokens_shows_the_first_and_then_all(site):
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
