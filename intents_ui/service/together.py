"""Several questions to the service at once, so that a page waits for the slowest of them and not for their sum."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from intents_ui.service.errors import ServiceError

# As many as there are connections to the service: a question beyond them would only wait there.
THREADS = 48


def together[T](*questions: Callable[[], T]) -> list[T | ServiceError]:
    """Each question's answer, or the error that it ended with, in their order. The first is asked in this thread."""
    if not questions:
        return []
    first, *others = questions
    running = [_threads().submit(_answer, question) for question in others]
    return [_answer(first), *(future.result() for future in running)]


def both[A, B](one: Callable[[], A], other: Callable[[], B]) -> tuple[A | ServiceError, B | ServiceError]:
    """`together` for two questions with answers of different kinds."""
    asked = _threads().submit(_answer, other)
    return _answer(one), asked.result()


def _answer[T](question: Callable[[], T]) -> T | ServiceError:
    try:
        return question()
    except ServiceError as error:
        return error


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="question")
