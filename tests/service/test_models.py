"""The models match the transcribed tables: every field, its name and its type."""

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intents_ui.service import models, operations
from intents_ui.service.fields import LONGEST_LIST, MissingField, Model
from tests import spec

OBJECTS = {name: table for name, table in spec.SPEC.items() if "." not in name}
# Strings by the schema, but numbers in every sample. Parsed as numbers.
READ_AS_NUMBERS = {
    ("GasFee", "totalFeeUsd"),
    ("DepositIntentEntry", "feeAmount"),
    ("TokenBalance", "balance"),
    ("TokenBalance", "balanceUsd"),
    ("TokenBalance", "priceUsd"),
}
READ_AS_MOMENTS = {"createdAt", "updatedAt", "expiresAt", "startedAt", "finishedAt", "txnMinedAt"}


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_has_exactly_the_fields_of_its_table(name):
    model: type[Model] = getattr(models, name)
    assert {field.alias for field in model.model_fields.values()} == {field for field, _ in OBJECTS[name]}


@pytest.mark.parametrize(
    ("operation", "model"),
    [
        ("SearchIntents", models.SearchAnswer),
        ("GetIntentHistory", models.HistoryAnswer),
        ("GetIntent", models.IntentAnswer),
        ("GetIntentReceipt", models.ReceiptAnswer),
        ("WaitIntentReceipt", models.WaitAnswer),
        ("CommitIntent", models.CommitAnswer),
        ("GetTokenList", models.TokensAnswer),
        ("GetChains", models.ChainsAnswer),
        ("GetExactInputRoutes", models.TokensAnswer),
        ("GetExactOutputRoutes", models.TokensAnswer),
    ],
)
def test_a_response_has_the_members_of_its_table(operation, model):
    table = spec.SPEC[f"{operation}.response"]
    assert {field.alias for field in model.model_fields.values()} == {field for field, _ in table}


@pytest.mark.parametrize(
    "intent_id",
    ["", "a/b", "a b", "\t", "a\n", "a\x7f", "\u202eb", "\u2003", ".", "..", "x" * 201, 5, ["0x1"]],
    ids=repr,
)
def test_an_entry_whose_id_fits_no_url_counts_as_unreadable(intent_id):
    found = models.HistoryAnswer.model_validate({"intents": [{"intentId": "0x1"}, {"intentId": intent_id}]})
    assert [entry.intent_id for entry in found.intents] == ["0x1"]
    assert found.unreadable_entries == 1


def test_an_unreadable_member_keeps_its_text_and_does_not_affect_its_siblings():
    intent = models.Intent.model_validate(
        {"intentId": "0x1", "salt": "12 apples", "quote": {"toAmount": True, "toAmountUsd": "1.5"}, "createdAt": "soon"}
    )
    assert intent.unreadable == {"salt": "12 apples", "created_at": "soon"}
    assert intent.quote is not None
    assert intent.quote.unreadable == {"to_amount": "true"}
    assert intent.quote.to_amount_usd == Decimal("1.5")


def test_an_unreadable_text_is_truncated():
    assert models.SortBy.model_validate({"column": [0] * 10_000}).unreadable["column"] == str([0] * 10_000)[:100]


def test_unreadable_entries_are_dropped_and_counted():
    calls = models.IntentCalls.model_validate({"calls": [{"to": "0xa"}, 5, None, {"to": "0xb"}]})
    assert ([call.to for call in calls.calls], calls.unreadable_entries) == (["0xa", "0xb"], 2)
    calls = models.IntentCalls.model_validate({"calls": [{"to": "0xa"}] * (LONGEST_LIST + 2)})
    assert (len(calls.calls), calls.unreadable_entries) == (LONGEST_LIST, 2)
    assert calls.unreadable == {"calls": "2 more entries"}


def test_positional_lists_keep_their_positions():
    quote = models.IntentProviderQuote.model_validate(
        {"routeProviders": ["A", None, 5, "C"], "routeProvidersFeeUsd": [1, "x", None, "1.5"]}
    )
    assert quote.route_providers == ("A", "", "", "C")
    assert quote.route_providers_fee_usd == (Decimal(1), None, None, Decimal("1.5"))


def test_a_service_key_cannot_imitate_our_own_annotations():
    intent = models.Intent.model_validate(
        {"intentId": "0x1", "unreadable": {"a": "b"}, "received": "forged", "_received": "forged"}
    )
    assert (dict(intent.unreadable), intent.raw) == ({}, "")


