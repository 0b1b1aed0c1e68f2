"""Whose turn it is, as a sentence under what to do next."""

from intents_ui.display.story import Story, Who

TURNS = {
    Who.NOBODY: "Nobody has to do anything.",
    Who.PAYER: "It is up to whoever pays.",
    Who.OWNER: "Only the owner wallet can do this.",
    Who.SUPPORT: "",
}


def whose(story: Story) -> str:
    return f"{TURNS[story.who]} {story.contact}".strip()
