"""What may be meant by what somebody pasted, and that the service can be asked for each of it."""

import pytest

from intents_ui.display.pasted import Kind
from intents_ui.display.questions import KEYS
from intents_ui.service import lookup


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.NEAR_MISS, Kind.SHORTENED)])
def test_whatever_can_be_looked_up_has_keys_by_which_the_service_is_asked(kind: Kind) -> None:
    assert KEYS[kind]
    assert set(KEYS[kind]) <= lookup.ASK.keys()


def test_what_is_nearly_an_identifier_is_asked_for_by_no_key() -> None:
    assert Kind.NEAR_MISS not in KEYS
