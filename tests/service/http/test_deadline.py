"""Connections of the service client: name lookups and writes end with the deadline, and each failure has its kind."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing

import httpcore
import pytest

from intents_ui.service.http.deadline import RESOLVERS, ConnectionDied, DeadlineBackend
from tests.waiting import until


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def reset(connection: socket.socket) -> None:
    """Close the connection with a TCP reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_a_name_is_not_looked_up_while_all_resolvers_hang(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    names: list[str] = []
    respond = threading.Event()

    def hang(host: str, _port: int) -> list[str]:
        names.append(host)
        respond.wait(60)
        return ["127.0.0.1"]

    backend = DeadlineBackend(hang)
    threads = [
        threading.Thread(target=lambda: backend.connect_tcp("slow.test", port).close()) for _ in range(RESOLVERS)
    ]
    for thread in threads:
        thread.start()
    until(lambda: len(names) == RESOLVERS)
    with pytest.raises(httpcore.ConnectTimeout, match="too many names"):
        backend.connect_tcp("another.test", port, timeout=0.05)
    assert "another.test" not in names
    respond.set()
    for thread in threads:
        thread.join(60)
    backend.connect_tcp("another.test", port).close()
    assert names[-1] == "another.test"


def test_a_host_without_a_responding_address_is_the_error_of_its_last_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(httpcore.ConnectError, match="refused"):
        DeadlineBackend(lambda *_: ["127.0.0.2", "127.0.0.1"]).connect_tcp("closed.test", port)


def test_a_write_on_a_connection_that_died_while_idle_may_be_repeated(listener: socket.socket) -> None:
    with closing(DeadlineBackend().connect_tcp(*listener.getsockname()[:2])) as stream:
        connection, _ = listener.accept()
        stream.write(b"first request")
        connection.send(b"response")
        assert stream.read(100) == b"response"
        reset(connection)
        with pytest.raises(ConnectionDied):
            stream.write(b"second request")


def test_a_write_that_fails_on_a_new_connection_is_a_write_error(listener: socket.socket) -> None:
    with closing(DeadlineBackend().connect_tcp(*listener.getsockname()[:2])) as stream:
        connection, _ = listener.accept()
        reset(connection)
        with pytest.raises(httpcore.WriteError):
            stream.write(b"first request")
