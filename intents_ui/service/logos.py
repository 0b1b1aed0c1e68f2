"""Logos of tokens and chains from the hosts that a setting names (interface.md 2.14, 2.15; faults.md S-IMG, S-SSRF).

Whoever gets a token listed chooses its logo's address, so it is asked for as if by an enemy: over https from the listed
hosts alone, at an address that was looked at after the name was resolved, with no redirects, for so long and so much.
What comes is drawn anew (`raster`, in a process of its own) and kept. So is that nothing came.
"""

import contextlib
import logging
import re
import ssl
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from http import HTTPStatus

import httpcore
import httpx
from cachetools import TLRUCache

from intents_ui.service import jail
from intents_ui.service.deadline import DeadlineBackend, LookUp, addresses_of, time_left, within
from intents_ui.service.exchange import TROUBLE
from intents_ui.service.jail import NotDrawn
from intents_ui.service.public_addresses import public_only

SECONDS = 2.0
MOST_BYTES = 256 * 1024
READERS = 6  # who wait at the same time: as many as one browser asks for at once, and few of the pages' threads
KEPT_BYTES = 8 * 2**20
KEPT_SECONDS = 24 * 60 * 60.0
MISSED_SECONDS = 10 * 60.0
ENTRY_BYTES = 1024  # what an entry costs beside its picture

# No user, port, fragment or blank, and no letter beyond ASCII.
URL = re.compile(r"https://([A-Za-z0-9.-]{1,253})(/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]{0,1000})", re.ASCII)
HEADERS: Mapping[bytes | str, bytes | str] = {
    "Accept": "image/webp, image/png, image/jpeg",
    "Accept-Encoding": "identity",
    "User-Agent": "intents-ui",
}

log = logging.getLogger(__name__)


class Busy(Exception):
    """As many wait for logos as may, or whoever asked for this one has no answer yet. It may be there in a moment."""


class Refused(Exception):
    """Something answered, but not with a picture that we would read."""


class Logos:
    """Safe for threads. With no `hosts` it asks nobody for anything."""

    def __init__(
        self,
        hosts: Collection[str],
        *,
        seconds: float = SECONDS,
        look_up: LookUp = addresses_of,
        sockets: httpcore.NetworkBackend | None = None,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hosts = frozenset(hosts)
        self._seconds = seconds
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls or httpx.create_ssl_context(trust_env=False),
            max_connections=READERS,
            max_keepalive_connections=0,
            network_backend=DeadlineBackend(public_only(look_up), sockets=sockets),
        )
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(READERS)
        self._under_way: dict[str, Future[bytes | None]] = {}
        self._kept: TLRUCache[str, bytes | None] = TLRUCache(KEPT_BYTES, _end_of_life, timer=clock, getsizeof=_size)

    def offers(self, uri: str | None) -> bool:
        """Whether it would be asked for at all."""
        found = URL.fullmatch(uri or "")
        return found is not None and found[1].lower() in self._hosts

    def picture(self, uri: str | None) -> bytes | None:
        """A WebP of 64 pixels, or None where there is none to be had. Raises Busy.

        Takes 2 s at most to fetch, and a moment to draw.
        """
        if uri is None or not self.offers(uri):
            return None
        with self._lock:
            with contextlib.suppress(KeyError):
                return self._kept[uri]
            if not self._places.acquire(blocking=False):
                raise Busy
            others = self._under_way.get(uri)
            mine = self._under_way.setdefault(uri, Future())
        try:
            return self._wait(others) if others else self._ask_for_all(uri, mine)
        finally:
            self._places.release()

    def _ask_for_all(self, uri: str, mine: "Future[bytes | None]") -> bytes | None:
        picture = None
        try:
            picture = jail.drawn_anew(self._fetch(uri))
        except (*TROUBLE, Refused, NotDrawn, OSError) as error:
            log.info("No logo from %s: %s", uri, error or type(error).__name__)
        finally:
            with self._lock:
                self._kept[uri] = picture
                del self._under_way[uri]
            mine.set_result(picture)
        return picture

    def _wait(self, others: "Future[bytes | None]") -> bytes | None:
        try:
            return others.result(time_left(self._seconds, expired=TimeoutError))
        except TimeoutError:
            raise Busy from None

    def _fetch(self, uri: str) -> bytes:
        patience = {"timeout": {"pool": self._seconds}}
        with within(self._seconds), self._pool.stream("GET", uri, headers=HEADERS, extensions=patience) as response:
            if response.status != HTTPStatus.OK:
                raise Refused(f"the host answered {response.status}")
            body = bytearray()
            for piece in response.iter_stream():
                body += piece
                if len(body) > MOST_BYTES:
                    raise Refused("more than 256 KB")
            return bytes(body)


def _end_of_life(uri: str, picture: bytes | None, now: float) -> float:
    return now + (KEPT_SECONDS if picture else MISSED_SECONDS)


def _size(picture: bytes | None) -> int:
    return ENTRY_BYTES + len(picture or b"")
