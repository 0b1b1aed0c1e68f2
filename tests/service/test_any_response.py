"""Property tests: any response is parsed exactly and quickly as far as it is readable, or raises a service error."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.service.fields import Model
from tests import spec
from tests.policies import policies
from tests.service import test_operations
from tests.service.clients import answered, without_socket
from tests.service.test_models import ANY_JSON, every_text_in

CALLS = {call.operation: call for call in (*test_operations.CALLS, operations.get_token_prices([(1, "0x1")]))}


@st.composite
def responses(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return an operation, and a response of bytes, of any JSON, or of its members with any JSON."""
    operation = draw(st.sampled_from(sorted(CALLS)))
    members = {name: ANY_JSON for name, _ in spec.SPEC.get(f"{operation}.response", ())}
    documents = (ANY_JSON | st.fixed_dictionaries(members)).map(lambda found: json.dumps(found, default=str).encode())
    return operation, draw(documents | st.binary(max_size=60))


@settings(suppress_health_check=list(HealthCheck))
@given(responses())
def test_any_response_is_read_or_raises_a_service_error(response):
    operation, content = response
    with without_socket(lambda _: answered(content)) as service:
        try:
            found, error = service.ask(CALLS[operation]), None
        except ServiceError as raised:
            found, error = str(raised), raised
    assert isinstance(found, Model | str)
    assert error is None or error.operation == operation
    every_text_in(found).encode()  # raises if half a character has got past the door


def test_the_same_bytes_are_the_same_object() -> None:
    entry = '{"intentId":"0x1","status":"QUOTED","memo":"' + "7" * 200 + '","ownerAddress":"0x%s"}'
    responses = iter('{"intents":[' + entry % last + "]}" for last in "112")
    with without_socket(lambda _: answered(next(responses)), policies=policies(fresh=0, renewed=0)) as service:
        found = [service.ask(operations.search_intents(by_query_string="x")) for _ in range(3)]
    assert [each.intents[0].owner_address for each in found] == ["0x1", "0x1", "0x2"]
    assert found[0] is found[1]
