"""Checks of what the dashboard runs with: the proxy in front of it, Redis, and the mirror's database."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

from intents_ui.doctor import Finding, finding
from intents_ui.service.redis import redis_client, redis_errors
from intents_ui.settings import LOOPBACK_HOSTS, Environment, is_loopback

WAIT = 5.0  # seconds for a page
BEHIND = timedelta(minutes=5)  # from which the mirror's lag is too long
EVICTS = ("allkeys", "volatile")  # Redis's policies that make room


def proxy(env: Environment) -> Iterator[Finding]:
    """Yield what the settings say about the proxy."""
    if is_loopback(env.host) and not env.trusted_proxies:
        yield finding("no-proxy", at=env.authority)
    elif not env.trusted_proxies:
        yield finding("proxies-unset")
    elif env.wide_proxies:
        yield finding("proxies-wide", network=env.wide_proxies[0])
    else:
        yield finding("proxies", networks=", ".join(map(str, env.trusted_proxies)))
    if env.trusted_proxies and env.intents_https == "off":
        yield finding("https-off")
    if not is_loopback(env.host) and env.allowed_hosts == LOOPBACK_HOSTS:
        yield finding("hosts-unset", hosts=", ".join(LOOPBACK_HOSTS))


def public_url(url: str, env: Environment, *, transport: httpx.BaseTransport | None = None) -> Iterator[Finding]:
    """Yield what a visitor at this URL gets, through the proxy."""
    page = f"{url.rstrip('/')}/help"
    try:
        with httpx.Client(timeout=WAIT, trust_env=False, transport=transport) as client:
            response = client.get(page)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        yield finding("page-unreachable", page=page, error=type(error).__name__)
        return
    location, status = response.headers.get("location", ""), response.status_code
    if response.is_redirect and page.startswith("https:") and location.startswith("https:"):
        yield finding("page-https-again", page=page)
    elif response.is_redirect:
        yield finding("page-redirects", page=page, location=location)
    elif not response.is_success:
        yield finding("page-400" if status == 400 else "page-fails", page=page, status=status)
    else:
        yield finding("page", page=page)
        if env.intents_https == "on" and "strict-transport-security" not in response.headers:
            yield finding("page-without-hsts", page=page)


def redis(url: str | None) -> Iterator[Finding]:
    if url is None:
        yield finding("no-redis")
        return
    began = time.monotonic()
    try:
        with redis_client(url) as client:
            client.ping()
            seconds = time.monotonic() - began
            memory: Any = client.info("memory")
    except redis_errors() as error:
        yield finding("redis-down", error=type(error).__name__)
        return
    yield finding("redis", ms=seconds * 1000)
    if memory.get("maxmemory") and not str(memory.get("maxmemory_policy")).startswith(EVICTS):
        yield finding("redis-full", policy=memory.get("maxmemory_policy"))


def database() -> Iterator[Finding]:
    """Yield whether the mirror's database has its tables, and whether a process keeps them up to date."""
    if settings.MIRROR_DATABASE is None:
        yield finding("no-mirror")
        return
    is_of_demo = settings.ENV.embedded and settings.ENV.intents_database is None
    if is_of_demo and not settings.MIRROR_DATABASE["NAME"].exists():
        yield finding("no-demo-mirror")
        return
    from intents_ui.mirror import readonly  # imported only with a mirror

    try:
        with readonly.reading(), connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = set(cursor.fetchall())
    except (readonly.CopyUnreadable, DatabaseError, OSError) as error:
        yield finding("mirror-unreadable", error=str(error).splitlines()[0])
        return
    wanted = {each for each in MigrationLoader(None).disk_migrations if each[0] == "mirror"}
    if missing := sorted(name for _, name in wanted - applied):
        yield finding("mirror-without-tables", names=", ".join(missing))
        return
    found = readonly.read_coverage()
    if found is None or not found.is_running:
        yield finding("mirror-stopped")
        return
    yield finding("mirror", transfers=found.transfers)
    if found.holes:
        yield finding("mirror-holes", count=len(found.holes), reason=found.holes[0].reason)
    if found.complete_since is None:
        yield finding("mirror-unfinished")
    elif found.lag > BEHIND:
        yield finding("mirror-behind", minutes=round(found.lag.total_seconds() / 60))
