"""The lists behind the overview and the attention page, read for all viewers together.

At most CALLS calls to the service in PERIOD seconds, however many pages are open. A list whose turn hasn't come, or
that is on its way, is shown as last received, with its age, unless that is more than SHOWN_FOR ago.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from intents_ui import app
from intents_ui.lists import problems as attention
from intents_ui.lists.problems import Problems
from intents_ui.service import operations, request_context
from intents_ui.service.cache import CacheEntry
from intents_ui.service.errors import ServiceError, StaleResponse
from intents_ui.service.models import UNEXECUTED, HistoryAnswer, IntentStatus, Page
from intents_ui.service.operations import CacheKey, ServiceCall
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading

HOME_SIZE = 40
SIZE = 100  # the service's maximum page size
CALLS, PERIOD = 3, 2.0  # calls and seconds
MAX_AGE = 8.0  # seconds. The newest transfers are read again after PERIOD.
SHOWN_FOR = timedelta(seconds=50)  # pages ask every ten seconds, so that nothing on them is older than a minute
COUNTED_FOR = timedelta(minutes=5)  # how long the navigation shows a count

RECOVERABLE = operations.get_intent_history(page=Page.first(size=SIZE), include_balances=True, only_recoverable=True)
# The oldest first, because those are late.
OPEN = operations.get_intent_history(
    page=Page.first(size=SIZE, order="ASC"), by_status=IntentStatus.EXECUTING, include_balances=True
)
FAILED = operations.get_intent_history(page=Page.first(size=SIZE), by_status=IntentStatus.FAILED, include_balances=True)
FUNDED = operations.get_intent_history(
    page=Page.first(size=HOME_SIZE),
    by_statuses=[each for each in IntentStatus if each not in UNEXECUTED],
)
PROBLEMS = {"recoverable": RECOVERABLE, "open": OPEN, "failed": FAILED}


@dataclass(frozen=True)
class Listing:
    """The first page of a list. `is_whole`: the list has no further page."""

    rows: Sequence[Transfer]
    is_whole: bool
    read_at: datetime


type Read = Listing | ServiceError | None


@dataclass(frozen=True)
class ProblemLists:
    """The transfers with a problem, and the lists that they are from, by their names in PROBLEMS."""

    problems: Problems
    lists: Mapping[str, Read]

    @property
    def unread(self) -> dict[str, ServiceError | None]:
        """Return the lists that are missing: with their error, or None if their turn hasn't come."""
        return {name: each for name, each in self.lists.items() if not isinstance(each, Listing)}

    @property
    def is_awaited(self) -> bool:
        """Return whether a list hasn't been read yet, because there were too many calls at once."""
        return None in self.lists.values()

    def has(self, *names: str) -> bool:
        return all(isinstance(self.lists[name], Listing) for name in names)

    def is_whole(self, *names: str) -> bool:
        """Return whether these lists have no further pages, so that counts are exact."""
        return self.has(*names) and not {*names} & {*self.cut}

    @property
    def cut(self) -> list[str]:
        """Return the lists of which only the first page was read."""
        return [name for name, each in self.lists.items() if isinstance(each, Listing) and not each.is_whole]

    @property
    def read_at(self) -> datetime | None:
        """Return when the oldest of the lists was read."""
        return min((each.read_at for each in self.lists.values() if isinstance(each, Listing)), default=None)


