"""Pages with reused objects have the same bytes as pages whose objects were just parsed.

Between two responses with the same bytes, the clock, the names, the settings and other objects may change.
"""

import functools
import gc
import json
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest
import time_machine
from django.core.cache import cache
from django.template import engines
from django.template.backends import utils
from django.test import Client

from intents_ui import wiring
from intents_ui.display.transfers.situation import Situation
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.transfers import OWNERS
from intents_ui.pages import intent
from intents_ui.service.catalog import catalog
from intents_ui.service.client import ServiceClient
from intents_ui.service.operations.config import CacheKind, Lifetime
from intents_ui.service.wire.entries import Entries
from intents_ui.service.wire.entry_cache import EntryCache
from intents_ui.service.wire.json_text import Brand
from intents_ui.service.wire.lenient_models import Kept
from intents_ui.service.wire.models import IntentReceipt
from intents_ui.settings import ENV
from intents_ui.web.cached_fragments import CHECK_TIME
from tests.faults.odd_pages import CATALOGUE, LISTS, OF_AN_INTENT, OF_AN_OWNER, Sample, content, read
from tests.faults.odd_service import OddService
from tests.pages.conftest import fresh, renew, switch_to
from tests.service.logo_host import HOST
from tests.waiting import PATIENCE

NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
MIDNIGHT: Final = datetime(2026, 11, 22, tzinfo=UTC)  # pages name times in UTC. Scripts convert them
TICK: Final = timedelta(microseconds=1)
# The console shows responses as received, their duration, and examples that it remembers. Sharing needs no response.
LEFT_OUT: Final = ("/console/", "/intent/ID/share")
WITH_TRANSFERS: Final = [each for each in (*OF_AN_INTENT, *OF_AN_OWNER, *LISTS) if not each.startswith(LEFT_OUT)]
ALL_PAGES: Final = [*WITH_TRANSFERS, *(each for each in CATALOGUE if not each.startswith(LEFT_OUT))]
# These show the whole of an object, or its status, time and amount.
SHOWN: Final = {
    "status": ("/intent/ID", "/intent/ID/proof", "live ID", "/embed/intent/ID", "/intent/ID/reply"),
    "updatedAt": ("/intent/ID/raw/intent.json", "/intent/ID/proof"),
    "originTokenAmount": ("/intent/ID", "/intent/ID/proof"),
}
# A pattern that ends with one character, and its replacements.
ONE_BYTE: Final = {
    "status": (r'("status":")([A-Z])', "XY"),
    "updatedAt": (r'("updatedAt":"[^"]{17})(\d)', "12"),
    "originTokenAmount": (r'("originTokenAmount":")(\d)', "12"),
}
NAMES: Final = {
    "a token's name": ('"name":"USD Coin"', '"name":"USD Coins"'),
    "a token's symbol": ('"symbol":"USDC"', '"symbol":"USDX"'),
    "a token that looks like another": ('"symbol":"USDT"', '"symbol":"USD\\u0421"'),
    "a token with another's symbol": ('"symbol":"USDT"', '"symbol":"USDC"'),
    "a chain's name": ('"name":"Base"', '"name":"Basis"'),
}

type Edit = Callable[[str, str], str]


class EditedService(OddService):
    """Sends the same responses each time, with text that `edit` changes. Its arguments are the operation and text."""

    edit: Edit = staticmethod(lambda operation, text: text)

    def _answer(self, operation: str, body: bytes, request: httpx.Request) -> tuple[int, bytes]:
        status, answered = super()._answer(operation, body, request)
        return status, self.edit(operation, answered.decode()).encode() if status == 200 else answered


class HeldEntries(EntryCache):
    """Never releases an object. `reused`: how many it has returned more than once."""

    def __init__(self, names: Brand) -> None:
        super().__init__(names)
        self._held: dict[int, Any] = {}
        self.reused = 0

    def read(self, text: str, field: str, model: type[Kept]) -> Any:
        document = super().read(text, field, model)
        found = document.get(field) if isinstance(document, dict) else None
        for each in found if isinstance(found, list) else [found]:
            self.reused += id(each) in self._held and isinstance(each, Kept)
            self._held[id(each)] = each
        return document

    def receipt(self, intent_id: str) -> Any:
        return next(
            each for each in self._held.values() if isinstance(each, IntentReceipt) and each.intent_id == intent_id
        )


