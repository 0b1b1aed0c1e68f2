"""What stands between the readers and the service, so that many readers do not become many questions.

Equal questions under way are asked once; chains and token lists are kept for their lifetime. Errors are never kept, and
what changes something (quote, commit, execute) is neither shared nor kept.
"""

import contextlib
import copy
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, cast

from cachetools import TLRUCache

from intents_ui.service.allowance import claim
from intents_ui.service.deadline import is_over, time_left
from intents_ui.service.errors import OutOfTime, Reason, ServiceError, Unreachable
from intents_ui.service.operations import Call

KEPT_ANSWERS = 128
JITTER = 0.1  # so that what was learned together does not grow old together

type Question = tuple[str, bytes]


class Guard:
    """Asks through `ask`, which takes at most `patience(call)` seconds. Safe for threads."""

    def __init__(
        self,
        ask: Callable[[Call[Any]], Any],
        *,
        patience: Callable[[Call[Any]], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._patience = patience
        self._lock = threading.Lock()
        self._under_way: dict[Question, Future[Any]] = {}
        self._kept: TLRUCache[Question, tuple[Any, float]] = TLRUCache(KEPT_ANSWERS, _end_of_life, timer=clock)

    def knows(self, call: Call[Any]) -> bool:
        """Whether the answer is kept, so that asking would cost nothing."""
        with self._lock:
            return _question(call) in self._kept

    def ask[T](self, call: Call[T]) -> T:
        question = _question(call)
        with self._lock, contextlib.suppress(KeyError):
            # Read once: between two readings of the clock the answer's lifetime may end.
            return cast(T, self._kept[question][0])
        try:
            claim()
        except ServiceError as error:
            error.operation = call.operation
            raise
        return cast(T, self._ask_with_others(call, question) if call.is_read else self._ask(call))

    def _ask_with_others(self, call: Call[Any], question: Question) -> Any:
        while True:
            with self._lock:
                others = self._under_way.get(question)
                mine = None if others else self._under_way.setdefault(question, Future())
            if mine:
                return self._ask_for_all(call, question, mine)
            try:
                return self._wait(call, cast("Future[Any]", others))
            except OutOfTime:
                # The page that asked for us all had no time left. Ours may.
                if is_over():
                    raise

    def _ask_for_all(self, call: Call[Any], question: Question, result: "Future[Any]") -> Any:
        try:
            answer = self._ask(call)
        except BaseException as error:
            with self._lock:
                del self._under_way[question]
            result.set_exception(error if isinstance(error, ServiceError) else Unreachable.because(Reason.BROKEN))
            raise
        with self._lock:
            del self._under_way[question]
            if call.fresh_for:
                self._kept[question] = answer, call.fresh_for * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311
        result.set_result(answer)
        return answer

    def _wait(self, call: Call[Any], result: "Future[Any]") -> Any:
        patience = self._patience(call)
        try:
            return result.result(time_left(patience, expired=TimeoutError))
        except ServiceError as error:
            failure: ServiceError = copy.copy(error)  # an exception keeps its traceback; threads must not share one
        except TimeoutError:
            failure = OutOfTime() if is_over() else Unreachable.because(Reason.TIMEOUT)
            failure.operation = call.operation
        raise failure


def _question(call: Call[Any]) -> Question:
    return call.operation, call.written


def _end_of_life(question: Question, kept: tuple[Any, float], now: float) -> float:
    return now + kept[1]
