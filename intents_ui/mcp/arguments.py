"""Arguments of the tools. Clients read their JSON schemas."""

from pydantic import BaseModel, ConfigDict, Field

from intents_ui.display.search import identifiers
from intents_ui.display.triage import ticket

LONGEST_NAME = 200


class Arguments(BaseModel):
    """Arguments of a tool. Unknown ones are ignored, however many a client sends."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class TextArguments(Arguments):
    """Text to look up."""

    text: str = Field(
        min_length=1,
        max_length=identifiers.LONGEST,
        description="Any text with intent IDs, transaction hashes, addresses or links",
    )


class TransferArguments(Arguments):
    """A transfer."""

    intent_id: str = Field(min_length=1, max_length=LONGEST_NAME, description="Intent ID, 0x and 64 hex characters")


class TicketArguments(Arguments):
    """Text of a ticket."""

    text: str = Field(min_length=1, max_length=ticket.LONGEST, description="A support ticket, unedited")


class RouteArguments(Arguments):
    """Routes between two chains."""

    origin: str = Field(
        min_length=1, max_length=LONGEST_NAME, description="ID or name of the origin chain", examples=["8453", "Base"]
    )
    destination: str = Field(
        min_length=1, max_length=LONGEST_NAME, description="ID or name of the destination chain", examples=["42161"]
    )
    provider: str = Field(
        "", max_length=LONGEST_NAME, description="Route provider. Without one, all of them", examples=["RELAY"]
    )