class Dashboards:
    """A dashboard that reuses objects, and a new one for each comparison."""

    def __init__(self, service: EditedService) -> None:
        self.service = service
        self.entries = HeldEntries(wiring.config().names)
        self._reusing = self._dashboard(self.entries)

    def compare(self, page: str) -> tuple[int, bytes]:
        """Return the page with reused objects, after comparing it with the page of a new dashboard."""
        reused = self.reused(page)
        for function in remembering_functions(len(sys.modules), len(engines["jinja2"].env.cache)):
            function.cache_clear()
        other = self._dashboard(EntryCache(wiring.config().names))
        expected = self._drawn(other, page)
        other.service.close()
        assert reused == expected, page
        assert CHECK_TIME.encode() not in reused[1], page
        return reused

    def reused(self, page: str) -> tuple[int, bytes]:
        """Return the page with reused objects."""
        return self._drawn(self._reusing, page)

    def situation(self, intent_id: str) -> Situation:
        """Return what the pages with reused objects derive from a transfer's receipt."""
        return self.entries.receipt(intent_id).attached("situation").situation

    def rename(self) -> None:
        """Load the names, logos and plans again, which have caches of their own."""
        wiring.use(self._reusing)
        renew("catalog", "token_lists", "routes", "prices", "logos")
        self._reusing.forget(intent.cached_plan)

    def close(self) -> None:
        self._reusing.service.close()

    def _dashboard(self, entries: EntryCache) -> wiring.Dashboard:
        client = ServiceClient(wiring.config(), transport=self.service, entries=entries)
        return wiring.Dashboard(emulator=wiring.emulator(), service=client, entry_cache=entries)

    def _drawn(self, dashboard: wiring.Dashboard, page: str) -> tuple[int, bytes]:
        wiring.use(dashboard)
        cache.clear()
        answer: Any = read(Client(), page)
        return answer.status_code, content(answer).encode() if answer.streaming else answer.content


@functools.cache
def remembering_functions(modules: int, templates: int) -> list[Any]:
    """Return the functions of the dashboard that remember the results of earlier arguments.

    Those of the emulator aren't the dashboard's. All are found again when other modules or templates have been loaded,
    whose number the arguments are.
    """
    found = [each for each in gc.get_objects() if type(each) is functools._lru_cache_wrapper]
    return [each for each in found if re.match(r"intents_ui\.(?!emulator\.)", each.__module__)]


@pytest.fixture(scope="module")
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture(scope="module")
def emulator(clock: time_machine.Traveller) -> Iterator[Emulator]:
    yield from fresh()


@pytest.fixture(scope="module")
def samples(emulator: Emulator) -> list[Sample]:
    """A quote, a transfer in progress, and one that was refunded, of an owner without others."""
    ages = {"expired-quote": 0, "stalled-in-bridge": 40, "refunded-on-origin": 3600}
    found = [emulator.play(scenario, age=age, owner=OWNERS) for scenario, age in ages.items()]
    return [Sample.of(wiring.service(), each["intentId"]) for each in found]


@pytest.fixture
def dashboards(emulator: Emulator, clock: time_machine.Traveller) -> Iterator[Dashboards]:
    """Without a response cache, so that each page gets all objects again."""
    # Its own patch, because the fixture `monkeypatch` may be undone after that of tests/pages/conftest.py.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ENV, "intents_cache_ttl", {kind: Lifetime(0, 0, 0) for kind in CacheKind})
        patch.setattr(utils, "get_token", lambda request: "the same token each time")
        patch.setattr(ENV, "intents_max_export_rows", 20)
        patch.setattr(catalog, "PATIENCE_SECONDS", PATIENCE)  # names are the same, however busy the machine is
        patch.setattr(ENV, "intents_balance_timeout", PATIENCE)
        patch.setattr(Entries, "_known", {})  # never releases a list
        patch.setattr(secrets, "token_urlsafe", lambda size: "a" * size)  # of forms and exports
        clock.move_to(NOON)
        before, service = wiring.current(), EditedService(emulator)
        found = Dashboards(service)
        yield found
        found.close()
        switch_to(before)
        service.end()


def pages(form: str, samples: list[Sample]) -> list[str]:
    return list(dict.fromkeys(each.page(form) for each in samples))


def some_page(form: str, samples: list[Sample]) -> str:
    """Return the page of one of the samples. Together, the forms have all of them."""
    found = pages(form, samples)
    return found[ALL_PAGES.index(form) % len(found)]


