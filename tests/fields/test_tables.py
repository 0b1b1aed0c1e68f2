import json
import typing
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from intents_ui.fields import values
from intents_ui.fields.values import ValueKind
from intents_ui.service.fields import Model
from intents_ui.service.models import (
    Intent,
    IntentReceipt,
)
from tests.fields.test_descriptions import Names
from tests.transfers.builders import (
    NOW,
    at,
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
    read = values.groups(at(of_intent, of_receipt, names=Names()))
    return {f"{group.path}.{row.name}": row.cell for group in read for row in group.rows}


def test_a_field_is_shown_by_its_kind():
    told = json.loads(Path(__file__).with_name("cells.json").read_text())
    texts = (json.dumps(told[name]) for name in ("intent", "receipt"))
    found = rows(*(model.from_text(text) for model, text in zip((Intent, IntentReceipt), texts, strict=True)))
    assert {path: [found[path].kind.name, found[path].shown] for path in told["cells"]} == told["cells"]
    memo = found["receipt.summary.memo"]
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
