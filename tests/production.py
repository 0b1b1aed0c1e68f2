"""A dashboard as in production: its service and Redis on ports of their own, a trusted proxy, and logs in JSON."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from intents_ui.emulator import Emulator
from tests import canary, serving
from tests.emulator.driving import request
from tests.live.redis_server import RedisServer, redis_running
from tests.service.scripted_server import Script, ScriptedServer, Visit, response
from tests.serving import GUNICORN, free_port
from tests.waiting import PATIENCE, until

SECRET: Final = {"SECRET_KEY": "a key of the test"}
# The client of these tests is a trusted proxy, so that it can use any client address.
ENV: Final = {
    **SECRET,
    "LOG_FORMAT": "json",
    "TRUSTED_PROXIES": "127.0.0.1",
    "INTENTS_METRICS": "127.0.0.1,10.1.0.0/16",
    "ALLOWED_HOSTS": "intents.example,localhost,127.0.0.1",
    "CSRF_TRUSTED_ORIGINS": "https://intents.example:8443",
}
NAMES: Final = {"GetChains", "GetTokenList"}
HOLD: Final = 1.0  # seconds of a long poll, because a test's end waits for it


class Service(ScriptedServer):
    """The emulator on a port, which requires the access key. `does` decides about a response."""

    def __init__(self, **world: Any) -> None:
        self.emulator = Emulator(**{"hold": HOLD, "access_key": canary.KEY} | world)
        self.does: Script = self.answer
        super().__init__(lambda visit: self.does(visit))

    def answer(self, visit: Visit) -> None:
        answer = request(self.emulator, visit.operation, raw=visit.body, key=visit.headers.get("x-access-key"))
        visit.send(response(answer.body, status=answer.status))


@dataclass
class Production:
    root: str
    service: Service
    redis: RedisServer
    log: Path
    client: httpx.Client

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(self.root + path, headers=headers)

    def intent(self, scenario: int | str = "cross-chain-fast") -> str:
        """Return the path of a new intent, which no page has shown."""
        return f"/intent/{self.service.emulator.play(scenario)['intentId']}"

    def ready(self) -> dict[str, Any]:
        result: dict[str, Any] = self.get("/readyz").json()
        return result

    def figures(self) -> dict[str, float]:
        """Return each metric series with its value."""
        return figures(self.get("/metrics").text)

    def more_than(self, before: dict[str, float]) -> Callable[[str], float]:
        after = self.figures()
        return lambda name: after.get(name, 0) - before.get(name, 0)

    def lines(self, logger: str = "intents_ui.requests") -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if line["logger"] == logger]


def figures(text: str) -> dict[str, float]:
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


@contextmanager
def started(log: Path, **env: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a dashboard that writes its log to a file."""
    port = free_port()
    command, root = ("-m", "gunicorn", "--config", GUNICORN), f"http://127.0.0.1:{port}"
    env = os.environ | {"PORT": str(port)} | env
    with log.open("wb") as file, serving.started(*command, url=f"{root}/healthz", env=env, stderr=file) as process:
        yield root, process


@contextmanager
def running(log: Path, database: str) -> Iterator[Production]:
    with ExitStack() as stack:
        redis = stack.enter_context(redis_running())
        service = Service()
        stack.callback(service.close)
        env = {"INTENTS_SERVICE_URL": service.url, "REDIS_URL": redis.url, "INTENTS_DATABASE": database, **ENV}
        root, _ = stack.enter_context(started(log, **env))
        client = stack.enter_context(httpx.Client(trust_env=False, timeout=PATIENCE))
        until(lambda: {visit.operation for visit in service.visits} >= NAMES)  # before a page is opened
        yield Production(root, service, redis, log, client)


def workers_of(main: int) -> list[int]:
    """Return the worker processes of gunicorn's main one."""
    return [int(pid) for pid in Path(f"/proc/{main}/task/{main}/children").read_text().split()]
