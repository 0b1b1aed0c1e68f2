"""Figures and incidents of the API and of `route_health` are those of the pages, for the same clients."""

import json
from typing import Any

import pytest
from django.test import Client

from intents_ui.api.insight import ApiIncidentReport, ApiIncidents, ApiOverview, ApiRouteReport
from intents_ui.api.models import Problem
from tests.fenced import json_of
from tests.pages.test_mcp import call, failure

ROUTE = "/api/v1/insight/routes/RELAY/8453/42161"
PAIR = {"origin": "base", "destination": "42161"}

pytestmark = pytest.mark.usefixtures("figures")


def get(site: Client, path: str, status: int = 200) -> Any:
    answer = site.get(path)
    assert answer.status_code == status, answer.content
    assert "no-store" in answer["Cache-Control"]
    return json.loads(answer.content)


def test_figures_are_those_of_the_page(site: Client) -> None:
    found = get(site, "/api/v1/insight?by=provider&window=7d")
    ApiOverview.model_validate(found)
    assert found == get(site, "/insight.json?by=provider&window=7d")
    report = ApiRouteReport.model_validate(get(site, ROUTE))
    assert report.total
    [row] = [each for each in get(site, "/insight.json")["rows"] if each["title"] == report.total.title]
    assert report.total.ended == row["ended"]
    assert [each.number for each in report.incidents] == [1]


def test_incidents_are_those_of_the_pages(site: Client) -> None:
    found = ApiIncidents.model_validate(get(site, "/api/v1/incidents"))
    assert [each.number for each in found.open] == [1]
    incident = get(site, "/api/v1/incidents/1")
    ApiIncidentReport.model_validate(incident)
    assert incident == get(site, "/insight/incident/1.json")
    for unknown, status in (("2", 404), ("9" * 30, 404), ("-1", 404), ("x", 404)):
        Problem.model_validate(get(site, f"/api/v1/incidents/{unknown}", status))


def health(site: Client, **arguments: str) -> Any:
    return json_of(call(site, "route_health", **PAIR | arguments))


def test_each_route_between_the_chains_has_the_figures_of_the_page(site: Client) -> None:
    page = json.loads(site.get("/insight.json").content)
    there = [each for each in page["rows"] if (each["originChainId"], each["destinationChainId"]) == ("8453", "42161")]
    found = health(site)
    assert found["routes"]
    shared = ("title", "ended", "outcomes", "successRate", "medianSeconds", "p95Seconds", "isComplete")
    assert sorted([[each[name] for name in shared] for each in found["routes"]], key=str) == sorted(
        [[each[name] for name in shared] for each in there], key=str
    )
    assert found["period"] == "24 hours"
    assert found["updatedAt"]
    assert found["notes"] == []
    assert {each["number"] for each in found["incidents"]} == {each["number"] for each in page["incidents"]}


def test_a_provider_narrows_the_routes(site: Client) -> None:
    for provider in ("RELAY", "relay", "Relay"):
        assert [each["providers"] for each in health(site, provider=provider)["routes"]] == [["RELAY"]]
    found = health(site, provider="ACME")
    assert (found["routes"], found["incidents"]) == ([], [])
    assert found["notes"] == ["No transfer with a deposit ended in 24 hours or is open on this route."]


def test_an_unknown_chain_is_told(site: Client) -> None:
    told = failure(site, "route_health", origin="Base", destination="Moonbase")
    assert told == "Unknown destination chain. Give its ID, for example 8453, or its name."
