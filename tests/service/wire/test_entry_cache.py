"""Same bytes, same object, and otherwise exactly what `json_text.read` reads."""

import contextlib
import json
import weakref
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from intents_ui.service.client import ServiceClient
from intents_ui.service.operations.config import LIFETIMES, CacheKind, Lifetime, ServiceConfig
from intents_ui.service.wire import entry_cache, json_text
from intents_ui.service.wire.entry_cache import EntryCache
from intents_ui.service.wire.json_text import Brand
from intents_ui.service.wire.lenient_models import Wire
from intents_ui.service.wire.models import Intent, IntentHistory
from intents_ui.service.wire.responses import HistoryAnswer
from tests.service.wire.test_any_response import QUIET

ODD_TEXT = '"intents":[{"]}\\'
SALT = "7" * entry_cache.PREFIX  # objects are longer than the text by which they are found
FIRST = {
    "intentId": "0x1",
    "status": "QUOTED",
    "salt": SALT,
    "balances": [{"chainId": 1}],
    "receipt": {"intentId": "0x1"},
}
SECOND = {"status": "FAILED", "intentId": "0x2", "more": ODD_TEXT, "hasBalance": False, "salt": SALT}
DOCUMENT = {"intents": [FIRST, SECOND], "nextPage": {"after": 7, "more": True}}


def written(document: Any, indent: int | None = None) -> str:
    return json.dumps(document, indent=indent, separators=None if indent else (",", ":"))


def entries(cache: EntryCache, text: str) -> list[Any]:
    found: list[Any] = cache.read(text, "intents", IntentHistory)["intents"]
    return found


def plain(value: Any) -> Any:
    """Return a document with the parsed objects as the JSON objects that they were read from."""
    if isinstance(value, Wire):
        return plain(value.document)
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, list) else value


def outcome(read: Any) -> Any:
    try:
        return plain(read())
    except ValueError:
        return ValueError


@pytest.mark.parametrize("indent", [None, 1], ids=["compact", "with blanks"])
def test_the_same_bytes_give_the_same_objects(indent):
    cache, text = EntryCache(), written(DOCUMENT, indent)
    first, again = entries(cache, text), entries(cache, text)
    assert [entry.intent_id for entry in first] == ["0x1", "0x2"]
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert all(entry.received in text for entry in first)
    assert json.loads(first[1].received) == SECOND


def test_an_object_is_recognized_at_another_place():
    cache = EntryCache()
    one, two = entries(cache, written(DOCUMENT))
    moved = written({"unknown": {"intents": [1]}, "intents": [5, SECOND, FIRST, SECOND]})
    assert [found for found in entries(cache, moved) if found in (one, two)] == [two, one, two]
    assert entries(cache, moved)[1] is two


@pytest.mark.parametrize("place", range(0, len(written(FIRST)), 7))
def test_one_other_byte_gives_another_object_or_none(place):
    text = written(FIRST)
    cache = EntryCache()
    (known,) = entries(cache, f'{{"intents":[{text}]}}')
    changed = f'{{"intents":[{text[:place]}7{text[place + 1 :]}]}}'
    if changed == f'{{"intents":[{text}]}}':
        return
    found = outcome(lambda: cache.read(changed, "intents", IntentHistory))
    assert found == outcome(lambda: json_text.read(changed))
    if found is not ValueError and isinstance(found.get("intents"), list):
        assert entries(cache, changed)[0] is not known


def test_objects_of_two_kinds_are_different():
    cache, text = EntryCache(), written(DOCUMENT)
    first = entries(cache, text)[0]
    assert isinstance(first, IntentHistory)
    other = cache.read(text, "intents", Intent)["intents"][0]
    assert isinstance(other, Intent)
    assert entries(cache, text)[0] is first


