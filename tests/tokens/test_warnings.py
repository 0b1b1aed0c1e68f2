import json
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.emulator import Emulator
from intents_ui.formatting import text
from intents_ui.service.catalog import Catalog
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.service.models import ChainInfo, TokenInfo, TokenMetadata
from intents_ui.service.operations import ServiceConfig
from intents_ui.tokens import token_amounts
from intents_ui.tokens.names import NO_NAMES
from intents_ui.tokens.token_amounts import Money, TokenStanding, identity
from tests.transfers import builders
from tests.transfers.builders import BASE, ETHEREUM, USDC_ON_BASE, named

NATIVE, ALIAS = "0x" + "0" * 40, "0x" + "e" * 40
USDC_ON_ETHEREUM = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
BRIDGED = "0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca"
ANY = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
GNOSIS, NOWHERE = 100, 4242
CHAINS = {ETHEREUM: "Ethereum", BASE: "Base", GNOSIS: "Gnosis"}
LISTED = (
    TokenInfo(chain_id=ETHEREUM, address=NATIVE, symbol="ETH", name="Ether", featured=True),
    TokenInfo(chain_id=ETHEREUM, address=ALIAS, symbol="ETH", name="Ether", featured=True),
    TokenInfo(chain_id=ETHEREUM, address=USDC_ON_ETHEREUM, symbol="USDC", name="USD Coin", featured=True),
    TokenInfo(chain_id=BASE, address=USDC_ON_BASE, symbol="USDC", name="USD Coin", featured=True),
    TokenInfo(chain_id=BASE, address=BRIDGED, symbol="USDbC", name="USD Base Coin"),
    TokenInfo(chain_id=GNOSIS, address=BRIDGED, symbol="USDC", name="USD Coin (PoS)"),
)

BY_PLACE = {(token.chain_id, token.address): token for token in reversed(LISTED)}
FEATURED = tuple(token for token in LISTED if token.featured)
FEATURED_ON = {chain_id: tuple(token for token in FEATURED if token.chain_id == chain_id) for chain_id in CHAINS}


class Catalogue(builders.Catalogue):
    """Three chains with their lists. Gnosis features nothing."""

    featured_anywhere = FEATURED

    def chain(self, chain_id):
        return ChainInfo(id=chain_id, name=CHAINS[chain_id]) if chain_id in CHAINS else None

    def token(self, chain_id, address):
        return BY_PLACE.get((chain_id, token_amounts.key(address))) if address else None

    def lists(self, chain_id, address):
        return None if chain_id not in CHAINS or not address else self.token(chain_id, address) is not None

    def featured(self, chain_id):
        return self.featured_anywhere if chain_id is None else FEATURED_ON.get(chain_id, ())


CATALOGUE = Catalogue()


def marks(chain_id, address, symbol, name=None):
    stated = TokenMetadata(chain_id=chain_id, token_address=address, symbol=symbol, name=name)
    return identity(chain_id, address, using=CATALOGUE, metadata=stated).marks


LIKE_USDC, LIKE_ETH = "looks like USDC", "looks like ETH"
WARNED = named(
    ("not listed, and called like nothing else", BASE, ANY, "PEPE", "Pepe", [token_amounts.UNLISTED]),
    ("a featured one's symbol", BASE, ANY, "USDC", "USD Coin", [LIKE_USDC, token_amounts.UNLISTED]),
    ("a featured one's name", BASE, ANY, "XYZ", "USD Coin", [LIKE_USDC, token_amounts.UNLISTED]),
    ("a Cyrillic letter", BASE, ANY, "USD\u0421", None, [LIKE_USDC, token_amounts.UNLISTED]),
    ("hidden", ETHEREUM, ANY, "ETH\u202e", None, [LIKE_ETH, token_amounts.HIDDEN, token_amounts.UNLISTED]),
    # A listed token can still mislead.
    ("listed, with a featured one's symbol", BASE, BRIDGED, "USDC", None, [LIKE_USDC]),
    ("listed, with a Cyrillic letter", BASE, BRIDGED, "USD\u0421", None, [LIKE_USDC]),
    # Without the list, only the text can be checked.
    ("hidden, on a chain without a list", NOWHERE, ANY, "ETH\u202e", None, [token_amounts.HIDDEN]),
    ("featured", BASE, USDC_ON_BASE, "USDC", "USD Coin", []),
    ("native", ETHEREUM, NATIVE, "ETH", "Ether", []),
    ("listed", BASE, BRIDGED, "USDbC", "USD Base Coin", []),
    ("a bridged token has the symbol of the original", GNOSIS, BRIDGED, "USDC", "USD Coin (PoS)", []),
    ("on a chain without a list", NOWHERE, ANY, "USDC", "USD Coin", []),
    ("nothing", None, None, None, None, []),
)


@pytest.mark.parametrize(("chain_id", "address", "symbol", "name", "words"), WARNED)
def test_only_a_suspicious_token_has_warnings(chain_id, address, symbol, name, words):
    assert [mark.word for mark in marks(chain_id, address, symbol, name)] == words


