"""Checks of what the dashboard runs with: the proxy in front of it, Redis, and the mirror's database."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

from intents_ui.doctor import Finding, note, ok, problem, warning
from intents_ui.service.redis import redis_client, redis_errors
from intents_ui.settings import LOOPBACK_HOSTS, Environment, is_loopback

WAIT = 5.0  # seconds for a page
BEHIND = timedelta(minutes=5)  # from which the mirror's lag is too long
EVICTS = ("allkeys", "volatile")  # Redis's policies that make room


def proxy(env: Environment) -> Iterator[Finding]:
    """Yield what the settings say about the proxy."""
    if is_loopback(env.host) and not env.trusted_proxies:
        yield ok(f"The dashboard listens on {env.authority}, without a proxy that it trusts.")
    elif not env.trusted_proxies:
        yield warning(
            "TRUSTED_PROXIES is not set.",
            "Behind a proxy, all visitors have its address, and share one limit.",
            "Set it to the addresses of your proxies, or ignore this without a proxy.",
        )
    elif env.wide_proxies:
        yield problem(
            f"TRUSTED_PROXIES has {env.wide_proxies[0]}, which is so wide that visitors are in it.",
            "They can forge their address, and lift every limit.",
            "List the proxies only.",
        )
    else:
        yield ok(f"Trusted proxies: {', '.join(map(str, env.trusted_proxies))}.")
    if env.trusted_proxies and env.intents_https == "off":
        yield warning(
            "INTENTS_HTTPS is off behind a proxy.",
            "Cookies are sent without TLS, too, and links to the dashboard may begin with http.",
            "Set INTENTS_HTTPS=on if the proxy has a certificate.",
        )
    if not is_loopback(env.host) and env.allowed_hosts == LOOPBACK_HOSTS:
        yield problem(
            f"ALLOWED_HOSTS has only {', '.join(LOOPBACK_HOSTS)}.",
            "Every request from another machine gets 400.",
            "Set it to the names under which people reach the dashboard.",
        )


def public_url(url: str, env: Environment, *, transport: httpx.BaseTransport | None = None) -> Iterator[Finding]:
    """Yield what a visitor at this URL gets, through the proxy."""
    page = f"{url.rstrip('/')}/help"
    try:
        with httpx.Client(timeout=WAIT, trust_env=False, transport=transport) as client:
            response = client.get(page)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        yield problem(
            f"{page} can't be reached: {type(error).__name__}.",
            to_do="Check the URL, its certificate, and whether the proxy runs.",
        )
        return
    location = response.headers.get("location", "")
    if response.is_redirect and page.startswith("https:") and location.startswith("https:"):
        yield problem(
            f"{page} redirects to https again.",
            "The proxy doesn't send X-Forwarded-Proto, or isn't in TRUSTED_PROXIES.",
            "Let the proxy set X-Forwarded-Proto: https, and list its address in TRUSTED_PROXIES.",
        )
    elif response.status_code == 400:
        yield problem(
            f"{page} gets 400.",
            "The proxy passes on a host name that isn't in ALLOWED_HOSTS.",
            "Add the name to ALLOWED_HOSTS, and let the proxy pass on the Host header.",
        )
    elif response.is_redirect:
        yield ok(f"{page} redirects to {location}.")
    elif not response.is_success:
        yield problem(f"{page} gets {response.status_code}.", to_do="Look at the logs of the proxy and the dashboard.")
    else:
        yield ok(f"{page} answers.")
        if env.intents_https == "on" and "strict-transport-security" not in response.headers:
            yield warning(
                f"{page} has no Strict-Transport-Security.",
                "The proxy removes it, or doesn't send X-Forwarded-Proto.",
                "Let the proxy pass on the dashboard's headers.",
            )


def redis(url: str | None) -> Iterator[Finding]:
    if url is None:
        yield ok("Redis is not set. Processes share neither limits nor responses.")
        return
    began = time.monotonic()
    try:
        with redis_client(url) as client:
            client.ping()
            seconds = time.monotonic() - began
            memory: Any = client.info("memory")
    except redis_errors() as error:
        yield problem(
            f"Redis doesn't answer: {type(error).__name__}.",
            "Processes share neither limits nor responses. Pages still work.",
            "Check REDIS_URL, and whether Redis runs.",
        )
        return
    yield ok(f"Redis answers in {seconds * 1000:.0f} ms.")
    if memory.get("maxmemory") and not str(memory.get("maxmemory_policy")).startswith(EVICTS):
        yield warning(
            f"Redis refuses writes when it is full: maxmemory-policy is {memory.get('maxmemory_policy')}.",
            "Limits and live updates are no longer shared then.",
            "Set maxmemory-policy to allkeys-lru.",
        )


def database() -> Iterator[Finding]:
    """Yield whether the mirror's database has its tables, and whether a process keeps them up to date."""
    if settings.MIRROR_DATABASE is None:
        yield ok("INTENTS_DATABASE is not set. There is no mirror, and so are no figures, incidents and candidates.")
        return
    if (
        settings.ENV.embedded
        and settings.ENV.intents_database is None
        and not settings.MIRROR_DATABASE["NAME"].exists()
    ):
        yield ok("The demo has no mirror yet. `make run` makes one.")
        return
    from intents_ui.mirror import readonly  # imported only with a mirror

    try:
        with readonly.reading(), connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = set(cursor.fetchall())
    except (readonly.CopyUnreadable, DatabaseError, OSError) as error:
        yield problem(
            f"The mirror's database can't be read: {str(error).splitlines()[0]}.",
            "Pages show no figures, incidents and candidates.",
            "Check INTENTS_DATABASE, and start `intents-ui mirror run`, which makes the tables.",
        )
        return
    wanted = {each for each in MigrationLoader(None).disk_migrations if each[0] == "mirror"}
    if missing := sorted(name for _, name in wanted - applied):
        yield problem(
            f"The mirror's database lacks migrations: {', '.join(missing)}.",
            "Pages show no figures, incidents and candidates.",
            "Start `intents-ui mirror run`, which makes the tables.",
        )
        return
    found = readonly.read_coverage()
    if found is None or not found.is_running:
        yield warning(
            "No process keeps the mirror.",
            "Its figures end where it stopped.",
            "Start `intents-ui mirror run` beside the dashboard.",
        )
        return
    yield ok(f"The mirror runs and has {found.transfers:,} transfers.")
    if found.holes:
        yield warning(
            f"The mirror couldn't read {len(found.holes)} times of the history: {found.holes[0].reason}.",
            "Figures of those times are incomplete.",
            "They are tried again.",
        )
    if found.complete_since is None:
        yield note("The mirror is still reading the past.", "Figures are incomplete until then.")
    elif found.lag > BEHIND:
        yield warning(
            f"The mirror is {round(found.lag.total_seconds() / 60)} minutes behind.",
            "The newest figures are incomplete.",
            "Raise INTENTS_MIRROR_CALLS, or look at `intents-ui mirror status`.",
        )
