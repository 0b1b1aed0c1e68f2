"""`/token/<chain>/<address>`: one token, listed or not."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display import hashes, near_misses, solana
from intents_ui.display.identity import identity
from intents_ui.display.tokens import key


@require_safe
def token(request: HttpRequest, chain_id: str, address: str) -> HttpResponse:
    known = canonical(address)
    if (chain_id, address) != (str(int(chain_id)), known):
        return redirect("token", int(chain_id), known, permanent=True)
    return render(request, "token.html", {"token": identity(int(chain_id), known, using=wiring.catalog())})


def canonical(written: str) -> str:
    """The one way to write a token's address. Raises Http404 for what is none, so that nothing is asked."""
    if solana.is_address(written):
        return written
    if hashes.canonical_address(written) is None:
        raise Http404(near_misses.of_address(written))
    return key(written)
