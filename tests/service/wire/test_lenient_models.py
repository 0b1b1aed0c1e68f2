"""An object stays usable if some of its fields are invalid, and isn't built if it would be meaningless."""

import pytest

from intents_ui.service.wire import models, responses
from intents_ui.service.wire.lenient_models import MissingField


@pytest.mark.parametrize("quote", [5, "x", [], [{"toAmount": 1}]], ids=str)
def test_an_object_of_another_type_is_an_invalid_field(quote):
    read = models.Intent.model_validate({"intentId": "0x1", "quote": quote})
    assert (read.quote, set(read.unreadable)) == (None, {"quote"})


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


def test_objects_are_equal_if_all_fields_are():
    one = models.Page.model_validate({"column": "id", "after": "7", "unknown": 1})
    assert one == models.Page(column="id", after=7)
    assert one != models.Page(column="id", after=8)
    assert one != models.SortBy(column="id")


def test_a_copy_has_the_other_values_and_all_that_was_known_of_the_first():
    read = models.Intent.model_validate({"intentId": "0x1", "salt": "x", "status": "QUOTED"})
    copy = read.model_copy(update={"status": "FAILED"})
    assert (copy.intent_id, copy.status, copy.salt) == ("0x1", "FAILED", None)
    assert copy.unreadable == {"salt": "x"}
    assert read.status == "QUOTED"


def test_an_object_is_written_under_its_wire_names_without_empty_fields():
    page = models.Page(page_size=3, sort=(models.SortBy(column="createdAt"),))
    assert page.model_dump() == {"pageSize": 3, "sort": [{"column": "createdAt"}]}