class AttentionReader:
    """Reads the lists within the limit on calls. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent: dict[CacheKey, float] = {}
        # Three lists are most of what the cache holds, so it may have dropped one.
        self._received: dict[CacheKey, tuple[HistoryAnswer | ServiceError, datetime]] = {}
        self._counted: tuple[int, datetime] | None = None

    def read(self, calls: Sequence[ServiceCall[HistoryAnswer]]) -> list[Read]:
        """Return each list, its error, or None if it wasn't received lately and is yet to come."""
        service = app.current().service
        before = {call.cache_key: service.cache.peek(call) for call in calls}
        due = [call for call in calls if not _is_recent(call, before[call.cache_key])]
        # Missing ones first, in this order, then the oldest.
        due.sort(key=lambda call: -entry.age if (entry := before[call.cache_key]) else float("-inf"))
        turns = [call for call in due if self._take(call)]
        answers = service.threads.together(*(partial(_ask, call) for call in turns))
        asked = {call.cache_key: answer for call, answer in zip(turns, answers, strict=True) if answer}
        waiting = {call.cache_key for call in due} - asked.keys()
        known = service.cache.get_many(calls)
        read = [
            self._last(call, asked.get(call.cache_key), last, is_waiting=call.cache_key in waiting)
            for call, last in zip(calls, known, strict=True)
        ]
        lists = [answer.intents for answer, _ in read if isinstance(answer, HistoryAnswer)]
        rows = iter(reading.of_lists(lists))
        return [
            Listing(next(rows), answer.following is None, at) if isinstance(answer, HistoryAnswer) else answer
            for answer, at in read
        ]

    def problem_lists(self, lists: Sequence[Read]) -> ProblemLists:
        """Return the transfers of these lists, which are those of PROBLEMS, that need attention."""
        read = [each.rows for each in lists if isinstance(each, Listing)]
        found = app.current().transfers.get(
            "problems", read, make=lambda: attention.of([transfer for rows in read for transfer in rows])
        )
        if len(read) == len(PROBLEMS):
            self._counted = found.count, datetime.now(UTC)
        return ProblemLists(found, dict(zip(PROBLEMS, lists, strict=True)))

    def read_problems(self) -> ProblemLists:
        """Read the lists of PROBLEMS. Raises ServiceError if none can be read."""
        lists = self.read([*PROBLEMS.values()])
        errors = [each for each in lists if isinstance(each, ServiceError)]
        if errors and not any(isinstance(each, Listing) for each in lists):
            raise errors[0]
        return self.problem_lists(lists)

    @property
    def count(self) -> int | None:
        """Return how many transfers need attention by the last reading, None if that is too old."""
        count, at = self._counted or (0, datetime.min.replace(tzinfo=UTC))
        return count if datetime.now(UTC) - at < COUNTED_FOR else None

    def _last(
        self,
        call: ServiceCall[HistoryAnswer],
        asked: HistoryAnswer | ServiceError | None,
        cached: CacheEntry | None,
        *,
        is_waiting: bool,
    ) -> tuple[HistoryAnswer | ServiceError | None, datetime]:
        """Return the last known response, or the error if none is known, and when it was received.

        `is_waiting`: a newer one is yet to come, so it is None rather than old.
        """
        now, before = datetime.now(UTC), self._received.get(call.cache_key)
        if cached:
            self._received[call.cache_key] = cached.answer, now - timedelta(seconds=cached.age)
        elif isinstance(asked, HistoryAnswer) or (asked and not (before and isinstance(before[0], HistoryAnswer))):
            self._received[call.cache_key] = asked, now
        elif isinstance(asked, ServiceError) and before:
            request_context.add_stale(StaleResponse(call.operation, before[1], asked, has_balances=call is not FUNDED))
        last, at = self._received.get(call.cache_key, (None, now))
        return (None, now) if is_waiting and now - at > SHOWN_FOR else (last, at)

    def _take(self, call: ServiceCall[HistoryAnswer]) -> bool:
        """Return whether to ask for this call now.

        One that was just sent is asked for again while it is pending or cached: the client sends no second request.
        """
        question, now = call.cache_key, app.current().service.cache.clock()
        with self._lock:
            self._sent = {each: at for each, at in self._sent.items() if now - at < PERIOD}
            if question in self._sent:
                return question not in self._received or app.current().service.cache.peek(call) is not None
            if len(self._sent) >= CALLS:
                return False
            self._sent[question] = now
            return True


def _ask(call: ServiceCall[HistoryAnswer]) -> HistoryAnswer | None:
    """Return the response, or None if only an old one has come so far. Raises ServiceError."""
    with request_context.collecting_stale() as stale:
        answer = app.current().service.ask(call, max_age=_max_age(call))
    for each in stale:
        if each.error.is_timeout and not each.again_in and datetime.now(UTC) - each.learned_at > SHOWN_FOR:
            return None
        request_context.add_stale(each)
    return answer


def _max_age(call: ServiceCall[HistoryAnswer]) -> float:
    return PERIOD if call is FUNDED else MAX_AGE


def _is_recent(call: ServiceCall[HistoryAnswer], entry: CacheEntry | None) -> bool:
    if entry is None or entry.age < _max_age(call):
        return entry is not None
    newest = app.current().service.cache.get(call)
    return newest is not None and newest.is_fresh
