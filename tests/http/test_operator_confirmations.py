"""Confirmations: of exactly the text that was shown, for one subject and as long as its form allows."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from intents_ui.http.operator_auth import read_confirmed, sign

LONG = "x" * 10_000


def test_a_confirmation_holds_for_its_intent_and_its_form_only() -> None:
    signed = sign("shown", "0x1", "one")
    assert read_confirmed(signed, "0x1", "one")
    for subject in (("0x1", "another"), ("0x2", "one"), ("0x1",)):
        assert read_confirmed(signed, *subject) is None


@pytest.mark.parametrize(("minutes", "holds"), [(59, True), (61, False)])
def test_a_confirmation_holds_for_an_hour(minutes: int, holds: bool) -> None:
    signed = sign("shown", "0x1", "one")
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=minutes)):
        assert bool(read_confirmed(signed, "0x1", "one", max_age=3600)) is holds


def test_the_end_of_a_long_text_is_confirmed_too() -> None:
    confirmed = read_confirmed(sign(LONG, "CommitIntent"), "CommitIntent")
    assert confirmed
    assert confirmed.is_of(LONG)
    assert not confirmed.is_of(f"{LONG[:-1]}y")
