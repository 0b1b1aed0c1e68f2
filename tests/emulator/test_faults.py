"""Every fault that can be injected."""

import asyncio
import json
import re
from collections import Counter
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest

from intents_ui.emulator.faults import NAMES, PAGES, REFUSALS
from intents_ui.emulator.lookups import STATUSES
from tests.emulator.driving import NOW, call, receipt_at, request, send_request, wait
from tests.emulator.test_history import read
from tests.faults.swift import SwiftLoop


@pytest.fixture
def intent(emulator):
    return emulator.finished("cross-chain-fast")


def get(emulator, intent):
    return call(emulator, "GetIntent", {"intentId": intent["intentId"]})["intent"]


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("busy-60", 429, 1201),
        ("busy-date", 429, 1201),
        ("quota-used-up", 429, 1200),
        ("failing-500", 500, 2001),
        ("panic-500", 500, -6),
        ("node-down-503", 503, 9001),
        ("disabled", 400, 9000),
        ("unavailable", 400, 2002),
        ("timeout-408", 408, 1900),
        ("not-found", 400, 8000),
        ("outdated", 422, 8009),
        ("geoblocked", 451, 1006),
    ],
)
def test_rejections(emulator, intent, name, status, code):
    emulator.inject("GetIntent", name)
    answer = request(emulator, "GetIntent", {"intentId": intent["intentId"]})
    assert (answer.status, answer.code, answer.document["status"]) == (status, code, status)
    assert request(emulator, "GetChains").status == 200
    emulator.reset("GetIntent")
    assert get(emulator, intent) == intent


def test_retry_after_in_its_three_formats(emulator):
    found = []
    for name in ("busy-60", "busy", "busy-date"):
        emulator.inject("GetChains", name)
        found.append(request(emulator, "GetChains").headers.get("retry-after"))
        emulator.reset()
    assert found[:2] == ["60", None]
    assert parsedate_to_datetime(found[2]).timestamp() == pytest.approx(NOW + 60, abs=1)


def test_a_behavior_may_last_for_a_few_requests(emulator):
    emulator.inject("GetChains", "busy-1", times=2)
    assert [request(emulator, "GetChains").status for _ in range(3)] == [429, 429, 200]


def test_a_wildcard_behavior_applies_to_every_operation(emulator):
    emulator.inject("*", "failing-500")
    assert {request(emulator, operation).status for operation in emulator.operations} == {500}


def test_unknown_names_are_rejected(emulator):
    with pytest.raises(ValueError, match="no fault"):
        emulator.inject("GetIntent", "unheard-of")
    with pytest.raises(ValueError, match="no operation"):
        emulator.inject("RetryIntent", "busy")


@pytest.mark.parametrize(
    "operation", ["GetIntentHistory", "GetIntent", "WaitIntentReceipt", "GetChains", "SearchIntents"]
)
def test_no_behavior_breaks_an_operation_it_is_not_for(emulator, intent, operation):
    body = {"intentId": intent["intentId"], "byIntentId": intent["intentId"], "page": {"pageSize": 5}}
    for name in NAMES - {*REFUSALS, *PAGES, "cut-body", "slow-first-byte"}:
        emulator.inject(operation, name)
        answer = request(emulator, operation, body)
        assert (answer.status, type(answer.document)) == (200, dict), name
        emulator.reset()


def test_bodies_that_are_no_document(emulator):
    emulator.inject("GetChains", "html-502")
    answer = request(emulator, "GetChains")
    assert (answer.status, answer.headers["content-type"]) == (502, "text/html")
    emulator.reset()
    emulator.inject("GetChains", "broken-json")
    with pytest.raises(json.JSONDecodeError):
        _ = request(emulator, "GetChains").document
    emulator.reset()
    emulator.inject("GetChains", "cut-body")
    answer = request(emulator, "GetChains")
    assert len(answer.body) == int(answer.headers["content-length"]) // 2


def test_a_first_byte_may_be_slow(emulator):
    emulator.inject("GetChains", "slow-first-byte")
    with asyncio.Runner(loop_factory=SwiftLoop) as runner:
        assert runner.run(send_request(emulator, "GetChains")).status == 200
        assert runner.get_loop().time() == pytest.approx(35, abs=1)


def test_errors_wrapped_and_errors_with_status_200(emulator):
    emulator.inject("GetIntent", "wrapped-errors")
    answer = request(emulator, "GetIntent", {})
    assert answer.document["webrpcError"]["code"] == 2000
    assert answer.document["webrpcError"]["httpStatus"] == answer.status == 400
    emulator.reset()
    emulator.inject("GetIntent", "error-200")
    answer = request(emulator, "GetIntent", {})
    assert (answer.status, answer.code) == (200, 2000)


