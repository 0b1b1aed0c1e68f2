"""Paging forward and back, with services that support `before` and services that don't."""

import json
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import pytest

from intents_ui.service.errors import Invalid
from intents_ui.service.lookup import MAX_EARLIER, ListPage, Position, list_page, walk
from intents_ui.service.models import End, HistoryAnswer, Page

BORN = 1_795_219_200


class FakeHistory:
    """A list of intents by number, as a service pages it. `knows`: what it makes of `before`."""

    def __init__(self, numbers: Sequence[int], *, knows: str = "before") -> None:
        self.numbers = set(numbers)
        self.knows = knows
        self.requested: list[str] = []

    def __call__(self, page: Page) -> HistoryAnswer:
        self.requested.append(page.raw)
        if page.before is not None and self.knows == "nothing":
            raise Invalid("page.before: unknown field")
        ignored = page.before is not None and self.knows == "after alone"
        shown, more = self.shown(None if ignored else page.before, page.after, page)
        backward = page.before is not None and self.knows == "before"
        cursor = self.cursor(shown, page, backward=backward) if shown else {}
        following = {"column": "id", **cursor, "sort": sort_of(page), "pageSize": page.page_size, "more": True}
        return answered([row(number) for number in shown], following if more else None, page=page)

    def cursor(self, shown: list[int], page: Page, *, backward: bool) -> dict[str, int]:
        if self.knows == "both ends":
            return {"before": shown[0], "after": shown[-1]}
        if self.knows == "below, and says so":
            return {"before" if is_falling(page) else "after": shown[-1]}
        return {"before": shown[0]} if backward else {"after": shown[-1]}

    def shown(self, before: int | None, after: int | None, page: Page) -> tuple[list[int], bool]:
        falling = is_falling(page)
        ordered = sorted(self.numbers, reverse=falling)
        size = page.page_size or 20
        if before is not None and self.knows.startswith("below"):
            found = [number for number in ordered if number < before]
        elif before is not None and after is None:
            found = [number for number in ordered if (number > before if falling else number < before)]
            return found[-size:], len(found) > size
        else:
            found = [n for n in ordered if after is None or (n < after if falling else n > after)]
        return found[:size], len(found) > size


def is_falling(page: Page) -> bool:
    return not page.sort or page.sort[0].order != "ASC"


def sort_of(page: Page) -> list[dict[str, Any]]:
    return [{"column": "createdAt", "order": "DESC" if is_falling(page) else "ASC"}]


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


def cursor(**members: Any) -> Page:
    return Page.from_text(json.dumps(members))


DESC = Page.first(size=3)
ASC = Page.first(size=3, order="ASC")


def forward(history: FakeHistory, first: Page = DESC, *, pages: int = 1000) -> list[tuple[Position, list[int]]]:
    walked = []
    at: Position | None = Position()
    while at is not None and len(walked) < pages:
        found = list_page(history, first, at=at)
        walked.append((at, numbers(found)))
        at = found.following
    return walked


def back(history: FakeHistory, first: Page = DESC, *, at: Position) -> list[ListPage]:
    """The pages before the one at `at`, from it to the beginning."""
    walked = []
    previous = list_page(history, first, at=at).previous
    while previous is not None:
        found = list_page(history, first, at=previous)
        walked.append(found)
        previous = found.previous
        assert len(walked) < 1000, "it never ends"
    return walked


@pytest.mark.parametrize("first", [DESC, ASC], ids=["newest first", "oldest first"])
@pytest.mark.parametrize("knows", ["before", "nothing", "after alone", "below", "below, and says so", "both ends"])
def test_back_shows_the_previous_page_however_the_service_treats_before(knows: str, first: Page) -> None:
    history = FakeHistory(range(100, 118), knows=knows)
    there = forward(history, first)
    assert [number for _, page in there for number in page] == sorted(history.numbers, reverse=first is DESC)
    again = back(history, first, at=there[-1][0])
    assert [numbers(found) for found in again] == [page for _, page in reversed(there[:-1])]
    assert not any(found.restarted for found in again)