def moments() -> Iterator[datetime]:
    """Yield both sides of each time at which a text changes. Then the clock goes back."""
    expires_at = NOON + timedelta(minutes=5)  # of the quote
    yield NOON
    for edge in (NOON + timedelta(minutes=1), expires_at, NOON + timedelta(hours=1), MIDNIGHT):
        yield edge - TICK
        yield edge
    yield NOON + timedelta(seconds=30)
    yield NOON - timedelta(minutes=10)


@pytest.mark.parametrize("form", ALL_PAGES)
def test_a_reused_object_is_shown_as_of_now(
    dashboards: Dashboards, clock: time_machine.Traveller, samples: list[Sample], form: str
) -> None:
    for page in pages(form, samples):
        for moment in moments():
            clock.move_to(moment)
            dashboards.compare(page)
    assert form not in WITH_TRANSFERS or dashboards.entries.reused


def test_a_later_check_of_the_same_balances_changes_only_its_time(
    dashboards: Dashboards, clock: time_machine.Traveller, samples: list[Sample]
) -> None:
    page = samples[-1].page("/intent/ID")
    known: dict[datetime | None, Situation] = {}
    for checked_at in (NOON, NOON + timedelta(seconds=7)):
        clock.move_to(checked_at)
        _, drawn = dashboards.compare(page)
        assert f"{checked_at:%H:%M:%S} UTC</time>".encode() in drawn
        situation = dashboards.situation(samples[-1].intent_id)
        known[situation.balances.checked_at] = situation
    assert list(known) == [NOON, NOON + timedelta(seconds=7)]
    assert len({id(each) for each in known.values()}) == 1


@pytest.mark.parametrize("form", ALL_PAGES)
def test_a_reused_object_has_the_current_names(dashboards: Dashboards, samples: list[Sample], form: str) -> None:
    page = some_page(form, samples)
    before = dashboards.compare(page)
    for old, new in NAMES.values():
        dashboards.service.edit = functools.partial(renamed, old, new)
        dashboards.rename()
        dashboards.compare(page)
    dashboards.service.edit = EditedService.edit
    dashboards.rename()
    assert dashboards.reused(page) == before


def renamed(old: str, new: str, operation: str, text: str) -> str:
    return text.replace(old, new) if operation in ("GetChains", "GetTokenList") else text


@pytest.mark.parametrize("form", ALL_PAGES)
def test_a_reused_object_has_logos_of_configured_hosts_only(
    dashboards: Dashboards, samples: list[Sample], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    page = some_page(form, samples)
    before = dashboards.compare(page)
    for hosts in ([HOST], []):
        monkeypatch.setattr(ENV, "intents_logo_hosts", hosts)
        dashboards.rename()
        after = dashboards.compare(page)
    assert after == before


@pytest.mark.parametrize("form", WITH_TRANSFERS)
def test_a_reused_object_has_the_fields_of_the_configured_brand(
    dashboards: Dashboards,
    clock: time_machine.Traveller,
    samples: list[Sample],
    monkeypatch: pytest.MonkeyPatch,
    form: str,
) -> None:
    brand = Brand("acme", "clever")
    monkeypatch.setattr(ENV, "intents_service_brand", brand.word)
    monkeypatch.setattr(ENV, "intents_wallet_brand", brand.wallet_word)
    branded = Dashboards(dashboards.service)
    branded.service.edit = lambda _, text: json.dumps(brand.write(json.loads(text)), separators=(",", ":"))
    for page in pages(form, samples):
        branded.compare(page)
        clock.move_to(NOON + timedelta(hours=1))
        branded.compare(page)
    branded.close()
    assert branded.entries.reused


@pytest.mark.parametrize("form", WITH_TRANSFERS)
@pytest.mark.parametrize("field", ONE_BYTE)
def test_an_object_with_another_byte_is_not_reused(
    dashboards: Dashboards, samples: list[Sample], form: str, field: str
) -> None:
    for page in pages(form, samples):
        before = dashboards.compare(page)
        dashboards.service.edit = functools.partial(with_another_byte, field)
        dashboards.rename()
        after = dashboards.compare(page)
        assert form not in SHOWN[field] or after != before
        assert dashboards.reused(page) == after
        dashboards.service.edit = EditedService.edit
        dashboards.rename()
        assert dashboards.reused(page) == before
    assert dashboards.entries.reused


def with_another_byte(field: str, operation: str, text: str) -> str:
    """Return a response with another character in the first such field."""
    pattern, (one, other) = ONE_BYTE[field]
    return re.sub(pattern, lambda found: found[1] + (other if found[2] == one else one), text, count=1)
