"""The API answers what the pages say, and is as it describes itself."""

import html
import json
import re
from typing import Any

import pytest
from django.test import Client

from intents_ui.api.models import (
    ApiAddress,
    ApiChains,
    ApiLookup,
    ApiReply,
    ApiRoutes,
    ApiTokens,
    ApiTransfers,
    ApiTriage,
    Problem,
)
from intents_ui.catalog import routes as results
from intents_ui.emulator.app import Emulator
from intents_ui.web.search import NO_MIRROR

ROOT = "http://testserver"


def get(site: Client, path: str, status: int = 200) -> Any:
    answer = site.get(path)
    assert answer.status_code == status, answer.content
    kind = "application/json" if status == 200 else "application/problem+json"
    assert answer.headers["Content-Type"] == kind
    return json.loads(answer.content)


OF_A_TRANSFER = "intentId url asOf outcome summary sent received refunded owner recipient providers createdAt"
OF_A_TRANSFER += " startedAt finishedAt expiresAt comparison steps"
OF_A_SUMMARY = "status headline sentence location locationAmount address nextStep who deadline certainty attention"
OF_A_SUMMARY += " cause warnSecondDeposit balances balancesCheckedAt onChain incident"


def test_no_field_has_another_name_than_before(site: Client, emulator: Emulator) -> None:
    found = get(site, f"/api/v1/transfers/{emulator.finished(8)['intentId']}")
    assert found.keys() >= {*OF_A_TRANSFER.split()}
    assert found["summary"].keys() >= {*OF_A_SUMMARY.split()}
    assert found["sent"].keys() >= {"baseUnits", "amount", "token", "note", "usd"}
    assert get(site, "/api/v1/transfers?size=1").keys() >= {"transfers", "next", "previous", "unreadable"}
    lookup = get(site, f"/api/v1/lookup?q={found['intentId']}")
    assert lookup.keys() >= {"identifiers", "matches", "isComplete", "mayBeMore"}


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


def test_the_cursor_of_another_list_leads_to_the_first_page(site: Client) -> None:
    _, cursor = get(site, "/api/v1/transfers?size=30")["next"].split("cursor=")
    assert get(site, f"/api/v1/transfers?size=30&cursor={cursor}")["transfers"]
    answer = site.get(f"/api/v1/transfers?size=30&status=FAILED&cursor={cursor}")
    assert (answer.status_code, answer["Location"]) == (302, "/api/v1/transfers?size=30&status=FAILED")


def test_filters_are_those_of_the_page(site: Client) -> None:
    assert get(site, "/api/v1/transfers?from=no", 400)["fields"][0]["field"] == "from"
    found = get(site, "/api/v1/transfers?status=FAILED&size=10")["transfers"]
    page = site.get("/history?status=FAILED&size=10").content.decode()
    assert [each["intentId"] for each in found] == re.findall(r'class="row-link" href="/intent/([^"]+)"', page)
    day = "from_at=2026-11-21&to_at=2026-11-21&zone=America/New_York"
    assert "from=1795237200&to=1795323599" in get(site, f"/api/v1/transfers?{day}&size=1")["next"]
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
    assert "Page not found" not in problem.detail
    assert problem.what_to_do


def test_a_failure_of_the_service_is_no_empty_list(site: Client, emulator: Emulator) -> None:
    for operation in ("GetIntentHistory", "SearchIntents", "GetIntent", "GetExactInputRoutes"):
        emulator.inject(operation, "failing-500")
    for path in (
        "/api/v1/routes?from=8453&token=USDC",
        "/api/v1/transfers",
        f"/api/v1/lookup?q=0x{'12' * 20}",
        f"/api/v1/transfers/0x{'12' * 32}",
    ):
        problem = Problem.model_validate(get(site, path, 503))
        assert problem.retry_after
        assert problem.request_id


def test_a_text_without_a_transfer_has_no_match(site: Client) -> None:
    found = ApiLookup.model_validate(get(site, f"/api/v1/lookup?q=0x{'12' * 20}"))
    assert (found.matches, found.is_complete, found.may_be_more) == ((), True, False)
    assert [each.kind for each in found.identifiers] == ["address"]


def test_an_address_has_its_roles_and_its_transfers(site: Client, emulator: Emulator) -> None:
    played = emulator.play("stalled-in-bridge", age=40)
    found = ApiAddress.model_validate(get(site, f"/api/v1/addresses/{played['ownerAddress']}"))
    assert found.is_complete
    assert [each.role for each in found.roles] == ["Owner", "Deposit address", "Destination intent address"]
    assert found.roles[0].transfers
    assert played["intentId"] in [each.intent_id for each in found.open]
    listed = ApiTransfers.model_validate(get(site, found.transfers.removeprefix(ROOT)))
    assert played["intentId"] in [each.intent_id for each in listed.transfers]
    for unknown in (f"0x{'12' * 20}", "xx", f"0x{'12' * 32}"):
        assert get(site, f"/api/v1/addresses/{unknown}", 404)["detail"]


def test_an_address_with_a_failed_lookup_is_not_complete(site: Client, emulator: Emulator) -> None:
    played = emulator.play("stalled-in-bridge", age=40)
    emulator.inject("SearchIntents", "failing-500")
    found = ApiAddress.model_validate(get(site, f"/api/v1/addresses/{played['ownerAddress']}"))
    assert not found.is_complete
    assert played["intentId"] in [each.intent_id for each in found.open]
    assert get(site, f"/api/v1/addresses/0x{'12' * 20}", 503)["retryAfter"]


