"""A page has one URL, to which other spellings redirect. An invalid one is explained next to its field."""

import re

import pytest
from selectolax.lexbor import LexborHTMLParser

from intents_ui.formatting import hashes
from tests.pages.cases import KNOWN
from tests.pages.reading import PARTIAL, visible_text
from tests.tables import rows

NOTHING = KNOWN["NOTHING"]
VALUES = {
    "nothing": NOTHING, "NOTHING": NOTHING[2:].upper(), "nothing_61": NOTHING[:-3], "nothing_63": NOTHING[:-1],
    "usdc": KNOWN["USDC"], "USDC": KNOWN["USDC"][2:].upper(), "native": KNOWN["NATIVE"], "alias": KNOWN["ALIAS"],
    "signature": KNOWN["SIGNATURE"], "unused": KNOWN["OWNER"], "address_39": "0x" + "ab" * 19 + "a",
    "now": KNOWN["NOW"], "101": "x" * 101, "201": "i" * 201,
    "hidden": ",".join(f"0x{number:040x}" for number in range(51)),
}  # fmt: skip
SPELLINGS, INVALID = rows(__file__, "spellings"), rows(__file__, "invalid_urls")


@pytest.mark.parametrize(("status", "written", "canonical"), SPELLINGS, ids=[each[:40] for _, each, _ in SPELLINGS])
def test_another_spelling_redirects_without_a_request_about_transfers(
    site, emulator, operations, status, written, canonical
):
    intent = emulator.finished(2)
    intent_id, owner = intent["intentId"], intent["ownerAddress"].lower()
    known = {"id": intent_id, "ID": intent_id.upper(), "digits": intent_id[2:].upper(), "owner": owner}
    known |= VALUES | {"OWNER": owner[2:].upper(), "checksum": hashes.checksum(owner)}
    answer = site.get(written.format(**known))
    assert (answer.status_code, answer["Location"]) == (int(status), canonical.format(**known))
    assert {*operations} <= {"GetChains", "GetTokenList"}


@pytest.mark.parametrize(("status", "path", "field", "said"), INVALID, ids=[path for _, path, *_ in INVALID])
def test_an_invalid_url_is_explained_next_to_its_field_without_a_request(site, operations, status, path, field, said):
    path = re.sub(r"{(\w+)}", lambda name: VALUES[name[1]], path)
    for headers in ({}, PARTIAL) if field != "-" else ({},):
        answer = site.get(path, headers=headers)
        assert answer.status_code == int(status)
        assert said in visible_text(answer)
        assert "<script>" not in answer.content.decode().partition("<main")[2]
    if field != "-":
        marked = LexborHTMLParser(site.get(path).content).css('[aria-invalid="true"]')
        assert {each.attributes.get("name") for each in marked} == {field}
    assert {*operations} <= {"GetChains", "GetTokenList"}