def test_waits_that_return_at_once(emulator):
    intent = emulator.play("expired-quote")
    body = {"intentId": intent["intentId"], "lastReceiptStates": ["MINING"]}
    emulator.inject("WaitIntentReceipt", "wait-same-cursor")
    assert call(emulator, "WaitIntentReceipt", body)["receiptStates"] == ["MINING"]
    emulator.reset()
    emulator.inject("WaitIntentReceipt", "wait-at-once")
    assert not wait(emulator, intent, [])[1]


@pytest.mark.parametrize(
    ("operation", "name", "usual", "changed"),
    [
        ("GetIntent", "numbers", r'"salt":"\d+"', r'"salt":\d+,'),
        ("GetIntent", "mixed-case", r"0x833589fcd6edb6e08f4c7c3", r"0x833589fCD6eDb6E08f4c7C3"),
        ("GetIntent", "extra-fields", r'"provider":', r'"futureField":'),
        ("GetIntent", "fraction-0", r'"expiresAt":"[^"]*\.\d+Z"', r'"expiresAt":"[^".]*Z"'),
        ("GetIntent", "fraction-9", r'"expiresAt":"', r'"expiresAt":"[^"]*\.\d{9}Z"'),
        ("GetIntent", "offset-times", r'"expiresAt":"[^"]*Z"', r'"expiresAt":"[^"]*\+00:00"'),
        ("GetIntent", "second-names", r'"originCalls":', r"^((?!originCalls).)*$"),
        ("GetIntent", "both-names", r'"originMetaTxn":', r'"metaTxns":\['),
        ("GetChains", "chains-flat", r'"nativeCurrency":', r"^((?!nativeCurrency).)*$"),
        ("GetChains", "chains-nested", r'"tokenSymbol":', r"^((?!tokenSymbol).)*$"),
        ("GetIntent", "no-ids", r'"projectId":', r"^((?!projectId).)*$"),
        ("GetIntentHistory", "prices-zero", r'"priceUsd":"[1-9]', r'"priceUsd":"0"'),
        ("GetIntentHistory", "prices-missing", r'"priceUsd":', r"^((?!priceUsd).)*$"),
        ("GetIntentHistory", "balances-bare", r'"symbol":"\w+","?', r'"chainId":0'),
        ("GetExactInputRoutes", "routes-stub", r'"symbol":', r'^\{"tokens":\[\]\}$'),
    ],
)
def test_a_variant_of_responses(emulator, intent, operation, name, usual, changed):
    body = {
        "intentId": intent["intentId"], "onlyRecoverable": True, "includeBalances": True, "originChainId": 1,
        "originTokenAddress": "0x" + "0" * 40,
    }  # fmt: skip
    before = request(emulator, operation, body).body.decode()
    emulator.inject(operation, name)
    after = request(emulator, operation, body).body.decode()
    assert re.search(usual, before)
    assert not re.search(changed, before)
    assert re.search(changed, after)


def rows(emulator, **asked):
    return call(emulator, "GetIntentHistory", asked)


@pytest.mark.parametrize(
    ("name", "page"),
    [
        (None, {"intents": [], "nextPage": None}),
        ("intents-null", {"intents": None, "nextPage": None}),
        ("last-page-absent", {"intents": []}),
        ("last-page-more-false", {"intents": [], "nextPage": {"more": False}}),
    ],
)
def test_ends_of_lists(emulator, name, page):
    if name:
        emulator.inject("GetIntentHistory", name)
    assert rows(emulator, byOwnerAddress="0x" + "1" * 40) == page


def test_pages_that_repeat(emulator):
    emulator.inject("GetIntentHistory", "next-page-repeats", "duplicate-rows")
    first = rows(emulator, page={"pageSize": 5})
    second = rows(emulator, page=first["nextPage"])
    third = rows(emulator, page=second["nextPage"])
    assert len(first["intents"]) == 7
    assert third["nextPage"] == second["nextPage"]
    assert third["intents"] == second["intents"]


def test_searches_of_older_versions(emulator):
    owners = Counter(row["receipt"]["ownerAddress"] for row in rows(emulator, page={"pageSize": 100})["intents"])
    owner = owners.most_common(1)[0][0]
    everything = call(emulator, "SearchIntents", {"byOwnerAddress": owner})["intents"]
    emulator.inject("SearchIntents", "unsorted")
    unsorted = call(emulator, "SearchIntents", {"byOwnerAddress": owner})["intents"]
    emulator.reset()
    emulator.inject("SearchIntents", "search-capped", "deposit-hash-ignored")
    capped = call(emulator, "SearchIntents", {"byOwnerAddress": owner})["intents"]
    assert unsorted != everything
    assert sorted(each["id"] for each in unsorted) == sorted(each["id"] for each in everything)
    assert len(capped) == 10 < len(everything)
    assert "QUOTED" not in {each["status"] for each in capped}
    assert call(emulator, "SearchIntents", {"byDepositTransactionHash": "0x" + "1" * 64})["intents"] == []


