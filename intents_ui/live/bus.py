"""Which process asks about an intent, and how the others hear what it learns."""

from typing import Protocol

from intents_ui.live.picture import Picture


class Member(Protocol):
    """A process's interest in one intent: it is told to ask, or to listen, and hears what others learned."""

    def lead(self) -> None: ...
    def stand_back(self) -> None: ...
    def hear(self, picture: Picture) -> None: ...


class Bus(Protocol):
    """Members join and leave; exactly one of them, wherever it is, leads. `tell` is for the leader."""

    def join(self, intent_id: str, member: Member) -> None: ...
    def leave(self, intent_id: str) -> None: ...
    async def tell(self, intent_id: str, picture: Picture) -> None: ...
    async def aclose(self) -> None: ...


class LocalBus:
    """One process: whoever joins leads."""

    def join(self, intent_id: str, member: Member) -> None:
        member.lead()

    def leave(self, intent_id: str) -> None:
        pass

    async def tell(self, intent_id: str, picture: Picture) -> None:
        pass

    async def aclose(self) -> None:
        pass
