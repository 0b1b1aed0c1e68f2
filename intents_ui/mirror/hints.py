"""Hints from pages to the mirror on the same host: the status of a transfer that a page has just read.

A hint is a datagram to a socket next to SQLite's file. Pages never wait for it. It is dropped if no process reads
it or ten are waiting already, because the mirror finds every change by itself, only later.
"""

import socket
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from intents_ui.mirror.entry import HASH, packed

SUFFIX = "-hints"
LONGEST = 100  # bytes of a hint: an ID and a status
MOST = 1000  # hints that are taken at once


def place(database: Mapping[str, Any]) -> Path | None:
    """Return where the socket of a database is. PostgreSQL serves several hosts, and has none."""
    return Path(f"{database['NAME']}{SUFFIX}") if str(database["ENGINE"]).endswith("sqlite3") else None


def send(database: Mapping[str, Any], intent_id: str, status: str) -> None:
    """Tell the mirror what a page has read. An ID that isn't a hash is ignored."""
    path, packed_id = place(database), packed(intent_id, HASH)
    if path is None or packed_id is None or len(packed_id) != HASH:
        return
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)) as sender, suppress(OSError):
        sender.sendto((packed_id + status.encode())[:LONGEST], str(path))


class Hints:
    """The receiving end, in the process that has the lease. Without a place there are no hints."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._socket: socket.socket | None = None
        self._inode = 0
        if path is None:
            return
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        try:
            path.unlink(missing_ok=True)  # of a process that was killed
            receiver.bind(str(path))
            path.chmod(0o600)
            self._inode = path.stat().st_ino
        except OSError:  # a path that is too long for a socket, or a folder that can't be written
            receiver.close()
        else:
            self._socket = receiver

    def take(self) -> Mapping[bytes, str]:
        """Return the statuses that pages have read since the last call, by intent ID."""
        found: dict[bytes, str] = {}
        with suppress(BlockingIOError):
            while self._socket and len(found) < MOST:
                hint = self._socket.recv(LONGEST)
                found[hint[:HASH]] = hint[HASH:].decode(errors="replace")
        return found

    def close(self) -> None:
        """Stop receiving, and remove the socket unless it is that of a process that has taken over."""
        if self._socket and self._path:
            self._socket.close()
            with suppress(OSError):
                if self._path.stat().st_ino == self._inode:
                    self._path.unlink()
