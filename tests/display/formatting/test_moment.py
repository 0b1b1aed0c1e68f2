"""A moment knows how long what was derived from it stays true."""

import operator
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.display.formatting import times
from intents_ui.display.formatting.moment import BEGINNING, END, TICK, Moment

NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)

times_around_noon = st.timedeltas(-2 * DAY, 2 * DAY).map(lambda apart: NOON + apart)
nearly_now = st.sampled_from([TICK, times.SECOND, times.SKEW, times.MINUTE, HOUR, DAY]).flatmap(
    lambda unit: st.builds(
        lambda count, ticks: NOON + count * unit + ticks * TICK, st.integers(-2, 2), st.integers(-1, 1)
    )
)
anytime = st.one_of(times_around_noon, nearly_now, st.sampled_from([BEGINNING, END]))
uses: Any = st.sampled_from(
    [
        *(operator.lt, operator.le, operator.gt, operator.ge),
        *(lambda now, at, compare=compare: compare(at, now) for compare in (operator.lt, operator.ge)),
        lambda now, at: times.ago(at, now=now),
        lambda now, at: times.utc(at, now=now),
        lambda now, at: times.utc_minute(at, now=now),
        lambda now, at: times.elapsed(at, now=now),
        lambda now, at: now - at,
        lambda now, at: at - now,
        lambda now, at: now == at,
    ]
)


@given(anytime, uses, anytime)
def test_a_result_is_the_same_at_all_times_that_its_moment_covers(
    at: datetime, use: Callable[[datetime, datetime], object], later: datetime
) -> None:
    moment = Moment.of(NOON)
    result = use(moment, at)
    assert result == use(NOON, at)
    assert moment.covers(NOON)
    if moment.covers(later):
        assert use(later, at) == result


@pytest.mark.parametrize(
    ("derive", "since", "until"),
    [
        (lambda now: now >= NOON + HOUR, None, NOON + HOUR),
        (lambda now: now > NOON + HOUR, None, NOON + HOUR + TICK),
        (lambda now: now >= NOON - HOUR, NOON - HOUR, None),
        (lambda now: times.ago(NOON - 7 * times.MINUTE, now=now), NOON, NOON + times.MINUTE),
        (lambda now: times.ago(NOON - 3.25 * HOUR, now=now), NOON - 0.25 * HOUR, NOON + 0.75 * HOUR),
        (lambda now: times.ago(NOON + 3.25 * HOUR, now=now), NOON - 0.75 * HOUR + TICK, NOON + 0.25 * HOUR + TICK),
        (lambda now: times.ago(NOON, now=now), NOON - times.SKEW, NOON + times.SECOND),
        (lambda now: times.ago(NOON + times.SKEW + TICK, now=now), NOON - times.MINUTE + 2 * TICK, NOON + TICK),
        (lambda now: times.utc(NOON, now=now), NOON - 0.5 * DAY, NOON + 0.5 * DAY),
        (
            lambda now: times.elapsed(NOON - 1.25 * times.SECOND, now=now),
            NOON - 0.25 * times.SECOND,
            NOON + 0.75 * times.SECOND,
        ),
        (lambda now: now - NOON, NOON, NOON + TICK),
    ],
)
def test_a_moment_lasts_from_one_change_of_a_result_to_the_next(
    derive: Callable[[datetime], object], since: datetime | None, until: datetime | None
) -> None:
    moment = Moment.of(NOON)
    derive(moment)
    assert moment.covers(since or BEGINNING)
    assert not since or not moment.covers(since - TICK)
    assert moment.covers((until or END) - TICK)
    assert not until or not moment.covers(until)


def test_what_is_derived_after_a_move_is_as_of_the_new_time() -> None:
    moment = Moment.of(NOON)
    moment.move_to(NOON + HOUR)
    assert moment >= NOON + HOUR
    assert not moment.covers(NOON)
    assert moment.exact == moment.unheld == NOON + HOUR
