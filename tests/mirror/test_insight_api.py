"""Figures of the API are those of the pages, for the same clients."""

import json
from typing import Any

import pytest
from django.test import Client

from intents_ui.api.figure_models import ApiIncidentReport, ApiIncidents, ApiOverview, ApiRouteReport
from intents_ui.api.models import Problem

ROUTE = "/api/v1/insight/routes/RELAY/8453/42161"

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
