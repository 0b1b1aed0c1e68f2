"""Numbers at the limits of the calendar, of call data and of lists are shown without failing."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest
from django.template.loader import render_to_string
from eth_abi import encode

from intents_ui.fields import calls as descriptions
from intents_ui.service.models import Call, DepositIntentEntry, DepositTransaction, IntentCalls
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import intent as intent_page
from tests.fields.test_abi import FUNCTIONS, HERE, leaves
from tests.fields.test_descriptions import Names, hexed, plan
from tests.transfers.builders import ARBITRUM, USDC, intent, receipt, transaction

END_OF_CALENDAR = 253_402_300_799  # 9999-12-31T23:59:59Z
READ = ("", descriptions.NOT_APART)  # the content may not be a list of calls
LENGTHS = (0, 1, 51)


def filled(parameter, number, length):
    """Return a value of this parameter's type with the number, or the nearest possible one, in every place."""
    if parameter.is_list:
        entry = replace(parameter, type=parameter.type.rpartition("[")[0])
        return [filled(entry, number, length)] * length
    if parameter.parts:
        return tuple(filled(part, number, length) for part in parameter.parts)
    match parameter.type:
        case "address":
            return HERE
        case "bool":
            return bool(number % 2)
        case "bytes" | "string":
            return bytes(length) if parameter.type == "bytes" else "x" * length
        case kind if kind.startswith("bytes"):
            return number.to_bytes(32)[-int(kind.removeprefix("bytes")) :]
        case kind if kind.startswith("uint"):
            return min(number, 2 ** int(kind.removeprefix("uint")) - 1)
        case kind:
            return min(number, 2 ** (int(kind.removeprefix("int")) - 1) - 1)


def call_of(function, number, *, length=1):
    types = [each.type for each in function.parameters]
    values = [filled(each, number, length) for each in function.parameters]
    return Call(to=USDC, data=hexed(function.selector + encode(types, values)))


def test_every_number_in_a_known_call_is_described_at_its_limits():
    for function, number in product(FUNCTIONS, (0, END_OF_CALENDAR, 2**256 - 1)):
        (step,) = plan(call_of(function, number))[0].steps
        assert step.problem in READ, (function.signature, number)
        assert str(step.said)
        assert len(step.arguments) == len(leaves(function.parameters))


def test_every_list_in_a_known_call_is_described_at_its_limits():
    listed = [each for each in FUNCTIONS if "[" in each.signature or "bytes" in each.signature]
    for function, length in product(listed, LENGTHS):
        (step,) = plan(call_of(function, 1, length=length))[0].steps
        assert step.problem in READ, (function.signature, length)


@pytest.mark.parametrize("number", [0, END_OF_CALENDAR, END_OF_CALENDAR + 1, 2**256 - 1])
def test_calls_and_deadlines_at_any_limit_are_shown(number):
    timed = [each for each in FUNCTIONS if any(name in descriptions.TABLE["times"] for name in leaves(each.parameters))]
    entry = DepositIntentEntry(deadline=number, permit_deadline=number, permit_amount=number, fee_amount=number)
    members = {
        "origin_calls": IntentCalls(chain_id=ARBITRUM, calls=tuple(call_of(each, number) for each in timed)),
        "deposit_transaction": DepositTransaction(chain_id=ARBITRUM, amount=number, value=number),
    }
    made = receipt(deposit_transaction=transaction("SUCCEEDED", deposit_intent_entry=entry))
    found = Transfer(intent(**members), made, now=datetime(2026, 11, 21, tzinfo=UTC), names=Names())
    html = render_to_string("transfers/raw_data.html", intent_page.all_fields(found) | {"block": "fields"})
    assert "9999-12-31T23:59:59Z" in html or number != END_OF_CALENDAR
    assert "never" in html or number <= END_OF_CALENDAR
