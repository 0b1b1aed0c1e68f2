"""Search keys of each kind of pasted identifier, all of which the service supports."""

import pytest

from intents_ui.display.search.form import KEYS_OF_KIND
from intents_ui.display.search.identifiers import Kind
from intents_ui.service.queries import lookup


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.NEAR_MISS, Kind.SHORTENED)])
def test_every_identifier_has_search_keys(kind: Kind) -> None:
    assert KEYS_OF_KIND[kind]
    assert set(KEYS_OF_KIND[kind]) <= lookup.ASK.keys()


def test_malformed_identifiers_are_not_searched() -> None:
    assert Kind.NEAR_MISS not in KEYS_OF_KIND
