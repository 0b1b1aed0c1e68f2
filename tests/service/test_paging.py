"""Paging forward and back, with the service's own cursors."""

import json
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import pytest

from intents_ui.service.lookup import MAX_EARLIER, ListPage, Position, list_page, walk
from intents_ui.service.models import End, HistoryAnswer, Page

BORN = 1_795_219_200


class FakeHistory:
    """A list of intents by number, as a service pages it."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = set(numbers)
        self.requested: list[str] = []

    def __call__(self, page: Page) -> HistoryAnswer:
        self.requested.append(page.raw)
        falling = not page.sort or page.sort[0].order != "ASC"
        found = [
            number
            for number in sorted(self.numbers, reverse=falling)
            if page.after is None or (number < page.after if falling else number > page.after)
        ]
        shown, size = found[: page.page_size or 20], page.page_size
        sort = [{"column": "id", "order": "DESC" if falling else "ASC"}]
        following = {"column": "id", "after": shown[-1], "sort": sort, "pageSize": size} if shown else None
        return answered([row(each) for each in shown], following if len(found) > len(shown) else None, page=page)


def row(number: int, **members: Any) -> dict[str, Any]:
    return {"intentId": f"0x{number:064x}", "createdAt": BORN + number, **members}


def answered(rows: list[Any], following: dict[str, Any] | None, *, page: Page | None = None) -> HistoryAnswer:
    found = HistoryAnswer.model_validate({"intents": rows, "nextPage": following})
    found.notes["requested"] = page
    if found.next_page:
        found.next_page.with_raw(json.dumps(following))
    return found


def numbers(found: ListPage) -> list[int]:
    return [int(entry.intent_id, 16) for entry in found.entries]


DESC = Page.first(size=3)
ASC = Page.first(size=3, order="ASC")


def forward(history: FakeHistory, first: Page = DESC) -> list[tuple[Position, list[int]]]:
    walked = []
    at: Position | None = Position()
    while at is not None:
        found = list_page(history, first, at=at)
        walked.append((at, numbers(found)))
        at = found.following
    return walked


def test_a_position_knows_its_number_and_the_last_pages_before_it() -> None:
    at = forward(FakeHistory(range(180)))[-1][0]
    assert (at.number, len(at.earlier)) == (60, MAX_EARLIER)
    for number in range(59, 9, -1):
        assert at.previous
        at = at.previous
        assert at.number == number
    assert at.previous is None


def test_rows_that_are_added_or_leave_the_list_hide_no_others_on_the_way_back() -> None:
    history = FakeHistory(range(30))
    there = forward(history)
    history.numbers -= {10, 11, 12, 14, 20}
    history.numbers |= {30}
    shown = {number for at, _ in there for number in numbers(list_page(history, DESC, at=at))}
    assert history.numbers - shown == {27}  # pushed off the first page by a new row, and next on its new second page
    following = list_page(history, DESC, at=Position()).following
    assert following
    assert numbers(list_page(history, DESC, at=following))[0] == 27


@pytest.mark.parametrize(("first", "new"), [(DESC, 30), (ASC, -1)], ids=["newest first", "oldest first"])
def test_every_row_is_met_once_while_others_are_added_and_leave(first: Page, new: int) -> None:
    history = FakeHistory(range(30))
    met, at, leaving = list[int](), Position(), iter((3, 26, 14, 15, 8, 21))
    while at:
        page = list_page(history, first, at=at)
        met, at = met + numbers(page), page.following
        history.numbers |= {new, 100 * new}  # before the reader's place
        history.numbers.discard(next(leaving, new))
    assert len(met) == len(set(met))
    assert history.numbers & set(range(30)) <= set(met) <= set(range(30))


@pytest.mark.parametrize("cursors", [[None, 5, 5], [None, 5, 3, 5]], ids=["the same cursor", "two pages in a circle"])
def test_a_looping_list_is_stopped_with_a_notice(cursors: list[Any]) -> None:
    script = dict(pairwise(cursors))

    def ask(page: Page) -> HistoryAnswer:
        return answered([row(9)], {"column": "id", "after": script.get(page.after), "more": True}, page=page)

    pages = [found := list_page(ask, DESC, at=Position())]
    while found.following is not None and len(pages) < 10:
        pages.append(found := list_page(ask, DESC, at=found.following))
    assert [each.end for each in pages] == [None] * (len(cursors) - 2) + [End.CIRCLES]
    assert all(each.entries for each in pages)
    walked = [end for _, end in islice(walk(ask, DESC), 10)]
    assert walked == [each.end for each in pages]


MORE = {"column": "id", "after": 5}
ENDS = [
    pytest.param([row(1)], None, End.COMPLETE, id="no next page"),
    pytest.param([row(1)], {"more": False}, End.COMPLETE, id="more is false"),
    pytest.param([row(1)], MORE | {"more": False}, End.COMPLETE, id="a cursor, and more is false"),
    pytest.param([], None, End.COMPLETE, id="an empty page"),
    pytest.param([], MORE | {"more": False}, End.COMPLETE, id="an empty page, and more is false"),
    pytest.param([], MORE, End.COMPLETE, id="an empty page, and no word of more"),
    pytest.param([], MORE | {"more": True}, End.EMPTY_PAGE, id="an empty page, and more is true"),
]


@pytest.mark.parametrize(("rows", "following", "end"), ENDS)
def test_a_list_ends(rows: list[Any], following: dict[str, Any] | None, end: End) -> None:
    found = list_page(lambda page: answered(rows, following, page=page), DESC, at=Position())
    assert (found.following, found.end) == (None, end)


def test_rows_are_sorted_as_requested_with_the_latest_version_of_each() -> None:
    rows = [row(2), row(5, status="EXECUTING"), row(4), row(5, status="SUCCEEDED"), {"intentId": ""}]
    answer = answered(rows, None, page=DESC)
    for first, shown in ((DESC, [5, 4, 2]), (DESC, [5, 4, 2]), (ASC, [2, 4, 5]), (DESC, [5, 4, 2])):
        found = list_page(lambda _: answer, first, at=Position())
        assert (numbers(found), found.unreadable) == (shown, 1)
        assert found.entries[shown.index(5)].status == "SUCCEEDED"
