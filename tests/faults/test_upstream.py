"""Failures of the service as seen from one page: what they cost, and what must never happen.

Beside `test_pages.py` and `test_stale.py` (what is shown), and `tests/service` (what a call ends in).
"""

import asyncio
import contextlib
import datetime
import json
import logging
import re
import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui import wiring
from intents_ui.emulator.app import Emulator
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import NotFound
from intents_ui.service.http.in_process import InProcessTransport
from intents_ui.service.http.transport import DeadlineTransport
from intents_ui.service.operations.config import LIMITS, Limits
from tests.faults.site import Dashboard
from tests.faults.test_pages import QUICK, closed_port
from tests.faults.upstream import STATUSES, TRANSPORT, dripping, elsewhere, refusing
from tests.service.clients import CANARY
from tests.service.logo_host import AUTHORITY, SecureServer
from tests.service.scripted_server import Script, Visit, answering, serving

NOWHERE = "/intent/0x" + "0" * 63 + "1"
INTENT = '{"intent":{"intentId":"0x%s1","status":"QUOTED"}}' % ("0" * 63)


def words_of(answer: Any) -> str:
    return " ".join(LexborHTMLParser(answer.body).css_first("main").text(separator=" ").split())


def asked_for(dashboard: Dashboard, script: Script) -> tuple[Any, int]:
    """The page of an intent about which the service does this, and how often it was asked."""
    dashboard.service.inject(script, "GetIntent")
    answer = dashboard.open(NOWHERE)
    return answer, len(dashboard.service.requested("GetIntent"))


def test_a_refused_connection_is_retried_once_and_reported_at_once(dashboard: Dashboard) -> None:
    """F01"""
    answer = dashboard.open(NOWHERE, url=closed_port())
    tries = [line for line in dashboard.log.lines if line.startswith("GetIntent failed")]
    assert answer.status_code == 503
    assert answer["Retry-After"].isdigit()
    assert "Service unreachable" in words_of(answer)
    assert 1 <= len(tries) <= 2


