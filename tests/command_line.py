"""The command line in this process, and a dashboard in this process on its own port."""

import contextlib
import io
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from django.core.handlers.wsgi import WSGIHandler

from intents_ui.cli.__main__ import main


class Threads(ThreadingMixIn, WSGIServer):
    """Answers each request in its own thread."""


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Done:
    """A command that has ended. `pauses` are the seconds that it waited between requests."""

    code: int
    out: str
    err: str
    pauses: tuple[float, ...]


@contextlib.contextmanager
def listening() -> Iterator[str]:
    """Serve the dashboard's pages over TCP, and yield its URL."""
    with make_server("127.0.0.1", 0, WSGIHandler(), Threads, Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def run(
    command: str,
    *arguments: str,
    root: str,
    stdin: str = "",
    token: str = "",
    terminal: bool = False,
    pause: Callable[[float], object] = lambda _: None,
) -> Done:
    """Run a command with the dashboard at `root`. It never sleeps: `pause` is called instead."""
    out, err, pauses = io.StringIO(), Terminal() if terminal else io.StringIO(), []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        pause(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTENTS_UI_URL", root)
        patch.setenv("INTENTS_UI_TOKEN", token)
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([command, *arguments], sleep=sleep)
            except SystemExit as end:  # of the parser
                code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue(), tuple(pauses))
