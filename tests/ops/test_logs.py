"""Log filters."""

import logging

from intents_ui.ops.logs import MAX_ONCE, OnceOnly


def record(message: str, **extra: object) -> logging.LogRecord:
    found = logging.LogRecord("a logger", logging.WARNING, __file__, 1, message, (), None)
    vars(found).update(extra)
    return found


def test_a_message_for_once_is_logged_once() -> None:
    once = OnceOnly()
    assert [once.filter(record("a", once=True)) for _ in range(3)] == [True, False, False]
    assert once.filter(record("b", once=True))
    assert [once.filter(record("a")) for _ in range(2)] == [True, True]


def test_the_number_of_different_messages_for_once_is_bounded() -> None:
    once = OnceOnly()
    assert sum(once.filter(record(str(number), once=True)) for number in range(3 * MAX_ONCE)) == MAX_ONCE
    assert once.filter(record("another"))
