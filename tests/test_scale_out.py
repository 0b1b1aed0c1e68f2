"""Three processes behind a real nginx with the project's configuration, without sticky sessions, and a real Redis.

Pages are requested and transfers watched all the time, while one process after the other restarts and Redis is killed
and comes up again. No request fails, and every viewer sees the end of their transfer.
"""

import asyncio
import contextlib
import functools
import html
import json
import os
import re
import secrets
import signal
import ssl
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from django.core import signing
from redis import Redis

from intents_ui.service.operations import Kind
from tests import canary
from tests.emulator.driving import QUOTE_REQUEST
from tests.gunicorn_constants import PAGE_TIMEOUT, POLICIES, constants
from tests.live.browser import Event, event
from tests.live.redis_server import RedisServer, redis_running
from tests.nginx import balanced
from tests.production import workers_of
from tests.serving import GUNICORN, ROOT, free_port, running, wait_for
from tests.waiting import PATIENCE

# Scenarios of the emulator, and their seconds from execution to the end.
SCENARIOS = ["cross-chain-fast", "gasless-permit", "exact-output-payment", "swap-then-bridge"]  # 18, 22, 24 and 27
LAST_SCENARIO = "same-chain-swap"  # 10
VIEWERS_EACH = 6
READERS = 3
PAUSE = 0.1  # seconds between two pages of a user
PATIENT = {kind: {"read": 20, "total": 20, "size": 16 * 2**20} for kind in Kind if kind not in (Kind.WAIT, Kind.WRITE)}
TOKEN = secrets.token_urlsafe(24)