def test_back_and_forward_returns_to_the_same_page() -> None:
    history = FakeHistory(range(40))
    there = forward(history)
    at, shown = there[5]
    before = list_page(history, DESC, at=at).previous
    assert before is not None
    onward = list_page(history, DESC, at=before).following
    assert onward is not None
    assert numbers(list_page(history, DESC, at=onward)) == shown


def test_a_reader_25_pages_deep_can_go_back_25_pages() -> None:
    history = FakeHistory(range(100))
    there = forward(history, pages=26)
    assert len(there[-1][0].earlier) == MAX_EARLIER
    assert [numbers(found) for found in back(history, at=there[-1][0])] == [page for _, page in reversed(there[:-1])]


@pytest.mark.parametrize("knows", ["nothing", "after alone"])
def test_a_lost_history_of_cursors_restarts_the_list_with_a_notice(knows: str) -> None:
    history = FakeHistory(range(100), knows=knows)
    there = forward(history, pages=26)
    walked = back(history, at=there[-1][0])
    remembered, last = walked[:-1], walked[-1]
    assert [numbers(found) for found in remembered] == [page for _, page in reversed(there[-1 - MAX_EARLIER : -1])]
    assert (numbers(last), last.restarted, last.previous) == ([99, 98, 97], True, None)


def test_rows_that_left_the_list_do_not_duplicate_others_on_the_way_back() -> None:
    history = FakeHistory(range(30))
    there = forward(history)
    at, last = there[-1]
    history.numbers -= {10, 11, 12, 14, 20}
    history.numbers |= {30, 31}
    shown = last + [number for found in back(history, at=at) for number in numbers(found)]
    assert sorted(shown) == sorted(history.numbers)


def test_an_emptied_page_still_leads_to_the_next_one() -> None:
    history = FakeHistory(range(9))
    there = forward(history)
    at, _ = there[1]
    history.numbers = {0, 1, 2}
    previous = list_page(history, DESC, at=at).previous
    assert previous is not None
    assert previous.earlier
    found = list_page(history, DESC, at=previous)
    assert (found.entries, found.previous) == ((), None)
    assert found.following is not None
    assert numbers(list_page(history, DESC, at=found.following)) == [2, 1, 0]


def test_the_services_cursor_is_sent_back_byte_for_byte() -> None:
    text = '{"after": 7,  "shard":"b\\/2", "more":true}'
    answer = answered([row(8)], json.loads(text), page=DESC)
    assert answer.next_page is not None
    answer.next_page.with_raw(text)
    found = list_page(lambda _: answer, DESC, at=Position())
    assert found.following is not None
    history = FakeHistory(range(5))
    list_page(history, DESC, at=found.following)
    assert history.requested == [text]


@pytest.mark.parametrize("cursors", [[None, 5, 5], [None, 5, 3, 5]], ids=["the same cursor", "two pages in a circle"])
def test_a_looping_list_is_stopped_with_a_notice(cursors: list[Any]) -> None:
    script = dict(pairwise(cursors))

    def ask(page: Page) -> HistoryAnswer:
        return answered([row(9)], {"column": "id", "after": script.get(page.after), "more": True}, page=page)

    pages = [found := list_page(ask, DESC, at=Position())]
    while found.following is not None:
        pages.append(found := list_page(ask, DESC, at=found.following))
    assert [each.end for each in pages] == [None] * (len(cursors) - 2) + [End.CIRCLES]
    assert all(each.entries for each in pages)
    walked = [end for _, end in islice(walk(ask, DESC), 10)]
    assert walked == [each.end for each in pages]


def test_a_non_numeric_cursor_is_not_reported_as_a_loop() -> None:
    following = {"column": "id", "after": "soon", "more": True}
    found = list_page(lambda page: answered([row(9)], following, page=page), DESC, at=Position())
    assert (found.end, found.following) == (End.LOST, None)
    assert found.entries
    assert [end for _, end in walk(lambda page: answered([row(9)], following, page=page), DESC)] == [End.LOST]


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


ORDERS = [
    pytest.param([{"column": "id"}], [5, 4, 2], id="no direction"),
    pytest.param([{"column": "id", "order": "desc"}, {"column": "createdAt", "order": "ASC"}], [5, 4, 2], id="falling"),
    pytest.param([{"column": "id", "order": "asc"}, {"column": "createdAt", "order": "DESC"}], [2, 4, 5], id="rising"),
]


