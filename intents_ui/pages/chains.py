"""`/chains` and `/chain/<id>`: the chains that the service supports, and each of them by itself."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display import chains as display


@require_safe
def chains(request: HttpRequest) -> HttpResponse:
    found = wiring.service().get_chains().chains
    return render(request, "chains.html", {"chains": [display.of(chain) for chain in found]})


@require_safe
def chain(request: HttpRequest, chain_id: str) -> HttpResponse:
    if chain_id != str(int(chain_id)):
        return redirect("chain", int(chain_id), permanent=True)
    found = {chain.id: chain for chain in wiring.service().get_chains().chains}.get(int(chain_id))
    if found is None:
        raise Http404(f"The service lists no chain {chain_id}.")
    return render(request, "chain.html", {"chain": display.of(found)})
