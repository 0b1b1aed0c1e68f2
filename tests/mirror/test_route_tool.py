"""`route_health` has the figures of `/insight`, by the same rules of access."""

import json
from typing import Any

import pytest
from django.test import Client

from tests.fenced import json_of
from tests.pages.test_mcp import call, failure

pytestmark = pytest.mark.usefixtures("figures")
PAIR = {"origin": "base", "destination": "42161"}


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