@pytest.mark.parametrize("order", [1, -1], ids=["origin first", "destination first"])
def test_an_intent_with_the_second_set_of_names_reads_like_one_with_the_first(order):
    intent = models.Intent.model_validate(
        {
            "intentId": "0x1",
            "originChainId": 1,
            "destinationChainId": 10,
            "destinationSalt": "7",
            "calls": [{"chainId": 1, "nonce": 1}, {"chainId": "10", "nonce": 2}][::order],
            "preconditions": [{"chainId": 1, "type": "a"}, {"chainId": 10, "type": "b"}][::order],
            "metaTxns": [{"chainId": 1, "id": "a"}, {"chainId": 10, "id": "b"}][::order],
        }
    )
    assert intent.salt == 7
    assert (intent.origin_calls, intent.destination_calls) == intent.calls[::order]
    assert (intent.origin_precondition, intent.destination_precondition) == intent.preconditions[::order]
    assert (intent.origin_meta_txn, intent.destination_meta_txn) == intent.meta_txns[::order]
    assert [each.type for each in (intent.origin_precondition, intent.destination_precondition)] == ["a", "b"]


LISTED = [
    pytest.param([], None, None, id="none"),
    pytest.param([{"id": "a"}], "a", None, id="one that names no chain"),
    pytest.param([{"id": "a"}, {"id": "b"}], "a", "b", id="two that name no chain"),
    pytest.param([{"id": "a"}, {"id": "a"}], "a", "a", id="two that are alike"),
    pytest.param([{"id": "a"}, {"id": "b"}, {"id": "c"}], "a", "b", id="three that name no chain"),
    pytest.param([{"id": "a"}, {"id": "b", "chainId": 1}], "b", "a", id="only the origin is named"),
    pytest.param([{"id": "a"}, {"id": "b", "chainId": 10}], None, "b", id="only the destination is named"),
    pytest.param(
        [{"id": "a"}, {"id": "b", "chainId": 10}, {"id": "c", "chainId": 1}], "c", "b", id="one more than the chains"
    ),
    pytest.param([{"id": "a", "chainId": 5}], None, None, id="of a third chain"),
]


@pytest.mark.parametrize(("listed", "origin", "destination"), LISTED)
def test_a_list_entry_belongs_to_the_chain_it_names_or_else_to_its_position(listed, origin, destination):
    intent = models.Intent.model_validate(
        {"intentId": "0x1", "originChainId": 1, "destinationChainId": 10, "metaTxns": listed}
    )
    found = [each and each.id for each in (intent.origin_meta_txn, intent.destination_meta_txn)]
    assert found == [origin, destination]


def test_the_first_set_of_names_outranks_the_second():
    intent = models.Intent.model_validate({"intentId": "0x1", "originCalls": {"nonce": 1}, "calls": [{"nonce": 2}]})
    assert intent.origin_calls == models.IntentCalls(nonce=1)


def test_both_formats_of_a_chain_mean_the_same():
    explorer = {"name": "Scan", "url": "https://scan"}
    native = {"name": "Ether", "symbol": "ETH", "decimals": 18}
    flat = {"tokenName": "Ether", "tokenSymbol": "ETH", "tokenDecimals": 18, "blockExplorerUrl": "https://scan"}
    for written, name in (({"nativeCurrency": native, "blockExplorer": explorer}, "Scan"), (flat, None)):
        chain = models.ChainInfo.model_validate({"id": 1, **written})
        assert (chain.native_name, chain.native_symbol, chain.native_decimals) == ("Ether", "ETH", 18)
        assert (chain.explorer_url, chain.explorer_name) == ("https://scan", name)


def _sample(name: str) -> dict[str, Any]:
    return {field: _sample_value(name, field, kind) for field, kind in OBJECTS[name]}


def _sample_value(name: str, field: str, kind: str) -> Any:
    if kind.endswith("[]"):
        return [_sample_value(name, field, kind[:-2])]
    if kind in OBJECTS:
        return _sample(kind)
    if field in READ_AS_MOMENTS:
        return "2026-11-21T03:01:28.58128Z"
    if kind == "number" or (name, field) in READ_AS_NUMBERS:
        return "7"
    return True if kind == "boolean" else "text"


@pytest.mark.parametrize(
    ("named", "other"),
    [
        pytest.param({"intentId": "0xC"}, "0xC", id="one that sorts after it"),
        pytest.param({"intentId": "0xA"}, "0xA", id="one that sorts before it"),
        pytest.param({"intentId": "0XB"}, "", id="the same in other letters"),
        pytest.param({}, "", id="none"),
        pytest.param({"summary": {"intentId": "0xC"}}, "0xC", id="another one in its summary"),
    ],
)
def test_a_receipt_of_another_intent_is_detected_and_not_used(named, other):
    receipt = {"intentId": "0xb"} | named
    others = {each for each in models.IntentReceipt.model_validate(receipt).intent_ids if each.lower() != "0xb"}
    assert others == ({other} if other else set())
    entry = models.IntentHistory.model_validate({"intentId": "0xb", "receipt": receipt})
    assert (entry.receipt is None, set(entry.unreadable)) == ((True, {"receipt"}) if other else (False, set()))


