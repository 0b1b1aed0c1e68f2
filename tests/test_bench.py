"""Each of the journeys that bench measures can be measured."""

import pytest

from bench.journeys import JOURNEYS, measured


@pytest.mark.programs
@pytest.mark.parametrize("name", JOURNEYS)
def test_each_journey_can_be_measured(name: str) -> None:
    figures = measured(name)
    assert figures["status"] in (200, 302)
    assert {"application.py", "service/client.py"} <= {*figures["files"]}
