"""Exports: complete and exact, or with the reason they aren't, and their progress."""

import asyncio
import gc
import logging
import re
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import repeat
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
import time_machine
from django.test import RequestFactory, override_settings

from intents_ui import app, asgi, exports, settings, startup
from intents_ui.emulator.app import Emulator
from intents_ui.exports import COLUMNS, LIMIT_ERRORS, ExportState, ExportStatus
from intents_ui.ops import lifecycle
from intents_ui.service import client
from intents_ui.service.client import ServiceClient
from intents_ui.service.models import End
from tests.emulator.driving import Clock
from tests.exported import KINDS, Exported, emulator_entries, read
from tests.pages.asgi import ask, scope
from tests.pages.recorded import Recorded
from tests.serving import ROOT
from tests.waiting import until

LIST = "GetIntentHistory"
RUN = "abcdefghijklmn-_"
SEVERAL = "status=REFUNDED&status=INVALID"  # three pages of twenty and a few more


class Service(Recorded):
    """The embedded service. `before`: functions that are called before the response to the nth history request."""

    def __init__(self, emulator: Emulator) -> None:
        super().__init__(emulator)
        self.emulator = emulator
        self.before: dict[int, Callable[[], object]] = {}
        self.scripts[LIST] = self._announce

    def _announce(self, body: Any) -> None:
        self.before.get(len(self.pages), lambda: None)()

    @property
    def pages(self) -> list[dict[str, Any]]:
        return self.requests(LIST)


