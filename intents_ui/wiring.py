"""Builds the process's long-lived objects from the settings: service client, catalogue, embedded service, live hub."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx
from django.utils.crypto import salted_hmac

from intents_ui import metrics, telemetry
from intents_ui.exports.places import Exports
from intents_ui.live.bus import LocalBus, RedisBus
from intents_ui.live.hub import Hub
from intents_ui.live.picture import Picture
from intents_ui.pictures.cards import Cards
from intents_ui.service import origin, paging
from intents_ui.service.allowance import Places
from intents_ui.service.catalog import Catalog
from intents_ui.service.client import AsyncServiceClient, ServiceClient, Unkept
from intents_ui.service.config import Group, Limits, ServiceConfig
from intents_ui.service.health import Health
from intents_ui.service.in_process import InProcessTransport
from intents_ui.service.kept import KeptAnswers
from intents_ui.service.logos import Logos
from intents_ui.service.paging import Leaf, Position
from intents_ui.service.prices import Prices
from intents_ui.service.routes import Routes
from intents_ui.service.saved import SavedLists
from intents_ui.service.seal import Seal
from intents_ui.service.shared_answers import SharedAnswers
from intents_ui.service.shares import FairThreads
from intents_ui.service.together import end_threads, use_threads
from intents_ui.service.token_lists import TokenLists
from intents_ui.service.wire import Page
from intents_ui.settings import ENV

if TYPE_CHECKING:
    from intents_ui.emulator.app import Emulator

log = logging.getLogger(__name__)

# Calls by hand at a time in a process, and those that the service may hold for half a minute.
CALLS_BY_HAND = 4
WAITS_BY_HAND = 4
# Identifiers of all tickets together that are looked up at a time, a quarter of them for one address: fewer than the
# pages that may wait for the service.
TICKET_THREADS = 16
TEXT_THREADS = 4


def embedded() -> bool:
    """Whether the transfers are invented: the dashboard answers its own questions."""
    return ENV.embedded


@cache
def emulator() -> "Emulator | None":
    """The embedded service, when there is no real one."""
    if not ENV.embedded:
        return None
    from intents_ui.emulator.app import Emulator  # a real installation never loads it

    return Emulator(service_name=ENV.intents_service_name, tokens=ENV.intents_embedded_tokens)


@cache
def service() -> ServiceClient:
    """The client that the pages share; safe for threads."""
    how, answers_itself = config(), emulator()
    use_threads(how.connections)
    in_process = InProcessTransport(answers_itself, loops=how.connections) if answers_itself else None
    saved = SavedLists(ENV.state_dir, seal=seal("saved lists")) if ENV.state_dir else None
    return ServiceClient(
        how, transport=in_process, health=health(), kept=kept(), saved=saved, shared=shared_answers(how)
    )


def shared_answers(how: ServiceConfig) -> SharedAnswers | None:
    """What other processes learned. Each embedded service is one process's own."""
    if ENV.redis_url is None or ENV.embedded:
        return None
    key = how.access_key.get_secret_value() if how.access_key else ""
    # By an HMAC with our SECRET_KEY: whoever reads Redis cannot even try keys out.
    whose = salted_hmac("shared answers", repr([how.url(""), how.brand, how.wallet_brand, key]), algorithm="sha256")
    return SharedAnswers(str(ENV.redis_url), whose=whose.hexdigest()[:32], seal=seal("answers"))


def seal(kind: str) -> Seal:
    """Signs what lies in Redis or STATE_DIR with SECRET_KEY, under a salt of its own for each kind."""
    key = salted_hmac(f"intents_ui.seal {kind}", b"", algorithm="sha256")
    return Seal(key.digest(), tally=health().tally)


def unkept() -> Unkept:
    """The same for an export, which reads a list to its end."""
    return Unkept(service())


@cache
def health() -> Health:
    """How the service is, as pages and live part find it."""
    return Health(told=observed)


def observed(operation: str, error: BaseException | None, seconds: float) -> None:
    metrics.call(operation, error, seconds)
    telemetry.called(operation, error, seconds)


@cache
def kept() -> KeptAnswers:
    """What the service said, as pages and live part heard it."""
    return KeptAnswers(config().lifetimes, clock=time.monotonic)


@cache
def places() -> Places:
    return Places(ENV.intents_waiting, wait=ENV.intents_service_connection_wait)


def page() -> AbstractContextManager[None]:
    """Around the making of a page: what it may take of the service."""
    return places().page(seconds=ENV.intents_page_seconds)


