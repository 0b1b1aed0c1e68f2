"""Cursors: a position in a list as one URL parameter that round-trips or is rejected."""

import json
from dataclasses import replace

import pytest
from django.utils.http import urlsafe_base64_encode

from intents_ui.service.wire.models import Page
from intents_ui.service.wire.results import Position
from intents_ui.web import cursors

LIST = "status=in-flight&origin=8453"


def deep(pages: int) -> Position:
    """Return a cursor many pages into a list, as long as the service may make it."""
    at = Position()
    for number in range(pages):
        after = 1_795_219_200_000_000 - number * 987_654_321
        sort = [{"column": "createdAt", "order": "DESC"}]
        cursor = {"column": "createdAt", "after": after, "sort": sort, "pageSize": 20, "more": True}
        at = at.onward(Page.from_text(json.dumps(cursor)))
    return at


@pytest.mark.parametrize("pages", [1, 2, 200])
def test_a_written_bookmark_is_read_back(pages: int) -> None:
    at = deep(pages)
    word = cursors.write(at, of=LIST)
    read = cursors.read(word, of=LIST)
    assert read == at
    assert len(word) < 2_000
    assert read.cursor is not None
    assert at.cursor is not None
    assert read.cursor.received == at.cursor.received


def test_a_position_on_the_way_back_keeps_its_boundary() -> None:
    at = replace(deep(3).back(Page.from_text('{"before":7}')), edge=1_795_219_200, is_backward=True)
    assert cursors.read(cursors.write(at, of=LIST), of=LIST) == at


WORD = cursors.write(deep(5), of=LIST)


def test_a_bookmark_that_is_cut_off_is_rejected() -> None:
    for word in (WORD[:length] for length in range(1, len(WORD))):
        with pytest.raises(cursors.Unreadable):
            cursors.read(word, of=LIST)
        with pytest.raises(cursors.Unreadable):
            cursors.check(word)


def written(*parts: object) -> str:
    return urlsafe_base64_encode(json.dumps(parts).encode())


STRANGE = [
    *(written(*parts) for parts in ([], ["x"], ["x", None, False, []], ["x", 1, 2, [None]], ["x", None, False, "x"])),
    *(written("x", None, False, [text]) for text in ("[]", '{"pageSize":100000}', '{"after":1,"after":2}', "\ud800")),
    "zz",
    ":",
    "..",
    "%00",
    "\x00",
    "🙂",
    "a:b:c",
    ".:" + "A" * 43,
    "A" * 100_000,
]


@pytest.mark.parametrize("word", STRANGE, ids=range(len(STRANGE)))
def test_a_foreign_bookmark_is_rejected(word: str) -> None:
    with pytest.raises(cursors.Unreadable):
        cursors.check(word)


def test_a_bookmark_is_valid_only_for_its_list() -> None:
    with pytest.raises(cursors.OfAnotherList):
        cursors.read(WORD, of="status=in-flight")


def test_no_bookmark_means_the_first_page() -> None:
    assert cursors.read("", of=LIST) == Position()
    cursors.check("")
    assert cursors.read(cursors.write(Position(), of=LIST), of=LIST) == Position()
