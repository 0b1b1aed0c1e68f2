"""Texts about a transfer for other sites: its status in words, cut to their limits."""

import pytest

from intents_ui.display.lists.address import OWNER, Role
from intents_ui.display.sharing import preview


@pytest.mark.parametrize(
    ("role", "in_flight", "more", "recoverable", "said"),
    [
        pytest.param(Role(OWNER, 12), 1, False, 0, "12 transfers, 1 open", id="one open"),
        pytest.param(Role(OWNER, 1), 0, False, 2, "1 transfer, 2 recoverable", id="money waits"),
        pytest.param(Role(OWNER, 10, True), 20, True, 0, "at least 10 transfers, at least 20 open", id="not all known"),
        pytest.param(Role(OWNER, 0), 0, False, 0, "", id="no owner"),
        pytest.param(Role(OWNER, None), 3, False, 0, "", id="could not be asked"),
        pytest.param(None, 0, False, 0, "", id="was not asked"),
    ],
)
def test_an_address_is_summarized_in_one_line(
    role: Role | None, in_flight: int, more: bool, recoverable: int, said: str
) -> None:
    found = preview.of_address(role, in_flight=in_flight, more_in_flight=more, recoverable=recoverable)
    assert found == said


@pytest.mark.parametrize(
    ("words", "longest", "shown"),
    [
        ("all of it", 9, "all of it"),
        ("between two words", 14, "between two…"),
        ("x" * 20, 10, "x" * 9 + "…"),
        ("a comma, then more", 10, "a comma…"),
    ],
)
def test_long_words_are_truncated_with_an_ellipsis(words: str, longest: int, shown: str) -> None:
    assert preview.cut(words, longest) == shown


def test_a_repeated_state_is_said_once() -> None:
    assert preview.state("Expired", "Quote expired") == "Quote expired"
    assert preview.state("Failed", "Refund failed") == "Refund failed"
    assert preview.state("Succeeded", "1.00 USDC arrived on Base") == "Succeeded · 1.00 USDC arrived on Base"
