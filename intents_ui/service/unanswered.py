"""What was asked in vain for a page, so that it can name each question with the reference that our log has."""

import contextlib
import logging
from collections.abc import Iterator, Sequence
from contextvars import ContextVar

from intents_ui.service import origin
from intents_ui.service.errors import ServiceError

log = logging.getLogger("intents_ui.service")

_told: ContextVar[list[ServiceError] | None] = ContextVar("unanswered", default=None)


@contextlib.contextmanager
def collecting() -> Iterator[list[ServiceError]]:
    """Around the making of a page; in threads too that have its context (`together`)."""
    errors: list[ServiceError] = []
    token = _told.set(errors)
    try:
        yield errors
    finally:
        _told.reset(token)


def told() -> Sequence[ServiceError]:
    """So far, and as it goes on."""
    errors = _told.get()
    return () if errors is None else errors


def tell(error: ServiceError) -> None:
    if error.request_id is None:
        error.request_id = origin.reference()
        log.info("%s was not asked, reference %s: %s", error.operation, error.request_id, error.summary)
    errors = _told.get()
    if errors is not None:
        errors.append(error)
