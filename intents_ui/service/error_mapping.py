"""Maps the service's error responses to `ServiceError` classes.

The error's code and name take precedence over the HTTP status: "not found" is code 8000 with HTTP 400.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from intents_ui.service import errors
from intents_ui.service.errors import (
    KNOWN,
    LONGEST_TEXT,
    MAX_PAUSE_SECONDS,
    SLOW_DOWN_SECONDS,
    Reason,
    ServiceError,
)
from intents_ui.service.wire.scalars import read_text

_BY_NAME = dict(KNOWN.values())

_BY_STATUS: Mapping[int, type[ServiceError]] = {
    401: errors.AccessDenied,
    403: errors.AccessDenied,
    404: errors.NotFound,
    407: errors.AccessDenied,
    408: errors.Unreachable,
    409: errors.WrongState,
    410: errors.Expired,
    425: errors.Unreachable,
    429: errors.TooBusy,
    451: errors.AccessDenied,
}


def envelope(document: object) -> Mapping[str, Any] | None:
    """Return the error object in a JSON document, in either form, or None. It can come with any HTTP status."""
    if not isinstance(document, dict):
        return None
    wrapped = document.get("webrpcError")
    if isinstance(wrapped, dict):
        return wrapped
    return document if isinstance(document.get("error"), str) and "code" in document else None


def refusal(found: Mapping[str, Any], *, status: int, retry_after: str | None, now: datetime) -> ServiceError:
    """Return the error for an error object."""
    code = _code(found.get("code"))
    name = _text(found.get("error") or found.get("name"))
    known = KNOWN.get(code) if code is not None else None
    claimed = _code(found.get("status") or found.get("httpStatus"))
    kind = known[1] if known else _BY_NAME.get(name or "") or _by_status(status if status >= 400 else claimed or status)
    error = kind(
        _text(found.get("msg") or found.get("message")) or "",
        status=status,
        code=code,
        name=name,
        cause=_text(found.get("cause")),
    )
    return _completed(error, retry_after=retry_after, now=now)


def bare_refusal(body: str, *, status: int, retry_after: str | None, now: datetime) -> ServiceError:
    """Return the error for an HTTP error status without an error object, such as a proxy's error page."""
    # An HTTP 404 without an error object doesn't mean an unknown intent. Most likely the base URL is wrong.
    kind = errors.Unreadable if status == 404 else _by_status(status)
    return _completed(kind(status=status, cause=_text(body)), retry_after=retry_after, now=now)


def pause(header: str | None, *, now: datetime) -> float:
    """Parse Retry-After (seconds or an HTTP date) into seconds: 5 if it is invalid, 30 at most."""
    if header and (seconds := re.fullmatch(r"[ \t]*([0-9]{1,20})[ \t]*", header)):
        return min(float(seconds[1]), MAX_PAUSE_SECONDS)
    try:
        moment = parsedate_to_datetime(header or "")
    except (ValueError, OverflowError):
        return SLOW_DOWN_SECONDS
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max((moment - now).total_seconds(), 0.0), MAX_PAUSE_SECONDS)


def _by_status(status: int) -> type[ServiceError]:
    if status >= 500:
        return errors.Unreachable
    if status in (400, 405, 411, 413, 414, 415, 422, 431):
        return errors.Invalid
    return _BY_STATUS.get(status, errors.Refused)


def _completed(error: ServiceError, *, retry_after: str | None, now: datetime) -> ServiceError:
    if isinstance(error, errors.TooBusy):
        error.retry_after = pause(retry_after, now=now)
    if isinstance(error, errors.Unreachable) and (error.code == 1900 or error.status in (408, 425, 504)):
        error.reason = Reason.TIMEOUT
    return error


def _code(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9 else None


def _text(value: object) -> str | None:
    if value is None or value == "":
        return None
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return read_text(text[:LONGEST_TEXT])