def unhurried[T](ask: Callable[[], T]) -> T:
    """A question with its own time instead of the page's: what is broken off midway may have been done all the same."""
    return origin.apart().run(ask)


@cache
def places_by_hand(*, held: bool) -> Places:
    return Places(WAITS_BY_HAND if held else CALLS_BY_HAND, wait=ENV.intents_service_connection_wait)


def by_hand(group: Group) -> AbstractContextManager[None]:
    """Around one call by hand, for which no page thread waits. What the service may hold has places of its own."""
    return places_by_hand(held=group is Group.WAIT).page(seconds=ENV.intents_service_totals[group] + 1)


@cache
def catalog() -> Catalog:
    """Chains and tokens by id, as the pages' client reads them."""
    return Catalog(service())


@cache
def routes() -> Routes:
    """What the service lists of routes, as the pages' client reads it."""
    return Routes(service())


@cache
def token_lists() -> TokenLists:
    """The tokens of many chains, as the pages' client reads them."""
    return TokenLists(service(), catalog())


@cache
def prices() -> Prices:
    """What tokens cost, as the pages' client reads it."""
    return Prices(service())


@cache
def logos() -> Logos | None:
    """Where logos are fetched, when hosts are named for it."""
    return Logos(ENV.intents_logo_hosts) if ENV.intents_logo_hosts else None


@cache
def cards() -> Cards:
    """Where previews of transfers are drawn."""
    return Cards()


@cache
def exports() -> Exports:
    """The exports that this process is making."""
    return Exports(ENV.intents_exports)


@cache
def ticket_threads() -> FairThreads:
    """Where the rows of a triage wait for the service: the event loop's own threads are for what is done at once."""
    return FairThreads(TICKET_THREADS, name="ticket")


@cache
def text_threads() -> FairThreads:
    """Where pasted text is read and what is copied is written: no job waits, so a few threads do."""
    return FairThreads(TEXT_THREADS, name="text")


@cache
def hub() -> Hub:
    """Watches the intents that somebody looks at. From a page: `hub().newest(intent_id)`, which asks nobody."""
    answers_itself = emulator()
    service = AsyncServiceClient(
        config(),
        transport=httpx.ASGITransport(answers_itself, raise_app_exceptions=False) if answers_itself else None,
        health=health(),
        kept=kept(),
    )
    bus = (
        RedisBus(str(ENV.redis_url), names=service.config.names, seal=seal("pictures")) if ENV.redis_url else LocalBus()
    )
    return Hub(service, bus, most=ENV.intents_watched)


def newest(intent_id: str) -> Picture | None:
    """What is known of an intent that somebody watches: it costs the service nothing."""
    return hub().newest(intent_id)


def look_again(intent_id: str) -> None:
    """After we have changed an intent: whoever watches it sees that at once, and so does the next page about it."""
    service().forget(intent_id)
    hub().look_again(intent_id)


def leaf(request: Mapping[str, Any], first: Page, *, at: Position) -> Leaf:
    """A page of a list of intents. `request`: the arguments of `get_intent_history` beside its page."""
    ask = service().get_intent_history
    return paging.leaf(lambda page: ask(page=page, **request), first, at=at)


def config() -> ServiceConfig:
    return ServiceConfig(
        base_url="http://embedded" if ENV.embedded else str(ENV.intents_service_url),
        access_key=ENV.intents_service_access_key,
        service_name=ENV.intents_service_name,
        brand=ENV.intents_service_brand,
        wallet_brand=ENV.intents_wallet_brand,
        connections=ENV.intents_service_connections,
        connection_wait=ENV.intents_service_connection_wait,
        limits={group: limits(group) for group in Group},
        lifetimes=ENV.intents_service_kept,
    )


def limits(group: Group) -> Limits:
    return Limits(
        connect=ENV.intents_service_connects[group],
        read=ENV.intents_service_reads[group],
        total=ENV.intents_service_totals[group],
        size=ENV.intents_service_sizes[group],
    )


def open_all() -> None:
    """At the process's start, so that the first reader does not wait for it. The start itself waits for no service."""
    threading.Thread(target=warm, args=(catalog(),), name="warm", daemon=True).start()


def warm(names: Catalog) -> None:
    try:
        names.warm()
    except Exception:
        log.warning("The names of chains and tokens were not learned at the start", exc_info=True)


async def close_live() -> None:
    """On the event loop that serves the streams."""
    await hub().aclose()
    await hub().service.aclose()


def close_all() -> None:
    exports().close()
    ticket_threads().shutdown()
    text_threads().shutdown()
    end_threads()
    service().close()
