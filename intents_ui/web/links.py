"""Canonical URLs of intent and token pages."""

import re
from collections.abc import Callable
from functools import lru_cache, wraps

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import resolve, reverse

from intents_ui.formatting import hashes
from intents_ui.search import identifiers
from intents_ui.search.identifiers import Kind
from intents_ui.service.results import Hit
from intents_ui.tokens import names
from intents_ui.tokens.token_amounts import Identity, key
from intents_ui.transfers.transfer import Transfer

# IDs that aren't hashes: any word, as in the service's documentation. Dots alone would be a path segment.
PLAIN_ID = re.compile(r"(?!\.+\Z)[A-Za-z0-9_.:-]{1,200}", re.ASCII)


def intent_url(hit: Hit, **query: str) -> str:
    """Return the URL of the intent's page, including a transaction it was found by: one that is doubted, if any."""
    found_by = (*(each.transaction_hash for each in hit.doubts), *hit.transaction_hashes)
    return reverse("intent", args=[hit.intent.intent_id], query={"tx": found_by[0], **query} if found_by else None)


def token_path(token: Identity) -> str | None:
    """Return the path of a token's page, or None if the token can't have one, such as `ibc/…`."""
    if token.chain_id is None or not hashes.any_address(token.address or "") or not names.is_possible(token.chain_id):
        return None
    return _token_path(token.chain_id, key(token.address or ""))


@lru_cache(4096)  # because `reverse` takes a tenth of a token list's time
def _token_path(chain_id: int, address: str) -> str:
    return reverse("token", args=[chain_id, address])


def page_url(transfer: Transfer, *, root: str) -> str:
    return root + reverse("intent", args=[transfer.intent.intent_id])


def canonical(intent_id: str) -> str:
    """Return the canonical form of an Intent ID: `0x` and lower case for a hash, unchanged otherwise.

    Raises Http404 for text that can't be an Intent ID, without a request to the service.
    """
    if known := hashes.canonical_hash(intent_id):
        return known
    read = identifiers.read(intent_id)
    found = next((each.value for each in read.lookups if each.kind in (Kind.HASH, Kind.INTENT)), None)
    if found is None and not (PLAIN_ID.fullmatch(intent_id) and not read.refusal):
        raise Http404(read.refusal or "This isn't an intent ID.")
    return found or intent_id


def canonical_address(written: str) -> str:
    """Return the canonical form of an account address. Raises Http404 for anything else."""
    known = identifiers.account(written)
    if known is None:
        raise Http404("This is not an account address.")
    return known


def canonical_url[R: HttpResponseBase](view: Callable[..., R]) -> Callable[..., R | HttpResponse]:
    """Decorate a view of an intent or an account address: redirect other spellings to the canonical URL."""

    @wraps(view)
    def answer(request: HttpRequest, **named: str) -> R | HttpResponse:
        [(name, written)] = named.items()
        known = canonical(written) if name == "intent_id" else canonical_address(written)
        if known == written:
            return view(request, **named)
        page = resolve(request.path_info).view_name
        return redirect(reverse(page, args=[known], query=request.GET), permanent=True)

    return answer
