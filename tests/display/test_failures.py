"""Every error of the tree has words and a code of its own for readers."""

import pytest

from intents_ui.display import failures
from intents_ui.service import errors


def kinds(error: type[errors.ServiceError]) -> list[type[errors.ServiceError]]:
    return [error, *(kind for each in error.__subclasses__() for kind in kinds(each))]


@pytest.mark.parametrize("kind", kinds(errors.ServiceError))
def test_every_error_has_words_that_send_nobody_to_pay_again(kind: type[errors.ServiceError]) -> None:
    words = failures.words(kind())
    assert words.title
    assert "again" in words.todo or "Check" in words.todo
    assert failures.status(kind()).value in (400, 403, 404, 429, 503)


def test_our_own_crowd_is_not_told_as_the_services_wish() -> None:
    ours, theirs = failures.words(errors.Overloaded()), failures.words(errors.TooBusy())
    assert "dashboard" in ours.title
    assert "service asked" in theirs.title
    assert failures.status(errors.Overloaded()) == 503
