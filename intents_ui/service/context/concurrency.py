"""Run several service calls concurrently.

They run in threads, with the page's deadline and its slot. One client address gets at most a quarter of the threads.
"""

import contextvars
from collections.abc import Callable
from concurrent.futures import Future

from intents_ui.service.context import processor, request_context
from intents_ui.service.context.request_context import seconds_left
from intents_ui.service.context.shares import FairThreads
from intents_ui.service.errors import OutOfTime, ServiceError

THREADS = 48


def together[T](*questions: Callable[[], T]) -> list[T | ServiceError]:
    """Return each call's result, or its ServiceError, in order. The first call runs in the current thread."""
    if not questions:
        return []
    first, *others = questions
    pending = [_start(question) for question in others]
    return [_run(first), *(_result(other) for other in pending)]


def both[A, B](one: Callable[[], A], other: Callable[[], B]) -> tuple[A | ServiceError, B | ServiceError]:
    """Run two calls with different result types concurrently."""
    pending = _start(other)
    return _run(one), _result(pending)


def in_turn[A, B](one: Callable[[], A], other: Callable[[], B]) -> tuple[A | ServiceError, B | ServiceError]:
    """Like `both`, but sequentially in the current thread."""
    return _run(one), _run(other)


def aside[T](question: Callable[[], T]) -> "Future[T]":
    """Run a call in the background, without the page's deadline and slot. It continues after the page is done."""
    return _submit(request_context.apart(), question)


def _start[T](question: Callable[[], T]) -> "Future[T | ServiceError]":
    return _submit(contextvars.copy_context(), lambda: _run(question))


def _submit[T](context: contextvars.Context, question: Callable[[], T]) -> "Future[T]":
    visitor = request_context.visitor()

    def answer() -> T:
        with processor.computing(visitor):
            return context.run(question)

    return _threads.submit(answer, visitor)


def _run[T](question: Callable[[], T]) -> T | ServiceError:
    try:
        return question()
    except ServiceError as error:
        return error.with_traceback(None)  # drops the traceback, which references every frame that it passed


def _result[T](asked: "Future[T | ServiceError]") -> T | ServiceError:
    try:
        with processor.waiting():
            return asked.result(seconds_left())
    except TimeoutError:
        asked.cancel()  # it may still be waiting for a thread
        return OutOfTime()


def _new_threads(most: int) -> FairThreads:
    return FairThreads(most, name="question")


_threads = _new_threads(THREADS)  # threads start on demand


def use_threads(most: int) -> None:
    """Replace the thread pool.

    Pass the number of connections to the service, because more threads would only wait for one.
    """
    global _threads
    before, _threads = _threads, _new_threads(most)
    before.shutdown()


def end_threads() -> None:
    """Cancel calls that wait for a thread, and let running ones finish."""
    use_threads(THREADS)
