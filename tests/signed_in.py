"""Requests that a proxy passes on, which says who is signed in."""

from typing import cast

import pytest
from django.http import HttpResponse

from intents_ui.application import PAGES
from intents_ui.settings import ENV, Environment

PROXY = "10.1.2.3"
NAME, GROUPS = "X-Forwarded-User", "X-Forwarded-Groups"
SETTINGS = ("intents_user_header", "intents_groups_header", "intents_support_groups", "intents_operator_groups")


def trust_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Environment(
        trusted_proxies="10.0.0.0/8",
        intents_user_header=NAME,
        intents_groups_header=GROUPS,
        intents_support_groups="support",
        intents_operator_groups="ops",
    )  # type: ignore[arg-type]  # as in the environment
    for name in ("trusted_proxies", *SETTINGS):
        monkeypatch.setattr(ENV, name, getattr(given, name))


def get(path: str, *, group: str | None = None, peer: str = PROXY) -> HttpResponse:
    """Return a page as a member of a group of users, or of none, sees it. Without `group` nobody is signed in."""
    headers = [(b"host", b"localhost")]
    if group is not None:
        headers += [(NAME.lower().encode(), b"ann"), (GROUPS.lower().encode(), group.encode())]
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": headers,
        "client": (peer, 1234),
        "server": ("localhost", 80),
        "scheme": "http",
    }
    return cast(HttpResponse, PAGES.page(scope)[0])
