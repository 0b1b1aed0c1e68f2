"""Anything a user has of a transfer, in any form, leads to its page in one step over real HTTP."""

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

FORMS: dict[str, Callable[[str, str], str]] = {
    "bare": lambda value, link: value,
    "without 0x": lambda value, link: value.removeprefix("0x"),
    "upper case": lambda value, link: value.upper() if value.startswith("0x") else value,
    "padded": lambda value, link: f" \t{value} \r\n",
    "quoted": lambda value, link: f"“{value}”",
    "in a link": lambda value, link: link.format(value),
    "in a sentence": lambda value, link: f"Hello, my transfer ({value}) did not arrive. Please help!",
}
EXPLORER_TX = "https://etherscan.io/tx/{}"
EXPLORER_ADDRESS = "https://basescan.org/address/{}#tokentxns"
OWN_INTENT = "http://127.0.0.1:8000/intent/{}"
LEGS = ("deposit", "origin", "destination", "refund")


@dataclass(frozen=True)
class Known:
    """Something that a customer may have of an intent."""

    what: str
    value: str
    link: str


@dataclass(frozen=True)
class Copy:
    intent_id: str
    known: tuple[Known, ...]


@pytest.fixture(scope="module")
def client(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, trust_env=False, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def copies(client: httpx.Client) -> dict[int, list[Copy]]:
    """Return the live, worst and completed copies of each scenario, as linked by the demo page."""
    page = client.get("/demo").text
    ids = [part.split('"')[0] for part in page.split('href="/intent/')[1:]]
    assert len(ids) == 90
    return {
        number: [copy(client, intent_id) for intent_id in ids[3 * number - 3 : 3 * number]] for number in range(1, 31)
    }


def copy(client: httpx.Client, intent_id: str) -> Copy:
    intent = ask(client, "GetIntent", intentId=intent_id)["intent"]
    receipt = ask(client, "GetIntentReceipt", intentId=intent_id).get("intentReceipt") or {}
    known = [Known("intent ID", intent_id, OWN_INTENT), Known("owner", intent["ownerAddress"], EXPLORER_ADDRESS)]
    for name in ("originIntentAddress", "destinationIntentAddress"):
        if address := intent.get(name):
            known.append(Known(name, address, EXPLORER_ADDRESS))
    for leg in LEGS:
        txn_hash = (receipt.get(f"{leg}Transaction") or {}).get("txnHash")
        if txn_hash and txn_hash.lower().strip("0xf"):
            known.append(Known(f"{leg} hash", txn_hash, EXPLORER_TX))
    return Copy(intent_id, tuple(known))


def ask(client: httpx.Client, operation: str, **request: object) -> dict[str, dict[str, str]]:
    answer: dict[str, dict[str, str]] = json.loads(client.post(f"/rpc/Service/{operation}", json=request).text)
    return answer


BARE, *OTHERS = FORMS
MOST_PAGES = 30


def pastings(copies: dict[int, list[Copy]]) -> Iterator[tuple[int, Copy, Known, str]]:
    """Return the pasted texts by scenario: each identifier bare, and in two of the other forms in turn."""
    turns: Counter[str] = Counter()
    for number, three in copies.items():
        for one, known in ((copy, known) for copy in three for known in copy.known):
            turn = 2 * turns[known.what]
            turns[known.what] += 1
            for form in (BARE, OTHERS[turn % len(OTHERS)], OTHERS[(turn + 1) % len(OTHERS)]):
                yield number, one, known, form


@pytest.mark.parametrize("number", range(1, 31))
def test_pasting_anything_of_a_transfer_leads_to_its_page(
    client: httpx.Client, copies: dict[int, list[Copy]], number: int
) -> None:
    lost = [
        f"{known.what} {form}"
        for scenario, one, known, form in pastings(copies)
        if scenario == number
        and not leads_to(client, client.get("/search", params={"q": FORMS[form](known.value, known.link)}), one, known)
    ]
    assert not lost


def leads_to(client: httpx.Client, answer: httpx.Response, one: Copy, known: Known) -> bool:
    """Return whether the response redirects to the intent (with the hash of a transaction) or to its address, or
    lists it.
    """
    if answer.status_code == 302:
        where = urlsplit(answer.headers["location"])
        if where.path == f"/address/{known.value.lower()}":
            return is_listed(client, where.path, one)
        by_hash = parse_qs(where.query).get("tx", [""])[0].lower()
        return where.path == f"/intent/{one.intent_id}" and by_hash == (
            known.value.lower() if "hash" in known.what else ""
        )
    return answer.status_code == 200 and f'href="/intent/{one.intent_id}"' in answer.text


def is_listed(client: httpx.Client, path: str, one: Copy) -> bool:
    """Return whether the intent is on the address's page, or behind its link to older transfers."""
    page = client.get(path).text
    if "Roles" not in page:
        return False
    for _ in range(MOST_PAGES):
        if f'href="/intent/{one.intent_id}"' in page:
            return True
        older = re.search(r'href="([^"]+)"[^>]*rel="next"', page) or re.search(r'rel="next"[^>]*href="([^"]+)"', page)
        if older is None:
            return False
        page = client.get(html.unescape(older[1])).text
    return False


def test_every_scenario_has_a_hash_to_paste(copies: dict[int, list[Copy]]) -> None:
    """Checks the test above: every scenario has a hash to paste unless no transaction is ever sent."""
    without = {
        number
        for number, three in copies.items()
        if not any("hash" in known.what for one in three for known in one.known)
    }
    assert without == {5, 6, 7, 27}


def test_each_identifier_is_pasted_in_every_form(copies: dict[int, list[Copy]]) -> None:
    """Checks the test above, too."""
    pasted = {(known.what, form) for _, _, known, form in pastings(copies)}
    assert pasted == set(product({what for what, _ in pasted}, FORMS))
