"""Property tests: any response is parsed exactly and quickly as far as it is readable, or raises a service error."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.service.fields import Model
from tests import spec
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
