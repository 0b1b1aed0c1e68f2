"""The one line about an owner's transfers."""

import pytest

from intents_ui.lists.address import OWNER, Role, standing
from tests.display.builders import named


@pytest.mark.parametrize(
    ("role", "in_flight", "more", "recoverable", "said"),
    named(
        ("one open", Role(OWNER, 12), 1, False, 0, "12 transfers, 1 open"),
        ("money waits", Role(OWNER, 1), 0, False, 2, "1 transfer, 2 recoverable"),
        ("not all known", Role(OWNER, 10, True), 20, True, 0, "at least 10 transfers, at least 20 open"),
        ("was not asked", None, 0, False, 0, ""),
    ),
)
def test_an_address_is_summarized_in_one_line(
    role: Role | None, in_flight: int, more: bool, recoverable: int, said: str
) -> None:
    found = standing(role, in_flight=in_flight, more_in_flight=more, recoverable=recoverable)
    assert found == said
