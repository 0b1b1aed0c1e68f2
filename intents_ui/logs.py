"""One event, one line: log records as JSON objects, and what hostile requests leave in the log."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from intents_ui.display.text import visible
from intents_ui.service import origin

REQUESTS = "intents_ui.requests"  # what is told of each of them stands in its line member by member


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        about = origin.current()
        if about:
            line["request_id"] = about.id
        if record.name == REQUESTS and isinstance(record.args, Mapping):
            line |= record.args
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


class RefusedRequests(logging.Filter):
    """A request that Django refuses (too many fields, an odd host) is its sender's fault: a line, without a stack."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.exc_info = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class TextLines(logging.Formatter):
    """One event, one line for people too: nothing in it begins a line that looks like another event."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return visible(super().formatMessage(record))

    def formatException(self, info: Any) -> str:
        """Beneath its event, and set in."""
        return "\n".join(f"  {visible(line)}" for line in super().formatException(info).split("\n"))
