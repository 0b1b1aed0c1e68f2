"""Where an owner recovers funds and whom to contact, for next steps that say to do so."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

RECOVER = "Recover funds"
SUPPORT = "Contact support"
RECOVER_IN_THE_APP = "Recover in the app that started the transfer."
SUPPORT_OF_THE_APP = "Contact support in the app that started the transfer."
SCAM_WARNING = "Support never asks for a recovery phrase or a wallet connection."
BOTH_IN_THE_APP = "Recover or get help in the app that started it."


class HelpKind(StrEnum):
    RECOVERY = "recovery"  # a page on which the owner recovers funds
    SUPPORT = "support"


class SupportTeam(StrEnum):
    """Whose support team to contact."""

    NONE = ""
    APP = "app"  # that started the transfer
    SERVICE = "service"


@dataclass(frozen=True)
class Contacts:
    """From the settings, never from a response. `support` is an https URL or an e-mail address."""

    recovery_url: str | None = None
    support: str | None = None


NO_CONTACTS = Contacts()


@dataclass(frozen=True)
class Help:
    """A link, or without a `url` a sentence."""

    words: str
    url: str | None = None

    @property
    def written(self) -> str:
        """As text: `Recover funds: https://…`, `Contact support: help@app.example`, or the sentence."""
        return f"{self.words}: {self.address}" if self.url else self.words

    @property
    def address(self) -> str:
        return (self.url or "").removeprefix("mailto:")


def needed(kinds: Collection[HelpKind], *, contact: SupportTeam, contacts: Contacts) -> Iterator[Help]:
    """Return the help that a next step leads to. `contact` is whom the page says to contact besides, if anyone."""
    recovers, asks_support = HelpKind.RECOVERY in kinds, HelpKind.SUPPORT in kinds
    if recovers and asks_support and not (contacts.recovery_url or contacts.support):
        yield Help(BOTH_IN_THE_APP)
        return
    if recovers:
        yield Help(RECOVER, contacts.recovery_url) if contacts.recovery_url else Help(RECOVER_IN_THE_APP)
    if contacts.support and (asks_support or contact):
        is_url = contacts.support.startswith("https://")
        yield Help(SUPPORT, contacts.support if is_url else f"mailto:{contacts.support}")
    elif asks_support:
        yield Help(SUPPORT_OF_THE_APP)
