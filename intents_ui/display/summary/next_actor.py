"""Who must act next, and whom to contact, below the next step."""

from intents_ui.display.summary.messages import Who
from intents_ui.display.summary.summary import Summary

TURNS = {
    Who.NOBODY: "",
    Who.PAYER: "Waiting on: payer",
    Who.OWNER: "Waiting on: owner",
    Who.SUPPORT: "Waiting on: support",
}
HELP = {
    Who.NOBODY: "If in doubt, contact",
    Who.PAYER: "If in doubt, contact",
    Who.OWNER: "For help, contact",
    Who.SUPPORT: "Contact",
}


def whose(summary: Summary) -> str:
    """Return `Waiting on: owner. For help, contact the app's support team with the intent ID.`

    Without the contact where `summary.help` says whom to contact or where to recover funds.
    """
    turn = TURNS[summary.who]
    if not summary.contact or summary.help:
        return turn
    contact = f"{HELP[summary.who]} {summary.contact[0].lower()}{summary.contact[1:]}"
    return f"{turn}. {contact}" if turn else contact