def test_a_response_may_have_one_object():
    cache, text = EntryCache(), f'{{"intent" : {written(FIRST, 2)} }}'
    found = cache.read(text, "intent", Intent)["intent"]
    assert found.received == written(FIRST, 2)
    assert cache.read(text, "intent", Intent)["intent"] is found


def test_what_no_response_holds_is_released():
    cache = EntryCache()
    answer = HistoryAnswer.model_validate(cache.read(written(DOCUMENT), "intents", IntentHistory))
    alive = [weakref.ref(entry) for entry in answer.intents]
    assert all(one() is other for one, other in zip(alive, answer.intents, strict=True))
    del answer
    assert [each() for each in alive] == [None, None]


def test_what_cannot_be_an_object_is_left_to_the_model():
    document = {"intents": [None, 5, "{", [], {}, {"intentId": "a/b"}, FIRST], "nextPage": None}
    cache = EntryCache()
    read = cache.read(written(document), "intents", IntentHistory)
    assert plain(read) == document
    found = HistoryAnswer.model_validate(read)
    assert (len(found.intents), found.unreadable_entries) == (1, 6)


def test_fields_with_the_operators_brand_are_read():
    names = Brand("acme", "acme")
    text = '{"intents":[{"intentId":"0x1","acmeVersion":"v9"},{"acmeVersion":5}]}'
    cache = EntryCache(names)
    found = names.read(cache.read(text, "intents", Intent))["intents"]
    assert (found[0].service_version, found[1]) == ("v9", {"serviceVersion": 5})
    assert found[0].received == '{"intentId":"0x1","acmeVersion":"v9"}'


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        (f'{{"intents":[{{"intentId":"0x1","x":{nested(61)}}}]}}', True),
        (f'{{"intents":[{{"intentId":"0x1","x":{nested(62)}}}]}}', False),
        (f'{{"intents":{{"intentId":"0x1","x":{nested(62)}}}}}', True),
        (f'{{"intents":[],"x":{nested(63)}}}', True),
        (f'{{"intents":[],"x":{nested(64)}}}', False),
        (f'{{"intents":[],"x":{nested(100_000)}}}', False),
    ],
    ids=["an entry", "a deeper entry", "an object", "another field", "a deeper field", "far too deep"],
)
def test_nesting_has_the_usual_limit(text, is_read):
    cache = EntryCache()
    for _ in range(2):
        found = outcome(lambda: cache.read(text, "intents", IntentHistory))
        assert (found is not ValueError) == is_read
        assert found == outcome(lambda: json_text.read(text))


def test_an_object_that_was_not_too_deep_is_refused_inside_a_list():
    cache, deep = EntryCache(), f'{{"intentId":"0x1","x":{nested(62)}}}'
    cache.read(f'{{"intents":{deep}}}', "intents", IntentHistory)
    with pytest.raises(ValueError, match="deep"):
        cache.read(f'{{"intents":[{deep}]}}', "intents", IntentHistory)


@pytest.mark.parametrize(
    "text",
    [
        '{"intents":[],"intents":[]}',
        '{"intents":[],"\\u0069ntents":[]}',
        '{"intents":[{"intentId":"0x1","intentId":"0x2"}]}',
        '{"intents":[{"intentId":"0x1"},]}',
        '{"intents":[,]}',
        '{"intents":[{"intentId":"0x1"}],}',
        '{"intents":[{"intentId":"0x1"}]} {}',
        '{"intents":[{"intentId":NaN}]}',
        '{"intents":[{"intentId":"0x1"}',
        '{5:[],"intents":[]}',
        '\ufeff{"intents":[]}',
        "{",
        "",
    ],
)
def test_ambiguous_text_is_rejected(text):
    cache = EntryCache()
    entries(cache, '{"intents":[{"intentId":"0x1"}]}')
    with pytest.raises(ValueError, match=r"."):
        cache.read(text, "intents", IntentHistory)


