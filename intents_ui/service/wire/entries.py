"""The entries of a list as one object, which is the same while the list has the same entries.

Most lists that are requested again have not changed. What pages derived from the whole list is attached to its entries.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, overload
from weakref import WeakValueDictionary

from intents_ui.service.wire.models import IntentHistory


class Entries(Sequence[IntentHistory]):
    """Entries of a list. Compares like a tuple of them.

    The same objects in the same order give the same `Entries` (`of`), as long as a response or a page uses them.
    """

    __slots__ = ("__weakref__", "_attached", "_entries")

    # The objects live as long as their `Entries`, so their identities are not reused meanwhile.
    _known: ClassVar[WeakValueDictionary[tuple[int, ...], "Entries"]] = WeakValueDictionary()

    def __init__(self, entries: tuple[IntentHistory, ...]) -> None:
        self._entries = entries
        self._attached: dict[str, Any] = {}

    @classmethod
    def of(cls, entries: tuple[IntentHistory, ...]) -> "Entries":
        identities = tuple(map(id, entries))
        known = cls._known.get(identities)
        if known is None:
            known = cls._known[identities] = cls(entries)
        return known

    def attach(self, name: str, derived: Any) -> None:
        """Keep something that was derived from these entries as long as they live, in place of an earlier one."""
        self._attached[name] = derived

    def attached(self, name: str) -> Any:
        """Return what was attached under this name, or None."""
        return self._attached.get(name)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[IntentHistory]:
        return iter(self._entries)

    @overload
    def __getitem__(self, place: int) -> IntentHistory: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[IntentHistory, ...]: ...
    def __getitem__(self, place: int | slice) -> IntentHistory | tuple[IntentHistory, ...]:
        return self._entries[place]

    def __eq__(self, other: object) -> bool:
        return self._entries == (other._entries if isinstance(other, Entries) else other)
