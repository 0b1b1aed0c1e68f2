"""Reading a long list within one view's limits, and what remains when reading ends early."""

import types
from collections.abc import Callable

import pytest

from intents_ui.service.context import request_context
from intents_ui.service.context.request_context import within
from intents_ui.service.errors import Reason, Unreachable
from intents_ui.service.queries import worklist
from intents_ui.service.queries.worklist import MOST_PAGES, SECONDS_AFTERWARDS
from intents_ui.service.wire.models import Page
from intents_ui.service.wire.responses import HistoryAnswer
from intents_ui.service.wire.results import Position, Read, Stop

FIRST = Page.first(size=2)


class List:
    """Pages of two intents, one after the other; `before` is called before each answer with its number from 1."""

    def __init__(self, pages: int, *, before: Callable[[int], object] = lambda number: None) -> None:
        self.pages = pages
        self.before = before
        self.requested: list[int] = []

    def __call__(self, page: Page) -> HistoryAnswer:
        number = (page.after or 0) + 1
        self.requested.append(number)
        self.before(len(self.requested))
        rows = [{"intentId": f"0x{number}a"}, {"intentId": f"0x{number}b"}]
        text = f'{{"column":"id","after":{number},"more":true}}'
        document = {"intents": rows, "nextPage": None}
        answer = HistoryAnswer.model_validate(document | {"nextPage": {"column": "id", "after": number, "more": True}})
        if number == self.pages:
            return HistoryAnswer.model_validate(document).asked_with(page)
        assert answer.next_page is not None
        answer.next_page.keeping(text)
        return answer.asked_with(page)

    def read(self, at: Position = Position()) -> Read:  # noqa: B008 - it is frozen
        return worklist.read(self, FIRST, at=at)


def ids(*numbers: int) -> list[str]:
    return [f"0x{number}{side}" for number in numbers for side in "ab"]


def test_a_short_list_is_read_completely() -> None:
    found = List(3).read()
    assert [entry.intent_id for entry in found.entries] == ids(1, 2, 3)
    assert (found.stop, found.following) == (Stop.END, None)


def test_a_long_list_is_read_view_by_view_and_back() -> None:
    whole = List(10)
    first = whole.read()
    assert (first.stop, len(first.entries)) == (Stop.ENOUGH, 2 * MOST_PAGES)
    assert first.following is not None
    second = whole.read(first.following)
    assert second.following is not None
    third = whole.read(second.following)
    read = [entry.intent_id for found in (first, second, third) for entry in found.entries]
    assert read == ids(*range(1, 11))
    assert third.stop is Stop.END
    # What is remembered are views: back from the third is the beginning of the second, and of the list.
    back = second.following.back(second.following.earlier[-1])
    assert whole.read(back).entries == second.entries
    assert back.back(back.earlier[-1]) == Position()


def fails_from(number: int) -> Callable[[int], None]:
    def fail(asked: int) -> None:
        if asked >= number:
            raise Unreachable.because(Reason.FAILED)

    return fail


def test_an_error_midway_leaves_the_rows_so_far_and_a_cursor_to_continue() -> None:
    found = List(10, before=fails_from(3)).read()
    assert [entry.intent_id for entry in found.entries] == ids(1, 2)
    assert found.stop is Stop.TROUBLE
    assert isinstance(found.error, Unreachable)
    assert found.following is not None
    healed = List(10)
    healed.read(found.following)
    assert healed.requested[0] == 3


def test_an_error_on_the_first_page_is_raised() -> None:
    with pytest.raises(Unreachable):
        List(10, before=fails_from(1)).read()


def test_a_looping_cursor_ends_the_list() -> None:
    class Ring(List):
        def __call__(self, page: Page) -> HistoryAnswer:
            return super().__call__(page if (page.after or 0) < 2 else FIRST)

    found = Ring(10).read()
    assert found.stop is Stop.CIRCLES
    assert [entry.intent_id for entry in found.entries] == ids(1, 2)
    assert found.following is None


def test_an_empty_page_with_a_next_cursor_is_not_the_end() -> None:
    class Gap(List):
        def __call__(self, page: Page) -> HistoryAnswer:
            answer = super().__call__(page)
            return answer.model_copy(update={"intents": ()}) if page.after else answer

    found = Gap(10).read()
    assert found.stop is Stop.EMPTY_PAGE
    assert found.is_faulty
    assert [entry.intent_id for entry in found.entries] == ids(1)


@pytest.mark.parametrize(
    ("seconds", "pages"),
    [
        pytest.param(0.1, 4, id="a quick service: as many pages as a view reads"),
        pytest.param(2.5, 2, id="a slow one: as many as the page has time for"),
        pytest.param(7.0, 1, id="a very slow one: what came in time"),
    ],
)
def test_reading_stops_before_the_page_deadline(monkeypatch: pytest.MonkeyPatch, seconds: float, pages: int) -> None:
    now = [100.0]
    clock = types.SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr(request_context, "time", clock)
    monkeypatch.setattr(worklist, "time", clock)

    def take(_: int) -> None:
        now[0] += seconds

    with within(8.0):
        found = List(10, before=take).read()
        assert found.stop is (Stop.ENOUGH if pages == MOST_PAGES else Stop.TIME)
        assert len(found.entries) == 2 * pages
        assert found.following is not None
        left = request_context.seconds_left()
        assert left is not None
        assert left >= min(SECONDS_AFTERWARDS, 8 - seconds)
