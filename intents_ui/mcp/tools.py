"""The tools, as clients list and call them. None of them changes anything."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest

from intents_ui.mcp import transfers
from intents_ui.mcp.arguments import Arguments, RouteArguments, TextArguments, TicketArguments, TransferArguments
from intents_ui.mcp.messages import Unanswered

ANNOTATIONS: Final = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True}
NO_COPY: Final = (
    "This dashboard has no local copy of the service's history, so it knows nothing about many transfers. Its"
    " administrator can turn it on: docs/mirror.md."
)


def route_health(request: HttpRequest, given: RouteArguments) -> str:
    """Return figures of the mirror about the routes between two chains."""
    if settings.MIRROR_DATABASE is None:
        raise Unanswered(NO_COPY)
    from intents_ui.mcp import routes  # imported only when used

    return routes.health(request, given)


@dataclass(frozen=True)
class Tool:
    """A tool. `answer` takes the request and its validated arguments, and returns the text of the result."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    answer: Callable[[HttpRequest, Any], str]

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.arguments.model_json_schema(),
            "annotations": ANNOTATIONS,
        }


TOOLS: Final = {
    each.name: each
    for each in (
        Tool(
            "look_up",
            "Look up",
            "Find transfers by any text with intent IDs, transaction hashes, addresses or links. Returns the intent ID,"
            " status and headline of the newest matches, and of a single match where the funds are and what to do.",
            TextArguments,
            transfers.look_up,
        ),
        Tool(
            "explain_transfer",
            "Explain a transfer",
            "Explain one transfer by its intent ID: what happened, where the funds are, what to do next, how certain"
            " that is, exact amounts, its steps, and how it compares with its quote.",
            TransferArguments,
            transfers.explain_transfer,
        ),
        Tool(
            "triage_ticket",
            "Triage a ticket",
            f"Look up all identifiers of a support ticket, {transfers.MOST_ROWS} at most. Returns a row for each: the"
            " status, where the funds are, the next step, and how urgent it is.",
            TicketArguments,
            transfers.triage_ticket,
        ),
        Tool(
            "route_health",
            "Health of a route",
            "Tell how many transfers between two chains were delivered in 24 hours and how long they took, by route"
            " provider, with open incidents. Needs a local copy of the history in the dashboard.",
            RouteArguments,
            route_health,
        ),
        Tool(
            "customer_reply",
            "Customer reply",
            "Write the reply about a transfer that a support agent can send to its owner unedited, as plain text.",
            TransferArguments,
            transfers.customer_reply,
        ),
    )
}