@pytest.fixture
def service(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The embedded service with a stopped clock and 20 entries per history page."""
    emulator.now = Clock()
    monkeypatch.setattr(exports, "PAGE_SIZE", 20)
    monkeypatch.setattr(exports, "PAGE_SIZE_WITH_BALANCES", 20)
    monkeypatch.setattr(exports, "PAUSE_SECONDS", 0.01)
    service = Service(emulator)
    with ServiceClient(app.service_config(), transport=service) as client:
        app.use(startup.build(emulator=emulator, service=client))
        yield service


def get(url: str, **how: Any) -> httpx.Response:
    return ask("GET", url, **how)


def fragment(url: str, method: str = "GET") -> str:
    answer = ask(method, url, headers={"HX-Request": "true", "HX-Request-Type": "partial"})
    assert answer.status_code == 200
    return answer.text


# File contents
@pytest.mark.parametrize("kind", KINDS)
def test_a_list_is_exported_in_full_with_the_services_own_numbers(service, kind):
    answer = get(f"/export/history.{kind}?{SEVERAL}")
    found = read(kind, answer.content)
    own = emulator_entries(service.emulator, byStatuses=["REFUNDED", "INVALID"])
    assert (found.state, found.why, found.counted) == ("complete", None, len(own))
    assert found.ids == [entry["intentId"] for entry in own]
    units = [row["origin_base_units"] for row in found.rows]
    assert units == [entry["receipt"]["summary"]["originTokenAmount"] for entry in own]
    assert tuple(found.rows[0]) == COLUMNS


@pytest.mark.parametrize(
    ("kind", "content_type"),
    [
        ("csv", "text/csv; charset=utf-8"),
        ("json", "application/json; charset=utf-8"),
        ("ndjson", "application/x-ndjson; charset=utf-8"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_file_downloads_and_is_not_cached(service, method, kind, content_type):
    answer = ask(method, f"/export/history.{kind}?owner=0x{'1' * 40}")
    assert answer.headers["Content-Type"] == content_type
    assert answer.headers["Content-Disposition"] == (f'attachment; filename="intents-history-2026-11-21T1200Z.{kind}"')
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert bool(answer.content) == bool(service.pages) == (method == "GET")


def test_the_filters_are_sent_to_the_service_and_written_to_the_document(service, monkeypatch):
    monkeypatch.setattr(settings.ENV, "intents_max_export_rows", 20)
    document = get("/export/history.json?status=failed&origin=8453&from=1795000000&order=ASC&size=10").json()
    (first, *_) = service.pages
    assert first == {
        "page": {"pageSize": 20, "sort": [{"column": "id", "order": "ASC"}]},
        "byStatus": "FAILED",
        "originChainId": 8453,
        "fromTime": 1795000000,
    }
    assert document["list"] == "history"
    assert document["exported_at"].startswith("2026-11-21T12:00")
    assert document["filters"]["status"] == ["FAILED"]
    times = [intent["created_at"] for intent in document["intents"]]
    assert times == sorted(times)


def test_recoverable_balances_are_exported_with_their_amounts(service):
    found = read("ndjson", get("/export/history.ndjson?recoverable=1").content)
    own = emulator_entries(service.emulator, onlyRecoverable=True)
    assert found.ids == [entry["intentId"] for entry in own]
    assert all(row["has_balance"] is True and " on " in row["balances"] for row in found.rows)
    assert service.pages[0]["includeBalances"] is service.pages[0]["onlyRecoverable"] is True


def of_attention(query: str = "") -> Exported:
    return read("csv", get(f"/export/attention.csv{query}").content)


def test_what_needs_attention_is_exported_as_on_its_page(service):
    page = get("/attention").text
    groups = {key: int(count) for key, count in re.findall(r'<details id="([a-z0-9-]+)".*?<strong>(\d+)<', page, re.S)}
    found = of_attention()
    assert (found.state, len(found.rows)) == ("complete", sum(groups.values()))
    assert {row["cause"] for row in found.rows} >= {"recoverable", "late"}
    key, count = max(groups.items(), key=lambda each: each[1])
    of_group = of_attention(f"?group={key}")
    assert len(of_group.rows) == count
    assert {*of_group.ids} < {*found.ids}
    assert {row["headline"] for row in of_group.rows}.isdisjoint({""})
    on_base = of_attention("?chain=8453").rows
    assert all("8453" in (row["origin_chain_id"], row["destination_chain_id"]) for row in on_base)
    assert 0 < len(on_base) < len(found.rows)
    assert of_attention("?group=%3Cb%3E").rows == []


def test_a_list_that_cannot_be_read_makes_the_export_of_attention_incomplete(service, monkeypatch):
    monkeypatch.setattr(client, "SHORTEST_ATTEMPT", 2.0)  # no retry, which would succeed
    service.emulator.inject("GetIntentHistory", "failing-500", times=2)
    found = of_attention()
    assert found.state == "truncated"
    assert "could not be read" in str(found.why)


def test_a_row_links_to_the_transfer_on_this_dashboard(service):
    (row, *_) = read("json", get(f"/export/history.json?{SEVERAL}").content).rows
    assert row["url"] == f"http://localhost/intent/{row['intent_id']}"


def test_an_owners_history_is_exported_in_full(service):
    owner = service.emulator.newest(8)["ownerAddress"]
    found = read("csv", get(f"/export/address/{owner}.csv").content)
    assert found.ids == [entry["intentId"] for entry in emulator_entries(service.emulator, byOwnerAddress=owner)]
    assert {row["owner"] for row in found.rows} == {owner}


def filtered(intent: dict[str, Any], **changes: Any) -> str:
    """Return filters that all match an intent, with a test's changes."""
    created = int(datetime.fromisoformat(intent["createdAt"]).timestamp())
    own = {
        "status": intent["status"],
        "project": intent["projectId"],
        "origin": intent["originChainId"],
        "destination": intent["destinationChainId"],
        "from": created,
        "to": created,
    }
    return urlencode(own | {name: value(own) for name, value in changes.items()})


@pytest.mark.parametrize("side", ["origin", "destination"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"status": lambda own: "QUOTED"},
        {"project": lambda own: own["project"] + 1},
        {"origin": lambda own: own["destination"]},
        {"destination": lambda own: own["origin"]},
        {"from": lambda own: own["from"] + 1, "to": lambda own: own["to"] + 1},
        {"from": lambda own: own["from"] - 1, "to": lambda own: own["to"] - 1},
    ],
    ids=lambda changes: next(iter(changes), "none"),
)
def test_the_filters_of_an_intent_address_apply_to_its_transfer(service, changes, side):
    intent = service.emulator.finished(8)
    url = f"/export/address/{intent[f'{side}IntentAddress']}.csv"
    found = read("csv", get(f"{url}?{filtered(intent, **changes)}").content)
    assert (found.ids, found.state) == ([] if changes else [intent["intentId"]], "complete")


