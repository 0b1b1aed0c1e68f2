"""Whose turn it is, as a sentence under what to do next."""

from intents_ui.display.explanations import Who
from intents_ui.display.story import Story

TURNS = {
    Who.NOBODY: "Nobody has to do anything.",
    Who.PAYER: "It is up to whoever pays.",
    Who.OWNER: "Only the owner wallet can do this.",
    Who.SUPPORT: "This may need support.",
}
HELP = {
    Who.NOBODY: "If in doubt, ask",
    Who.PAYER: "If in doubt, ask",
    Who.OWNER: "For help, ask",
    Who.SUPPORT: "Ask",
}


def whose(story: Story) -> str:
    """`Nobody has to do anything. If in doubt, ask service support, with the intent ID.`"""
    if not story.contact:
        return TURNS[story.who]
    return f"{TURNS[story.who]} {HELP[story.who]} {story.contact[0].lower()}{story.contact[1:]}"
