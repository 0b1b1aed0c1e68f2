"""Optional telemetry: traces to an OpenTelemetry collector, and errors to Sentry.

Each package is imported only if its variable is set (OTEL_EXPORTER_OTLP_ENDPOINT, SENTRY_DSN). They get what the log
contains (names of pages and operations, statuses, request IDs), and no addresses, bodies or keys.
"""

import json
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from django.conf import settings
from pydantic import HttpUrl, RedisDsn, SecretStr

from intents_ui.service.context import request_context
from intents_ui.service.context.request_context import Origin
from intents_ui.settings import ENV, SHORTEST_SECRET

HIDDEN = "…"
# Also inside of another URL.
USER_OF_A_URL = r"((?::|%3[Aa])(?:/|%2[Ff]){2})[^\s/?#<>]*(@|%40)"


class Telemetry:
    """The process's telemetry. Nothing is recorded before `begin`, or without a collector."""

    def __init__(self) -> None:
        self._tracer: Any = None

    def begin(self) -> None:
        """Start telemetry. Call it in the worker process, because the libraries' threads don't survive a fork."""
        if ENV.otel_exporter_otlp_endpoint:
            self._tracer = _new_tracer()
        if ENV.sentry_dsn:
            _begin_sentry(ENV.sentry_dsn.get_secret_value())

    def end(self) -> None:
        """Flush and stop telemetry."""
        if self._tracer:
            from opentelemetry import trace

            provider: Any = trace.get_tracer_provider()
            provider.shutdown()

    def request_began(self, request: Origin) -> None:
        if self._tracer:
            from opentelemetry.trace import SpanKind

            request.span = self._tracer.start_span("request", kind=SpanKind.SERVER)

    def request_ended(self, request: Origin, fields: Mapping[str, Any]) -> None:
        span = request.span
        if span:
            span.update_name(f"{fields['method']} {fields['view']}")
            for name, value in fields.items():
                span.set_attribute(f"intents.{name}", value)
            span.end()

    def called(self, operation: str, error: BaseException | None, seconds: float) -> None:
        """Record a span for one attempt of a service call that has just ended."""
        if not self._tracer:
            return
        from opentelemetry.trace import SpanKind, set_span_in_context

        request = request_context.current()
        within = set_span_in_context(request.span) if request and request.span else None
        ended = time.time_ns()
        span = self._tracer.start_span(
            operation, context=within, kind=SpanKind.CLIENT, start_time=ended - round(seconds * 1_000_000_000)
        )
        span.set_attribute("intents.error", type(error).__name__ if error else "")
        span.end(ended)


def _new_tracer() -> Any:
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    os.environ.setdefault("OTEL_SERVICE_NAME", "intents-ui")  # the library reads this and related variables
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return trace.get_tracer("intents_ui")


def _begin_sentry(dsn: str) -> None:
    import sentry_sdk
    from sentry_sdk.integrations.logging import LoggingIntegration

    # Only error logs are reported. No integration reads requests or local variables.
    sentry_sdk.init(
        dsn=dsn,
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[LoggingIntegration(level=None, event_level=logging.ERROR)],
        include_local_variables=False,
        send_default_pii=False,
        max_request_body_size="never",
        before_send=lambda event, hint: without_secrets(event),
    )


def without_secrets(event: Any) -> Any:
    """Return a copy of an event without our secrets and without the users of URLs, in all of its texts."""
    written = {form for secret in _secrets() for form in _forms_of(secret) if form}
    # The longest first: one may be a part of another.
    pattern = re.compile("|".join((*map(re.escape, sorted(written, key=len, reverse=True)), USER_OF_A_URL)))

    def hidden(value: Any) -> Any:
        match value:
            case None | bool() | int() | float() | datetime():
                return value
            case dict():
                return {hidden(name): hidden(each) for name, each in value.items()}
            case list() | tuple() | set() | frozenset():
                return [hidden(each) for each in value]
            case bytes():
                return hidden(value.decode(errors="replace"))
            case _:
                return pattern.sub(lambda found: f"{found[1] or ''}{HIDDEN}{found[2] or ''}", str(value))

    return hidden(event)


def _secrets() -> Iterator[str]:
    """Yield each secret of the settings, the entries of a list, and the password of each URL."""
    yield settings.SECRET_KEY
    for _, value in ENV:
        if isinstance(value, SecretStr):
            yield value.get_secret_value()
            yield from (each for each in re.split(r"[,\s]+", value.get_secret_value()) if len(each) >= SHORTEST_SECRET)
        if isinstance(value, SecretStr | RedisDsn | HttpUrl):
            url = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            with suppress(ValueError):
                yield urlsplit(url).password or ""


def _forms_of(secret: str) -> Iterator[str]:
    """Yield a secret as it is written in plain text, in URLs, in JSON and in Python."""
    for raw in (secret, unquote(secret)):
        yield from (raw, quote(raw), quote(raw, safe=""), quote_plus(raw))
        yield from (json.dumps(raw)[1:-1], json.dumps(raw, ensure_ascii=False)[1:-1])
        yield from (repr(raw)[1:-1], repr(f"{raw}'\"")[1:-4])