REASONS = named(
    (
        "a featured one here",
        (BASE, ANY, "USDC"),
        "Its symbol looks like USDC, which the service features on Base at 0x833589…A02913. This is a different token.",
    ),
    (
        "hidden",
        (NOWHERE, ANY, "ETH\u202e", "\u200bE"),
        "It is written with characters that cannot be seen: right-to-left override (U+202E) and zero width space "
        "(U+200B).",
    ),
    ("not listed", (BASE, ANY, "PEPE"), "Not on the service's token list. Check the contract address."),
)


@pytest.mark.parametrize(("token", "reason"), REASONS)
def test_each_warning_has_its_reason(token, reason):
    assert reason in [mark.reason for mark in marks(*token)]


@given(
    symbol=st.text(st.characters(), max_size=40),
    name=st.none() | st.text(st.characters(), max_size=80) | st.from_regex(r"\AUSDC?.?\Z"),
    place=st.sampled_from([(BASE, ANY), (BASE, BRIDGED), (BASE, USDC_ON_BASE), (ETHEREUM, NATIVE), (None, "?\u202e")]),
)
def test_warnings_about_any_token_name_are_safe_to_read(symbol, name, place):
    found = marks(*place, symbol, name)
    for each in (*(mark.word + mark.reason for mark in found), token_amounts.with_address(found, place[1])):
        assert not any(map(text.is_hidden, each))
        each.encode()


def test_a_tokens_standing_follows_its_chains_list():
    places = {
        (BASE, USDC_ON_BASE): TokenStanding.FEATURED,
        (BASE, BRIDGED): TokenStanding.LISTED,
        (BASE, NATIVE): TokenStanding.NATIVE,
        (ETHEREUM, ALIAS): TokenStanding.FEATURED,
        (BASE, ANY): TokenStanding.UNLISTED,
        (NOWHERE, ANY): TokenStanding.UNKNOWN,
    }
    assert {place: identity(*place, using=CATALOGUE).standing for place in places} == places


def test_an_amount_includes_its_tokens_warning():
    metadata = TokenMetadata(chain_id=BASE, token_address=ANY, symbol="USDC", decimals=18)
    amount = Money(10**21, BASE, ANY, metadata, names=CATALOGUE).amount
    assert str(amount) == f"1,000.00 USDC ({LIKE_USDC}, {token_amounts.UNLISTED}: 0xeF5753…cC8e7F)"
    assert amount.figure == "1,000.00 USDC"
    disguised = TokenMetadata(chain_id=BASE, token_address=ANY, symbol="\u200bE", decimals=18)
    nameless = Money(10**21, BASE, ANY, disguised, names=NO_NAMES).amount
    assert str(nameless).endswith(f" ({token_amounts.HIDDEN}: 0xeF5753…cC8e7F)")


# The emulator's catalog

DATA = json.loads((Path(token_amounts.__file__).parents[1] / "emulator" / "data" / "tokens.json").read_text())
# Listed or not, these tokens are made to mislead.
TRAPS = {
    "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f": [LIKE_USDC, token_amounts.UNLISTED],
    "0x3e1d3212c384265b81128db445f1c973e5dd07e9": [LIKE_USDC],
    "0x450735375752d16f66c4bd24562a24ca76ab6a2e": [LIKE_ETH, token_amounts.HIDDEN],
}


@pytest.fixture(scope="module")
def service():
    embedded = InProcessTransport(Emulator(size=10, tokens=5000))
    with closing(ServiceClient(ServiceConfig("http://embedded"), transport=embedded)) as client:
        yield client


@pytest.fixture(scope="module")
def catalog(service):
    return Catalog(service)


@pytest.mark.parametrize("address", TRAPS)
def test_each_trap_is_caught(catalog, address):
    row = next(row for row in DATA if row["address"].lower() == address)
    assert catalog.tokens(row["chainId"])  # waits for the list, longer than a page would
    metadata = TokenMetadata(
        chain_id=row["chainId"], token_address=row["address"], symbol=row["symbol"], name=row["name"]
    )
    found = identity(row["chainId"], row["address"], using=catalog, metadata=metadata)
    assert [mark.word for mark in found.marks] == TRAPS[address]
    assert found.coin.picture == ""


# Letters are written as code points, so that this file can't mislead its readers.
READ_ALIKE = named(
    ("small letters", "usdc", "USDC"),
    ("Cyrillic Es", "USD\u0421", "USDC"),
    ("full width", "\uff35\uff33\uff24\uff23", "USDC"),
    ("an accent", "U\u0301SDC", "USDC"),
    ("a zero-width space", "USD\u200bC", "USDC"),
    ("a right-to-left override", "\u202eUSDC", "USDC"),
    ("a small l for a capital i", "LlNK", "LINK"),
    ("r and n", "rnUSD", "mUSD"),
)


@pytest.mark.parametrize(("one", "other"), READ_ALIKE)
def test_names_that_look_the_same_read_the_same(one, other):
    assert token_amounts.readings(one) & token_amounts.readings(other)
    for different in ("USDT", "USDC.e", "\u200b", ""):
        assert not token_amounts.readings(different) & token_amounts.readings(other)


@given(st.text(st.characters(), max_size=60))
def test_any_text_has_readings_without_hidden_characters(name):
    readings = token_amounts.readings(name)
    assert not any(text.is_hidden(each) or each.isspace() for reading in readings for each in reading)
    assert readings & token_amounts.readings(f" {name}\u200b") or not readings
