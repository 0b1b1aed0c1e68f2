"""Every documented error code maps to an exception class."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.service import errors
from intents_ui.service.error_mapping import bare_refusal, envelope, pause, refusal
from intents_ui.service.errors import KNOWN

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
TABLE = json.loads((Path(__file__).parent / "errors.json").read_text())
JSON = (
    st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())
)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["name"])
def test_a_known_code_maps_to_its_class_in_either_envelope(row):
    flat = {"error": row["name"], "code": row["code"], "msg": row["msg"], "status": row["status"]}
    wrapped = {
        "webrpcError": {"name": row["name"], "code": row["code"], "message": row["msg"], "httpStatus": row["status"]}
    }
    name, kind = KNOWN[row["code"]]
    assert name == row["name"]
    for document in (flat, wrapped):
        found = envelope(document)
        assert found is not None
        error = refusal(found, status=row["status"], retry_after=None, now=NOW)
        assert (type(error), error.code, error.message) == (kind, row["code"], row["msg"])


def test_no_code_is_known_that_is_not_in_the_table():
    assert KNOWN.keys() == {row["code"] for row in TABLE}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (8000, errors.NotFound),
        (1101, errors.AccessDenied),
        (1006, errors.AccessDenied),
        (1201, errors.TooBusy),
        (2000, errors.Invalid),
        (7001, errors.Expired),
        (2004, errors.WrongState),
        (9001, errors.Unreachable),
        (-7, errors.Unreachable),
        ("8000", errors.NotFound),
        ("-7", errors.Unreachable),
    ],
)
def test_the_code_outranks_a_conflicting_name_or_status(code, kind):
    found = {"error": "SomethingElse", "code": code, "msg": ""}
    assert type(refusal(found, status=418, retry_after=None, now=NOW)) is kind


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("60", 60),
        (" 7 ", 7),
        ("0", 0),
        ("1000000000", 300),
        ("Sat, 21 Nov 2026 12:01:30 GMT", 90),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0),
        ("Sat, 21 Nov 2099 12:00:00 GMT", 300),
        (None, 5),
        ("", 5),
        ("-1", 5),
        ("abc", 5),
        (" 7\t", 7),
        ("0\x1f", 5),
        ("1e9", 5),
        ("1.5", 5),
        ("٣", 5),
    ],
)
def test_retry_after_is_read_as_seconds_or_date_and_capped(header, seconds):
    assert pause(header, now=NOW) == seconds


@given(st.text())
def test_no_retry_after_value_raises(header):
    assert 0 <= pause(header, now=NOW) <= 300


@given(st.dictionaries(st.sampled_from(["error", "name", "code", "msg", "message", "cause", "status"]), JSON), JSON)
def test_any_error_envelope_becomes_a_printable_service_error(members, wrapped):
    for document in (members, {"webrpcError": members}, {"webrpcError": wrapped}):
        found = envelope(document)
        if found is not None:
            assert str(refusal(found, status=500, retry_after=None, now=NOW)).encode()


@given(st.text(), st.integers(200, 599))
def test_any_error_without_an_envelope_becomes_a_short_service_error(body, status):
    assert len(str(bare_refusal(body, status=status, retry_after=None, now=NOW))) < 300


def test_a_successful_response_is_not_mistaken_for_an_error():
    assert envelope({"intents": []}) is None
    assert envelope({"error": "a field of its own"}) is None
    assert envelope([]) is None