@pytest.mark.parametrize(("sort", "shown"), ORDERS)
def test_a_page_is_sorted_by_creation_in_the_order_of_the_list(sort: list[dict[str, str]], shown: list[int]) -> None:
    rows = [row(2), row(5), row(4)]
    found = list_page(lambda page: answered(rows, None, page=page), cursor(sort=sort), at=Position())
    assert numbers(found) == shown


def test_a_page_shows_500_rows_and_counts_the_others_as_unreadable() -> None:
    rows = [row(number) for number in range(503)] + [{"intentId": ""}]
    found = list_page(lambda page: answered(rows, None, page=page), DESC, at=Position())
    assert (len(found.entries), found.unreadable) == (500, 4)


EDGE = 105
# The edge, the rows of the response to `before`, those of the first cursor, and the rows shown.
BACK = [
    pytest.param(DESC, EDGE, [106], [999], [106], id="newest first, before the edge"),
    pytest.param(DESC, EDGE, [105], [999], [105], id="newest first, at the edge"),
    pytest.param(DESC, EDGE, [106, 104], [999], [999], id="newest first, beyond the edge"),
    pytest.param(ASC, EDGE, [104], [999], [104], id="oldest first, before the edge"),
    pytest.param(ASC, EDGE, [105], [999], [105], id="oldest first, at the edge"),
    pytest.param(ASC, EDGE, [104, 106], [999], [999], id="oldest first, beyond the edge"),
    pytest.param(DESC, None, [104], [999], [104], id="no edge"),
    pytest.param(DESC, EDGE, [], [106], [106], id="empty, newest first, before the edge"),
    pytest.param(DESC, EDGE, [], [105], [], id="empty, newest first, at the edge"),
    pytest.param(DESC, EDGE, [], [104], [], id="empty, newest first, beyond the edge"),
    pytest.param(ASC, EDGE, [], [104], [104], id="empty, oldest first, before the edge"),
    pytest.param(ASC, EDGE, [], [105], [], id="empty, oldest first, at the edge"),
    pytest.param(ASC, EDGE, [], [106], [], id="empty, oldest first, beyond the edge"),
    pytest.param(DESC, None, [], [106], [], id="empty, no edge"),
]


@pytest.mark.parametrize(("first", "edge", "rows", "remembered", "shown"), BACK)
def test_a_page_loads_by_its_first_cursor_if_rows_are_beyond_the_boundary_or_only_that_finds_some(
    first: Page, edge: int | None, rows: list[int], remembered: list[int], shown: list[int]
) -> None:
    """The page before the second one, from a service that answers `before` with `rows`."""

    def ask(page: Page) -> HistoryAnswer:
        found = remembered if page.before is None else rows
        return answered([row(number) for number in found], None, page=page)

    at = Position(cursor(before=7), (None,), None if edge is None else BORN + edge, is_backward=True)
    assert numbers(list_page(ask, first, at=at)) == shown


def test_a_rejected_request_is_not_blamed_on_the_before_cursor() -> None:
    def refuse(page: Page) -> HistoryAnswer:
        raise Invalid("byOwnerAddress")

    with pytest.raises(Invalid):
        list_page(refuse, DESC, at=Position())
    with pytest.raises(Invalid):
        list_page(refuse, DESC, at=Position().onward(cursor(after=5)))


def test_a_walk_reads_every_page_and_each_intent_once() -> None:
    history = FakeHistory(range(10))
    pages = list(walk(history, DESC))
    assert [int(entry.intent_id, 16) for entries, _ in pages for entry in entries] == list(range(9, -1, -1))
    assert [end for _, end in pages] == [None, None, None, End.COMPLETE]


def test_an_interrupted_walk_is_reported() -> None:
    rows = {None: [row(9)], 5: []}
    pages = list(walk(lambda page: answered(rows[page.after], {"after": 5, "more": True}, page=page), DESC))
    assert [(len(entries), end) for entries, end in pages] == [(1, None), (0, End.EMPTY_PAGE)]
