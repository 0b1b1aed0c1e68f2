"""Deadlines."""

from datetime import UTC, datetime, timedelta

import pytest

from intents_ui.display.transfers import timing
from intents_ui.service.wire.models import Intent

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "expires_in", "committed_ago", "left"),
    [
        pytest.param("QUOTED", 300, None, 300, id="the quote expires first"),
        pytest.param("QUOTED", 900, None, 600, id="ten minutes end first"),
        pytest.param("COMMITTED", 900, 60, 540, id="committed a minute ago"),
        pytest.param("COMMITTED", None, 60, 540, id="without an expiry"),
    ],
)
def test_the_deadline_is_the_earlier_of_both(
    status: str, expires_in: int | None, committed_ago: int | None, left: int
) -> None:
    intent = Intent(
        intent_id="0x1",
        status=status,
        expires_at=None if expires_in is None else NOW + timedelta(seconds=expires_in),
        updated_at=None if committed_ago is None else NOW - timedelta(seconds=committed_ago),
    )
    assert timing.execute_until(intent, now=NOW) == NOW + timedelta(seconds=left)
