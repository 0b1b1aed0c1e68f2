"""`/routes`: where a token can go, what can pay for one, and whether one route is listed."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import bookmarks, wiring
from intents_ui.display import names, route_question
from intents_ui.display import routes as display
from intents_ui.display.route_question import Asked, Kind, Question
from intents_ui.service import operations
from intents_ui.service.answers import TokensAnswer


@require_safe
def routes(request: HttpRequest) -> HttpResponse:
    asked = route_question.read(dict(request.GET.lists()), using=wiring.catalog())
    if asked.problems:
        return render(request, "routes.html", form(asked), status=HTTPStatus.BAD_REQUEST)
    url = address(asked.question)
    if not bookmarks.is_at(request, url):
        return redirect(url)
    return render(request, "routes.html", form(asked) | answer(asked.question))


def address(question: Question) -> str:
    return bookmarks.address(reverse("routes"), of=question.query)


def form(asked: Asked) -> dict[str, object]:
    chains = wiring.catalog().chains()
    return {
        "asked": asked,
        "question": asked.question,
        "chains": [(chain.id, names.chain(chain.id, info=chain)) for chain in chains],
        "listed": None,
        "one": None,
    }


def answer(question: Question) -> dict[str, object]:
    names, origin, destination = wiring.catalog(), question.origin, question.destination
    if question.kind in (Kind.NOTHING, Kind.SAME):
        return {}
    found = wiring.routes().ask(call(question))
    names.learn({token.chain_id for token in found.tokens} | {origin.chain_id, destination.chain_id})
    if question.kind is Kind.ONE:
        return {"one": display.one(found, question, of=Kind.RECEIVE, using=names)}
    return {"listed": display.listed(found, question, using=names)}


def call(question: Question) -> operations.Call[TokensAnswer]:
    origin, destination = question.origin, question.destination
    if question.kind is Kind.PAY:
        return operations.get_exact_output_routes(
            destination.chain_id or 0,
            destination.address or "",
            origin_chain_id=origin.chain_id,
            owner_address=question.owner,
        )
    return operations.get_exact_input_routes(
        origin.chain_id or 0,
        origin.address or "",
        destination_chain_id=destination.chain_id,
        destination_token_address=destination.address,
    )
