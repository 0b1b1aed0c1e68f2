"""Error reports to Sentry, without secrets.

Its package is imported only if SENTRY_DSN is set. It gets what the log contains (names of pages and operations,
statuses, request IDs), and no addresses, bodies or keys.
"""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from django.conf import settings
from pydantic import HttpUrl, RedisDsn, SecretStr

from intents_ui.installation import version
from intents_ui.settings import ENV, SHORTEST_SECRET

HIDDEN = "…"
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')  # of JSON
# Also inside of another URL.
USER_OF_A_URL = r"((?::|%3[Aa])(?:/|%2[Ff]){2})[^\s/?#<>]*(@|%40)"


def begin() -> None:
    """Report errors if SENTRY_DSN is set. Call it in the worker process, because threads don't survive a fork."""
    if ENV.sentry_dsn is None:
        return
    import sentry_sdk
    from sentry_sdk.integrations.logging import LoggingIntegration

    # Only error logs are reported. No integration reads requests or local variables.
    sentry_sdk.init(
        dsn=ENV.sentry_dsn.get_secret_value(),
        release=f"intents-ui@{version()}",
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[LoggingIntegration(level=None, event_level=logging.ERROR)],
        include_local_variables=False,
        send_default_pii=False,
        max_request_body_size="never",
        before_send=lambda event, hint: without_secrets(event),
    )


def without_secrets(event: Any) -> Any:
    """Return a copy of an event, which is JSON, without our secrets and the users of URLs in any of its strings."""
    written = {json.dumps(form)[1:-1] for secret in _secrets() for form in _forms_of(secret) if form}
    # The longest first: one may be a part of another.
    pattern = re.compile("|".join((*map(re.escape, sorted(written, key=len, reverse=True)), USER_OF_A_URL)))

    def hidden(string: re.Match[str]) -> str:
        return pattern.sub(lambda found: f"{found[1] or ''}{HIDDEN}{found[2] or ''}", string[0])

    return json.loads(STRING.sub(hidden, json.dumps(event, default=str)))


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
