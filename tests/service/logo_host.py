"""A host of logos in an internet of the test's own, which leads nowhere else."""

import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import httpcore
import trustme

from intents_ui.service.http.deadline import LookUp
from intents_ui.service.logos.logos import Logos
from tests.service.scripted_server import Script, ScriptedServer

HOST, INSIDE = "logos.service.example", "inside.example"  # the first is where the emulator has its logos
PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.8"
PATIENCE = 10.0
AUTHORITY = trustme.CA()


class SecureServer(ScriptedServer):
    """`asked_for` has the name that each connection began with."""

    def __init__(self, script: Script, certificate: trustme.LeafCert) -> None:
        self.asked_for: list[str | None] = []
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.sni_callback = lambda connection, name, context: self.asked_for.append(name)
        certificate.configure_cert(self._tls)
        super().__init__(script)

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        with connection, contextlib.suppress(OSError):
            super()._serve(self._tls.wrap_socket(connection, server_side=True))


class Internet(httpcore.SyncBackend):
    """Leads every address to the test's server. `went_to`: where to somebody wanted a connection."""

    def __init__(self, server: ScriptedServer) -> None:
        self._server = server
        self.went_to: list[tuple[str, int]] = []

    def connect_tcp(self, host: str, port: int, *how: Any, **named: Any) -> httpcore.NetworkStream:
        self.went_to.append((host, port))
        return super().connect_tcp("127.0.0.1", self._server.port, *how, **named)


def addresses(name: str, port: int) -> list[str]:
    return [PRIVATE] if name == INSIDE else [PUBLIC]


class Host:
    """A host of logos in an internet of the test's own, and we who ask it."""

    def __init__(self, server: SecureServer) -> None:
        self.server = server
        self.internet = Internet(server)
        self.now = 0.0
        self.tls = ssl.create_default_context()
        AUTHORITY.configure_trust(self.tls)

    def logos(self, *, seconds: float = PATIENCE, look_up: LookUp = addresses) -> Logos:
        how = {"sockets": self.internet, "tls": self.tls, "clock": lambda: self.now}
        return Logos([HOST, INSIDE], seconds=seconds, look_up=look_up, **how)

    @property
    def visits(self) -> int:
        return len(self.server.visits)


@contextlib.contextmanager
def hosting(script: Script, *, name: str = HOST, by: trustme.CA = AUTHORITY) -> Iterator[Host]:
    """`name` and `by`: what its certificate says, and whose word that is."""
    server = SecureServer(script, by.issue_cert(name))
    try:
        yield Host(server)
    finally:
        server.close()
