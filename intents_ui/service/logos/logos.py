"""Fetches logos of tokens and chains from an allowlist of hosts.

The issuer of a token chooses its logo's URL, so the URL is untrusted. Requests use HTTPS only, connect only to public
IP addresses (checked after name resolution), follow no redirects and have limits on time and size. Images are
re-encoded in a subprocess (`image_reencode`) and cached, and so are failures.
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

from intents_ui.service.context.request_context import time_left, within
from intents_ui.service.http.deadline import DeadlineBackend, LookUp, addresses_of
from intents_ui.service.http.exchange import TROUBLE
from intents_ui.service.logos import sandbox
from intents_ui.service.logos.sandbox import NotDrawn
from intents_ui.service.logos.ssrf_guard import public_only

SECONDS = 2.0
MOST_BYTES = 256 * 1024
READERS = 6  # concurrent requests: as many as one browser sends, and few of the pages' threads
KEPT_BYTES = 8 * 2**20
KEPT_SECONDS = 24 * 60 * 60.0
MISSED_SECONDS = 10 * 60.0
ENTRY_BYTES = 1024  # overhead of an entry

# Excludes userinfo, port, fragment, blanks and non-ASCII characters.
URL = re.compile(r"https://([A-Za-z0-9.-]{1,253})(/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]{0,1000})", re.ASCII)
HEADERS: Mapping[bytes | str, bytes | str] = {
    "Accept": "image/webp, image/png, image/jpeg",
    "Accept-Encoding": "identity",
    "User-Agent": "intents-ui",
}

log = logging.getLogger(__name__)


class Busy(Exception):
    """Too many logos are being fetched, or this one is still pending. Try again in a moment."""


class LogoRefused(Exception):
    """The host's response isn't an acceptable image."""


class Logos:
    """Logo cache. Thread-safe. With no `hosts` it sends no requests."""

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
        self._slots = threading.BoundedSemaphore(READERS)
        self._pending: dict[str, Future[bytes | None]] = {}
        self._cache: TLRUCache[str, bytes | None] = TLRUCache(KEPT_BYTES, _expires_at, timer=clock, getsizeof=_size)

    def offers(self, uri: str | None) -> bool:
        """Return whether this URL is on the allowlist."""
        found = URL.fullmatch(uri or "")
        return found is not None and found[1].lower() in self._hosts

    def picture(self, uri: str | None) -> bytes | None:
        """Return the logo as a 64-pixel WebP image, or None if there is none. Raises Busy.

        Fetching takes 2 s at most, plus a moment to re-encode.
        """
        if uri is None or not self.offers(uri):
            return None
        with self._lock:
            with contextlib.suppress(KeyError):
                return self._cache[uri]
            if not self._slots.acquire(blocking=False):
                raise Busy
            others = self._pending.get(uri)
            mine = self._pending.setdefault(uri, Future())
        try:
            return self._wait(others) if others else self._fetch_shared(uri, mine)
        finally:
            self._slots.release()

    def _fetch_shared(self, uri: str, mine: "Future[bytes | None]") -> bytes | None:
        picture = None
        try:
            picture = sandbox.drawn_anew(self._fetch(uri))
        except (*TROUBLE, LogoRefused, NotDrawn, OSError) as error:
            log.info("No logo from %s: %s", uri, error or type(error).__name__)
        finally:
            with self._lock:
                self._cache[uri] = picture
                del self._pending[uri]
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
                raise LogoRefused(f"the host answered {response.status}")
            body = bytearray()
            for piece in response.iter_stream():
                body += piece
                if len(body) > MOST_BYTES:
                    raise LogoRefused("more than 256 KB")
            return bytes(body)


def _expires_at(uri: str, picture: bytes | None, now: float) -> float:
    return now + (KEPT_SECONDS if picture else MISSED_SECONDS)


def _size(picture: bytes | None) -> int:
    return ENTRY_BYTES + len(picture or b"")