@dataclass
class Process:
    """A process of the dashboard under gunicorn."""

    port: int
    env: dict[str, str]

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "--config", GUNICORN]
        self.popen = subprocess.Popen(command, cwd=ROOT, env=os.environ | self.env | {"PORT": str(self.port)})
        wait_for(f"{self.url}/healthz", self.popen)

    def stop(self) -> int:
        """Stop it as an operator does, and return its exit code."""
        self.popen.terminate()
        return self.popen.wait(PATIENCE)

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        [worker] = workers_of(self.popen.pid)
        os.kill(worker, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(worker, signal.SIGCONT)


@dataclass
class Site:
    url: str
    emulator: str
    processes: list[Process]
    redis: RedisServer
    trust: ssl.SSLContext

    def client(self, **how: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.url, verify=self.trust, trust_env=False, timeout=PATIENCE, **how)

    def straight_to[C: (httpx.Client, httpx.AsyncClient)](self, process: Process, kind: type[C] = httpx.Client) -> C:
        """Return a client that sends requests as nginx does."""
        headers = {"X-Forwarded-Proto": "https", "Host": self.url.removeprefix("https://")}
        return kind(base_url=process.url, headers=headers, trust_env=False, timeout=PATIENCE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(redis_running())
        port = free_port()
        emulator = f"http://127.0.0.1:{port}"
        command = ("-m", "intents_ui.emulator", "--port", str(port), "--size", "20000")
        stack.enter_context(running(*command, url=f"{emulator}/"))
        env = {
            "INTENTS_SERVICE_URL": emulator,
            "REDIS_URL": redis.url,
            "SECRET_KEY": secrets.token_urlsafe(50),
            "INTENTS_HTTPS": "on",
            "INTENTS_CONSOLE": "write",
            "INTENTS_CONSOLE_TOKEN": TOKEN,
            # All viewers share one address, and the machine may be busy with other tests.
            **constants(**{POLICIES: PATIENT, PAGE_TIMEOUT: 25.0, "intents_ui.startup:STREAMS_PER_CLIENT": 1000}),
            "TRUSTED_PROXIES": "127.0.0.1",
        }
        processes = [Process(free_port(), env) for _ in range(3)]
        for process in processes:
            process.start()
            stack.callback(process.stop)
        ports, place = [each.port for each in processes], tmp_path_factory.mktemp("nginx")
        root, trust = stack.enter_context(balanced(ports, place))
        yield Site(root, emulator, processes, redis, trust)


@dataclass
class Viewer:
    """A browser with an open transfer page. It reconnects with its last event ID after the requested delay."""

    client: httpx.AsyncClient
    intent_id: str
    seen: str = ""
    end: str | None = None
    visits: int = 0
    turned_away: list[str] = field(default_factory=list)

    async def watch(self) -> None:
        while self.end is None:
            self.visits += 1
            wait = 1000
            try:
                async with self.client.stream(
                    "GET", f"/live/{self.intent_id}", headers={"Last-Event-ID": self.seen} if self.seen else {}
                ) as answer:
                    if answer.status_code != 200:
                        self.turned_away.append(str(answer.status_code))
                    else:
                        async for each in events(answer):
                            wait = each.retry or wait
                            self.seen = self.seen if each.name else each.id
                            self.end = each.data if each.name == "done" else self.end
            except httpx.ConnectError as error:
                self.turned_away.append(repr(error))
            except httpx.TransportError:
                pass  # interrupted: browsers reconnect
            if self.end is None:
                await asyncio.sleep(wait / 1000)


async def events(answer: httpx.Response) -> AsyncIterator[Event]:
    text = ""
    async for piece in answer.aiter_text():
        *blocks, text = (text + piece).split("\n\n")
        for block in blocks:
            if read := event(block):
                yield read


@dataclass
class Load:
    """Users who open one page after the other, and the errors that they got."""

    client: httpx.AsyncClient
    paths: list[str]
    answers: int = 0
    failures: list[str] = field(default_factory=list)
    is_over: bool = False

    async def read(self, first: int) -> None:
        place = first
        while not self.is_over:
            place += 1
            path = self.paths[place % len(self.paths)]
            try:
                answer = await self.client.get(path)
            except httpx.TransportError as error:
                self.failures.append(f"{path}: {error!r}")
            else:
                self.answers += 1
                if answer.status_code != 200:
                    self.failures.append(f"{path}: {answer.status_code} {answer.text[:200]}")
            await asyncio.sleep(PAUSE)


@contextlib.asynccontextmanager
async def under_way(*works: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run these until they end, which they must do soon after the block."""
    async with asyncio.timeout(None) as deadline, asyncio.TaskGroup() as tasks:
        for work in works:
            tasks.create_task(work)
        yield
        deadline.reschedule(asyncio.get_running_loop().time() + PATIENCE)


async def executed(site: Site, scenario: str) -> str:
    """Create and execute an intent, and return its ID."""
    async with httpx.AsyncClient(base_url=f"{site.emulator}/rpc/Service/", trust_env=False, timeout=PATIENCE) as client:
        intent = (await client.post("QuoteIntent", json=QUOTE_REQUEST)).json()["intent"]
        (await client.post("CommitIntent", json={"intent": intent})).raise_for_status()
        result = {"intentId": intent["intentId"], "scenario": scenario}
        (await client.post("ExecuteIntent", json=result)).raise_for_status()
    return str(intent["intentId"])


async def while_all_is_well(load: Load, viewers: list[Viewer], condition: Callable[[], bool]) -> None:
    """Wait for a condition. Report earlier errors instead of the timeout."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while not condition():
        assert load.failures[:3] == []
        assert [viewer.turned_away for viewer in viewers if viewer.turned_away][:3] == []
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.05)


@pytest.mark.programs
def test_each_request_of_a_reader_may_reach_another_process(site):
    with site.straight_to(site.processes[0]) as first, site.straight_to(site.processes[1]) as second:
        newest = first.get("/history")
        older = second.get(html.unescape(found(r'href="([^"]*cursor=[^"]+)"[^>]* rel="next"', newest)))
        assert older.status_code == 200
        assert intents_on(older)
        assert not intents_on(older) & intents_on(newest)

        run = secrets.token_urlsafe(12)
        with first.stream("GET", f"/export/history.csv?run={run}") as file:
            pieces = file.iter_text()
            begin = next(pieces)
            assert "rows so far" in second.get(f"/export/progress/{run}").text
            second.post(f"/export/progress/{run}")
            assert f"{begin}{''.join(pieces)}".splitlines()[-1].endswith("rows: canceled by user")

        form = first.get("/console/QuoteIntent")
        proof = found(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
        sent = {"ask": "json", "json": "{}", "csrfmiddlewaretoken": proof}
        # The cookie is set by hand: it is for HTTPS only, and these requests bypass the TLS proxy.
        cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in form.cookies.items())}
        from_page = {"Origin": site.url}
        assert second.post("/console/QuoteIntent", data=sent, headers=from_page).status_code == 403
        assert second.post("/console/QuoteIntent", data=sent, headers=cookies | from_page).status_code == 200


@pytest.mark.programs
def test_redis_holds_shared_data_and_no_secret(site):
    with site.straight_to(site.processes[0]) as reader, Redis.from_url(site.redis.url) as redis:
        reader.get("/history")
        held = {key: redis.get(key) or b"" for key in redis.keys()}  # noqa: SIM118 - not a dict
    responses = {key: signed_content(value) for key, value in held.items() if b":responses:" in key}
    assert responses
    owners = {re.findall(rb"intents-ui:([0-9a-f]{16}):", key)[0] for key in held}
    assert len(owners) == 1  # so that installations with another SECRET_KEY can share a Redis
    for key, value in (held | responses).items():
        for secret in (canary.KEY, TOKEN, site.processes[0].env["SECRET_KEY"]):
            assert secret.encode() not in key + value


def signed_content(value: bytes) -> bytes:
    """Return what `signing.Signer.sign_object` signed, in Django's cache."""
    signed = json.loads(value).rpartition(":")[0]
    content = signing.b64_decode(signed.removeprefix(".").encode())
    return zlib.decompress(content) if signed.startswith(".") else content


def found(pattern: str, answer: httpx.Response) -> str:
    place = re.search(pattern, answer.text)
    assert place, answer.text
    return place[1]


def intents_on(answer: httpx.Response) -> set[str]:
    return set(re.findall(r'href="/intent/(0x[0-9a-f]{64})"', answer.text))


@pytest.mark.programs
@pytest.mark.parametrize("place", [0, 1])  # one of the two polls the transfer
async def test_a_frozen_process_is_replaced_and_follows_when_it_continues(site, place):
    frozen, other = site.processes[place], site.processes[1 - place]
    intent = await executed(site, LAST_SCENARIO)
    async with (
        site.straight_to(frozen, httpx.AsyncClient) as suspended,
        site.straight_to(other, httpx.AsyncClient) as client,
    ):
        first, second = viewers = [Viewer(suspended, intent), Viewer(client, intent)]
        until = functools.partial(while_all_is_well, Load(client, []), viewers)
        async with under_way(first.watch(), second.watch()):
            await until(lambda: first.seen and second.seen)
            with frozen.frozen():
                await until(lambda: second.end)
            await until(lambda: first.end)
    assert (first.end, second.end) == ("SUCCEEDED", "SUCCEEDED")


@pytest.mark.programs
async def test_restarts_of_processes_and_redis_fail_no_request_and_lose_no_final_status(site):
    intents = [await executed(site, scenario) for scenario in SCENARIOS]
    paths = ["/", "/history", "/tokens", "/chains", f"/search?q={intents[0]}", *(f"/intent/{each}" for each in intents)]
    async with site.client(follow_redirects=True) as pages, site.client(limits=httpx.Limits()) as streams:
        load = Load(pages, paths)
        viewers = [Viewer(streams, intent) for intent in intents for _ in range(VIEWERS_EACH)]
        until = functools.partial(while_all_is_well, load, viewers)
        readers = (load.read(place) for place in range(READERS))
        async with under_way(*readers, *(viewer.watch() for viewer in viewers)):
            await until(lambda: all(viewer.seen for viewer in viewers))
            for process in site.processes:
                assert await asyncio.to_thread(process.stop) == 0
                answered = load.answers
                await until(lambda answered=answered: load.answers > answered)
                await asyncio.to_thread(process.start)
            await until(lambda: all(viewer.visits > 1 or viewer.end for viewer in viewers))
            assert any(viewer.visits > 1 for viewer in viewers)

            intents.append(await executed(site, LAST_SCENARIO))
            late = [Viewer(streams, intents[-1]) for _ in range(VIEWERS_EACH)]
            viewers += late
            async with under_way(*(viewer.watch() for viewer in late)):
                await until(lambda: all(viewer.seen for viewer in late))
                answered = load.answers
                site.redis.down()
                await until(lambda: load.answers > answered + 2 * len(paths))
                site.redis.up()
                answered = load.answers
                await until(lambda: all(viewer.end for viewer in viewers) and load.answers > answered + len(paths))
            load.is_over = True
        assert [viewer.end for viewer in viewers] == ["SUCCEEDED"] * len(viewers)
        for intent in intents:
            newcomer = Viewer(streams, intent)
            await newcomer.watch()
            assert {viewer.seen for viewer in viewers if viewer.intent_id == intent} == {newcomer.seen}
