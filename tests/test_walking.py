"""Paging through a whole list by its links, forward and back, while intents are added and removed.

Every intent that is in the list throughout is seen exactly once, and none twice.
"""

import html
import re
from collections.abc import Callable, Iterator

import pytest
import time_machine
from django.test import Client

from intents_ui import app, startup
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.ledger import EVERYTHING_LISTED, Entry
from intents_ui.service import operations
from intents_ui.service.operations import Kind
from tests.corpus import picked
from tests.pages.conftest import switch_to
from tests.policies import NOT_CACHED, policies

START = 1_795_262_400  # 2026-11-21T12:00:00Z
SIZE = 1000  # the smallest world with every scenario in it
FROM_CLICK_TO_CLICK = 13.0  # seconds in which about one intent is added and one removed

ROW = re.compile(r'<tr id="row-(0x[0-9a-f]+)"')
BUTTON = re.compile(r'<a class="button" href="([^"]+)"[^>]* rel="(next|prev)"')

MOVING = (Kind.MOVING, Kind.HISTORY, Kind.OLDER_HISTORY, Kind.BALANCES)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as clock:
        yield clock


@pytest.fixture
def emulator(clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    small = Emulator(size=SIZE)
    before = app.current()
    # The service's clock jumps, while cached entries age by a clock that doesn't.
    monkeypatch.setattr(operations, "POLICIES", policies(*MOVING, **NOT_CACHED))
    app.use(startup.build(emulator=small))
    yield small
    switch_to(before)


type Filter = Callable[[Entry], bool]


def is_open(entry: Entry) -> bool:
    return entry.scene.status in ("QUOTED", "COMMITTED", "EXECUTING")


# A query, what it lists, and how many intents at least are added and removed meanwhile.
LISTS: dict[str, tuple[str, Filter, int]] = {
    "newest first": ("size=100", lambda entry: True, 10),
    "oldest first": ("order=ASC&size=100", lambda entry: True, 10),
    "open": ("status=in-flight", is_open, 5),
}


class Walk:
    """A user who follows one kind of link, and the list's content meanwhile, according to the emulator's ledger."""

    def __init__(self, site: Client, emulator: Emulator, clock: time_machine.Traveller, holds: Filter) -> None:
        self.site, self.emulator, self.clock, self.holds = site, emulator, clock, holds
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
        self.clock.shift(FROM_CLICK_TO_CLICK)
        return page

    def held(self) -> set[str]:
        now = round(self.emulator.now() * 1_000_000)
        entries = self.emulator.ledger.entries(now, descending=True, reach=EVERYTHING_LISTED)
        return {entry.transfer.intent_id for entry in entries if self.holds(entry)}

    def moved(self) -> tuple[int, int]:
        """Return how many intents were added and removed meanwhile."""
        return len(self.held() - (self.always or set())), len(self.ever - self.held())

    def assert_is_whole(self) -> None:
        assert self.always
        assert len(self.met) == len(set(self.met)), "an intent was met twice"
        assert self.always <= set(self.met), "an intent was never met"
        assert set(self.met) <= self.ever, "an intent was met that is not in the list"


@pytest.mark.parametrize(("query", "holds", "moved"), picked(LISTS, "open"))
def test_every_intent_is_met_once_forward_and_once_back(
    emulator: Emulator, clock: time_machine.Traveller, query: str, holds: Filter, moved: int
) -> None:
    there, back = (Walk(Client(), emulator, clock, holds) for _ in range(2))
    back.follow(there.follow(f"/history?{query}", "next"), "prev")
    for walk in (there, back):
        assert walk.pages > 2
        walk.assert_is_whole()
        came, left = walk.moved()
        assert came >= moved, "nothing comes: this proves nothing"
        assert left >= moved, "nothing leaves: this proves nothing"