def test_clocks_that_are_wrong(emulator, clock):
    intent = emulator.newest("cross-chain-fast")
    receipt_at(emulator, clock, intent, 1)
    dates = []
    for name in ("clock-ahead", "clock-behind"):
        emulator.inject("GetIntentHistory", name)
        answer = request(emulator, "GetIntentHistory")
        dates.append(parsedate_to_datetime(answer.headers["date"]).timestamp() - clock.now)
        emulator.reset()
    assert dates == pytest.approx([90, -90], abs=1)
    emulator.inject("GetIntent", "clock-ahead")
    assert get(emulator, intent)["status"] == "SUCCEEDED"


def ids(rows):
    return [row["intentId"] for row in rows]


def test_intents_may_enter_filtered_lists_minutes_after_their_creation(emulator, clock):
    since, until = int(NOW) - 60, int(NOW)
    statuses = ["COMMITTED", "EXECUTING", "FAILED", "SUCCEEDED", "ABORTED", "REFUNDED", "INVALID"]
    clock.now = NOW + 60
    prompt = ids(read(emulator, since, until, byStatuses=statuses))
    emulator.inject("*", "late-visibility")
    entered = {}
    for minute in range(1, 25):
        clock.now = NOW + 60 * minute
        assert set(ids(read(emulator, since, until))) >= set(prompt)  # at first as quotes
        for row in read(emulator, since, until, byStatuses=statuses):
            entered.setdefault(row["intentId"], minute)
    assert entered.keys() >= set(prompt)
    assert min(entered.values()) < 6
    assert max(entered.values()) > 12


def test_a_late_intent_has_the_times_of_its_late_course(emulator, clock):
    emulator.inject("*", "late-visibility")
    clock.now = NOW + 7200
    receipts = [row["receipt"] for row in read(emulator, int(NOW), int(NOW) + 300, byStatus="SUCCEEDED")]
    told = [receipt for receipt in receipts if receipt["summary"]["finishedAt"]]
    assert len(told) > 20
    for receipt in told:
        created, started = (datetime.fromisoformat(receipt["summary"][name]) for name in ("createdAt", "startedAt"))
        finished = datetime.fromisoformat(receipt["summary"]["finishedAt"])
        assert started - created > timedelta(minutes=1)
        assert started < finished <= datetime.fromisoformat(receipt["updatedAt"])


def test_the_last_status_of_an_intent_may_come_hours_later(emulator, clock):
    since = int(NOW) - 7200
    window = since, since + 1800
    before = {row["intentId"]: row["status"] for row in read(emulator, *window)}
    emulator.inject("*", "late-change")
    late = {row["intentId"]: row["status"] for row in read(emulator, *window)}
    differing = {intent_id for intent_id in before if late[intent_id] != before[intent_id]}
    assert len(before) / 8 < len(differing) < len(before) / 2
    assert {"EXECUTING", "FAILED"} <= {late[intent_id] for intent_id in differing}
    clock.now = NOW + 26 * 3600
    rows = {row["intentId"]: row for row in read(emulator, *window)}
    assert {intent_id for intent_id in differing if rows[intent_id]["status"] == before[intent_id]} == differing
    assert all(datetime.fromisoformat(rows[each]["updatedAt"]).timestamp() > since + 3600 for each in differing)


def test_lists_without_ids_page_on(emulator):
    window = int(NOW) - 3600, int(NOW) - 3400
    whole = ids(read(emulator, *window))
    emulator.inject("*", "no-ids")
    rows = read(emulator, *window, size=7)
    assert ids(rows) == whole
    assert not [row for row in rows if {"id", "projectId"} & row["receipt"].keys()]


@pytest.mark.parametrize("order", ["ASC", "DESC"])
def test_ties_at_the_edge_of_a_page_are_skipped_by_creation_time_and_not_by_id(emulator, order):
    window = int(NOW) // 60 * 60 - 3600, int(NOW) // 60 * 60 - 3300
    whole = ids(read(emulator, *window))
    emulator.inject("*", "created-ties")
    by_id = read(emulator, *window, size=5, order=order)
    by_time = read(emulator, *window, size=5, column="createdAt", order=order)
    times = [row["createdAt"] for row in by_id]
    assert set(ids(by_id)) >= set(whole)
    assert len(set(times)) < len(times) / 3
    assert times == sorted(times, reverse=order == "DESC")
    assert set(ids(by_time)) < set(ids(by_id))


def test_filters_hide_intents_with_unknown_statuses(emulator):
    window = int(NOW) - 3600, int(NOW) - 3000
    emulator.inject("*", "unknown-statuses")
    everything = {row["intentId"]: row["status"] for row in read(emulator, *window)}
    filtered = ids(read(emulator, *window, byStatuses=list(STATUSES)))
    unknown = {intent_id: status for intent_id, status in everything.items() if status not in STATUSES}
    assert len(everything) / 20 < len(unknown) < len(everything) / 4
    assert set(filtered) == everything.keys() - unknown.keys()
