"""Pages of transfers with numbers at the limits of Python's types."""

import pytest

from tests.emulator.driving import quote
from tests.pages.reading import visible_text

HOSTILE = [
    pytest.param("0xac9650d8" + f"{32:064x}{2**200:064x}", "Arguments don't match the function", id="an endless list"),
    pytest.param("0xac9650d8" + "ff" * 40_000, "Arguments don't match the function signature", id="long and broken"),
    pytest.param("0xdeadbeef" + "00" * 90_000, "too long to decode", id="too long"),
    pytest.param("0xde", "too short for a function selector", id="too short"),
]


@pytest.mark.parametrize(("data", "words"), HOSTILE)
def test_hostile_call_data_renders_a_normal_page(site, emulator, data, words):
    quoted = quote(emulator, destinationToAddress="0x" + "cd" * 20, destinationCallData=data)
    assert words in visible_text(site.get(f"/intent/{quoted['intentId']}/proof"))