def post(site: Client, body: Any, status: int = 200, kind: str = "application/json") -> Any:
    answer = site.post("/api/v1/triage", body, content_type=kind)
    assert answer.status_code == status, answer.content
    return json.loads(answer.content)


def test_a_ticket_has_a_row_for_each_identifier(site: Client, emulator: Emulator) -> None:
    first, second = (emulator.finished(each)["intentId"] for each in (1, 8))
    text = f"Where is {first}? And {second}, {first[:8]}…{first[-6:]}, 0x{'12' * 32}"
    found = ApiTriage.model_validate(post(site, {"text": text}))
    assert [each.outcome for each in found.rows] == ["found", "found", "possible", "unknown"]
    assert [[each.intent_id for each in row.transfers] for row in found.rows[:2]] == [[first], [second]]
    assert found.rows[0].link == f"{ROOT}/intent/{first}"
    assert found.summary == "All 4 identifiers resolved: 2 found, 1 not found, 1 possible match."


def test_a_ticket_that_cannot_be_read_has_a_problem(site: Client) -> None:
    assert post(site, {"text": "Nothing here"}, 400)["fields"][0]["field"] == "text"
    assert post(site, {}, 400)["fields"][0]["field"] == "text"
    assert post(site, "{", 400)["fields"][0]["field"] == "body"
    assert post(site, '{"text": "0x12"}', 415, "text/plain")["whatToDo"]
    assert get(site, "/api/v1/triage", 405)["status"] == 405


def test_a_failed_lookup_of_a_ticket_is_a_row(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(1)["intentId"]
    for operation in ("SearchIntents", "GetIntent"):
        emulator.inject(operation, "failing-500")
    found = ApiTriage.model_validate(post(site, {"text": f"0x{'12' * 32} {intent_id}"}))
    assert {each.outcome for each in found.rows} == {"failed"}
    assert "resolved: " in found.summary


def test_a_reply_is_that_of_the_page(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(8)["intentId"]
    found = ApiReply.model_validate(get(site, f"/api/v1/reply/{intent_id}"))
    page = html.unescape(site.get(f"/intent/{intent_id}/reply").content.decode())
    assert found.plain.strip() in page


def test_chains_and_tokens_are_those_of_the_pages(site: Client) -> None:
    chains = ApiChains.model_validate(get(site, "/api/v1/chains")).chains
    page = site.get("/chains").content.decode()
    assert chains
    assert all(f'href="/chain/{each.chain_id}"' in page for each in chains)
    path, seen = "/api/v1/tokens?show=listed", []
    while path:
        found = ApiTokens.model_validate(get(site, path))
        seen += [(each.chain_id, each.address) for each in found.tokens]
        path = (found.next or "").removeprefix(ROOT)
    assert len(seen) == len(set(seen)) == found.total
    assert found.failed_chains == ()
    [coin] = ApiTokens.model_validate(get(site, "/api/v1/tokens?q=USDC&chain=8453&limit=1")).tokens
    assert (coin.symbol, coin.chain, coin.decimals) == ("USDC", "Base", 6)
    assert get(site, "/api/v1/tokens?chain=nowhere&after=1", 400)["fields"][0]["field"] == "chain"
    assert get(site, "/api/v1/tokens?after=-1", 400)["fields"][0]["field"] == "after"


def test_routes_are_those_of_the_page(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MAX_EACH", 1)
    found = ApiRoutes.model_validate(get(site, "/api/v1/routes?from=8453&token=USDC"))
    assert found.headline in html.unescape(site.get("/routes?from=8453&token=USDC", follow=True).content.decode())
    assert found.chains[0].tokens
    more = next(each for each in found.chains if each.all)
    [whole] = ApiRoutes.model_validate(get(site, (more.all or "").removeprefix(ROOT))).chains
    assert len(whole.tokens) == whole.count == more.count
    one = ApiRoutes.model_validate(get(site, "/api/v1/routes?from=8453&token=USDC&to=42161&for=USDC"))
    assert [each.verdict for each in one.checks] == ["listed", "listed"]
    for query, field in (("", "token"), ("?from=8453", "token"), ("?token=USDC", "from"), ("?from=x", "from")):
        assert get(site, f"/api/v1/routes{query}", 400)["fields"][0]["field"] == field


@pytest.mark.parametrize("path", ["insight", "insight/routes/RELAY/8453/42161", "incidents", "incidents/1"])
def test_without_a_mirror_there_are_no_figures(site: Client, path: str) -> None:
    problem = Problem.model_validate(get(site, f"/api/v1/{path}", 404))
    assert "local copy" in problem.detail


def test_an_answer_that_has_not_changed_is_not_sent_again(site: Client, emulator: Emulator, still: None) -> None:
    path = f"/api/v1/transfers/{emulator.finished(8)['intentId']}"
    site.get(path)  # reads the balances
    tag = site.get(path).headers["ETag"]
    assert site.get(path, headers={"If-None-Match": tag}).status_code == 304
    assert site.head(path).status_code == 200


def test_without_a_mirror_a_transfer_in_words_has_a_sentence_that_says_so(site: Client) -> None:
    told = "sent 2000 USDT Polygon to Katana this morning"
    found = site.get("/api/v1/lookup", {"q": told}).json()
    assert found["candidates"] == {"searched": NO_MIRROR, "count": 0, "shown": []}
    assert NO_MIRROR in site.post("/api/v1/triage", {"text": told}, content_type="application/json").content.decode()
