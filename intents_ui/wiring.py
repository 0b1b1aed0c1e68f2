"""Composition root: builds the process's long-lived objects from the settings.

`Dashboard` holds them, one of each. The functions with `once` return those of the current one, which tests replace as a
whole.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.cache import caches
from django.utils.crypto import salted_hmac

from intents_ui.live.bus import RedisBus
from intents_ui.live.hub import Hub
from intents_ui.live.snapshot import Snapshot
from intents_ui.ops.lifecycle import Lifecycle
from intents_ui.pictures.cards import Cards
from intents_ui.service import operations, paging
from intents_ui.service.cache import ResponseCache
from intents_ui.service.catalog import Catalog
from intents_ui.service.client import ServiceClient
from intents_ui.service.context import request_context
from intents_ui.service.context.executor import FairExecutor
from intents_ui.service.context.shares import Shares
from intents_ui.service.models import Page
from intents_ui.service.network import InProcessTransport
from intents_ui.service.operations import ServiceConfig
from intents_ui.service.paging import Leaf, Position
from intents_ui.service.prices import Prices
from intents_ui.service.redis import RedisGuard
from intents_ui.settings import ENV
from intents_ui.web.shared_responses import SharedResponses
from intents_ui.web.signed_values import SignedValues

if TYPE_CHECKING:
    from intents_ui.emulator.app import Emulator
    from intents_ui.mirror.coverage import Coverage

log = logging.getLogger(__name__)

PAGE_TIMEOUT = 8.0  # seconds of all of a page's service calls
THREADS = 32  # that make pages and call the service, most of which wait for it
CONCURRENT_EXPORTS = 4
CACHE_PAUSE = 10.0  # seconds without calls to Django's shared cache after a failure
RESPONSES_PAUSE = 5.0  # the same for shared responses


class Dashboard:
    """The long-lived objects of one process, each built on first use by a function with `once`."""

    def __init__(self, **given: Any) -> None:
        """`given` are objects to use instead of building them, by name. Others close them."""
        vars(self).update(given)
        self._given = frozenset(given)
        self._building = threading.RLock()

    def one[T](self, build: Callable[[], T]) -> T:
        """Return what `build` returns, which is called once per dashboard, or what was given in its place."""
        name = _name(build)
        if name not in vars(self):
            with self._building:
                if name not in vars(self):
                    vars(self)[name] = build()
        found: T = vars(self)[name]
        return found

    def forget(self, *builders: Callable[[], object]) -> None:
        """Let these functions, which `once` decorates, build again."""
        for build in builders:
            vars(self).pop(_name(build), None)

    def close(self) -> None:
        """Close what this dashboard built, except the hub, which its event loop closes (`close_live`)."""
        built = vars(self).keys() - self._given
        ends = {"executor": "shutdown", "service": "close"}
        for name in ends.keys() & built:
            getattr(vars(self)[name], ends[name])()


def _name(build: Callable[[], object]) -> str:
    """Return the property of a dashboard that has what a function builds. Those of other modules can share a name."""
    return build.__name__ if build.__module__ == __name__ else f"{build.__module__}.{build.__name__}"


_current = Dashboard()


def current() -> Dashboard:
    return _current


def use(dashboard: Dashboard) -> None:
    """Replace the current dashboard."""
    global _current
    _current = dashboard


def once[T](build: Callable[[], T]) -> Callable[[], T]:
    """Decorate a function that builds an object, so that each dashboard has one of it."""

    @wraps(build)
    def get() -> T:
        return _current.one(build)

    return get


@once
def emulator() -> "Emulator | None":
    """The embedded service, or None with a real one."""
    if not ENV.embedded:
        return None
    from intents_ui.emulator.app import Emulator  # imported only when used

    return Emulator(service_name=ENV.intents_service_name, started=settings.DEMO_STARTED)


@once
def executor() -> FairExecutor:
    """The threads of this process."""
    return FairExecutor(THREADS)


@once
def service() -> ServiceClient:
    """The client of the service, for pages and live updates. Thread-safe."""
    how, embedded = config(), emulator()
    return ServiceClient(
        how,
        transport=InProcessTransport(embedded) if embedded else None,
        cache=ResponseCache(how, clock=time.monotonic, shared=_shared_responses(how)),
        threads=executor(),
    )


def _shared_responses(how: ServiceConfig) -> SharedResponses | None:
    """Return the responses in Redis, if configured. Processes don't share an embedded service."""
    if ENV.redis_url is None or ENV.embedded:
        return None
    # An HMAC with SECRET_KEY, so that access keys can't be guessed offline from Redis.
    owner = salted_hmac(
        "shared responses", repr([how.url(""), how.brand, how.wallet_brand, how.key]), algorithm="sha256"
    )
    guard = RedisGuard("each process sends its own requests", pause=RESPONSES_PAUSE)
    return SharedResponses(caches["responses"], guard, owner=owner.hexdigest()[:32])


