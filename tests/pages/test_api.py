"""The API answers what the pages say, and is as it describes itself."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from intents_ui.api.models import ApiLookup, ApiTransfer, ApiTransfers, Problem
from intents_ui.display.sharing import customer_reply
from intents_ui.display.summary import summary
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import Scenario
from intents_ui.emulator.scenarios import SCENARIOS
from intents_ui.web.transfers import situations

ROOT = "http://testserver"


def get(site: Client, path: str, status: int = 200) -> Any:
    answer = site.get(path)
    assert answer.status_code == status, answer.content
    kind = "application/json" if status == 200 else "application/problem+json"
    assert answer.headers["Content-Type"] == kind
    return json.loads(answer.content)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.slug)
def test_a_transfer_is_answered_as_on_every_other_surface(site: Client, emulator: Emulator, scenario: Scenario) -> None:
    played = emulator.play(scenario.number, variant=scenario.worst.variant, age=scenario.worst.at)
    intent_id = played["intentId"]
    found = get(site, f"/api/v1/transfers/{intent_id}")
    ApiTransfer.model_validate(found)
    told = customer_reply.as_json(summary.of(situations.read(intent_id)))
    assert {**found["summary"], "balancesCheckedAt": None} == {**told, "balancesCheckedAt": None}
    assert found["url"] == f"{ROOT}/intent/{intent_id}"
    [match] = get(site, f"/api/v1/lookup?q={intent_id}")["matches"]
    assert match["reasons"] == ["intent ID"]
    assert match["transfer"]["intentId"] == intent_id
    assert match["transfer"]["summary"]["status"] == found["summary"]["status"]


def test_amounts_are_exact_and_have_no_float(site: Client, emulator: Emulator) -> None:
    for scenario in ("dust-and-giants", "same-chain-swap"):
        intent_id = emulator.play(scenario, age=400)["intentId"]
        body = site.get(f"/api/v1/transfers/{intent_id}").content
        json.loads(body, parse_float=pytest.fail)
        sent = json.loads(body)["sent"]
        assert sent["baseUnits"].isdigit()
        assert sent["amount"] is None or not set(sent["amount"]) - set("0123456789.")


def test_the_history_is_walked_by_its_links_without_a_gap(site: Client) -> None:
    path, seen = "/api/v1/transfers?size=30", []
    for _ in range(4):
        page = get(site, path)
        ApiTransfers.model_validate(page)
        seen += [each["intentId"] for each in page["transfers"]]
        path = page["next"].removeprefix(ROOT)
    assert len(seen) == len(set(seen)) == 120
    before = get(site, path)["previous"].removeprefix(ROOT)
    assert [each["intentId"] for each in get(site, before)["transfers"]] == seen[90:]


def test_filters_are_those_of_the_page(site: Client) -> None:
    found = get(site, "/api/v1/transfers?status=FAILED&size=10")["transfers"]
    page = site.get("/history?status=FAILED&size=10").content.decode()
    assert [each["intentId"] for each in found] == re.findall(r'class="row-link" href="/intent/([^"]+)"', page)
    problem = get(site, "/api/v1/transfers?status=no&size=0", 400)
    Problem.model_validate(problem)
    assert {each["field"] for each in problem["fields"]} == {"status", "size"}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/transfers/0x12", 404),
        ("/api/v1/transfers/%20", 404),
        (f"/api/v1/transfers/0x{'12' * 32}", 404),
        ("/api/v1/transfers?cursor=forged", 400),
        ("/api/v1/lookup", 400),
        ("/api/v1/lookup?q=xx", 400),
        ("/api/v1/", 404),
        ("/api/v1/none", 404),
    ],
)
def test_a_request_without_an_answer_has_a_problem(site: Client, path: str, status: int) -> None:
    problem = Problem.model_validate(get(site, path, status))
    assert problem.status == status
    assert problem.detail
    assert problem.what_to_do


def test_a_failure_of_the_service_is_no_empty_list(site: Client, emulator: Emulator) -> None:
    for operation in ("GetIntentHistory", "SearchIntents", "GetIntent"):
        emulator.inject(operation, "failing-500")
    for path in ("/api/v1/transfers", f"/api/v1/lookup?q=0x{'12' * 20}", f"/api/v1/transfers/0x{'12' * 32}"):
        problem = Problem.model_validate(get(site, path, 503))
        assert problem.retry_after
        assert problem.request_id


def test_a_text_without_a_transfer_has_no_match(site: Client) -> None:
    found = ApiLookup.model_validate(get(site, f"/api/v1/lookup?q=0x{'12' * 20}"))
    assert (found.matches, found.is_complete, found.may_be_more) == ((), True, False)
    assert [each.kind for each in found.identifiers] == ["address"]


def test_an_answer_that_has_not_changed_is_not_sent_again(site: Client, emulator: Emulator, still: None) -> None:
    path = f"/api/v1/transfers/{emulator.finished(8)['intentId']}"
    site.get(path)  # reads the balances
    tag = site.get(path).headers["ETag"]
    assert site.get(path, headers={"If-None-Match": tag}).status_code == 304
    assert site.head(path).status_code == 200


def test_the_description_has_every_operation_with_its_answers(site: Client) -> None:
    described = get(site, "/api/openapi.json")
    assert described["openapi"] == "3.1.0"
    for path, operations in described["paths"].items():
        assert path.startswith("/api/v1/")
        for operation in operations.values():
            assert operation["description"]
            assert {"200", "400", "404", "429", "503"} <= {*map(str, operation["responses"])}
    assert all(each["description"] for each in described["components"]["schemas"].values())
