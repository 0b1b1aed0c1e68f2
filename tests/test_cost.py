"""Cost budget: each kind of page makes as many function calls, and needs as much memory, as `costs.json` says.

The figures depend on the code and on the version of Python, not on the machine. A saving fails as well, so that it is
recorded and can't be lost again.
"""

import json
import sys
from pathlib import Path
from typing import Final

import pytest

from bench.processes import output
from tests.serving import ROOT

RECORD: Final = Path(__file__).with_name("costs.json")
TOLERANCE: Final = 0.05
PYTHON: Final = (ROOT / ".python-version").read_text().strip()


@pytest.mark.skipif(
    f"{sys.version_info.major}.{sys.version_info.minor}" != PYTHON, reason=f"the figures are those of Python {PYTHON}"
)
def test_pages_cost_what_is_recorded(request: pytest.FixtureRequest) -> None:
    costs: dict[str, dict[str, int]] = json.loads(output("-m", "bench.costs", PYTHONHASHSEED="0"))
    if request.config.option.record:
        rows = (f"  {json.dumps(case)}: {json.dumps(figures)}" for case, figures in costs.items())
        RECORD.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    recorded: dict[str, dict[str, int]] = json.loads(RECORD.read_text())
    assert costs.keys() == recorded.keys()
    other = [
        f"{case}: {cost:,} {unit} ({cost / recorded[case][unit] - 1:+.1%})"
        for case, figures in costs.items()
        for unit, cost in figures.items()
        if abs(cost / recorded[case][unit] - 1) > TOLERANCE
    ]
    assert other == [], "If that is intended: pytest tests/test_cost.py --record"
