"""Total deadlines for blocking network calls.

A read timeout doesn't end a call whose headers or body trickle in, or whose name resolution hangs. So every wait (DNS,
connect, read, write) is cut to the time left of the call's context (`request_context.within`).
"""

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

import httpcore

from intents_ui.service.context import processor
from intents_ui.service.context.request_context import time_left

READ_BYTES = 2**17  # per read, so that one is enough for most responses. httpcore's own limit is half as much
RESOLVERS = 8  # concurrent DNS lookups. A lookup that hangs occupies one of these and not a page's thread


class NameNotResolved(httpcore.ConnectError):
    """The host name has no address."""


def addresses_of(host: str, port: int) -> list[str]:
    """Return a name's addresses without duplicates, in the resolver's order. Has no timeout."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))


class DeadlineBackend(httpcore.NetworkBackend):
    """Network backend that connects within the deadline, trying each address of the host."""

    def __init__(self) -> None:
        self._sockets = httpcore.SyncBackend()
        self._resolvers = threading.BoundedSemaphore(RESOLVERS)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        ends_at = None if timeout is None else time.monotonic() + timeout
        failure: Exception = NameNotResolved("the name has no address")
        for address in self._addresses(host, port, timeout):
            left = None if ends_at is None else max(ends_at - time.monotonic(), 0.001)
            allowed = time_left(left, expired=httpcore.ConnectTimeout)
            try:
                with processor.waiting():
                    stream = self._sockets.connect_tcp(address, port, allowed, local_address, socket_options)
                return DeadlineStream(stream)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def _addresses(self, host: str, port: int, timeout: float | None) -> list[str]:
        """Return the host's addresses, looked up in a separate thread because the lookup can hang."""
        if _is_address(host):
            return [host]
        allowed = time_left(timeout, expired=httpcore.ConnectTimeout)
        if not self._resolvers.acquire(timeout=-1 if allowed is None else allowed):
            raise httpcore.ConnectTimeout("too many names are being looked up")
        found: Future[list[str]] = Future()
        # A daemon thread, so that a lookup that hangs doesn't block the process's exit.
        threading.Thread(target=self._resolve, args=(host, port, found), name="resolver", daemon=True).start()
        try:
            with processor.waiting():
                return found.result(time_left(timeout, expired=httpcore.ConnectTimeout))
        except TimeoutError:
            raise httpcore.ConnectTimeout("the name was not resolved in time") from None
        except (OSError, UnicodeError) as error:
            raise NameNotResolved(f"the name could not be resolved: {error}") from None

    def _resolve(self, host: str, port: int, found: Future[list[str]]) -> None:
        try:
            found.set_result(addresses_of(host, port))
        except Exception as error:
            found.set_exception(error)
        finally:
            self._resolvers.release()


class DeadlineStream(httpcore.NetworkStream):
    """Connection whose waits are cut to the deadline of the call that currently uses it."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with processor.waiting():
            return self._stream.read(max(max_bytes, READ_BYTES), time_left(timeout, expired=httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with processor.waiting():
            self._stream.write(buffer, time_left(timeout, expired=httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        allowed = time_left(timeout, expired=httpcore.ConnectTimeout)
        with processor.waiting():
            return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, allowed))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