def test_a_capped_search_of_an_intent_address_is_no_complete_export(service):
    intent = service.emulator.finished(8) | {"originIntentAddress": "0x" + "1" * 40}
    service.scripts["SearchIntents"] = lambda body: (
        {"intents": [intent] * 10} if "byOriginIntentAddress" in body else None
    )
    found = read("csv", get(f"/export/address/0x{'1' * 40}.csv").content)
    assert (found.state, found.why) == ("truncated", exports.CAPPED)


def test_a_list_of_too_many_pages_is_no_complete_export():
    endless = repeat(exports.Batch((), None))
    *_, last = exports.limited(endless, most=1)
    assert last.why == "limit of 100 pages per export"


def test_data_reported_for_owners_only_leaves_an_intent_addresss_export_incomplete(service):
    intent = service.emulator.finished(8)
    found = read("csv", get(f"/export/address/{intent['originIntentAddress']}.csv?recoverable=1").content)
    assert (found.rows, found.why) == ([], exports.OWNERS_ONLY)


@pytest.mark.parametrize(("query", "ids"), [("", [1, 2, 3]), ("order=ASC", [3, 2, 1])])
def test_the_transfers_of_an_intent_address_are_exported_in_the_requested_order(service, query, ids):
    found = sorted((service.emulator.newest(which) for which in (8, 1, 2)), key=lambda intent: intent["createdAt"])
    address = "0x" + "1" * 40
    intents = [intent | {"id": 3 - at, "originIntentAddress": address} for at, intent in enumerate(found)]
    numbers = {intent["intentId"]: intent["id"] for intent in intents}
    service.scripts["SearchIntents"] = lambda body: {"intents": intents} if "byOriginIntentAddress" in body else None
    exported = read("csv", get(f"/export/address/{address}.csv?{query}").content)
    assert [numbers[intent_id] for intent_id in exported.ids] == ids


def test_a_quote_at_an_intent_address_is_exported_without_a_receipt(service):
    service.emulator.inject("GetIntentReceipt", "quoted-not-found")
    intent = service.emulator.play(2, age=1)
    (row,) = read("csv", get(f"/export/address/{intent['originIntentAddress']}.csv").content).rows
    assert (row["intent_id"], row["status"], row["started_at"]) == (intent["intentId"], "QUOTED", "")
    assert row["origin_base_units"] == intent["depositTransaction"]["amount"]


def test_an_unknown_address_exports_an_empty_complete_list(service):
    found = read("csv", get(f"/export/address/0x{'1' * 40}.csv").content)
    assert (found.rows, found.state, found.counted) == ([], "complete", 0)


def test_the_documentation_lists_the_columns_in_order():
    listed = re.search(
        r"<!-- columns:.*?-->\n(.*?)<!-- end of columns -->", (ROOT / "docs" / "features.md").read_text(), re.DOTALL
    )
    assert listed
    assert tuple(re.findall(r"`([a-z_]+)`", "".join(re.findall(r"^\| (.*?) \|", listed[1], re.MULTILINE)))) == COLUMNS


# Incomplete exports


@pytest.mark.parametrize("kind", KINDS)
def test_an_invalid_export_is_explained_without_a_request(service, kind):
    answer = get(f"/export/history.{kind}?status=LOST")
    assert answer.status_code == 400
    assert "Unknown status" in error_text(answer, kind)
    assert "Content-Disposition" not in answer.headers
    assert service.pages == []


