"""A Redis server on a free loopback port, which can be killed and restarted."""

import contextlib
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests import canary
from tests.serving import brief_pause, free_port, needs
from tests.waiting import PATIENCE


class RedisServer:
    def __init__(self, program: Path, place: str) -> None:
        self.program = program
        self.place = place
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def up(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        command = [str(self.program), *options, "--dir", self.place, "--loglevel", "warning"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                if connection.recv(7) == b"+PONG\r\n":
                    self._watch()
                    return
            brief_pause()
        raise AssertionError(f"redis-server did not respond within {PATIENCE:g} s")

    def _watch(self) -> None:
        """Fail if a key, value or message sent to Redis contains the access key."""
        listening = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        listening.settimeout(None)
        listening.sendall(b"MONITOR\r\n")
        assert listening.recv(5) == b"+OK\r\n"
        threading.Thread(target=canary.listen, args=(listening, "Redis")).start()

    def down(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait(PATIENCE)


@contextlib.contextmanager
def redis_running() -> Iterator[RedisServer]:
    with tempfile.TemporaryDirectory() as place:
        server = RedisServer(needs("redis-server", "apt-get install redis-server"), place)
        server.up()
        try:
            yield server
        finally:
            server.down()
