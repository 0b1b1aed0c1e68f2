"""Routes that the service lists. All functions raise ServiceError."""

from intents_ui import wiring
from intents_ui.display.routes import results
from intents_ui.display.routes.query import RouteDirection, RouteQuery
from intents_ui.display.routes.results import One, RouteTokens
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import TokensAnswer
from intents_ui.service.operations import operations
from intents_ui.service.operations.operations import ServiceCall


def tokens(question: RouteQuery) -> TokensAnswer:
    """Return the tokens with a route from a token, or those with one to it. Their names are known afterwards."""
    found = wiring.service().ask(_receive(question) if question.kind is RouteDirection.RECEIVE else _pay(question))
    wiring.catalog().learn(token.chain_id for token in found.tokens)
    return found


def listed(question: RouteQuery) -> RouteTokens:
    """Return the routes from a token, or those to one."""
    return results.listed(tokens(question), question, using=wiring.catalog())


def one(question: RouteQuery) -> One:
    """Return whether a route from one token to another is listed. Raises an error only if both calls fail."""
    request = wiring.service().ask
    received, paid = wiring.service().threads.both(lambda: request(_receive(question)), lambda: request(_pay(question)))
    if isinstance(received, ServiceError) and isinstance(paid, ServiceError):
        raise received
    answers = {RouteDirection.RECEIVE: received, RouteDirection.PAY: paid}
    return results.one(answers, question, using=wiring.catalog())


def _receive(question: RouteQuery) -> ServiceCall[TokensAnswer]:
    origin, destination = question.origin, question.destination
    return operations.get_exact_input_routes(
        origin.chain_id or 0,
        origin.address or "",
        destination_chain_id=destination.chain_id,
        destination_token_address=destination.address,
    )


def _pay(question: RouteQuery) -> ServiceCall[TokensAnswer]:
    origin, destination = question.origin, question.destination
    return operations.get_exact_output_routes(
        destination.chain_id or 0,
        destination.address or "",
        origin_chain_id=origin.chain_id,
        origin_token_address=origin.address,
        owner_address=question.owner,
    )
