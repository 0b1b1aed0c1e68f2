"""Log formatters with one line per event, as text or JSON, and a filter for Django's debug pages."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.views.debug import SafeExceptionReporterFilter

from intents_ui.formatting.text import visible
from intents_ui.service import request_context

MAX_ONCE = 100
REQUESTS = "intents_ui.requests"  # Logger whose record arguments become fields of the JSON line.


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if origin := request_context.current().origin:
            line["request_id"] = origin.id
        if record.name == REQUESTS and isinstance(record.args, Mapping):
            line |= record.args
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


class RefusedRequests(logging.Filter):
    """Filter that logs requests rejected by Django as warnings without a stack trace.

    Too many fields or an invalid host are the client's errors.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.exc_info = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class OnceOnly(logging.Filter):
    """Filter that logs a message with `extra={"once": True}` once, and at most MAX_ONCE different ones."""

    def __init__(self) -> None:
        super().__init__()
        self._logged: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        if not getattr(record, "once", False):
            return True
        message = record.getMessage()
        is_new = message not in self._logged and len(self._logged) < MAX_ONCE
        if is_new:
            self._logged.add(message)
        return is_new


class TextLines(logging.Formatter):
    """Text formatter. Control characters are escaped, so that no message can forge a log line."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return visible(super().formatMessage(record))

    def formatException(self, info: Any) -> str:
        return "\n".join(f"  {visible(line)}" for line in super().formatException(info).split("\n"))


class NoSettings(SafeExceptionReporterFilter):
    """Hides all settings. Django's own filter goes by names and would show a URL that contains a password."""

    def get_safe_settings(self) -> dict[str, Any]:
        return {}