def test_a_hash_leads_to_its_transaction_however_it_is_written():
    hashes = {"deposit": "0xaa", "origin": "0xBb", "destination": None, "refund": "dd"}
    sent = {f"{step}_transaction": models.IntentTransaction(txn_hash=each) for step, each in hashes.items()}
    receipt = models.IntentReceipt(intent_id="0x1", **sent)
    known = {"0xAA": "deposit", "0xbb": "origin", "BB": "origin", "0xdd": "refund", "0xcc": None, "": None}
    assert {txn_hash: receipt.step_of(txn_hash) for txn_hash in known} == known


@pytest.mark.parametrize(
    ("model", "document", "field"),
    [
        pytest.param(models.Intent, {"status": "QUOTED"}, "intentId", id="a missing ID"),
        pytest.param(models.Intent, {"intentId": "a/b"}, "intentId", id="an invalid ID"),
        pytest.param(models.TokenInfo, {"chainId": 1, "address": None}, "address", id="a token without its address"),
        pytest.param(models.TokenPrice, {"token": "x"}, "token", id="a price of no token"),
        pytest.param(models.IntentAnswer, {"intent": {}}, "intent", id="an object that lacks its own ID"),
        pytest.param(models.HistoryAnswer, {"intents": {}}, "intents", id="no list where one is essential"),
        pytest.param(models.CommitAnswer, {}, "intentId", id="an empty response"),
    ],
)
def test_an_object_that_would_be_meaningless_is_not_built(model, document, field):
    with pytest.raises(MissingField, match=field) as raised:
        model.model_validate(document)
    assert raised.value.field == field


def test_an_essential_list_may_be_missing_and_may_have_invalid_entries():
    assert models.HistoryAnswer.model_validate({}).intents == ()
    found = models.HistoryAnswer.model_validate({"intents": [{"intentId": "0x1"}, {}]})
    assert (len(found.intents), found.unreadable_entries) == (1, 1)


def test_what_could_not_be_read_is_known_when_it_comes_again():
    rows = ({"intentId": "0xd", "createdAt": "yesterday"}, {"status": "FAILED"})
    for _ in range(2):
        answer = operations.get_intent_history().read(operations.Answer({"intents": [{**row} for row in rows]}, ""))
        assert [each.unreadable for each in answer.intents] == [{"created_at": "yesterday"}]
        assert answer.unreadable_entries == 1


NUMBER = st.integers(-(2**300), 2**300) | st.decimals(allow_nan=False, allow_infinity=False)
TEXT = st.text(max_size=20) | st.sampled_from(["", "\ud800", "a\x00b", "\u202egnp.exe"])
ANY_JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | NUMBER.map(str) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(OBJECTS)), st.data())
def test_any_json_in_a_field_is_exact_or_unreadable_and_affects_no_other_field(name, data):
    model: type[Model] = getattr(models, name)
    whole, field = _sample(name), data.draw(st.sampled_from(sorted(_sample(name))))
    value = data.draw(ANY_JSON)
    if model.model_fields[_key(model, field)].is_required() and not _is_valid(model, whole | {field: value}):
        return
    read = model.model_validate(whole | {field: value})
    expected = model.model_validate(whole)
    for key, info in model.model_fields.items():
        if info.alias != field and (name, field) != ("IntentHistory", "intentId"):  # its receipt is of another intent
            assert getattr(read, key) == getattr(expected, key)
        elif isinstance(found := getattr(read, key), int | Decimal) and not isinstance(found, bool):
            assert found == Decimal(str(value))
        elif found in (None, ()) and not isinstance(value, dict) and _is_given(value):
            assert key in read.unreadable


def _key(model: type[Model], alias: str) -> str:
    return next(key for key, info in model.model_fields.items() if info.alias == alias)


def _is_valid(model: type[Model], document: dict[str, Any]) -> bool:
    try:
        model.model_validate(document)
    except MissingField:
        return False
    return True


def _is_given(value: Any) -> bool:
    """Whether it isn't one of the values that mean that there is none."""
    return value not in (None, "", [], 0) and not (isinstance(value, str) and re.fullmatch(r"[-+.0eE]+", value))