def test_a_hanging_name_lookup_blocks_no_other_page(
    dashboard: Dashboard, paths: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """F02"""
    over, looked_up = threading.Event(), threading.Event()

    def hang(*_: object, **__: object) -> list[Any]:
        looked_up.set()
        over.wait(60) or over.set()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    dashboard.begin(url="http://slow.test", limits=LIMITS)
    with ThreadPoolExecutor() as threads:
        page = threads.submit(dashboard.visit, NOWHERE)
        assert looked_up.wait(60)
        assert dashboard.visit(paths["help"]).status_code == 200
        assert not page.done(), "it was served meanwhile"
        answer = page.result()
    assert not over.is_set(), "the limit of connecting is 2 s, and a second attempt has no time left"
    over.set()
    assert answer.status_code == 503


@pytest.fixture
def trusting(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    """It takes the word of the test's own authority, beside those of the world's."""
    real = httpx.create_ssl_context

    def create(**how: Any) -> Any:
        context = real(**how)
        AUTHORITY.configure_trust(context)
        return context

    monkeypatch.setattr(httpx, "create_ssl_context", create)
    before, dashboard.transport = dashboard.transport, DeadlineTransport(connections=4)
    yield dashboard
    dashboard.transport.close()
    dashboard.transport = before


class OldServer(SecureServer):
    """Speaks TLS 1.1 at the most, which nobody may take."""

    def __init__(self, script: Script, certificate: trustme.LeafCert) -> None:
        super().__init__(script, certificate)
        self._tls.set_ciphers("ALL:@SECLEVEL=0")
        self._tls.minimum_version = self._tls.maximum_version = ssl.TLSVersion.TLSv1_1


LONG_AGO = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)
CERTIFICATES = {
    "expired": lambda: AUTHORITY.issue_cert("localhost", not_before=LONG_AGO, not_after=LONG_AGO),
    "of another host": lambda: AUTHORITY.issue_cert("elsewhere.example"),
    "of nobody we know": lambda: trustme.CA().issue_cert("localhost"),
}


@contextlib.contextmanager
def secure(certificate: trustme.LeafCert, kind: type[SecureServer] = SecureServer) -> Iterator[SecureServer]:
    server = kind(answering(INTENT), certificate)
    try:
        yield server
    finally:
        server.close()


def test_a_service_with_a_valid_certificate_is_called(trusting: Dashboard) -> None:
    """F03, the other way round: the rows below fail for their certificate alone."""
    with secure(AUTHORITY.issue_cert("localhost")) as server:
        trusting.open(NOWHERE, url=f"https://localhost:{server.port}")
        assert "GetIntent" in [visit.operation for visit in server.visits]


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
@pytest.mark.parametrize("wrong", [*CERTIFICATES, "of an old protocol"])
def test_no_request_is_sent_over_an_insecure_connection(trusting: Dashboard, wrong: str) -> None:
    """F03"""
    is_old = wrong == "of an old protocol"
    certificate = AUTHORITY.issue_cert("localhost") if is_old else CERTIFICATES[wrong]()
    errors: list[logging.LogRecord] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = errors.append  # type: ignore[method-assign]
    logging.getLogger("intents_ui.service").addHandler(handler)
    try:
        with secure(certificate, OldServer if is_old else SecureServer) as server:
            answer = trusting.open(NOWHERE, url=f"https://localhost:{server.port}")
            assert server.visits == []
    finally:
        logging.getLogger("intents_ui.service").removeHandler(handler)
    assert answer.status_code == 503
    assert "A secure (TLS) connection to the service failed" in words_of(answer)
    result = [record.getMessage() for record in errors if record.getMessage().startswith("GetIntent failed")]
    assert len(result) == 1
    assert "no secure connection" in result[0]


def test_an_unreachable_host_costs_no_more_than_the_connect_timeout(dashboard: Dashboard) -> None:
    """F04"""
    with socket.socket() as deaf, contextlib.ExitStack() as waiting:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(3):  # the queue is full, so whoever comes next hears nothing
            other = waiting.enter_context(socket.socket())
            other.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                other.connect(deaf.getsockname())
        limits = {group: Limits(0.3, 600, 600, 2**20) for group in LIMITS}  # ends by what connecting may, or hangs
        answer = dashboard.open(NOWHERE, limits=limits, url=f"http://127.0.0.1:{deaf.getsockname()[1]}")
    assert answer.status_code == 503
    assert "took too long" in words_of(answer)


def test_the_connection_to_a_silent_service_is_closed(dashboard: Dashboard) -> None:
    """F05"""
    left = threading.Event()

    def silent(visit: Visit) -> None:
        visit.stay_silent()
        if not visit.closing.is_set():
            left.set()

    dashboard.service.inject(silent, "GetIntent")
    answer = dashboard.open(NOWHERE, limits=QUICK, seconds=1.0)
    assert answer.status_code == 503
    assert "took too long" in words_of(answer)
    assert left.wait(60)


def test_fifty_slow_drips_block_no_page_without_service_calls(dashboard: Dashboard, paths: dict[str, str]) -> None:
    """F06"""
    dashboard.service.inject(dripping)
    dashboard.begin(limits={group: Limits(2, 2, 2.0, 2**20) for group in LIMITS})
    with ThreadPoolExecutor(50) as threads:
        drips = [threads.submit(dashboard.visit, f"/intent/0x{number:064x}", seconds=2.0) for number in range(50)]
        while len(dashboard.service.requested()) < 20 and not all(drip.done() for drip in drips):
            time.sleep(0.01)
        assert dashboard.visit(paths["help"]).status_code == 200
        assert sum(not drip.done() for drip in drips) >= 20, "it was served while they waited"
        assert {drip.result().status_code for drip in drips} == {503}


@pytest.mark.parametrize(
    "fault",
    [
        "half a body",
        "reset in the body",
        "closed without a word",
        "no JSON",
        "500 with nothing",
        "204",
        "200 with nothing",
        "502 with a page",
        "504 with a page",
        "520 with a page",
    ],
)
def test_a_transient_failure_is_retried_once_and_then_reported(dashboard: Dashboard, fault: str) -> None:
    """F08, F09, F33, F34"""
    answer, calls = asked_for(dashboard, {**TRANSPORT, **STATUSES}[fault])
    assert (answer.status_code, calls) == (503, 2)
    assert "QUOTED" not in answer.body
    assert not any("upstream-page " * 20 in line for line in dashboard.log.lines)
    assert all(len(line) < 600 for line in dashboard.log.lines if "upstream-page" in line)


@pytest.mark.parametrize("fault", ["half a body", "reset in the body", "500 with nothing", "502 with a page"])
def test_a_complete_response_to_the_retry_is_the_page(dashboard: Dashboard, paths: dict[str, str], fault: str) -> None:
    """F08, F09: nothing of the first one is in it."""
    dashboard.service.inject({**TRANSPORT, **STATUSES}[fault], "GetIntent", nth=1)
    answer = dashboard.open(paths["intent"])
    assert answer.status_code == 200
    assert len(dashboard.service.requested("GetIntent")) == 2
    assert "Failed requests" not in answer.body


@pytest.mark.parametrize(("code", "name", "status"), [(-6, "WebrpcServerPanic", 500), (-7, "WebrpcInternalError", 500),
                                                      (2001, "Unexpected", 500), (9001, "ChainNodeHealth", 503),
                                                      (1900, "Timeout", 408)])  # fmt: skip
def test_a_transient_service_error_is_retried_once(dashboard: Dashboard, code: int, name: str, status: int) -> None:
    """F25, F32"""
    answer, calls = asked_for(dashboard, refusing(code, name, status))
    assert (answer.status_code, calls) == (503, 2)


def test_status_425_is_retried_like_other_transient_errors(dashboard: Dashboard) -> None:
    """F25"""
    answer, calls = asked_for(dashboard, answering("", status=425))
    assert (answer.status_code, calls) == (503, 2)


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        ("100 MB by its length", 503, "larger than any valid response"),
        ("100 MB in chunks", 503, "larger than any valid response"),
        ("a gzip bomb", 503, "larger than any valid response"),
        ("brotli", 503, "a compression that was not requested"),
        ("gzip twice", 503, "a compression that was not requested"),
        ("a redirect", 503, "Received a redirect"),
        ("a captive portal", 503, "Received an HTML page"),
        ("invalid", 400, "rejected a value"),
        ("not found", 404, "Not found"),
        ("not here", 403, "Not available for this wallet or region"),
    ],
)
def test_a_permanent_failure_is_not_retried(dashboard: Dashboard, fault: str, status: int, words: str) -> None:
    """F12, F13, F14, F15, F20, F21, F31, F36"""
    answer, calls = asked_for(dashboard, {**TRANSPORT, **STATUSES}[fault])
    assert (answer.status_code, calls) == (status, 1)
    assert words in words_of(answer)


