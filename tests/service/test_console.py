"""Request models match docs/contract.md, and form fields become the right request."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from intents_ui.service.console import OPERATIONS, typed, written
from intents_ui.service.decode import BRAND_OF_INTERFACE, Brand
from tests.spec import INTENT_STATUSES, SPEC, TRANSACTION_STATUSES
from tests.tables import toml

KINDS = {
    "string": ("string",),
    "number": ("integer", "number"),
    "boolean": ("boolean",),
    "IntentStatus": ("string",),
    "string[]": ("string[]",),
    "number[]": ("integer[]",),
    "IntentStatus[]": ("string[]",),
    "TransactionStatus[]": ("string[]",),
    "Intent": ("object",),
    "SortBy[]": ("object[]",),
}
TABLES = {name: f"{name}.request" for name in OPERATIONS} | {"QuoteIntent": "QuoteIntentRequest"}
SPECIFIED = [name for name, table in TABLES.items() if table in SPEC]


def rows(table: str, inside: str = "") -> Iterator[tuple[str, str]]:
    for name, kind in SPEC[table]:
        if kind in SPEC and kind != "Intent":
            yield from rows(kind, f"{inside}{name}.")
        else:
            yield inside + name, kind


def request(operation: str, values: dict[str, str], names: Brand = BRAND_OF_INTERFACE) -> str:
    return written(OPERATIONS[operation].members, values, names=names)


def test_three_operations_write_and_say_so() -> None:
    writes = {name: each.consequence for name, each in OPERATIONS.items() if each.is_write}
    assert writes.keys() == {"CommitIntent", "QuoteIntent", "ExecuteIntent"}
    assert all(writes.values())


@pytest.mark.parametrize("operation", SPECIFIED)
def test_a_request_has_the_specified_members_in_order(operation: str) -> None:
    found = OPERATIONS[operation].members
    expected = list(rows(TABLES[operation]))
    assert [each.name for each in found] == [name for name, _ in expected]
    for member, (_, kind) in zip(found, expected, strict=True):
        assert member.kind in KINDS[kind.removesuffix("!")], member
        assert member.is_required or not kind.endswith("!"), member


def test_known_words_match_the_specification() -> None:
    history = {each.name: each.words for each in OPERATIONS["GetIntentHistory"].members}
    assert sorted(history["byStatus"]) == sorted(history["byStatuses"]) == sorted(INTENT_STATUSES)
    wait = {each.name: each.words for each in OPERATIONS["WaitIntentReceipt"].members}
    assert sorted(wait["lastReceiptStates"]) == sorted(TRANSACTION_STATUSES)
    quote = {each.name: each.words for each in OPERATIONS["QuoteIntent"].members}
    assert quote["tradeType"] == ("EXACT_INPUT", "EXACT_OUTPUT")


FORM_VALUES = toml(__file__, "form_values")


@pytest.mark.parametrize("case", FORM_VALUES.values(), ids=FORM_VALUES)
def test_form_values_become_the_request(case: dict[str, Any]) -> None:
    assert request(case["operation"], case["values"]) == case["sent"]


def test_forms_use_the_configured_brand_names() -> None:
    acme = Brand("acme", "nova")
    member = "options.serviceAddressOverrides.smartWalletUtilsAddress"
    sent = request("QuoteIntent", {member: "0x1"}, acme)
    assert json.loads(sent) == {"options": {"acmeAddressOverrides": {"novaWalletUtilsAddress": "0x1"}}}
    found = OPERATIONS["QuoteIntent"].members
    assert typed(found, sent, names=acme) == {member: "0x1"}
    labels = [each.under(acme) for each in found]
    assert "options.acmeAddressOverrides.novaWalletUtilsAddress" in labels


@pytest.mark.parametrize(
    ("operation", "values"),
    [
        pytest.param("GetTokenList", {"chainIds": "1, 8453", "limit": "10", "includeExternal": "false"}, id="scalars"),
        pytest.param("GetIntentHistory", {"page.sort": '[{"column": "id"}]', "byStatuses": "A, B"}, id="lists"),
        pytest.param("CommitIntent", {"intent": '{"n": 1.10, "s":"\\u00e9"}'}, id="an intent"),
        pytest.param("QuoteIntent", {"originTokenAmount": "5", "options.slippageTolerance": "0.0050"}, id="numbers"),
    ],
)
def test_a_request_fills_the_form_it_was_written_by(operation: str, values: dict[str, str]) -> None:
    found = OPERATIONS[operation].members
    assert typed(found, request(operation, values), names=BRAND_OF_INTERFACE) == values


@pytest.mark.parametrize("text", ["", "null", "[]", "{", '{"page":1}', '{"page":[{}]}'])
def test_a_foreign_or_malformed_request_fills_no_form(text: str) -> None:
    found = OPERATIONS["GetIntentHistory"].members
    assert typed(found, text, names=BRAND_OF_INTERFACE) == {}
