"""Pages that show the service's objects, and the places of values in its responses."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client

from intents_ui import app
from intents_ui.live.snapshot import Snapshot
from intents_ui.service import operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import NotFound
from intents_ui.web import intent
from tests.faults.site import NOTHING, USDC

LIVE: Final = "live "
TYPED: Final = "POST "


@dataclass(frozen=True)
class Sample:
    """The identifiers by which an intent can be looked up."""

    intent_id: str
    owner: str
    txn_hash: str

    @classmethod
    def of(cls, service: ServiceClient, intent_id: str) -> Self:
        owner = service.ask(operations.get_intent(intent_id)).owner_address
        assert owner
        try:
            receipt = service.ask(operations.get_intent_receipt(intent_id))
        except NotFound:
            return cls(intent_id, owner, NOTHING)
        legs = (receipt.origin_transaction, receipt.deposit_transaction)
        return cls(intent_id, owner, next((leg.txn_hash for leg in legs if leg and leg.txn_hash), NOTHING))

    def page(self, form: str) -> str:
        return form.replace("ID", self.intent_id).replace("OWNER", self.owner).replace("HASH", self.txn_hash)


def by_hand(operation: str, **request: Any) -> str:
    return f"/console/{operation}?" + urlencode({"ask": "json", "json": json.dumps(request)})


OF_AN_INTENT: Final = [
    *("/intent/ID" + part for part in (
        "", "/receipt", "/reply", "/route-stats", "/proof", "/balances", "/card.png", "/share",
        "/feed.atom", ".json", "/raw/intent.json", "/raw/receipt.json", "/commit")),
    f"{LIVE}ID", "/embed/intent/ID", "/tx/HASH", "/search?q=HASH", "/search?q=ID", f"{TYPED}/triage ID HASH",
    by_hand("GetIntent", intentId="ID"), by_hand("GetIntentReceipt", intentId="ID"), "/console/CommitIntent?take=ID",
]  # fmt: skip
OF_AN_OWNER: Final = [
    "/address/OWNER", "/address/OWNER/feed.atom", "/search?owner=OWNER",
    "/export/address/OWNER.csv", "/export/address/OWNER.ndjson", f"{TYPED}/triage OWNER",
]  # fmt: skip
LISTS: Final = [
    "/", "/newest", "/overview", "/attention", "/history", "/history?recoverable=1",
    "/export/history.csv", "/export/history.json", "/export/history.ndjson", "/export/attention.csv",
    "/console/GetIntentHistory?ask=fields",
    f"/token/1/{USDC}/intents", "/chain/8453",
]  # fmt: skip
CATALOGUE: Final = [
    "/chains", "/chains?provider=Wormhole", "/provider/RELAY",
    "/tokens", "/tokens?chain=8453", "/tokens?q=usd", "/tokens/rows?chain=1",
    f"/token/1/{USDC}", f"/token/1/{USDC}/routes", "/routes", f"/routes?from=1&token={USDC}",
    f"/routes?from=1&token={USDC}&to=8453", f"/routes?to=1&for={USDC}", "/routes/tokens?from=1",
    "/console/GetChains?ask=fields", "/console/GetTokenList?ask=fields&chainIds=1", "/console/QuoteIntent",
    by_hand("GetExactInputRoutes", originChainId=1, originTokenAddress=USDC),
    by_hand("GetExactOutputRoutes", destinationChainId=1, destinationTokenAddress=USDC),
    by_hand("GetTokenPrices", tokens=[{"chainId": 1, "tokenAddress": USDC}]),
]  # fmt: skip


def read(site: Client, page: str) -> HttpResponse:
    """Return the response of a page. `live …` is the fragment that a stream sends, `POST …` a form."""
    if page.startswith(LIVE):
        intent_id = page.removeprefix(LIVE)
        known = app.current().service.ask(operations.get_intent_receipt(intent_id))
        return HttpResponse(intent.receipt_fragment(Snapshot(intent_id, known, learned_at=datetime.now(UTC))))
    if page.startswith(TYPED):
        path, _, text = page.removeprefix(TYPED).partition(" ")
        return site.post(path, {"q": text}, headers={"Sec-Fetch-Site": "same-origin"})
    return site.get(page, follow=True)


type Place = tuple[str | int, ...]


def places(document: Any, at: Place = ()) -> Iterator[Place]:
    """Yield the place of every node of a document except its root."""
    pairs: Any = ()
    if isinstance(document, dict):
        pairs = document.items()
    elif isinstance(document, list):
        pairs = enumerate(document)
    for key, value in pairs:
        yield (*at, key)
        yield from places(value, (*at, key))


def with_(document: Any, place: Place, value: Any) -> Any:
    """Return a copy with another value at that place."""
    step, *rest = place
    copy = dict(document) if isinstance(document, dict) else list(document)
    if rest:
        copy[step] = with_(document[step], tuple(rest), value)
    else:
        copy[step] = value
    return copy
