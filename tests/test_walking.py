"""Paging through a whole list by its links, forward and back, while intents are added and removed.

Every intent that is in the list throughout is seen exactly once, and none twice.
"""

import html
import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.test import Client

from intents_ui import wiring
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.ledger import EVERYTHING_LISTED, Entry
from intents_ui.emulator.population import Reach
from intents_ui.service.operations.config import LIFETIMES, CacheKind, Lifetime
from intents_ui.settings import ENV
from tests.pages.conftest import switch_to

START = 1_795_262_400  # 2026-11-21T12:00:00Z
SIZE = 1000  # the smallest world with every scenario in it
FROM_CLICK_TO_CLICK = 13.0  # seconds in which about one intent is added and one removed
SLOWLY = 120.0  # for a short list, so that it changes too

ROW = re.compile(r'<tr id="row-(0x[0-9a-f]+)"')
BUTTON = re.compile(r'<a class="button" href="([^"]+)"[^>]* rel="(next|prev)"')

MOVING = (CacheKind.MOVING, CacheKind.HISTORY, CacheKind.OLDER_HISTORY, CacheKind.BALANCES)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as clock:
        yield clock


@pytest.fixture
def emulator(clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    small = Emulator(size=SIZE)
    before = wiring.current()
    wiring.use(wiring.Dashboard(emulator=small))
    # The service's clock jumps, while cached entries age by a clock that doesn't.
    monkeypatch.setattr(ENV, "intents_cache_ttl", LIFETIMES | dict.fromkeys(MOVING, Lifetime(0, 0, 0)))
    yield small
    switch_to(before)


type Filter = Callable[[Entry], bool]


def is_in_flight(entry: Entry) -> bool:
    return entry.scene.status in ("QUOTED", "COMMITTED", "EXECUTING")


def is_from_base_to_arbitrum(entry: Entry) -> bool:
    return (entry.transfer.origin.chain_id, entry.transfer.destination.chain_id) == (8453, 42161)


def is_recoverable(entry: Entry) -> bool:
    return bool(entry.scene.marks.get("balance"))


def is_of_the_morning(entry: Entry) -> bool:
    return (START - 14_400) * 1_000_000 <= entry.transfer.born <= (START - 1800) * 1_000_000


def is_failed_or_refunded(entry: Entry) -> bool:
    return entry.scene.status in ("FAILED", "REFUNDED")


LISTS: dict[str, tuple[dict[str, Any], Filter]] = {
    "all": ({}, lambda entry: True),
    "in flight": ({"status": "in-flight"}, is_in_flight),
    "two statuses": ({"status": ["FAILED", "REFUNDED"]}, is_failed_or_refunded),
    "from chain to chain": ({"origin": 8453, "destination": 42161}, is_from_base_to_arbitrum),
    "recoverable": ({"recoverable": 1}, is_recoverable),
    "times": ({"from": START - 14_400, "to": START - 1800}, is_of_the_morning),
}
SORTS = list(product(("createdAt", "id"), ("DESC", "ASC")))
# The whole list in each order, parts of it in the default and one other.
WALKS = [("all", *sort) for sort in SORTS]
WALKS += [(name, *SORTS[sort]) for place, name in enumerate(list(LISTS)[1:]) for sort in (0, 1 + place % 3)]
# Large pages for long lists, because the test is about paging.
SIZES = {"all": 100, "in flight": 20, "two statuses": 20, "from chain to chain": 10, "recoverable": 10, "times": 30}
# Minimum numbers of intents added and removed meanwhile. Past time ranges don't change.
MOVES = {
    "all": (10, 10),
    "in flight": (5, 5),
    "two statuses": (1, 1),
    "from chain to chain": (1, 1),
    "recoverable": (2, 2),
    "times": (0, 0),
}


class Walk:
    """A user who follows one kind of link, and the list's content meanwhile, according to the emulator's ledger."""

    def __init__(
        self,
        site: Client,
        emulator: Emulator,
        clock: time_machine.Traveller,
        holds: Filter,
        pace: float,
        reach: Reach,
    ) -> None:
        self.site, self.emulator, self.clock, self.holds, self.pace = site, emulator, clock, holds, pace
        self.reach = reach
        self.met: list[str] = []
        self.pages = 0
        self.always: set[str] | None = None
        self.ever: set[str] = set()

    def follow(self, path: str, rel: str) -> str:
        """Follow the links from a page to the last one, and return its path."""
        following: str | None = path
        while following:
            path = following
            page = self.open(path)
            following = next((html.unescape(url) for url, kind in BUTTON.findall(page) if kind == rel), None)
            assert self.pages < 200, "it never ends"
        return path

    def open(self, path: str) -> str:
        held = self.held()
        self.always = held if self.always is None else self.always & held
        self.ever |= held
        answer = self.site.get(path)
        assert answer.status_code == 200, path
        page = answer.content.decode()
        self.met += ROW.findall(page)
        self.pages += 1
        self.clock.shift(self.pace)
        return page

    def held(self) -> set[str]:
        now = round(self.emulator.now() * 1_000_000)
        entries = self.emulator.ledger.entries(now, descending=True, reach=self.reach)
        return {entry.transfer.intent_id for entry in entries if self.holds(entry)}

    def moved(self) -> tuple[int, int]:
        """Return how many intents were added and removed meanwhile."""
        return len(self.held() - (self.always or set())), len(self.ever - self.held())

    def assert_is_whole(self) -> None:
        assert self.always
        assert len(self.met) == len(set(self.met)), "an intent was met twice"
        assert self.always <= set(self.met), "an intent was never met"
        assert set(self.met) <= self.ever, "an intent was met that is not in the list"


def path_of(query: dict[str, Any], sort: str, order: str, size: int) -> str:
    usual = {"sort": "createdAt", "order": "DESC"}
    added = {name: value for name, value in {"sort": sort, "order": order}.items() if usual[name] != value}
    return f"/history?{urlencode(query | added | ({'size': size} if size != 20 else {}), doseq=True)}".rstrip("?")


def walk_both_ways(
    path: str,
    holds: Filter,
    emulator: Emulator,
    clock: time_machine.Traveller,
    pace: float = FROM_CLICK_TO_CLICK,
    reach: Reach = EVERYTHING_LISTED,
) -> tuple[Walk, Walk]:
    site = Client()
    there = Walk(site, emulator, clock, holds, pace, reach)
    last = there.follow(path, "next")
    back = Walk(site, emulator, clock, holds, pace, reach)
    back.follow(last, "prev")
    return there, back


@pytest.mark.parametrize(("name", "sort", "order"), WALKS)
def test_every_intent_is_met_once_forward_and_once_back(
    emulator: Emulator, clock: time_machine.Traveller, name: str, sort: str, order: str
) -> None:
    query, holds = LISTS[name]
    pace = SLOWLY if name == "recoverable" else FROM_CLICK_TO_CLICK
    reach = Reach(since=query["from"] * 1_000_000) if "from" in query else EVERYTHING_LISTED
    there, back = walk_both_ways(path_of(query, sort, order, SIZES[name]), holds, emulator, clock, pace, reach)
    least_came, least_left = MOVES[name]
    for walk in (there, back):
        assert walk.pages > 2
        walk.assert_is_whole()
        came, left = walk.moved()
        assert came >= least_came, "nothing comes: this proves nothing"
        assert left >= least_left, "nothing leaves: this proves nothing"


@pytest.mark.parametrize("size", [10, 20, 30])
def test_an_owners_intents_are_met_once_at_any_page_size(
    emulator: Emulator, clock: time_machine.Traveller, size: int
) -> None:
    now = round(emulator.now() * 1_000_000)
    owners = [entry.transfer.owner for entry in emulator.ledger.entries(now, descending=True)]
    owner = max(set(owners), key=owners.count)
    path = path_of({"owner": owner}, "createdAt", "DESC", size)
    for walk in walk_both_ways(path, lambda entry: entry.transfer.owner == owner, emulator, clock):
        assert walk.pages > 1
        walk.assert_is_whole()
