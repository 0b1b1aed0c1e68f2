"""Failures of the service as seen from one page: what they cost, and what must never happen.

While calls are paused: the reason, until when, and cached data. Beside `test_pages.py` and `test_stale.py` (what is
shown), and `tests/service` (what a call ends in).
"""

import contextlib
import datetime
import logging
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import trustme
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui.emulator.app import Emulator
from intents_ui.service import client, request_context
from intents_ui.service.client import DeadlineTransport
from tests.faults.site import Dashboard, main_text
from tests.faults.test_pages import QUICK
from tests.faults.upstream import refusing
from tests.policies import policies
from tests.service.clients import CANARY
from tests.service.scripted_server import Script, ScriptedServer, Visit, answering

AUTHORITY = trustme.CA()
NOWHERE = "/intent/0x" + "0" * 63 + "1"
INTENT = '{"intent":{"intentId":"0x%s1","status":"QUOTED"}}' % ("0" * 63)


@pytest.fixture
def trusting(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    """It takes the word of the test's own authority, beside those of the world's."""
    context = httpx.create_ssl_context(trust_env=False)
    AUTHORITY.configure_trust(context)
    monkeypatch.setattr(client, "tls", lambda: context)
    before, dashboard.transport = dashboard.transport, DeadlineTransport(connections=4)
    yield dashboard
    dashboard.transport.close()
    dashboard.transport = before


class SecureServer(ScriptedServer):
    def __init__(self, script: Script, certificate: trustme.LeafCert) -> None:
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(self._tls)
        super().__init__(script)

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(10)
        with connection, contextlib.suppress(OSError):
            super()._serve(self._tls.wrap_socket(connection, server_side=True))


class OldServer(SecureServer):
    """Speaks TLS 1.1 at most, which no client may accept."""

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
    with secure(AUTHORITY.issue_cert("localhost")) as server:
        trusting.open(NOWHERE, url=f"https://localhost:{server.port}")
        assert "GetIntent" in [visit.operation for visit in server.visits]


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
@pytest.mark.parametrize("wrong", [*CERTIFICATES, "of an old protocol"])
def test_no_request_is_sent_over_an_insecure_connection(trusting: Dashboard, wrong: str) -> None:
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
    assert "A secure (TLS) connection to the service failed" in main_text(answer)
    result = [record.getMessage() for record in errors if record.getMessage().startswith("GetIntent failed")]
    assert len(result) == 1
    assert "no secure connection" in result[0]


def test_an_unreachable_host_costs_no_more_than_the_connect_timeout(dashboard: Dashboard) -> None:
    with socket.socket() as deaf, contextlib.ExitStack() as waiting:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(3):  # the queue is full, so whoever comes next hears nothing
            other = waiting.enter_context(socket.socket())
            other.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                other.connect(deaf.getsockname())
        how_long = policies(connect=0.3, read=600, total=600)  # ends by what connecting may, or hangs
        answer = dashboard.open(NOWHERE, how_long=how_long, url=f"http://127.0.0.1:{deaf.getsockname()[1]}")
    assert answer.status_code == 503
    assert "took too long" in main_text(answer)


def test_the_connection_to_a_silent_service_is_closed(dashboard: Dashboard) -> None:
    left = threading.Event()

    def silent(visit: Visit) -> None:
        visit.stay_silent()
        if not visit.closing.is_set():
            left.set()

    dashboard.service.inject(silent, "GetIntent")
    answer = dashboard.open(NOWHERE, how_long=QUICK, seconds=1.0)
    assert answer.status_code == 503
    assert "took too long" in main_text(answer)
    assert left.wait(60)


def test_a_missing_intent_is_requested_again_soon_and_opens_no_circuit(
    dashboard: Dashboard, paths: dict[str, str]
) -> None:
    answer = dashboard.open(NOWHERE)
    assert answer.status_code == 404
    assert 'role="search"' in answer.body
    assert dashboard.visit(NOWHERE).status_code == 404
    assert len(dashboard.service.requested("GetIntent")) == 1
    dashboard.later(6)
    assert dashboard.visit(NOWHERE).status_code == 404
    assert len(dashboard.service.requested("GetIntent")) == 2
    assert "Quoted" in main_text(dashboard.visit(paths["intent quoted"])), "that has no receipt"


@pytest.mark.parametrize(("code", "name", "status"), [(-2, "WebrpcBadRoute", 404), (-3, "WebrpcBadMethod", 405),
                                                      (3000, "IntentProtocolDeprecated", 422),
                                                      (8009, "ClientOutdated", 422)])  # fmt: skip
def test_a_moved_service_is_reported_to_the_operator(
    dashboard: Dashboard, code: int, name: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    dashboard.service.inject(refusing(code, name, status), "GetIntent")
    answer = dashboard.open(NOWHERE)
    assert len(dashboard.service.requested("GetIntent")) == 1
    assert "Dashboard update required" in main_text(answer)
    assert [record.levelno for record in caplog.records if record.getMessage().startswith("GetIntent failed")] == [
        logging.ERROR
    ]


def commit(dashboard: Dashboard, emulator: Emulator, script: Script) -> Any:
    """Return the response to a confirmed commit of a quote, if the service does this."""
    path = f"/intent/{emulator.play('expired-quote')['intentId']}/commit"
    hidden = LexborHTMLParser(dashboard.open(path).body).css("main form[method=post] input[type=hidden]")
    filled = {each.attributes["name"]: each.attributes["value"] for each in hidden}
    dashboard.service.inject(script, "CommitIntent")
    dashboard.service.requests.clear()
    with request_context.page_deadline():
        answer = Client().post(path, filled)
    answer.body = answer.content.decode()
    return answer


@pytest.mark.parametrize(("code", "name", "status"), [(1004, "RequestConflict", 409), (2004, "IntentStatus", 422)])
def test_a_rejected_late_commit_reads_the_current_status_once(
    dashboard: Dashboard, emulator: Emulator, code: int, name: str, status: int
) -> None:
    answer = commit(dashboard, emulator, refusing(code, name, status))
    assert answer.status_code == 409
    assert "Status has changed" in main_text(answer)
    assert "Current status: Quoted" in main_text(answer)
    asked = [each.operation for each in dashboard.service.requested("GetIntent", "CommitIntent")]
    assert asked == ["GetIntent", "CommitIntent", "GetIntent"]


# While the circuit is open or calls are paused

LATER = 400.0  # an intent that is under way is no longer shown without a word


@pytest.mark.parametrize(("header", "seconds"), [("999999999", 30), ("20", 20), ("abc", 5)])
def test_while_a_429_pause_lasts_no_request_is_sent_and_readers_see_its_end(
    dashboard: Dashboard, paths: dict[str, str], header: str, seconds: int
) -> None:
    dashboard.open(paths["intent running"])
    dashboard.visit(paths["history"])
    dashboard.later(LATER)
    dashboard.service.inject(refusing(1201, "QuotaRateLimit", 429, Retry_After=header))
    dashboard.visit(paths["intent running"])
    before = len(dashboard.service.requested())
    known, cold = dashboard.visit(paths["intent running"]), dashboard.visit(NOWHERE)
    assert (known.status_code, cold.status_code) == (200, 429)
    assert re.search(r"Last updated <time", known.body)
    assert "Rate limited by the service" in main_text(known)
    assert "Rate limited until" in main_text(cold)
    assert seconds - 10 <= int(cold["Retry-After"]) <= seconds * 1.1 + 1
    assert "until" in main_text(dashboard.visit("/history?origin=10"))
    assert len(dashboard.service.requested()) == before
    dashboard.service.clear_faults()
    dashboard.later(seconds * 1.1)
    again = dashboard.visit(paths["intent running"])
    assert (again.status_code, "slow down" in main_text(again)) == (200, False)


def test_a_rejected_key_is_reported_without_the_key_and_probed_every_30_seconds(
    dashboard: Dashboard, paths: dict[str, str]
) -> None:
    dashboard.service.inject(refusing(1101, "AccessKeyNotFound", 401, msg=f"no {CANARY}"))
    dashboard.open(NOWHERE)
    dashboard.visit(paths["history"])
    before = len(dashboard.service.requested())
    answer = dashboard.visit(NOWHERE[:-1] + "2")
    assert answer.status_code == 403
    assert "Authentication failed" in main_text(answer)
    assert CANARY not in answer.body
    assert len(dashboard.service.requested()) == before
    assert sum("rejected the access key" in line for line in dashboard.log.lines) == 1
    dashboard.later(30)
    dashboard.visit(NOWHERE[:-1] + "3")
    assert len(dashboard.service.requested()) == before + 1
    dashboard.service.clear_faults()
    dashboard.later(30)
    assert dashboard.visit(paths["history"]).status_code == 200
