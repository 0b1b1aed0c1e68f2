"""`/search` and `/tx/…`: from whatever somebody pasted to the intent that it belongs to.

One hit redirects, several are a list with the reason of each, none is an explained miss.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display import criteria, hashes, names, pasted, transfer
from intents_ui.display.pasted import Finding, Kind
from intents_ui.service import lookup
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import TooBusy

ASK: Mapping[Kind, Callable[[ServiceClient, str], lookup.Found]] = {
    Kind.INTENT: lookup.by_id,
    Kind.TRANSACTION: lookup.by_transaction,
    Kind.SOLANA_SIGNATURE: lookup.by_transaction,
    Kind.HASH: lookup.by_hash,
    Kind.ADDRESS: lookup.by_address,
    Kind.SOLANA_ADDRESS: lookup.by_address,
    Kind.WORDS: lookup.by_words,
}

# A message may hold several: an id or a hash leads to one transfer, an address to many.
MOST_TELLING = list(ASK)


@dataclass(frozen=True)
class Explorer:
    chain: str
    link: str


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "")
    if not query.strip():
        return by_keys(request)
    read = pasted.read(query)
    if not read.lookups:
        return form(request, criteria.read({}), query=query, problem=read.problem, status=HTTPStatus.BAD_REQUEST)
    finding = min(read.lookups, key=lambda finding: MOST_TELLING.index(finding.kind))
    others = [other for other in read.lookups if other != finding]
    found = ASK[finding.kind](wiring.service(), finding.value)
    return answer(request, found, finding=finding, others=others, query=query)


def by_keys(request: HttpRequest) -> HttpResponse:
    """The form of all eight keys; filled in, they are asked together."""
    asked = criteria.read(request.GET)
    if asked.problems:
        return form(request, asked, status=HTTPStatus.BAD_REQUEST)
    if not asked.given:
        return form(request, asked)
    return answer(request, lookup.by_keys(wiring.service(), **asked.given), asked=asked)


@require_safe
def transaction(request: HttpRequest, transaction_hash: str, chain_id: int | None = None) -> HttpResponse:
    """To the intent that a transaction belongs to; the intent's page says which step it is."""
    canonical = hashes.canonical_hash(transaction_hash)
    if canonical is None:
        read = pasted.read(transaction_hash)
        problem = read.problem or "A transaction hash has 64 hex digits after 0x."
        return form(request, criteria.read({}), query=transaction_hash, problem=problem, status=HTTPStatus.BAD_REQUEST)
    if canonical != transaction_hash:
        where = (canonical,) if chain_id is None else (chain_id, canonical)
        return redirect(reverse("transaction" if chain_id is None else "transaction-on", args=where), permanent=True)
    finding = Finding(Kind.TRANSACTION, canonical, chain_id=chain_id)
    return answer(request, lookup.by_transaction(wiring.service(), canonical), finding=finding)


def answer(
    request: HttpRequest,
    found: lookup.Found,
    *,
    finding: Finding | None = None,
    others: list[Finding] | tuple[()] = (),
    query: str = "",
    asked: criteria.Criteria | None = None,
) -> HttpResponse:
    if len(found.hits) == 1 and not found.failed:
        return redirect(intent_url(found.hits[0], finding))
    now = datetime.now(UTC)
    context: dict[str, object] = {
        "found": found,
        "finding": finding,
        "others": others,
        "pasted": query,
        "asked": asked,
        "now": now,
        "transfers": [
            transfer.of_intent(hit.intent, None, using=wiring.catalog(), now=now) for hit in found.hits
        ],
        "reasons": {hit.intent.intent_id: hit.reasons for hit in found.hits},
    }  # fmt: skip
    if found.hits:
        return render(request, "found.html", context)
    context["explorers"] = explorers(finding)
    return render(request, "miss.html", context, status=miss_status(found))


def intent_url(hit: lookup.Hit, finding: Finding | None) -> str:
    url = reverse("intent", args=[hit.intent.intent_id])
    by_transaction = finding is not None and hit.reasons == ("transaction hash",)
    return f"{url}?{urlencode({'tx': finding.value})}" if finding and by_transaction else url


def miss_status(found: lookup.Found) -> HTTPStatus:
    """Only a search in which every question was answered can say that there is nothing."""
    if found.error is None:
        return HTTPStatus.NOT_FOUND
    return HTTPStatus.TOO_MANY_REQUESTS if isinstance(found.error, TooBusy) else HTTPStatus.SERVICE_UNAVAILABLE


def explorers(finding: Finding | None) -> list[Explorer]:
    """Where a hash or an address that the service does not know can be looked at: on each chain, or the one named."""
    if finding is None or finding.kind not in (Kind.HASH, Kind.TRANSACTION, Kind.ADDRESS):
        return []
    chains = [chain for chain in wiring.catalog().chains() if finding.chain_id in (None, chain.id)]
    links = (
        (chain, hashes.address_link(chain.explorer_url, address=finding.value))
        if finding.kind == Kind.ADDRESS
        else (chain, hashes.transaction_link(chain.explorer_url, txn_hash=finding.value))
        for chain in chains
    )
    return [Explorer(names.chain(chain.id, info=chain), link) for chain, link in links if link]


def form(
    request: HttpRequest,
    asked: criteria.Criteria,
    *,
    query: str = "",
    problem: str = "",
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    return render(request, "search.html", {"asked": asked, "pasted": query, "problem": problem}, status=status)
