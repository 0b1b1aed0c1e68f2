"""Cursors: a position in a list as one URL parameter that round-trips or is rejected."""

import json
import random
import zlib
from dataclasses import replace

import pytest
from django.utils.http import urlsafe_base64_encode

from intents_ui.http import cursors
from intents_ui.search.filters import LARGEST_SIZE
from intents_ui.service.lookup import Position
from intents_ui.service.models import Page

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
    word = cursors.write(at, query=LIST)
    read = cursors.read(word, query=LIST)
    assert read == at
    assert len(word) < 2_000
    assert read.cursor is not None
    assert at.cursor is not None
    assert read.cursor.raw == at.cursor.raw


WORD = cursors.write(deep(5), query=LIST)


def written(*parts: object) -> str:
    return urlsafe_base64_encode(zlib.compress(json.dumps(parts).encode()))


STRANGE = [
    *(written(*parts) for parts in ([], ["x"], ["x", 1, []], ["x", "one", [None]], ["x", 1, "x"])),
    *(written("x", 1, [text]) for text in ("[]", '{"pageSize":100000}', '{"after":1,"after":2}', "\ud800")),
    *(written("x", number, [None]) for number in (0, -1, 10**4299)),
    written("x", 1, [None] * 1_000),
    written("x", 1, [json.dumps({"column": "x" * 1_000_000})]),
    urlsafe_base64_encode(b'["x",1,[null]]'),
    WORD[:-3],
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
        cursors.read(word, query=LIST)


@pytest.mark.parametrize("page", [{"pageSize": LARGEST_SIZE}, {"after": 5}], ids=["the largest", "none"])
def test_a_bookmark_has_the_page_size_of_a_list_at_most(page: dict[str, int]) -> None:
    with pytest.raises(cursors.ListMismatch):  # which is all that is wrong with it
        cursors.read(written("x", 1, [json.dumps(page)]), query=LIST)
    with pytest.raises(cursors.Unreadable):
        cursors.read(written("x", 1, [None, json.dumps(page | {"pageSize": LARGEST_SIZE + 1})]), query=LIST)


def long(*lengths: int) -> Position:
    """Return a position whose cursors have this many characters, the page's own first."""
    noise = random.Random(1)
    pages = [Page.from_text(json.dumps({"column": noise.randbytes(length // 2).hex()})) for length in lengths]
    return Position(pages[0], tuple(pages[1:]))


@pytest.mark.parametrize("lengths", [(2000, 4000, 4000, 4000), (2000, 60_000, 4000, 4000)])
def test_a_bookmark_that_is_too_long_drops_the_oldest_pages(lengths: tuple[int, ...]) -> None:
    at = long(*lengths)
    word = cursors.write(at, query=LIST)
    assert len(word) <= cursors.LONGEST
    assert cursors.read(word, query=LIST) == replace(at, earlier=at.earlier[1:])
