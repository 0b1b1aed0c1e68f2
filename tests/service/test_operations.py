"""Requests match the interface's request tables, and responses are read under any brand."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from intents_ui.service import decode, operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.decode import Brand
from intents_ui.service.models import Intent, Page, ServiceAddressOverrides
from tests import spec
from tests.service.clients import answered, without_socket
from tests.tables import rows

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
COMMITTED = Intent.from_text('{"intentId":"0x1"}')

CALLS = [
    operations.search_intents(
        by_intent_id="0x1",
        by_project_id=1,
        by_transaction_hash="0x2",
        by_deposit_transaction_hash="0x3",
        by_owner_address="0x4",
        by_origin_intent_address="0x5",
        by_destination_intent_address="0x6",
        by_query_string="x",
    ),
    operations.get_intent_history(
        page=Page.first(),
        by_project_id=1,
        by_owner_address="0x1",
        by_statuses=["FAILED"],
        by_status="FAILED",
        origin_chain_id=1,
        destination_chain_id=10,
        from_time=NOON,
        to_time=1_795_262_400,
        include_balances=True,
        only_recoverable=True,
    ),
    operations.get_intent("0x1"),
    operations.get_intent_receipt("0x1"),
    operations.wait_intent_receipt("0x1", last_receipt_states=["MINING"]),
    operations.commit_intent(COMMITTED),
    operations.get_token_list(
        [1, 10],
        search_query="usd",
        limit=5,
        token_address="0x1",
        include_all_listed=True,
        include_external=True,
        exclude_tokens=["0x2"],
    ),
    operations.get_chains(route_provider="CCTP"),
    operations.get_exact_input_routes((1, "0x1"), destination=(10, "0x2")),
    operations.get_exact_output_routes((1, "0x1"), origin=(10, "0x2"), owner_address="0x3"),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.operation)
def test_a_request_has_the_members_of_its_table(call):
    sent = json.loads(decode.write(call.request))
    table = f"{call.operation}.request"
    assert spec.problems(table, sent) == []
    assert spec.unknown_members(table, sent) == []
    left_out = {"byStatus"} if call.operation == "GetIntentHistory" else set()  # byStatuses outranks it
    assert sent.keys() == {field for field, _ in spec.SPEC[table]} - left_out


def test_an_intent_that_differs_from_the_one_received_cannot_be_committed():
    with pytest.raises(ValueError, match="exactly as the service gave it"):
        operations.commit_intent(Intent(intent_id="0x1"))


QUOTED = (
    '{ "intentId":"0x1","acmeVersion":"v1.50",\t"salt": 115792089237316195423570985008687907853269984665640564039457,'
    '"quote":{"maxSlippage":0.0050,"priceImpact":1e-07},"new":{"b":1,"a":2} ,'
    '"fees":{"provider":{"providerWithAcmeFeeUsd":1.10}},'
    '"quoteRequest":{"options":{"acmeAddressOverrides":{"acmeWalletFactoryAddress":"0xacme"}}},"memo":"\\u00e9é"}'
)


class Recorder:
    """A service with one response per operation, which keeps what it was sent."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers = answers
        self.sent: list[bytes] = []

    def client(self, **config: Any) -> ServiceClient:
        return without_socket(self._answer, **config)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request.content)
        return answered(self.answers[request.url.path.rpartition("/")[2]])


@pytest.mark.parametrize("brand", ["service", "acme"])
def test_a_quote_is_committed_byte_for_byte(brand):
    recorder = Recorder({"GetIntent": f'{{"intent": {QUOTED} }}', "CommitIntent": '{"intentId":"0x1"}'})
    with recorder.client(names=Brand(brand, "acme")) as service:
        quoted = service.ask(operations.get_intent("0x1"))
        assert service.ask(operations.commit_intent(quoted)) == "0x1"
    assert recorder.sent[-1] == f'{{"intent":{QUOTED}}}'.encode()


def test_a_renamed_response_is_read_under_the_interface_names():
    recorder = Recorder({"GetIntent": f'{{"intent": {QUOTED} }}'})
    with recorder.client(names=Brand("acme", "acme")) as service:
        intent = service.ask(operations.get_intent("0x1"))
    assert intent.service_version == "v1.50"
    assert intent.fees is not None
    assert intent.fees.provider is not None
    assert intent.fees.provider.provider_with_service_fee_usd == Decimal("1.10")
    assert intent.quote_request is not None
    assert intent.quote_request.options is not None
    assert intent.quote_request.options.service_address_overrides == ServiceAddressOverrides(
        smart_wallet_factory_address="0xacme"
    )


@pytest.mark.parametrize(("theirs", "ours"), rows(__file__, "brand_words"))
def test_a_brand_matches_whole_words_of_a_name_only(theirs, ours):
    brand = Brand("acme", "acme")
    assert brand.read({theirs: {theirs: "acmeVersion"}}) == {ours: {ours: "acmeVersion"}}
    assert brand.read([{theirs: [1]}]) == [{ours: [1]}]
    assert brand.write({ours: ours}) == {theirs: ours}


def test_the_next_page_cursor_is_sent_back_unchanged():
    text = '{"column":"id", "after":81.0,"pageSize":20,"unheard":{"of":[1.50]} ,"more":true}'
    recorder = Recorder({"GetIntentHistory": f'{{"intents":[{{"intentId":"0x1"}}],"nextPage": {text}}}'})
    with recorder.client() as service:
        following = service.ask(operations.get_intent_history(page=Page.first())).following
        service.ask(operations.get_intent_history(page=following))
        assert following is not None
        service.ask(operations.get_intent_history(page=Page.from_text(following.raw), by_status="FAILED"))
    assert recorder.sent[1:] == [f'{{"page":{text}}}'.encode(), f'{{"page":{text},"byStatus":"FAILED"}}'.encode()]


def test_a_search_with_thousands_of_hits_reads_the_newest_and_counts_the_rest():
    count, first = operations.MAX_HITS + 5, datetime(2020, 1, 1, tzinfo=UTC)
    hits = [{"intentId": f"0x{day}", "createdAt": (first + timedelta(day)).isoformat()} for day in range(count)]
    hits[-1]["createdAt"] = "not a moment"
    with Recorder({"SearchIntents": json.dumps({"intents": hits})}).client() as service:
        found = service.ask(operations.search_intents(by_owner_address="0x1"))
    assert [hit.intent_id for hit in found.intents[:2]] == [f"0x{count - 2}", f"0x{count - 3}"]
    assert (len(found.intents), found.beyond) == (operations.MAX_HITS, 5)
