import typing
from datetime import datetime
from decimal import Decimal

import pytest

from intents_ui.fields import values
from intents_ui.fields.values import ValueKind
from intents_ui.service.fields import Model
from intents_ui.service.models import (
    Call,
    DepositIntentEntry,
    DepositTransaction,
    GasFee,
    Intent,
    IntentCalls,
    IntentFees,
    IntentProviderQuote,
    IntentReceipt,
    QuoteIntentRequest,
    QuoteOptions,
)
from tests.transfers.builders import (
    ARBITRUM,
    NOW,
    OWNER,
    TXN_HASH,
    USDC,
    at,
    intent,
    receipt,
    refund,
    summary,
    transaction,
)

SAMPLES = {bool: True, int: 7, Decimal: Decimal("1.5"), datetime: NOW, str: "text"}


def filled(model: type[Model]) -> Model:
    """Return an object with a value in every field, including nested objects."""
    return model(**{name: sample(info.annotation) for name, info in model.model_fields.items()})


def sample(annotation: object) -> object:
    if typing.get_origin(annotation) is tuple:
        return (sample(typing.get_args(annotation)[0]),)
    if isinstance(annotation, type):
        return filled(annotation) if issubclass(annotation, Model) else SAMPLES[annotation]
    known = [part for part in typing.get_args(annotation) if part is not type(None)]
    return sample(known[0])


def wire_names(model: Model, path: str = "") -> set[str]:
    found = set()
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        parts = value if isinstance(value, tuple) else (value,)
        if isinstance(parts[0], Model):
            for part in parts:
                found |= wire_names(part, f"{path}{name}.")
        else:
            found.add(f"{path}{info.alias}")
    return found


@pytest.mark.parametrize("model", [Intent, IntentReceipt])
def test_every_field_has_a_labeled_row(model):
    whole = filled(model)
    read = values.groups(at(*((whole, None) if model is Intent else (None, whole))))
    shown = set()
    for group in read:
        path = ".".join(part for part in group.path.split(".")[1:] if not part.isdigit())
        shown |= {f"{path}.{row.name}".lstrip(".") for row in group.rows}
        for row in group.rows:
            assert row.label[0].isupper()
            assert row.cell.shown
    assert shown == wire_names(whole)


def rows(of_intent=None, of_receipt=None) -> dict[str, values.Cell]:
    read = values.groups(at(of_intent, of_receipt))
    return {f"{group.path}.{row.name}": row.cell for group in read for row in group.rows}


WHOLE = rows(
    intent(
        quote_request=QuoteIntentRequest(
            origin_token_amount=100_000_000,
            trade_type="EXACT_INPUT",
            destination_call_data="0x" + "ab" * 68,
            options=QuoteOptions(slippage_tolerance=Decimal("0.005"), swap_provider_fallback=True),
        ),
        deposit_transaction=DepositTransaction(
            amount=100_000_000, token_address=USDC, chain_id=ARBITRUM, decimals=6, to_address=OWNER
        ),
        origin_calls=IntentCalls(chain_id=ARBITRUM, nonce=2**255, calls=(Call(to=OWNER, value=5),)),
        quote=IntentProviderQuote(
            route_providers=("CCTP",),
            route_providers_fee_usd=(Decimal("0.5"), None),
            to_amount=99_910_000,
            to_amount_usd=Decimal("99.9"),
            price_impact=Decimal("-0.31"),
            estimated_duration=Decimal(1140),
        ),
        fees=IntentFees(fee_token_address=USDC, fee_token_amount=440_000, origin_gas=GasFee(gas_price=12)),
    ),
    receipt(
        deposit=transaction(
            "SUCCEEDED",
            deposit_intent_entry=DepositIntentEntry(permit_amount=2**256 - 1, deadline=1_795_270_000),
        ),
        refund=refund("MINING", status_reason="no\u202eway"),
        summary=summary(memo="Order #48213 " + "x" * 300),
    ),
)

CELLS = {
    "intent.originChainId": (ValueKind.CHAIN, "Arbitrum"),
    "intent.status": (ValueKind.CODE, "EXECUTING"),
    "intent.ownerAddress": (ValueKind.ADDRESS, "0x0709CF2d5D4f3D38f5948d697fE64d7FB3639Eb1"),
    "intent.createdAt": (ValueKind.TIME, "2026-11-21T14:01:11Z"),
    "intent.quote_request.originTokenAmount": (ValueKind.AMOUNT, "100.00 USDC"),
    "intent.quote_request.destinationCallData": (ValueKind.DATA, "0x" + "ab" * 68),
    "intent.quote_request.options.slippageTolerance": (ValueKind.TEXT, "0.5%"),
    "intent.quote_request.options.swapProviderFallback": (ValueKind.TEXT, "yes"),
    "intent.quote.routeProvidersFeeUsd": (ValueKind.TEXT, "$0.50, —"),
    "intent.quote.estimatedDuration": (ValueKind.TEXT, "19 min"),
    "intent.fees.feeTokenAmount": (ValueKind.AMOUNT, "0.44 USDC"),
    "receipt.deposit_transaction.txnHash": (ValueKind.HASH, TXN_HASH),
    "receipt.deposit_transaction.deposit_intent_entry.permitAmount": (ValueKind.TEXT, "unlimited"),
    "receipt.deposit_transaction.deposit_intent_entry.deadline": (ValueKind.TIME, "2026-11-21T14:06:40Z"),
    "receipt.refund_transaction.statusReason": (ValueKind.TEXT, "no⟨U+202E⟩way"),
}


def test_a_field_is_shown_by_its_kind():
    assert {path: (WHOLE[path].kind, WHOLE[path].shown) for path in CELLS} == CELLS
    memo = WHOLE["receipt.summary.memo"]
    assert (len(memo.shown), memo.rest) == (280, "x" * 33)  # the rest is behind "Show all"


def test_unreadable_fields_are_shown_as_received():
    read = rows(Intent.from_text('{"intentId":"x","salt":"abc","expiresAt":"soon\\u202e","quote":{"maxSlippage":[1]}}'))
    assert (read["intent.salt"].kind, read["intent.salt"].shown) == (ValueKind.UNREADABLE, "abc")
    assert read["intent.expiresAt"].shown == "soon⟨U+202E⟩"
    assert read["intent.quote.maxSlippage"].shown == "[1]"


def test_both_name_sets_of_an_intent_are_shown_once():
    text = '{"intentId":"x","originChainId":1,"destinationChainId":2,"calls":[{"chainId":1,"nonce":4},{"chainId":2}]}'
    paths = [group.path for group in values.groups(at(Intent.from_text(text)))]
    assert paths == ["intent", "intent.origin_calls", "intent.destination_calls"]
