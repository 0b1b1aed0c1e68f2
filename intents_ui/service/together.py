"""Several questions to the service at once, so that a page waits for the slowest of them and not for their sum.

They are asked in threads of their own, with the page's deadline and its place (`allowance`). One address has a quarter
of the threads at most.
"""

import contextvars
from collections.abc import Callable
from concurrent.futures import Future

from intents_ui.service import origin, processor
from intents_ui.service.deadline import seconds_left
from intents_ui.service.errors import OutOfTime, ServiceError
from intents_ui.service.shares import FairThreads

THREADS = 48


def together[T](*questions: Callable[[], T]) -> list[T | ServiceError]:
    """Each question's answer, or the error that it ended with, in their order. The first is asked in this thread."""
    if not questions:
        return []
    first, *others = questions
    asked = [_asked(question) for question in others]
    return [_answer(first), *(_answered(other) for other in asked)]


def both[A, B](one: Callable[[], A], other: Callable[[], B]) -> tuple[A | ServiceError, B | ServiceError]:
    """`together` for two questions with answers of different kinds."""
    asked = _asked(other)
    return _answer(one), _answered(asked)


def in_turn[A, B](one: Callable[[], A], other: Callable[[], B]) -> tuple[A | ServiceError, B | ServiceError]:
    """`both` in this thread, one after the other."""
    return _answer(one), _answer(other)


def aside[T](question: Callable[[], T]) -> "Future[T]":
    """A question that goes on when its page no longer waits: it has neither the page's time nor its place."""
    return _submitted(origin.apart(), question)


def _asked[T](question: Callable[[], T]) -> "Future[T | ServiceError]":
    return _submitted(contextvars.copy_context(), lambda: _answer(question))


def _submitted[T](context: contextvars.Context, question: Callable[[], T]) -> "Future[T]":
    visitor = origin.visitor()

    def answer() -> T:
        with processor.computing(visitor):
            return context.run(question)

    return _threads.submit(answer, visitor)


def _answer[T](question: Callable[[], T]) -> T | ServiceError:
    try:
        return question()
    except ServiceError as error:
        return error.with_traceback(None)  # which would hang on to every frame that it went through


def _answered[T](asked: "Future[T | ServiceError]") -> T | ServiceError:
    try:
        with processor.waiting():
            return asked.result(seconds_left())
    except TimeoutError:
        asked.cancel()  # it may not have found a thread yet
        return OutOfTime()


def _new_threads(most: int) -> FairThreads:
    return FairThreads(most, name="question")


_threads = _new_threads(THREADS)  # each is started when it is needed


def use_threads(most: int) -> None:
    """As many as there are connections to the service: a question beyond them would only wait there."""
    global _threads
    before, _threads = _threads, _new_threads(most)
    before.shutdown()


def end_threads() -> None:
    """They end with the questions that they ask; what still waits for one is not asked any more."""
    use_threads(THREADS)