def error_text(answer: httpx.Response, kind: str) -> str:
    """Return the error in the requested format. A CSV request gets a page."""
    if kind == "csv":
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        return answer.text
    assert answer.headers["Content-Type"] == "application/json"
    return str(answer.json()["what"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_that_fails_at_once_gives_an_error_page_and_no_file(service, kind):
    service.emulator.inject("GetIntentHistory", "failing-500")
    answer = get(f"/export/history.{kind}?run={RUN}")
    assert answer.status_code == 503
    assert error_text(answer, kind)
    assert "Content-Disposition" not in answer.headers
    assert len(service.pages) == 2  # the request and its retry
    assert app.current().exports.held == 0
    known = exports.status_of(RUN)
    assert known
    assert known.sentence == "Incomplete: stopped after 0 rows (could not start)"


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_that_fails_midway_leaves_the_rows_and_a_last_line_with_the_reason(service, kind):
    service.before[4] = lambda: service.emulator.inject("GetIntentHistory", "failing-500")
    found = read(kind, get(f"/export/history.{kind}?{SEVERAL}&run={RUN}").content)
    own = own_list_of_several(service)
    assert found.ids == own[:60]
    assert (found.state, found.counted) == ("truncated", 60)
    assert found.why
    assert re.fullmatch(r"service error, request ID [0-9a-f]{12}\.\d+", found.why)
    known = exports.status_of(RUN)
    assert known == ExportStatus(ExportState.TRUNCATED, 60, found.why)


def own_list_of_several(service: Service) -> list[str]:
    service.emulator.reset()
    return [entry["intentId"] for entry in emulator_entries(service.emulator, byStatuses=["REFUNDED", "INVALID"])]


@pytest.mark.parametrize("fault", ["failing-500", "cut-body"])
def test_a_transient_error_is_retried_once(service, fault, monkeypatch):
    monkeypatch.setattr(threading.Event, "wait", lambda event, seconds=None: event.is_set())
    service.before[4] = lambda: service.emulator.inject("GetIntentHistory", fault, times=1)
    found = read("csv", get(f"/export/history.csv?{SEVERAL}").content)
    assert found.ids == own_list_of_several(service)
    assert found.state == "complete"


def ends_on_an_empty_page(service: Service) -> None:
    service.changes[LIST] = lambda document: document | ({"intents": []} if len(service.pages) == 2 else {})


def has_new_cursors_to_the_same_rows(service: Service) -> None:
    first: list[dict[str, Any]] = []

    def repeats(document: Any) -> Any:
        first.extend(document["intents"] if not first else [])
        following = {"after": 900_000 - len(service.pages), "more": True, "pageSize": 20}
        return {"intents": first, "nextPage": following}

    service.changes[LIST] = repeats


def has_an_unreadable_page(service: Service) -> None:
    def unreadable(document: Any) -> Any:
        for entry in document["intents"] if len(service.pages) == 2 else ():
            del entry["intentId"]
        return document

    service.changes[LIST] = unreadable


@pytest.mark.parametrize(
    ("odd", "rows", "why", "pages"),
    [
        ("next-page-repeats", [(0, 40)], LIMIT_ERRORS[End.CIRCLES], 2),
        ("duplicate-rows", [(0, None)], None, 4),
        (ends_on_an_empty_page, [(0, 20)], LIMIT_ERRORS[End.EMPTY_PAGE], 2),
        (has_new_cursors_to_the_same_rows, [(0, 20)], LIMIT_ERRORS[End.CIRCLES], 2),
        (has_an_unreadable_page, [(0, 20), (40, None)], "20 entries could not be read", 4),
    ],
)
def test_an_odd_list_is_exported_once_and_not_called_complete_without_its_rows(service, odd, rows, why, pages):
    service.emulator.inject(LIST, odd) if isinstance(odd, str) else odd(service)
    found = read("csv", get(f"/export/history.csv?{SEVERAL}").content)
    assert (found.why, len(service.pages)) == (why, pages)
    own = own_list_of_several(service)
    assert found.ids == [each for start, end in rows for each in own[start:end]]


@pytest.mark.parametrize(
    ("most", "state", "counted"),
    [
        pytest.param(50, "truncated", 50, id="in the middle of a page"),
        pytest.param(60, "truncated", 60, id="at the end of a page"),
        pytest.param(-1, "truncated", -1, id="one too many"),
        pytest.param(0, "complete", 0, id="exactly as many"),
    ],
)
def test_an_export_ends_at_the_row_limit_with_a_note(service, most, state, counted, monkeypatch):
    own = own_list_of_several(service)
    most += 0 if most > 0 else len(own)
    monkeypatch.setattr(settings.ENV, "intents_max_export_rows", most)
    found = read("csv", get(f"/export/history.csv?{SEVERAL}").content)
    assert (found.state, found.counted, found.ids) == (state, most, own[:most])
    assert found.why in (None, f"limit of {most} rows per export")


@pytest.mark.parametrize(
    ("kind", "broken"),
    [*((kind, "row_of") for kind in KINDS), ("csv", "_cell"), ("json", "_exact"), ("ndjson", "_exact")],
)
def test_an_internal_error_ends_the_file_with_a_request_id_that_is_logged(service, kind, broken, monkeypatch, caplog):
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    service.before[3] = lambda: monkeypatch.setattr(exports, broken, fail)
    found = read(kind, get(f"/export/history.{kind}?{SEVERAL}").content)
    assert found.counted == len(found.rows) == 40
    assert found.why
    reference = found.why.removeprefix("internal error, request ID ")
    (logged,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert reference in logged.getMessage()
    assert logged.exc_info


def test_a_restart_ends_exports_with_a_reason(service, monkeypatch):
    service.before[2] = lambda: monkeypatch.setattr(lifecycle, "_worker", SimpleNamespace(alive=False))
    found = read("csv", get(f"/export/history.csv?{SEVERAL}").content)
    assert (found.counted, found.why) == (40, "dashboard restart")


# Concurrency


def test_one_export_too_many_gets_a_retry_time_and_sends_no_request(service):
    taken = [app.current().exports.take(None) for _ in range(startup.CONCURRENT_EXPORTS)]
    assert not any(taken)
    refused = get("/export/history.csv")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "30")
    assert "Too many exports running" in refused.text
    assert service.pages == []
    app.current().exports.give_back(None)
    assert get(f"/export/history.csv?{SEVERAL}").status_code == 200


def test_an_export_whose_response_is_dropped_without_its_end_frees_its_slot(service):
    request = RequestFactory().get(f"/export/history.csv?{SEVERAL}")
    response = exports.history(request, "csv")
    assert app.current().exports.held == 1
    del response
    gc.collect()
    assert app.current().exports.held == 0


# Disconnected clients


def download_until(*, leaves: Callable[[int], bool]) -> int:
    """Download until `leaves` returns true for the number of received bytes, and return that number."""
    unread = [{"type": "http.request", "body": b"", "more_body": False}]
    taken = 0

    async def receive() -> Any:
        if unread:
            return unread.pop()
        while not leaves(taken):
            await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal taken
        taken += len(message.get("body", b""))

    async def read() -> None:
        async with asyncio.timeout(60):
            await asgi.application(scope(f"/export/history.csv?{SEVERAL}&run={RUN}"), receive, send)

    asyncio.run(read())
    return taken


def test_a_disconnected_client_costs_the_service_no_further_page(service):
    """The client disconnects during the request for the third page."""
    has_left = threading.Event()
    service.before[3] = lambda: has_left.wait(60)
    assert download_until(leaves=lambda taken: len(service.pages) == 3) > 0
    has_left.set()
    until(lambda: app.current().executor.running == 0)
    assert len(service.pages) == 3
    assert exports.status_of(RUN) == ExportStatus(ExportState.LEFT, 40)
    assert app.current().exports.held == 0


# Progress


def test_the_page_polls_until_the_export_ends_and_then_announces_it(service):
    path = f"/export/progress/{RUN}"
    exports.report(RUN, ExportStatus(ExportState.COMPLETE, 7))
    first = fragment(f"{path}?looks=0")
    assert "Starting" in first
    assert f'hx-get="{path}?looks=1"' in first
    assert ">Stop<" in first
    exports.report(RUN, ExportStatus(ExportState.RUNNING, 4200))
    running = fragment(f"{path}?looks=1")
    assert "4,200 rows so far" in running
    assert "hx-trigger" in running
    assert "<form" not in running
    exports.report(RUN, ExportStatus(ExportState.COMPLETE, 10_000))
    over = fragment(f"{path}?looks=2")
    assert "hx-trigger" not in over
    assert over.count("Complete: 10,000 rows") == 2
    assert f'hx-target="#export-stop-{RUN}" hx-swap="delete"' in over


def test_an_export_without_further_reports_is_over(service):
    """The client disconnected while the first page was read, or the process was killed."""
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False) as clock:
        exports.report(RUN, ExportStatus(ExportState.RUNNING, 20))
        clock.shift(exports.SILENT_SECONDS)
        assert "20 rows so far" in fragment(f"/export/progress/{RUN}?looks=7")
        clock.shift(1)
        over = fragment(f"/export/progress/{RUN}?looks=8")
        assert "Canceled by the browser after 20 rows" in over
        assert "hx-trigger" not in over
        exports.report(RUN, ExportStatus(ExportState.RUNNING, 40))
        assert "40 rows so far" in fragment(f"/export/progress/{RUN}?looks=9")
        exports.report(RUN, ExportStatus(ExportState.COMPLETE, 60))
        clock.shift(exports.SILENT_SECONDS + 1)
        assert "Complete: 60 rows" in get(f"/export/progress/{RUN}").text


def test_the_stop_button_works_with_and_without_javascript(service):
    path = f"/export/progress/{RUN}"
    exports.report(RUN, ExportStatus(ExportState.RUNNING, 300))
    page = get(path).text
    assert "300 rows so far" in page
    assert f'<form id="export-stop-{RUN}" method="post" action="{path}"' in page
    assert "Stopping after 300 rows" in fragment(path, "POST")
    stopped = ask("POST", path)
    assert (stopped.status_code, stopped.headers["Location"]) == (302, path)
    exported = read("csv", get(f"/export/history.csv?{SEVERAL}&run={RUN}").content)
    assert exported.state == "complete"  # the link of a stopped export starts it again


@pytest.mark.parametrize("run", ["short", "a" * 17, "abcdefghijklmn.$"])
def test_an_invalid_run_id_is_ignored(service, run):
    assert get(f"/export/history.csv?owner=0x{'1' * 40}&run={run}").status_code == 200
    assert exports.status_of(run) is None


@pytest.mark.parametrize("path", ["history", "address/{owner}"])
@pytest.mark.parametrize("part", [{}, {"HX-Request": "true", "HX-Request-Type": "partial"}], ids=["page", "fragment"])
def test_the_menu_shows_the_limit_before_the_start_and_gives_each_link_its_own_run(service, path, part):
    listed = path.format(owner=service.emulator.newest(8)["ownerAddress"])
    html = get(f"/{listed}?status=FAILED", headers=part).text
    assert "Up to 10,000 rows. The last line shows whether the export is complete." in html
    links = [link.replace("&amp;", "&") for link in re.findall(rf'href="(/export/{listed}\.[^"]+)"', html)]
    assert [urlsplit(link).path for link in links] == [f"/export/{listed}.{kind}" for kind in KINDS]
    queries = [parse_qs(urlsplit(link).query) for link in links]
    assert all(query["status"] == ["FAILED"] for query in queries)
    runs = {query["run"][0] for query in queries}
    assert len(runs) == 3
    assert all(exports.RUN.fullmatch(run) for run in runs)
    assert {run for run in runs if f'hx-get="/export/progress/{run}?looks=0&' in html} == runs
    assert runs.isdisjoint(re.findall("run=([A-Za-z0-9_-]+)", get(f"/{listed}?status=FAILED").text))


# The shared cache


@pytest.mark.programs
def test_with_redis_every_process_knows_the_progress_and_without_it_an_export_continues(service, redis, caplog):
    shared = settings.SHARED_CACHE | {"LOCATION": redis.url}
    with override_settings(CACHES={"default": shared}):
        url = f"/export/history.csv?{SEVERAL}&run={RUN}"
        assert read("csv", get(url).content).state == "complete"
        known = exports.status_of(RUN)
        assert known
        assert known.state is ExportState.COMPLETE
        service.before[len(service.pages) + 3] = redis.down
        assert read("csv", get(url).content).state == "complete"
        assert exports.status_of(RUN) is None
    assert "Redis unavailable" in caplog.text
