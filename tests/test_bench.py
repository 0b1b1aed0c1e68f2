"""Each benchmark starts, and each of the journeys that one measures can be measured."""

from importlib import import_module

import pytest

from bench.journeys import JOURNEYS, measured


@pytest.mark.programs
@pytest.mark.parametrize("name", JOURNEYS)
def test_each_journey_can_be_measured(name: str) -> None:
    figures = measured(name)
    assert figures["status"] in (200, 302)
    assert {"application.py", "service/client.py"} <= {*figures["files"]}


@pytest.mark.parametrize("name", ["fair", "incidents", "live", "mirror", "pages", "peer", "soak", "stub_service"])
def test_each_benchmark_finds_what_it_imports(name: str) -> None:
    import_module(f"bench.{name}")
