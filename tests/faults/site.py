"""The dashboard with a misbehaving service, a log to inspect, and a clock to move."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.core.cache import cache
from django.http import HttpResponseBase
from django.test import Client
from pydantic import SecretStr
from selectolax.lexbor import LexborHTMLParser

from intents_ui import app, startup
from intents_ui.service import request_context
from intents_ui.service.client import DeadlineTransport, ServiceClient
from tests.faults.upstream import Upstream
from tests.pages.conftest import switch_to
from tests.pages.reading import content
from tests.policies import policies, seconds
from tests.service.clients import CANARY

USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
NOTHING = "0x" + "12" * 32
PAGE_SECONDS = 8.0
# Most tests don't test timeouts, and the machine may be busy.
PATIENT = policies(**seconds(60))


class Log(logging.Handler):
    """Log lines since `lines` was cleared."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@dataclass
class Dashboard:
    """The dashboard with a service on a socket. `open` requests a page with empty caches, `visit` with current ones."""

    service: Upstream
    log: Log
    transport: DeadlineTransport
    patch: pytest.MonkeyPatch
    ahead: float = 0.0

    def begin(self, *, how_long: Any = PATIENT, url: str = "") -> None:
        self.ahead = 0.0
        config = replace(
            app.service_config(), base_url=url or self.service.url, access_key=SecretStr(CANARY), policies=how_long
        )
        client = ServiceClient(config, transport=self.transport, clock=self.clock)
        switch_to(startup.build(emulator=app.current().emulator, service=client))
        cache.clear()
        self.log.lines.clear()

    def open(self, path: str, *, how_long: Any = PATIENT, url: str = "", **how: Any) -> HttpResponseBase:
        self.begin(how_long=how_long, url=url)
        return self.visit(path, **how)

    def clock(self) -> float:
        return time.monotonic() + self.ahead

    def later(self, seconds: float) -> None:
        """Move the clock."""
        self.ahead += seconds

    def visit(self, path: str, *, seconds: float = 60.0, **how: Any) -> HttpResponseBase:
        with request_context.within(seconds):
            answer = Client(raise_request_exception=False).get(path, **how)
        answer.body = content(answer)
        return answer


def main_text(answer: Any) -> str:
    return " ".join(LexborHTMLParser(answer.body).css_first("main").text(separator=" ").split())


# What the Content-Security-Policy would block.
FORBIDDEN = (
    "[style], style, script:not([src]), iframe, object, base, [onclick], [onload], [onerror], a[href^='javascript:']"
)


def layout_problems(page: str) -> Iterator[str]:
    """Yield what the layout of each page has and this one lacks, and what none has."""
    tree = LexborHTMLParser(page)
    for what in ("html[lang=en]", "head > title", "main", "h1", "main h1", "header nav", "footer"):
        if len(tree.css(what)) != 1:
            yield f"{len(tree.css(what))} {what}"
    if not page.rstrip().endswith("</html>"):
        yield "does not end"
    if found := tree.css(FORBIDDEN):
        yield f"violates the policy: {found[0].html}"
