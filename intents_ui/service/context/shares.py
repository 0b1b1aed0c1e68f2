"""Fair shares of what is limited: one client gets at most an eighth of it, and all together what there is.

A client is what `client_ip.client_of` returns. None is this machine, which only the total limits.
"""

import threading
from collections import Counter
from enum import Enum
from typing import Final

SHARE: Final = 8  # one client gets at most one part of as many


class Lack(Enum):
    """Why something isn't available: it is used up, or the client's share of it is."""

    FULL = "full"
    SHARE = "share"


class Shares:
    """Counter of `most` units (threads, requests, bytes) and who holds them. Thread-safe."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0
        self._by_client: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, client: str | None, units: int = 1) -> Lack | None:
        """Take units. Return None on success, or why they aren't available."""
        with self._lock:
            lack = self.lack(client, units)
            if lack is None:
                self.hold(client, units)
            return lack

    def give_back(self, client: str | None, units: int = 1) -> None:
        with self._lock:
            self.hold(client, -units)

    def lack(self, client: str | None, units: int = 1) -> Lack | None:
        """Return why these units can't be taken now, or None."""
        if client is not None and self._by_client[client] + units > max(1, self.most // SHARE):
            return Lack.SHARE
        return Lack.FULL if self.held + units > self.most else None

    def hold(self, client: str | None, units: int = 1) -> None:
        """Add units without checking the limits."""
        self.held += units
        if client is not None:
            self._by_client[client] += units
            if not self._by_client[client]:
                del self._by_client[client]
