"""Anything a user has of a transfer, in any form, leads to its page in one step over real HTTP."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests import canary
from tests.emulator.driving import request
from tests.production import Production

FORMS: dict[str, Callable[[str, str], str]] = {
    "bare": lambda value, link: value,
    "without 0x": lambda value, link: value.removeprefix("0x"),
    "upper case": lambda value, link: value.upper() if value.startswith("0x") else value,
    "padded": lambda value, link: f" \t{value} \r\n",
    "quoted": lambda value, link: f"“{value}”",
    "in a link": lambda value, link: link.format(value),
    "in a sentence": lambda value, link: f"Hello, my transfer ({value}) did not arrive. Please help!",
}
LINKS = {
    "intent ID": "http://127.0.0.1:8000/intent/{}",
    "address": "https://basescan.org/address/{}#tokentxns",
    "hash": "https://etherscan.io/tx/{}",
}
LEGS = ("deposit", "origin", "destination", "refund")
NEW_OWNER = 1_000_000  # has this transfer only
# One with everything that a transfer can have, and one whose hash isn't hexadecimal.
REFUNDED, ODD_HASH = "refunded-on-destination", "edge-and-extra-fields"


@pytest.fixture(scope="module")
def intents(production: Production) -> dict[str, dict[str, Any]]:
    emulator = production.service.emulator
    return {name: emulator.play(name, age=86_400, owner=NEW_OWNER) for name in (REFUNDED, ODD_HASH)}


def identifiers(production: Production, intent: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the kind and value of each that a user may have."""
    body = {"intentId": intent["intentId"]}
    asked = request(production.service.emulator, "GetIntentReceipt", body, key=canary.KEY)
    receipt = asked.document["intentReceipt"]
    addresses = ("ownerAddress", "originIntentAddress", "destinationIntentAddress")
    return [
        ("intent ID", intent["intentId"]),
        *(("address", intent[name]) for name in addresses),
        *(("hash", receipt[f"{leg}Transaction"]["txnHash"]) for leg in LEGS if receipt.get(f"{leg}Transaction")),
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("scenario", "number"), [(REFUNDED, 8), (ODD_HASH, 7)])
def test_pasting_anything_of_a_transfer_leads_to_its_page(
    production: Production, intents: dict[str, dict[str, Any]], scenario: str, number: int, form: str
) -> None:
    intent_id, known = intents[scenario]["intentId"], identifiers(production, intents[scenario])
    assert len(known) == number
    for kind, value in known:
        pasted = FORMS[form](value, LINKS[kind])
        answer = production.client.get(f"{production.root}/search", params={"q": pasted})
        assert leads_to(production, answer, intent_id, kind, value), pasted


def leads_to(production: Production, answer: httpx.Response, intent_id: str, kind: str, value: str) -> bool:
    """Return whether the response redirects to the transfer (with the hash of a transaction), or to its address that
    lists it, or lists it.
    """
    if answer.status_code == 302:
        where = urlsplit(answer.headers["location"])
        if where.path == f"/address/{value.lower()}":
            page = production.get(where.path).text
            return "Roles" in page and f'href="/intent/{intent_id}"' in page
        by_hash = parse_qs(where.query).get("tx", [""])[0].lower()
        return where.path == f"/intent/{intent_id}" and by_hash == (value.lower() if kind == "hash" else "")
    return answer.status_code == 200 and f'href="/intent/{intent_id}"' in answer.text
