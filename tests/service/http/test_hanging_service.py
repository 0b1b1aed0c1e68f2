"""While the service hangs, health checks, static files and cached pages still respond."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.service.scripted_server import ScriptedServer, Visit, serving
from tests.service.upstream import good
from tests.serving import dashboard
from tests.waiting import until

WARM = f"/intent/0x{'ab' * 32}"
WAITING = 3


class Moody:
    """Answers until it is told to hang."""

    def __init__(self) -> None:
        self.hangs = threading.Event()

    def __call__(self, visit: Visit) -> None:
        visit.stay_silent() if self.hangs.is_set() else good(visit)


@pytest.fixture(scope="module")
def moody() -> Moody:
    return Moody()


@pytest.fixture(scope="module")
def service(moody: Moody) -> Iterator[ScriptedServer]:
    with serving(moody) as service:
        yield service


@pytest.fixture(scope="module")
def root(service: ScriptedServer) -> Iterator[str]:
    """A dashboard of which few pages at a time may wait, for long, and whose breaker never opens for lack of calls."""
    limits = {"INTENTS_MAX_WAITING_PAGES": str(WAITING), "INTENTS_PAGE_TIMEOUT": "20"}
    limits |= {"INTENTS_SERVICE_TOTAL_TIMEOUT": "intent=20", "INTENTS_SERVICE_READ_TIMEOUT": "intent=20"}
    with dashboard(INTENTS_SERVICE_URL=service.url, SECRET_KEY="a key of the test", **limits) as root:
        yield root


def test_health_checks_static_files_and_cached_pages_respond_while_all_slots_wait(
    root: str, service: ScriptedServer, moody: Moody
) -> None:
    with httpx.Client(base_url=root, trust_env=False, timeout=60) as reader:
        page = reader.get(WARM)
        assert page.status_code == 200
        style = page.text.partition('<link rel="stylesheet" href="')[2].partition('"')[0]
        moody.hangs.set()
        before = len(service.visits)
        with ThreadPoolExecutor(WAITING) as threads:
            waiting = [threads.submit(httpx.get, f"{root}/intent/0x{number:064x}", timeout=30) for number in range(3)]
            until(lambda: len(service.visits) == before + 2 * WAITING)  # intent and receipt
            assert reader.get(f"/intent/0x{'cd' * 32}").status_code == 503  # one more has no place
            assert reader.get("/healthz").status_code == 200
            assert reader.get(style).status_code == 200
            assert reader.get("/search").status_code == 200
            for _ in range(5):
                assert reader.get(WARM).status_code == 200
            assert not any(page.done() for page in waiting)
            service.close()
            assert {page.result(30).status_code for page in waiting} == {503}
