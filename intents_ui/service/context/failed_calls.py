"""Failed calls of the current page, so that it can show the request ID of each one."""

import contextlib
import logging
from collections.abc import Iterator, Sequence
from contextvars import ContextVar

from intents_ui.service.context import request_context
from intents_ui.service.errors import ServiceError

log = logging.getLogger("intents_ui.service")

_failed: ContextVar[list[ServiceError] | None] = ContextVar("unanswered", default=None)


@contextlib.contextmanager
def collecting() -> Iterator[list[ServiceError]]:
    """Collect the failed calls of the block, including those in threads with a copy of its context (`concurrency`)."""
    errors: list[ServiceError] = []
    token = _failed.set(errors)
    try:
        yield errors
    finally:
        _failed.reset(token)


def told() -> Sequence[ServiceError]:
    """Return the list of failed calls, which grows while the block runs."""
    errors = _failed.get()
    return () if errors is None else errors


def tell(error: ServiceError) -> None:
    if error.request_id is None:
        error.request_id = request_context.reference()
        log.info("%s skipped (request ID %s): %s", error.operation, error.request_id, error.summary)
    errors = _failed.get()
    if errors is not None:
        errors.append(error)
