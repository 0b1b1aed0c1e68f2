"""Names of chains that look like our words stay names, wherever a sentence has them."""

import html
import re

import pytest

from tests.pages.kinds import EVERY_SCENARIO
from tests.pages.reading import read

TIME = "07:15 UTC"
SYMBOL = f"owner {TIME}"
NAME = f"the owner, contact support by {TIME}"


@pytest.mark.parametrize("copy", ["newest", "finished"])
@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_a_chains_name_is_no_time_and_no_advice(site, emulator, scenario, copy):
    chains = emulator.catalogue.chains
    emulator.catalogue.chains = {number: {**chain, "name": NAME} for number, chain in chains.items()}
    for token in emulator.catalogue.tokens:
        emulator.catalogue.change_token(token.chain_id, token.address, symbol=SYMBOL)
    path = f"/intent/{getattr(emulator, copy)(scenario.slug)['intentId']}"
    page = read(site, path)
    assert NAME in html.unescape(page)
    assert SYMBOL in html.unescape(page)
    assert TIME not in re.findall(r"<time[^>]*>([^<]*)</time>", page)
    for text in (page, read(site, f"{path}/reply"), read(site, f"{path}/feed.atom")):
        ours = html.unescape(text).replace(NAME, "").replace(SYMBOL, "")
        assert [line for line in ours.splitlines() if re.search(rf"(?<!:){TIME}", line)] == []
