"""Invalid input of a page is explained next to its field, without a request about transfers, tokens or routes."""

import re

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui.search import input_errors
from tests.pages.reading import PARTIAL, visible_text

NOTHING, OWNER, NATIVE = "0x" + "12" * 32, "0x" + "1" * 40, "0x" + "0" * 40
NOW = 1_795_262_400  # 2026-11-21T12:00:00Z
HIDDEN = ",".join(f"0x{number:040x}" for number in range(51))
FORTY = "An address has 40 hex characters. This one has 2."
LIMIT = "Enter a limit from 1 to 1,000 tokens per chain"

# URL, the name of the field, and what is wrong.
FIELDS = [
    ("/history?status=foo&balances=1", "status", "Unknown status “FOO”. Valid values: QUOTED"),
    ("/history?owner=0x12", "owner", FORTY),
    ("/history?origin=Basel", "origin", "Unknown chain “Basel”."),
    ("/history?destination=Basel", "destination", "Unknown chain “Basel”."),
    ("/history?size=1000", "size", "Rows per page must be between 1 and 100."),
    ("/history?order=UP", "order", "Unknown order. Valid values: "),
    (f"/history?from={NOW}&to=5", "to_at", "End time must be after start time."),
    ("/history?from_at=2026-02-30", "from_at", "Use the format 2026-11-21 14:03."),
    ("/chains?provider=two+words", "provider", "A route provider is one word"),
    ("/chains?provider=%3Cscript%3E", "provider", "A route provider is one word"),
    ("/tokens?limit=0", "limit", LIMIT),
    ("/tokens?limit=ten", "limit", LIMIT),
    ("/tokens?without=0x12", "without", FORTY),
    (f"/tokens?without={HIDDEN}", "without", "Hide at most 50 tokens."),
    ("/tokens?q=" + "x" * 101, "q", "Enter at most 100 characters."),
    ("/routes?from=99999", "from", "Unknown chain “99999”."),
    ("/routes?to=nowhere&for=ETH", "to", "Unknown chain “nowhere”."),
    ("/routes?token=ETH", "from", "Select the chain of this token."),
    ("/routes?from=8453&token=0x12", "token_typed", FORTY),
    ("/routes?from=8453&token=NOPE", "token_typed", "No token on Base has the symbol NOPE."),
    ("/routes?to=8453&for=AERO", "for_typed", "AERO is listed but not featured on Base"),
    (f"/routes?to=8453&for={NATIVE}&owner=me", "owner", "use 0-9 and a-f only. This one has “m”"),
    (f"/routes?from=8453&token=ETH&owner={OWNER}", "owner", "Select a destination token to filter by owner"),
    ("/search?project=many", "project", "A project ID must be a whole number."),
    ("/search?project=18446744073709551616", "project", "A project ID must be at most 18446744073709551615."),
    ("/search?owner=0x12", "owner", FORTY),
    ("/search?owner=15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5", "owner", "of a known kind"),
    (
        f"/search?transaction={NOTHING[:-3]}",
        "transaction",
        "A transaction hash has 64 hex characters. This one has 61.",
    ),
    ("/search?transaction=0x12g", "transaction", "This one has “g”"),
    ("/search?text=ab", "text", "Text must have at least 3 characters. This one has 2."),
    (f"/search?intent={NOTHING[:-1]}", "intent", "An intent ID has 64 hex characters. This one has 63."),
    ("/search?intent=intent/1", "intent", "Intent IDs use letters, digits and _ - : . only"),
    ("/search?intent=" + "i" * 201, "intent", "up to 200 characters"),
]


@pytest.mark.parametrize(("path", "field", "said"), FIELDS, ids=[path[:40] for path, *_ in FIELDS])
def test_an_invalid_field_is_marked_and_explained(
    site: Client, operations: list[str], path: str, field: str, said: str
) -> None:
    for headers in ({}, PARTIAL):
        answer = site.get(path, headers=headers)
        assert answer.status_code == 400
        assert said in visible_text(answer)
        assert "<script>" not in answer.content.decode().partition("<main")[2]
    page = LexborHTMLParser(site.get(path).content)
    marked = {each.attributes.get("name") for each in page.css('[aria-invalid="true"]')}
    assert marked == {field}
    assert {*operations} <= {"GetChains", "GetTokenList"}


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/tokens?chain=999999", 400, "Unknown chain “999999”."),
        ("/chains?network=devnet", 400, "A list can be of mainnet, testnet or unknown chains."),
        ("/tokens?show=all", 400, "Unknown list “all”. Use one of featured, listed, external."),
        ("/tokens/rows?after=-1", 400, ""),
        ("/tokens?after=٣", 400, ""),
        ("/address/0x" + "ab" * 19 + "a", 404, "An address has 40 hex characters. This one has 39."),
        (f"/address/{NOTHING}", 404, "This isn't an address. It looks like this type: intent ID or transaction hash."),
        ("/address/somebody", 404, "Hashes and addresses use 0-9 and a-f only"),
        ("/address/vitalik.eth", 404, "ENS names aren't supported"),
        ("/address/0x1234…abcd", 404, input_errors.SHORTENED),
        ("/token/8453/0x12", 404, FORTY),
        ("/token/8453/usdc/routes", 404, "use 0-9 and a-f only"),
        (f"/token/999999/{OWNER}/intents", 404, "The service does not list Chain 999999."),
        ("/intent/0x12ab...34cd", 404, "This value is shortened. Copy the full value"),
        ("/tx/0x12ab…34cd", 400, "This value is shortened. Copy the full value"),
        ("/chain/99999999999999999999", 404, "Enter a chain ID between"),
        ("/chain/base", 404, ""),
        ("/chain/-1", 404, ""),
        (f"/tx/1e3/{NOTHING}", 404, ""),
        (f"/tx/{'9' * 20}/{NOTHING}", 400, "Unknown chain ID 99999999999999999999. Known chains: Ethereum (1), Base"),
    ],
)
def test_an_impossible_url_is_explained(site: Client, operations: list[str], path: str, status: int, said: str) -> None:
    answer = site.get(path)
    assert answer.status_code == status
    assert said in visible_text(answer)
    assert {*operations} <= {"GetChains", "GetTokenList"}


def test_an_invalid_filter_opens_its_group_and_keeps_the_others(site: Client) -> None:
    page = site.get("/history?status=foo&balances=1").content.decode()
    assert 'details name="filter" open' in page
    assert 'name="balances" value="1"' in page
    assert re.search(r'<fieldset class="checks" aria-describedby="about-status"', page)
