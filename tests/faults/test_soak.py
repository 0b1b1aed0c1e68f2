"""Two minutes of `python -m bench.soak`: fifty visitors and a failing service leak nothing."""

import asyncio

import pytest

from bench.soak import soak

MINUTES = 2.0


@pytest.mark.slow
def test_two_minutes_of_every_failure_leak_nothing(tmp_path, capsys):
    found = asyncio.run(soak(MINUTES, keep_log=tmp_path))
    with capsys.disabled():
        found.print()
    assert found.verdict() == []
    assert sum(found.tally.statuses.values()) > 500
    assert len(found.injected) > 8, "the weather was too fine to prove anything"