@once
def hub() -> Hub:
    """The hub that polls the intents open in a browser."""
    if not ENV.redis_url:
        return Hub(service())
    prefix = f"intents-ui:{settings.OWNER}:live:2:"
    bus = RedisBus(str(ENV.redis_url), names=service().config.names, signed=SignedValues("snapshots"), prefix=prefix)
    return Hub(service(), bus)


@once
def lifecycle() -> Lifecycle:
    """The process's start and shutdown."""
    return Lifecycle()


@once
def redis_guard() -> RedisGuard:
    """The guard of calls to Django's shared cache."""
    return RedisGuard("rate limits and progress of exports are not shared", pause=CACHE_PAUSE)


@once
def catalog() -> Catalog:
    """The catalog of chains and tokens."""
    return Catalog(service())


@once
def prices() -> Prices:
    """The price cache."""
    return Prices(service())


@once
def cards() -> Cards:
    """The renderer of preview cards."""
    return Cards()


@once
def exports() -> Shares:
    """The slots of this process's exports. A client gets one."""
    return Shares(CONCURRENT_EXPORTS)


def mirror_coverage() -> "Coverage | None":
    """Return what the mirror knows, as read in the last seconds. None if there is no mirror, or it can't be read."""
    if settings.MIRROR_DATABASE is None:
        return None
    from intents_ui.mirror import readonly  # imported only when used
    from intents_ui.web.recent import reads

    return reads().get("coverage", readonly.read_coverage, max_age=readonly.MAX_AGE)


def open_incidents() -> Mapping[tuple[str, str], int] | None:
    """Return how many incidents aren't over, by state and kind. None if the mirror's database can't be read."""
    from intents_ui.mirror.incidents import keeper  # imported only when used
    from intents_ui.mirror.readonly import CopyUnreadable, reading

    try:
        with reading():
            return keeper.open_counts()
    except CopyUnreadable:
        return None


def is_live() -> bool:
    """Whether anything has been watched in this process. Asking about a transfer doesn't start the hub."""
    return "hub" in vars(_current)


def page() -> AbstractContextManager[None]:
    """Return a context manager for the service calls of a page, which end in time."""
    return request_context.within(PAGE_TIMEOUT)


def without_page_deadline[T](ask: Callable[[], T]) -> T:
    """Run a call without the page's deadline: a write that is interrupted may still have been executed."""
    return request_context.apart().run(ask)


def newest(intent_id: str) -> Snapshot | None:
    """Return the live snapshot of a watched intent, or None. Sends no request."""
    return hub().newest(intent_id) if is_live() else None


def look_again(intent_id: str) -> None:
    """Show a change that this dashboard made: invalidate the intent's cached responses and poll it at once."""
    service().forget(intent_id)
    if is_live():
        hub().poll_now(intent_id)


def leaf(request: Mapping[str, Any], first: Page, *, at: Position) -> Leaf:
    """Return one page of a list of intents. `request` has the arguments of `get_intent_history` except its page."""
    ask = service().ask
    return paging.leaf(lambda page: ask(operations.get_intent_history(page=page, **request)), first, at=at)


def config() -> ServiceConfig:
    return ServiceConfig(
        base_url="http://embedded" if ENV.embedded else str(ENV.intents_service_url),
        access_key=ENV.intents_service_access_key,
        service_name=ENV.intents_service_name,
        brand=ENV.intents_service_brand,
        wallet_brand=ENV.intents_wallet_brand,
    )


def open_all() -> None:
    """Preload names in the background at process start. Starting doesn't wait for the service."""
    threading.Thread(target=warm, args=(catalog(),), name="warm", daemon=True).start()


def warm(names: Catalog) -> None:
    try:
        names.warm()
    except Exception:
        log.warning("Chain and token names were not loaded at startup", exc_info=True)


async def close_live() -> None:
    """Close the live hub, on the event loop of its streams."""
    await hub().aclose()
    await service().aclose()
