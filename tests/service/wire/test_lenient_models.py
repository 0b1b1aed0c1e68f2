"""Fields are parsed on first access, once, and each on its own."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from random import Random
from typing import Annotated, Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.service.wire import json_text, models, responses
from intents_ui.service.wire.lenient_models import MissingField, Wire
from tests.service.wire.test_any_response import QUIET, documents, named

PARSED: list[Any] = []


def recorded(value: Any) -> Any:
    PARSED.append(value)
    if value == "bad":
        raise ValueError("bad")
    return value


Recorded = Annotated[Any, recorded]


class Inner(Wire):
    name: Recorded | None = None


class Sample(Wire):
    name: Recorded | None = None
    other_name: Recorded | None = None
    inner: Inner | None = None
    inners: tuple[Inner, ...] = ()


@pytest.fixture(autouse=True)
def nothing_parsed() -> None:
    PARSED.clear()


def test_a_field_is_parsed_on_first_access_and_once():
    read = Sample.model_validate({"name": "a", "otherName": "b", "inner": {"name": "c"}, "inners": [{"name": "d"}]})
    assert PARSED == []
    assert [read.name, read.name, read.name] == ["a", "a", "a"]
    assert PARSED == ["a"]
    assert read.inner is read.inner
    assert read.inners is read.inners
    assert PARSED == ["a"], "an inner object's fields are parsed when they are accessed"
    assert read.inner.name == "c"
    assert PARSED == ["a", "c"]


def test_an_invalid_field_is_parsed_once_and_affects_no_other():
    read = Sample.model_validate({"name": "bad", "otherName": "b"})
    assert [read.name, read.name, read.other_name] == [None, None, "b"]
    assert PARSED == ["bad", "b"]
    assert read.unreadable == {"name": "bad"}
    assert PARSED == ["bad", "b"]


def test_invalid_fields_are_known_before_anything_else_is_accessed():
    assert Sample.model_validate({"name": "bad", "otherName": "bad", "inner": 5}).unreadable == {
        "name": "bad",
        "other_name": "bad",
        "inner": "5",
    }
    assert Sample.model_validate({"inners": [{}, 5, {}, None]}).unreadable_entries == 2


def test_two_threads_that_parse_a_field_at_once_get_the_same_object():
    class Interrupted(Wire):
        inner: Annotated[Any, lambda value: interrupted(value)] | None = None

    def interrupted(value: Any) -> Any:
        """Parse the value while another thread, which is faster, does the same."""
        if value.pop("is_first"):
            value["is_first"] = False
            found.append(read.inner)
        return [value]

    found: list[Any] = []
    read = Interrupted.model_validate({"inner": {"is_first": True}})
    assert read.inner is found[0]
    assert read.inner is found[0]


@pytest.mark.parametrize(
    ("model", "document", "field"),
    [
        pytest.param(models.Intent, {"status": "QUOTED"}, "intentId", id="a missing ID"),
        pytest.param(models.Intent, {"intentId": "a/b"}, "intentId", id="an invalid ID"),
        pytest.param(models.TokenInfo, {"chainId": 1, "address": None}, "address", id="a token without its address"),
        pytest.param(models.TokenPrice, {"token": "x"}, "token", id="a price of no token"),
        pytest.param(responses.IntentAnswer, {"intent": {}}, "intent", id="an object that lacks its own ID"),
        pytest.param(responses.HistoryAnswer, {"intents": {}}, "intents", id="no list where one is essential"),
        pytest.param(responses.CommitAnswer, {}, "intentId", id="an empty response"),
    ],
)
def test_an_object_that_would_be_meaningless_is_not_built(model, document, field):
    with pytest.raises(MissingField, match=field) as raised:
        model.model_validate(document)
    assert raised.value.field == field


def test_an_essential_list_may_be_missing_and_may_have_invalid_entries():
    assert responses.HistoryAnswer.model_validate({}).intents == ()
    found = responses.HistoryAnswer.model_validate({"intents": [{"intentId": "0x1"}, {}]})
    assert (len(found.intents), found.unreadable_entries) == (1, 1)


def test_an_object_is_immutable():
    intent = models.Intent(intent_id="0x1")
    with pytest.raises(AttributeError, match="immutable"):
        intent.status = "FAILED"
    with pytest.raises(AttributeError, match="immutable"):
        del intent.status


def test_objects_are_equal_if_all_fields_are():
    one = models.Page.model_validate({"column": "id", "after": "7", "unknown": 1})
    assert one == models.Page(column="id", after=7)
    assert one != models.Page(column="id", after=8)
    assert one != models.SortBy(column="id")
    assert repr(one) == "Page(column='id', after=7)"


def test_a_copy_has_the_other_values_and_all_that_was_known_of_the_first():
    read = Sample.model_validate({"name": "bad", "otherName": "b", "inner": {"name": "c"}})
    copy = read.model_copy(update={"other_name": "new"})
    assert (copy.name, copy.other_name, copy.inner) == (None, "new", read.inner)
    assert copy.unreadable == {"name": "bad"}
    assert read.other_name == "b"


def test_an_object_is_written_under_its_wire_names_without_empty_fields():
    page = models.Page(page_size=3, sort=(models.SortBy(column="createdAt"),))
    assert page.model_dump() == {"pageSize": 3, "sort": [{"column": "createdAt"}]}


KINDS = ["IntentReceipt", "IntentHistory", "IntentFees", "QuoteIntentRequest", "IntentProviderQuote", "ChainInfo"]


def plain(model: type[Wire], document: dict[str, Any]) -> dict[str, Any]:
    """Return the values of an object, all read at once from its parsed JSON, and the names of the invalid ones."""
    found: dict[str, Any] = {"": set()}
    for name, field in model.fields.items():
        value = document.get(field.alias)
        found[name] = field.default
        if value in (None, ""):
            continue
        if get_origin(field.annotation) is not tuple:
            entry = plain_entry(field.annotation, value)
            found[name] = field.default if entry is INVALID else entry
            is_valid = entry is not INVALID
        else:
            entries = [plain_entry(field.annotation, each) for each in value] if isinstance(value, list) else [INVALID]
            found[name] = tuple(entry for entry in entries if entry is not INVALID)
            is_valid = len(found[name]) == len(entries)
        found[""] |= set() if is_valid else {name}
    return found


INVALID = object()


def plain_entry(annotation: Any, value: Any) -> Any:
    if get_origin(annotation) is Annotated:
        try:
            return annotation.__metadata__[0](value)
        except ValueError:
            return INVALID
    if isinstance(annotation, type) and issubclass(annotation, Wire):
        return plain(annotation, value) if isinstance(value, dict) else INVALID
    return plain_entry(get_args(annotation)[0], value)


def one_by_one(read: Any, order: Random) -> Any:
    """Return the same of an object whose fields are accessed in any order."""
    if isinstance(read, tuple):
        return tuple(one_by_one(entry, order) for entry in read)
    if not isinstance(read, Wire):
        return read
    names = order.sample(list(read.fields), len(read.fields))
    found = {name: one_by_one(getattr(read, name), order) for name in names}
    return {**found, "": set(read.unreadable)}


@QUIET
@given(st.sampled_from(KINDS), st.data(), st.randoms())
def test_reading_fields_one_by_one_gives_what_reading_all_at_once_does(kind, data, order):
    text = json.dumps(named(data.draw(documents(kind, odd=True).filter(lambda document: isinstance(document, dict)))))
    model = getattr(models, kind)
    read = model.model_validate(json_text.read(text))
    assert one_by_one(read, order) == plain(model, json.loads(text, parse_float=Decimal))


def test_a_twin_can_be_made_while_another_thread_adds_what_it_parsed():
    intent = models.Intent.from_text('{"intentId": "0x1", "status": "QUOTED"}')
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(1) as thread:
            adding = thread.submit(lambda: [intent.attach(str(number), number) for number in range(20_000)])
            while not adding.done():
                assert intent.twin().status == "QUOTED"
    finally:
        sys.setswitchinterval(interval)


def test_a_twin_has_what_was_received_and_nothing_that_was_attached():
    intent = models.Intent.from_text('{"intentId": "0x1", "status": "QUOTED"}')
    intent.attach("facts", "of the first")
    twin = intent.twin()
    assert (twin, twin.received, twin.document) == (intent, intent.received, intent.document)
    assert (twin.attached("facts"), intent.attached("facts")) == (None, "of the first")
