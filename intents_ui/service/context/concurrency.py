"""Run several service calls of a page concurrently.

They run in threads, with the page's deadline and its slot. One client address gets at most a quarter of the threads.
"""

import contextvars
from collections.abc import Callable
from concurrent.futures import CancelledError, Future

from intents_ui.service.context import request_context, shares
from intents_ui.service.context.request_context import seconds_left
from intents_ui.service.context.shares import FairThreads
from intents_ui.service.errors import OutOfTime, Overloaded, ServiceError

SHUTDOWN = "the dashboard is shutting down"


class CallThreads:
    """At most `most` threads, which start on demand."""

    def __init__(self, most: int) -> None:
        self._threads = FairThreads(most, name="question")

    def together[T](self, *questions: Callable[[], T]) -> list[T | ServiceError]:
        """Return each call's result, or its ServiceError, in order. The first call runs in the current thread."""
        if not questions:
            return []
        first, *others = questions
        pending = [self._start(question) for question in others]
        return [_run(first), *(_result(other) for other in pending)]

    def both[A, B](self, one: Callable[[], A], other: Callable[[], B]) -> tuple[A | ServiceError, B | ServiceError]:
        """Run two calls with different result types concurrently."""
        pending = self._start(other)
        return _run(one), _result(pending)

    def aside[T](self, question: Callable[[], T]) -> "Future[T]":
        """Run a call in the background, without the page's deadline and slot. It continues after the page is done.

        Raises Overloaded after `shutdown`, which cancels the futures of calls that wait for a thread.
        """
        return self._submit(request_context.apart(), question)

    def shutdown(self) -> None:
        """Cancel calls that wait for a thread, and let running ones finish."""
        self._threads.shutdown()

    def _start[T](self, question: Callable[[], T]) -> "Future[T | ServiceError]":
        try:
            return self._submit(contextvars.copy_context(), lambda: _run(question))
        except Overloaded as error:
            ended: Future[T | ServiceError] = Future()
            ended.set_result(error)
            return ended

    def _submit[T](self, context: contextvars.Context, question: Callable[[], T]) -> "Future[T]":
        visitor = request_context.visitor()

        def answer() -> T:
            with shares.computing(visitor):
                return context.run(question)

        try:
            return self._threads.submit(answer, visitor)
        except RuntimeError:
            raise Overloaded(SHUTDOWN) from None


def in_turn[A, B](one: Callable[[], A], other: Callable[[], B]) -> tuple[A | ServiceError, B | ServiceError]:
    """Run two calls sequentially in the current thread, with the results of `CallThreads.both`."""
    return _run(one), _run(other)


def _run[T](question: Callable[[], T]) -> T | ServiceError:
    try:
        return question()
    except ServiceError as error:
        return error.with_traceback(None)  # drops the traceback, which references every frame that it passed


def _result[T](asked: "Future[T | ServiceError]") -> T | ServiceError:
    try:
        with shares.waiting():
            return asked.result(seconds_left())
    except TimeoutError:
        asked.cancel()  # it may still be waiting for a thread
        return OutOfTime()
    except CancelledError:
        return Overloaded(SHUTDOWN)
