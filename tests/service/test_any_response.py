"""Property tests: any response is parsed exactly and quickly as far as it is readable, or raises a service error."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.service.fields import Model
from intents_ui.service.models import Intent
from tests import spec
from tests.policies import policies
from tests.service.clients import answered, without_socket

CALLS = {
    "SearchIntents": lambda service: service.ask(operations.search_intents(by_query_string="x")),
    "GetIntentHistory": lambda service: service.ask(operations.get_intent_history()),
    "GetIntent": lambda service: service.ask(operations.get_intent("0x1")),
    "GetIntentReceipt": lambda service: service.ask(operations.get_intent_receipt("0x1")),
    "WaitIntentReceipt": lambda service: service.ask(operations.wait_intent_receipt("0x1")),
    "CommitIntent": lambda service: service.ask(operations.commit_intent(Intent.from_text('{"intentId":"0x1"}'))),
    "GetTokenList": lambda service: service.ask(operations.get_token_list([1])),
    "GetChains": lambda service: service.ask(operations.get_chains()),
    "GetExactInputRoutes": lambda service: service.ask(operations.get_exact_input_routes((1, "0x1"))),
    "GetExactOutputRoutes": lambda service: service.ask(operations.get_exact_output_routes((1, "0x1"))),
    "GetTokenPrices": lambda service: service.ask(operations.get_token_prices([(1, "0x1")])),
}

NOTHING = st.sampled_from([None, ""])
NUMBERS = st.one_of(
    st.integers(0, 2**256 - 1),
    st.integers(0, 2**256 - 1).map(str),
    st.sampled_from([-1, 2**256, 1e18, 1.5, "1e77", "1e1000000", "9" * 5000, True, "0x1", "½", 2**53 + 1]),
)
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["\ud800", "a\x00b", "\u202egnp.exe", "FROZEN", "<script>", "0" * 64, "2026-11-21T03:01:28.123456789Z"]
    ),
    st.sampled_from(["0001-01-01T00:00:00Z", "1763694088", "gestern", "\u200b" * 9]),
)
ODD = st.one_of(NOTHING, st.booleans(), NUMBERS, TEXTS, st.just([]), st.just({}), st.just([None, {}]))


def documents(kind: str, *, odd: bool) -> st.SearchStrategy[Any]:
    """Answers by the tables, with members missing, null and empty; with `odd`, with anything anywhere."""
    kind = kind.removesuffix("!")
    usual: st.SearchStrategy[Any]
    if kind.endswith("[]"):
        usual = st.lists(documents(kind[:-2], odd=odd), max_size=2)
    elif kind in spec.SPEC:
        usual = st.deferred(lambda: _members(kind, odd=odd))
    elif kind == "boolean":
        usual = st.booleans()
    else:
        usual = NUMBERS if kind == "number" else TEXTS
    return usual | ODD if odd else usual


def _members(kind: str, *, odd: bool) -> st.SearchStrategy[dict[str, Any]]:
    members = {name: documents(member, odd=odd) | NOTHING for name, member in spec.SPEC[kind]}
    names = st.lists(st.sampled_from(sorted(members)), max_size=6, unique=True)
    return names.flatmap(lambda some: st.fixed_dictionaries({name: members[name] for name in some}))


@st.composite
def answers(draw: st.DrawFn, *, odd: bool) -> tuple[str, Any]:
    operation = draw(
        st.sampled_from(sorted(name.removesuffix(".response") for name in spec.SPEC if name.endswith("response")))
    )
    table = spec.SPEC[f"{operation}.response"]
    return operation, {name: draw(documents(kind, odd=odd)) for name, kind in table}


def ask(operation: str, content: bytes) -> Any:
    with without_socket(lambda _: answered(content)) as service:
        return CALLS[operation](service)


def answer_or_error(operation: str, content: bytes) -> Any:
    try:
        return ask(operation, content)
    except ServiceError as error:
        return error


def _every_text_in(found: Any) -> str:
    if isinstance(found, tuple):
        return "".join(map(_every_text_in, found))
    if isinstance(found, Model):
        return _every_text_in((*(value for _, value in found), *found.unreadable.values()))
    return found if isinstance(found, str) else ""


def named(document: Any) -> Any:
    """The document with the ids that name its objects, so that none is unreadable for the lack of one."""
    if isinstance(document, list):
        return [named(entry) for entry in document]
    if isinstance(document, dict):
        ids = {"intentId": "0x1", "chainId": 1, "address": "0x1", "id": 1}
        return {name: named(member) for name, member in document.items()} | ids
    return document


QUIET = settings(suppress_health_check=list(HealthCheck))


@QUIET
@given(answers(odd=False))
def test_a_well_formed_response_is_read_whatever_is_missing(answer):
    operation, document = answer
    found = ask(operation, json.dumps(named(document)).encode())
    assert isinstance(found, Model | str)
    assert getattr(found, "unreadable_entries", 0) == 0


@QUIET
@given(answers(odd=True))
def test_any_json_is_parsed_or_raises_a_service_error(answer):
    operation, document = answer
    for content in (document, named(document)):
        found = answer_or_error(operation, json.dumps(content).encode())
        result = str(found) if isinstance(found, ServiceError) else _every_text_in(found)
        result.encode()  # raises if half a character has got past the door


@QUIET
@given(st.sampled_from(sorted(CALLS)), st.binary(max_size=60))
def test_any_bytes_are_parsed_or_raise_a_service_error(operation, content):
    found = answer_or_error(operation, content)
    assert isinstance(found, Model | str) or found.operation == operation


def test_the_same_bytes_are_the_same_object() -> None:
    entry = '{"intentId":"0x1","status":"QUOTED","memo":"' + "7" * 200 + '","ownerAddress":"0x%s"}'
    responses = iter('{"intents":[' + entry % last + "]}" for last in "112")
    with without_socket(lambda _: answered(next(responses)), policies=policies(fresh=0, renewed=0)) as service:
        found = [service.ask(operations.search_intents(by_query_string="x")) for _ in range(3)]
    assert [each.intents[0].owner_address for each in found] == ["0x1", "0x1", "0x2"]
    assert found[0] is found[1]
