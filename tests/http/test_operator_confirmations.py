"""Confirmations: of exactly the text that was shown, for one form and one hour."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from intents_ui.http import operator_auth

LONG = "x" * 10_000


def test_a_confirmation_holds_for_its_intent_and_its_form_only() -> None:
    signed = operator_auth.sign_commit("shown", intent_id="0x1", form="one")
    assert operator_auth.read_commit(signed, intent_id="0x1", form="one")
    assert operator_auth.read_commit(signed, intent_id="0x1", form="another") is None
    assert operator_auth.read_commit(signed, intent_id="0x2", form="one") is None


@pytest.mark.parametrize(("minutes", "holds"), [(59, True), (61, False)])
def test_a_confirmation_holds_for_an_hour(minutes: int, holds: bool) -> None:
    signed = operator_auth.sign_commit("shown", intent_id="0x1", form="one")
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=minutes)):
        assert bool(operator_auth.read_commit(signed, intent_id="0x1", form="one")) is holds


def test_the_end_of_a_long_text_is_confirmed_too() -> None:
    signed = operator_auth.sign_request("CommitIntent", LONG)
    assert operator_auth.verify_request(signed, operation="CommitIntent", text=LONG)
    assert not operator_auth.verify_request(signed, operation="CommitIntent", text=f"{LONG[:-1]}y")
