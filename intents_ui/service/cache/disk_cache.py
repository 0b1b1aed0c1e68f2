"""Disk cache for the lists of chains and tokens.

With it, a process that starts while the service is down can show names. The file starts with a line with its signature.
Each further line is one list: operation, request, time received and response.
"""

import json
import logging
import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from intents_ui.service.cache.seal import LENGTH, Seal
from intents_ui.service.operations.operations import Question

NAME = "lists.jsonl"
MOST_BYTES = 16 * 2**20
SECONDS = 60.0  # minimum interval between two writes

log = logging.getLogger(__name__)


class DiskCache:
    """Disk cache. Thread-safe. Processes may share the file: any process's version of it is recent enough."""

    def __init__(self, directory: Path, *, seal: Seal, now: Callable[[], float] = time.time) -> None:
        self._file = directory / NAME
        self._seal = seal
        self._now = now
        self._lock = threading.Lock()
        self._lists: dict[Question, tuple[float, str]] = self._read()
        self._written_at = float("-inf")
        self._is_written = True

    def find(self, question: Question) -> tuple[float, str] | None:
        """Return the age in seconds and the text of a cached response, or None."""
        with self._lock:
            found = self._lists.get(question)
        return (max(self._now() - found[0], 0.0), found[1]) if found else None

    def drop(self, question: Question) -> None:
        with self._lock:
            self._lists.pop(question, None)

    def keep(self, question: Question, text: str) -> None:
        with self._lock:
            self._lists.pop(question, None)
            self._lists[question] = self._now(), text
            self._is_written = False
            is_due = self._now() - self._written_at >= SECONDS
        if is_due:
            self.write()

    def write(self) -> None:
        """Write the newest lists, up to the file's size limit.

        The file is replaced atomically, for concurrent readers.
        """
        with self._lock:
            if self._is_written:
                return
            self._written_at, self._is_written = self._now(), True
            lines, room = [], MOST_BYTES
            for (operation, request), (at, text) in reversed(self._lists.items()):
                line = json.dumps([operation, request.decode(), at, text]).encode()
                room -= len(line) + 1
                if room < 0:
                    break
                lines.append(line)
            content = b"\n".join(lines)
            try:
                signature = self._seal.close(content, place=NAME)[:LENGTH]
                self._replace(signature.hex().encode() + b"\n" + content)
            except OSError as error:
                log.warning("Can't write the chain and token lists to %s: %s", self._file, error)

    def _replace(self, content: bytes) -> None:
        temporary = self._file.with_name(f"{NAME}.{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._file)

    def _read(self) -> dict[Question, tuple[float, str]]:
        try:
            if self._file.stat().st_size > MOST_BYTES + 100:
                raise ValueError("it is too large")
            signature, _, content = self._file.read_bytes().partition(b"\n")
            if self._seal.open(bytes.fromhex(signature.decode()) + content, place=NAME) is None:
                raise ValueError("it is not signed with this SECRET_KEY")
            return dict(_saved(json.loads(line)) for line in reversed(content.splitlines()))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            log.warning("Can't read the chain and token lists in %s: %s", self._file, error)
            return {}


def _saved(entry: object) -> tuple[Question, tuple[float, str]]:
    """Return an entry of the file. Raises ValueError if it is invalid."""
    match entry:
        case [str(operation), str(request), float(at), str(text)] if math.isfinite(at):
            return (operation, request.encode()), (at, text)
    raise ValueError("it has another shape")