@pytest.mark.parametrize("text", ["5", "[]", "{}", '{"a":1}', f'{{"intents":{"9" * 5000}}}', '{"intents":null}'])
def test_other_documents_are_read_as_usual(text):
    assert EntryCache().read(text, "intents", IntentHistory) == json_text.read(text)


def test_a_very_long_response_is_read_and_not_remembered():
    text = written({"intents": [FIRST] * (entry_cache.LONGEST_TEXT // len(written(FIRST)) + 1)})
    assert all(type(entry) is dict for entry in entries(EntryCache(), text))
    assert EntryCache().read(text, "intents", IntentHistory) == json_text.read(text)


@pytest.mark.parametrize(("deep", "is_refused"), [(False, False), (True, True)])
def test_a_very_long_response_is_checked_for_its_depth(deep, is_refused):
    levels = json_text.DEPTH_LIMIT - entry_cache.OUTER_LEVELS + deep
    wide = f"{'[],'.join('' for _ in range(json_text.DEPTH_LIMIT))}"
    nested = f'{{"a":[{wide}{"[" * (levels - 2)}{"]" * (levels - 2)}]}}'
    text = f'{{"intents":[{nested},"{"x" * entry_cache.LONGEST_TEXT}"]}}'
    with pytest.raises(ValueError, match="deep") if is_refused else contextlib.nullcontext():
        EntryCache().read(text, "intents", IntentHistory)


PIECES = st.lists(
    st.sampled_from(
        [written(FIRST), written(SECOND, 1), *'{}[],:" \n', '"intents"', '"a"', "5", "\\", "null", ODD_TEXT]
    ),
    max_size=12,
).map("".join)


@QUIET
@given(PIECES, st.integers(0, 600), st.integers(0, 60))
@example('"a":5,', 1, 0)
@example(",{}", len(written(DOCUMENT)) - 1, 0)
def test_any_text_is_read_as_without_the_cache(piece, place, cut):
    cache, text = EntryCache(), written(DOCUMENT)
    keeping = entries(cache, text)
    for changed in (piece, f'{{"intents":[{piece}]}}', text[:place] + piece + text[place + cut :], text[:place]):
        read = outcome(lambda changed=changed: cache.read(changed, "intents", IntentHistory))
        assert read == outcome(lambda changed=changed: json_text.read(changed))
    assert entries(cache, text) == keeping


def client(responses: dict[str, str]) -> ServiceClient:
    """Return a client of a service with these responses, which caches none."""

    def answer(request: httpx.Request) -> httpx.Response:
        content = responses[request.url.path.rpartition("/")[2]].encode()
        return httpx.Response(200, stream=httpx.ByteStream(content))

    uncached = {kind: Lifetime(0, 0, 0) for kind in CacheKind}
    return ServiceClient(
        ServiceConfig("http://x", lifetimes={**LIFETIMES, **uncached}), transport=httpx.MockTransport(answer)
    )


def test_a_client_returns_the_same_objects_while_they_are_in_use():
    texts = {
        "GetIntentHistory": written(DOCUMENT),
        "GetIntent": f'{{"intent":{written(FIRST)}}}',
        "GetIntentReceipt": f'{{"intentReceipt":{written(FIRST)}}}',
        "SearchIntents": f'{{"intents":[{written(FIRST)}]}}',
    }
    with client(texts) as service:
        listed, intent, receipt = (
            service.get_intent_history(),
            service.get_intent("0x1"),
            service.get_intent_receipt("0x1"),
        )
        assert service.get_intent_history().intents[1] is listed.intents[1]
        assert service.get_intent("0x1") is intent
        assert service.get_intent_receipt("0x1") is receipt
        assert service.search_intents(by_query_string="x").intents[0] is intent
        assert intent.received == receipt.received == written(FIRST)
        texts["GetIntent"] = texts["GetIntent"].replace("QUOTED", "FAILED")
        assert service.get_intent("0x1").status == "FAILED"
        assert intent.status == "QUOTED"
