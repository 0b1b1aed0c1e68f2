"""Start and end of a process, and its objects: built from the settings when it starts, closed when it ends."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.cache import cache
from django.template.loader import get_template
from django.urls import resolve
from django.utils.crypto import salted_hmac

from intents_ui import app, probes
from intents_ui.app import RecentReads, embedded_service, service_config
from intents_ui.http import client_ip
from intents_ui.http.headers import default_headers
from intents_ui.http.limits import BODY_BYTES, REQUESTS, RateLimiter
from intents_ui.live.bus import RedisBus
from intents_ui.live.hub import Hub, restart_forever
from intents_ui.live.stream import Receive, Send, Streams
from intents_ui.ops import lifecycle, metrics, sentry
from intents_ui.service.cache import ResponseCache
from intents_ui.service.catalog import Catalog, Prices
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.service.executor import FairExecutor, Shares
from intents_ui.service.models import Intent
from intents_ui.service.operations import ServiceConfig
from intents_ui.service.redis import RedisGuard
from intents_ui.settings import ENV
from intents_ui.web import intent as intent_page
from intents_ui.web.frame import AttentionCount
from intents_ui.web.reading import TransferMemo
from intents_ui.web.shared_responses import SharedResponses, SignedValues

if TYPE_CHECKING:
    from intents_ui.emulator.app import Emulator

THREADS = 32  # that make pages and call the service, most of which wait for it
STREAMS = 2500  # of a process. Beyond that, pages poll
STREAMS_PER_CLIENT = 20
CONCURRENT_EXPORTS = 4  # one for each client
CONSOLE_LONG_POLLS = 4  # one for each client
CACHE_PAUSE = 10.0  # seconds without calls to Django's shared cache after a failure
RESPONSES_PAUSE = 5.0  # the same for shared responses
TEMPLATES = ("home.html", "transfers/intent.html")  # which import most others. Without them, a process doesn't start

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class App:
    """The objects of a process, one of each, for all threads."""

    emulator: "Emulator | None"  # the embedded service, None with a real one
    executor: FairExecutor  # makes pages and calls the service
    service: ServiceClient
    catalog: Catalog
    prices: Prices
    hub: Hub
    streams: Streams
    plan: Callable[[str], Intent]  # of an intent ID, cached
    redis_guard: RedisGuard  # of Django's shared cache
    rate_limiter: RateLimiter
    attention_count: AttentionCount = field(default_factory=AttentionCount)
    transfers: TransferMemo = field(default_factory=TransferMemo)  # shown lately
    recent_reads: RecentReads = field(default_factory=RecentReads)
    requests_in_hand: Shares = field(default_factory=partial(Shares, REQUESTS))
    body_bytes: Shares = field(default_factory=partial(Shares, BODY_BYTES))  # of all requests in hand
    exports: Shares = field(default_factory=partial(Shares, CONCURRENT_EXPORTS))  # in progress
    # Whose balances were looked up here. Of other owners, only other processes cache them.
    balance_owners: set[str] = field(default_factory=set)
    long_polls: Shares = field(default_factory=partial(Shares, CONSOLE_LONG_POLLS))  # that the service holds

    async def aclose(self) -> None:
        """Close everything, on the event loop of the streams."""
        await self.streams.aclose()
        await self.hub.aclose()
        await self.service.aclose()
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Close what threads use."""
        self.executor.shutdown()
        self.service.close()


async def lifespan(receive: Receive, send: Send) -> None:
    """Load what the first request needs, and close the process's objects after the last."""
    await receive()
    try:
        sentry.begin()
        threading.Thread(target=load_names, name="names", daemon=True).start()  # the start doesn't wait for the service
        resolve("/")  # loads the URLs and their pages, which would delay the first request
        for name in TEMPLATES:
            get_template(name)
    except Exception as error:
        await send({"type": "lifespan.startup.failed", "message": str(error)})
        raise
    # With several processes, another one may answer a scrape.
    sampling = asyncio.create_task(restart_forever(probes.keep_sampling, name="metrics")) if metrics.IS_SHARED else None
    await send({"type": "lifespan.startup.complete"})
    await receive()
    if sampling:
        sampling.cancel()
    await app.current().aclose()
    await send({"type": "lifespan.shutdown.complete"})


def load_names() -> None:
    """Load the names of chains and tokens, and say why if the service doesn't answer."""
    try:
        app.current().catalog.warm()
        if not app.current().catalog.chains():
            from intents_ui.doctor import service  # imported only if the service fails

            for finding in service.quick(service.Responses(app.current().service)):
                log.warning("intents-ui is ready, but the service fails. %s", finding.found)
    except Exception:
        log.warning("Chain and token names were not loaded at startup", exc_info=True)


def build(*, emulator: "Emulator | None" = None, service: ServiceClient | None = None) -> App:
    """Return the objects of a process. Those that are given replace its own, and are closed with the others."""
    emulator = emulator or embedded_service()
    executor = FairExecutor(THREADS)
    config = service_config()
    service = service or ServiceClient(
        config,
        transport=InProcessTransport(emulator) if emulator else None,
        cache=ResponseCache(config, clock=time.monotonic, shared=_shared_responses(config)),
        threads=executor,
    )
    redis_url = str(ENV.redis_url) if ENV.redis_url else None
    prefix, signed = f"intents-ui:{settings.OWNER}:live:2:", SignedValues("snapshots")
    bus = RedisBus(redis_url, names=service.config.names, signed=signed, prefix=prefix) if redis_url else None
    hub = Hub(service, bus)
    redis_guard = RedisGuard("rate limits and progress of exports are not shared", pause=CACHE_PAUSE)
    rate_limiter = RateLimiter(redis_url, redis_guard)
    streams = Streams(
        hub=hub,
        render=intent_page.receipt_fragment,
        fallback=intent_page.polling_fragment,
        client_of=lambda scope: client_ip.client_of(scope) or client_ip.THIS_MACHINE,
        wait=lambda client: rate_limiter.consume_here(None if client == client_ip.THIS_MACHINE else client),
        headers=default_headers(),
        stopping=lifecycle.is_stopping,
        max_streams=STREAMS,
        max_of_client=STREAMS_PER_CLIENT,
    )
    return App(
        emulator=emulator,
        executor=executor,
        service=service,
        catalog=Catalog(service),
        prices=Prices(service),
        hub=hub,
        streams=streams,
        plan=intent_page.cached_plan(service),
        redis_guard=redis_guard,
        rate_limiter=rate_limiter,
    )


def _shared_responses(config: ServiceConfig) -> SharedResponses | None:
    """Return the responses in Redis, if configured. Processes don't share an embedded service."""
    if ENV.redis_url is None or ENV.embedded:
        return None
    # An HMAC with SECRET_KEY, so that access keys can't be guessed offline from Redis.
    owner = salted_hmac("shared responses", repr([config.url(""), config.names, config.key]), algorithm="sha256")
    guard = RedisGuard("each process sends its own requests", pause=RESPONSES_PAUSE)
    return SharedResponses(cache, guard, owner=owner.hexdigest()[:32])
