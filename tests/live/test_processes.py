"""A real process under gunicorn that is told to stop. Several of them: `tests/test_scale_out.py`."""

import contextlib
import http.client
import os
from urllib.parse import urlsplit

from tests.serving import GUNICORN, NO_COPY, free_port, started
from tests.waiting import PATIENCE, until


def test_a_stopping_process_answers_late_requests_and_closes_their_connections() -> None:
    root = f"http://127.0.0.1:{free_port()}"
    where = urlsplit(root)
    command = ("-m", "gunicorn", "--config", GUNICORN, "--bind", where.netloc)
    with started(*command, url=f"{root}/healthz", env=os.environ | {"INTENTS_DATABASE": NO_COPY}) as process:
        probe, late = (http.client.HTTPConnection(where.netloc, timeout=PATIENCE) for _ in range(2))
        for each in (probe, late):
            assert answered(each) == (200, None)
        process.terminate()
        with contextlib.suppress(http.client.RemoteDisconnected):
            while answered(probe) == (200, None):
                pass  # the signal is on its way
        assert answered(late) == (200, "close")
        for each in (probe, late):
            each.close()
        until(lambda: process.poll() == 0)


def answered(connection: http.client.HTTPConnection) -> tuple[int, str | None]:
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    answer.read()
    return answer.status, answer.getheader("connection")