@pytest.mark.parametrize(
    "fault", ["a header of 200 kB", "10,000 headers", "100 MB by its length", "100 MB in chunks", "a gzip bomb"]
)
def test_an_oversized_response_costs_little_memory_and_time(dashboard: Dashboard, fault: str) -> None:
    """F11, F12, F13, F14: of an intent at most 1 MB is read."""
    dashboard.open("/help")
    dashboard.service.inject(TRANSPORT[fault], "GetIntent")
    tracemalloc.start()
    try:
        answer = dashboard.open(NOWHERE)
        _, peak = tracemalloc.get_traced_memory()
        dashboard.service.inject(TRANSPORT[fault], "GetIntent")
        spent = thread_seconds(lambda: dashboard.open(NOWHERE))
        dashboard.service.inject(STATUSES["500 with nothing"], "GetIntent")
        usual = thread_seconds(lambda: dashboard.open(NOWHERE))
    finally:
        tracemalloc.stop()
    assert answer.status_code == 503
    assert peak < 16 * 2**20
    assert spent < 200 * usual


def thread_seconds(call: Callable[[], object]) -> float:
    """The processor time of this thread: the service answers in another."""
    began = time.thread_time()
    call()
    return time.thread_time() - began


def test_responses_are_requested_uncompressed_or_as_gzip(dashboard: Dashboard, paths: dict[str, str]) -> None:
    """F14"""
    dashboard.open(paths["intent"])
    assert {each.headers["accept-encoding"] for each in dashboard.service.requested()} == {"gzip, identity"}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed_and_the_key_is_not_leaked(dashboard: Dashboard, status: int) -> None:
    """F15"""
    with serving(answering(INTENT)) as other:
        for location in (f"{other.url}/rpc/Service/GetIntent", "/rpc/Service/Elsewhere", "http://localhost:9/"):
            dashboard.service.clear_faults()
            dashboard.service.inject(elsewhere(location, status=status), "GetIntent", "GetIntentReceipt")
            assert dashboard.open(NOWHERE).status_code == 503
            assert {each.operation for each in dashboard.service.requested()} <= {"GetIntent", "GetIntentReceipt",
                                                                              "GetChains", "GetTokenList"}  # fmt: skip
            assert len(dashboard.service.requested("GetIntent")) == 1
        assert other.visits == []
    assert {each.headers["x-access-key"] for each in dashboard.service.requested()} == {CANARY}


def test_proxy_and_netrc_settings_of_the_environment_are_ignored(
    dashboard: Dashboard, paths: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """F16"""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with serving(answering(INTENT)) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert dashboard.open(paths["intent"]).status_code == 200
        assert proxy.visits == []
    assert dashboard.service.requested()
    assert [each for each in dashboard.service.requested() if "authorization" in each.headers] == []


def test_a_rejected_request_is_not_repeated_for_a_minute(dashboard: Dashboard) -> None:
    """F20"""
    dashboard.service.inject(refusing(2000, "InvalidArgument", 400, msg="intentId: 66 characters"), "GetIntent")
    assert "intentId: 66 characters" in words_of(dashboard.open(NOWHERE))
    assert dashboard.visit(NOWHERE).status_code == 400
    assert len(dashboard.service.requested("GetIntent")) == 1
    dashboard.later(70)
    assert dashboard.visit(NOWHERE).status_code == 400
    assert len(dashboard.service.requested("GetIntent")) == 2


def test_a_missing_intent_is_requested_again_soon_and_opens_no_circuit(
    dashboard: Dashboard, paths: dict[str, str]
) -> None:
    """F21"""
    answer = dashboard.open(NOWHERE)
    assert answer.status_code == 404
    assert 'role="search"' in answer.body
    assert dashboard.visit(NOWHERE).status_code == 404
    assert len(dashboard.service.requested("GetIntent")) == 1
    dashboard.later(6)
    assert dashboard.visit(NOWHERE).status_code == 404
    assert len(dashboard.service.requested("GetIntent")) == 2
    assert "Quoted" in words_of(dashboard.visit(paths["intent quoted"])), "that has no receipt"


@pytest.mark.slow
def test_a_thousand_missing_intents_open_no_circuit(emulator: Emulator) -> None:
    """F21"""
    known = emulator.finished(3)["intentId"]
    with ServiceClient(wiring.config(), transport=InProcessTransport(emulator, loops=1)) as service:
        for number in range(1000):
            with pytest.raises(NotFound):
                service.get_intent_receipt(f"0x{number + 100:064x}")
        assert service.get_intent(known).intent_id == known


@pytest.mark.parametrize(("code", "name", "status"), [(-2, "WebrpcBadRoute", 404), (-3, "WebrpcBadMethod", 405),
                                                      (3000, "IntentProtocolDeprecated", 422),
                                                      (8009, "ClientOutdated", 422)])  # fmt: skip
def test_a_moved_service_is_reported_to_the_operator(
    dashboard: Dashboard, code: int, name: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """F24"""
    answer, calls = asked_for(dashboard, refusing(code, name, status))
    assert calls == 1
    assert "Dashboard update required" in words_of(answer)
    assert [record.levelno for record in caplog.records if record.getMessage().startswith("GetIntent failed")] == [
        logging.ERROR
    ]


@pytest.mark.parametrize("status", [400, 404, 418, 500, 503, 599])
def test_an_unknown_error_code_is_classified_by_its_status(dashboard: Dashboard, status: int) -> None:
    """F28"""
    answer, _ = asked_for(dashboard, refusing(31337, "Unheard", status, msg="It rains."))
    assert answer.status_code == (503 if status >= 500 else {400: 400, 404: 404, 418: 403}[status])
    assert "It rains." in words_of(answer)


def test_an_error_with_a_success_status_is_not_cached_as_data(dashboard: Dashboard, paths: dict[str, str]) -> None:
    """F35"""
    dashboard.service.inject(refusing(-7, "WebrpcInternalError", 200), "GetIntent")
    assert dashboard.open(paths["intent"]).status_code == 503
    dashboard.service.clear_faults()
    assert dashboard.visit(paths["intent"]).status_code == 200


def test_an_html_page_is_never_a_response_whatever_it_contains(dashboard: Dashboard) -> None:
    """F36: what looks like an answer in a page of another kind is not read."""
    answer, calls = asked_for(dashboard, answering(INTENT, kind="text/html"))
    assert (answer.status_code, calls) == (503, 1)


def test_a_stale_snapshot_does_not_wait_for_a_hanging_service(dashboard: Dashboard, paths: dict[str, str]) -> None:
    """INV5: with a copy nobody waits for the whole of a call."""
    given_up = threading.Event()

    def silent(visit: Visit) -> None:
        visit.stay_silent()
        given_up.set()

    dashboard.open(paths["intent running"], limits={group: Limits(60, 600, 600, 2**20) for group in LIMITS})
    dashboard.later(400)
    dashboard.service.inject(silent)
    assert dashboard.visit(paths["intent running"]).status_code == 200
    assert not given_up.is_set()
    assert re.search(r"Last updated <time", dashboard.visit(paths["intent running"]).body)


@pytest.mark.parametrize(("code", "name", "status"), [(1004, "RequestConflict", 409), (2004, "IntentStatus", 422)])
def test_a_rejected_late_commit_reads_the_current_status_once(
    dashboard: Dashboard, emulator: Emulator, code: int, name: str, status: int
) -> None:
    """F26"""
    intent_id = emulator.play("expired-quote")["intentId"]
    path = f"/intent/{intent_id}/commit"
    hidden = LexborHTMLParser(dashboard.open(path).body).css("main form[method=post] input[type=hidden]")
    filled = {each.attributes["name"]: each.attributes["value"] for each in hidden}
    dashboard.service.inject(refusing(code, name, status), "CommitIntent")
    dashboard.service.requests.clear()
    with wiring.current().slots.page(seconds=8):
        answer = Client().post(path, filled)
    result = " ".join(LexborHTMLParser(answer.content.decode()).css_first("main").text(separator=" ").split())
    assert answer.status_code == 409
    assert "Status has changed" in result
    assert "Current status: Quoted" in result
    assert [each.operation for each in dashboard.service.requested("GetIntent", "CommitIntent")] == [
        "GetIntent",
        "CommitIntent",
        "GetIntent",
    ]


@pytest.mark.slow
def test_eight_megabyte_responses_do_not_block_the_event_loop(
    dashboard: Dashboard, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F18, L17: four of them at once, read in the threads of pages, while the loop serves streams. Counted is what the
    loop does itself, which a busy machine does not make longer."""
    intent = emulator.finished(3)
    one = json.dumps(intent)
    many = (one.replace(intent["intentId"], f"0x{number:064x}") for number in range(8 * 2**20 // len(one)))
    dashboard.service.inject(answering(f'{{"intents":[{",".join(many)}]}}'), "SearchIntents")
    dashboard.begin(limits={group: Limits(5, 20, 60, 16 * 2**20) for group in LIMITS})
    service, spent = wiring.service(), []
    run = asyncio.Handle._run

    def measured(handle: asyncio.Handle) -> None:
        began = time.thread_time()
        run(handle)
        if threading.current_thread() is threading.main_thread():
            spent.append(time.thread_time() - began)

    monkeypatch.setattr(asyncio.Handle, "_run", measured)
    began = time.process_time()

    async def asked() -> list[Any]:
        words = [f"word {number}" for number in range(4)]
        asking = (asyncio.to_thread(service.search_intents, by_query_string=each) for each in words)
        return await asyncio.gather(*asking)

    assert [len(each.intents) for each in asyncio.run(asked())] == [8 * 2**20 // len(one)] * 4
    assert len(spent) >= 10
    assert max(spent) < (time.process_time() - began) / 10  # of a reading on the loop itself it would be a quarter
