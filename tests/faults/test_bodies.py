"""Property tests: every page renders whatever a response contains, and names what it could not read."""

import json
import logging
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree import ElementTree

import pytest
import time_machine
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.service.errors import ServiceError
from intents_ui.settings import ENV
from tests.faults.odd_pages import (
    CATALOGUE,
    LISTS,
    LIVE,
    OF_AN_INTENT,
    OF_AN_OWNER,
    Oddity,
    Place,
    Sample,
    content,
    kind_of,
    places,
    read,
    value_at,
    with_,
)
from tests.faults.odd_service import Odd, odd_service
from tests.pages.conftest import fresh

SEED: Final = 8
AT_ONCE: Final = 4  # nodes that are odd on one page: enough of the others are left
OPERATIONS: Final = (
    "SearchIntents", "GetIntentHistory", "GetIntent", "GetIntentReceipt", "GetTokenList", "GetChains",
    "GetExactInputRoutes", "GetExactOutputRoutes", "GetTokenPrices",
)  # fmt: skip
# Without these an answer says nothing at all: of an only hit, that nothing was found would be a guess, and what names
# another intent is about that one.
WHOLE: Final = re.compile(
    r"(intent|intentReceipt)(\.intentId)?|intentReceipt\.\w+\.intentId|intents(\.\[\](\.intentId)?)?|chains|tokens|tokenPrices"
)


@dataclass
class World:
    """The site, the service behind it, and what every page was given when nothing was odd."""

    site: Client
    odd: Odd
    samples: list[Sample]
    given: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)

    def learn(self, page: str, *, names: bool) -> None:
        """`names`: also what it is given of chains and tokens, which it has not learned before."""
        status, _, _ = self.page(page, **({"GetChains": lambda document: document} if names else {}))
        assert status < 500, page
        for operation, document in self.odd.way.given:
            self.given.setdefault(operation, []).append((page, json.loads(document)))

    def page(self, name: str, **changes: Any) -> tuple[int, str, str]:
        """Status, content type and text of a page that nobody has asked for before."""
        self.odd.rewrite(**changes)
        answer = read(self.site, name)
        return answer.status_code, answer.headers.get("Content-Type", ""), content(answer)


@pytest.fixture(scope="module")
def world(draw: Callable[[Sequence[Sample], int], list[Sample]]) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch, time_machine.travel("2026-11-21T12:00:00Z", tick=False):
        patch.setattr(ENV, "intents_rate_console_reads", 10**6)
        patch.setattr(ENV, "intents_max_export_rows", 100)
        logging.disable(logging.ERROR)  # of thousands of pages nobody reads the log
        for emulator in fresh():
            with odd_service(emulator, patch) as odd:
                found = World(Client(raise_request_exception=False), odd, draw(samples(emulator, odd), 12))
                for place, sample in enumerate(found.samples):
                    # Every page of the first; of the others each some, so that every scenario is there.
                    forms = OF_AN_INTENT + OF_AN_OWNER if place == 0 else OF_AN_INTENT[place % 5 :: 5]
                    for form in forms:
                        found.learn(sample.page(form), names=place == 0)
                for page in LISTS + CATALOGUE:
                    found.learn(page, names=True)
                yield found
        logging.disable(logging.NOTSET)


def samples(emulator: Emulator, odd: Odd) -> list[Sample]:
    """The newest and the newest finished copy of each scenario."""
    ids = {each for scenario in emulator.scenarios(moving=False) for each in (scenario.fresh, scenario.finished)}
    return [Sample.of(odd.client, each) for each in sorted(ids)]


@dataclass
class Batch:
    """Some nodes of one answer that a page is given."""

    page: str
    document: Any
    nodes: Sequence[Place]

    def made(self, oddity: Oddity) -> Any:
        document = self.document
        for place in self.nodes:
            document = with_(document, place, oddity.of(value_at(document, place)))
        return document


def batches(given: Sequence[tuple[str, Any]], *, seed: int) -> Iterator[Batch]:
    """Every kind of node of an operation's answers once, on pages that are drawn."""
    draw = random.Random(seed)  # noqa: S311 - the same pages in every run
    places_of = [{kind_of(place): place for place in places(document)} for _, document in given]
    holders: dict[str, list[int]] = {}
    for number, kinds in enumerate(places_of):
        for kind in kinds:
            holders.setdefault(kind, []).append(number)
    left = sorted(holders)
    draw.shuffle(left)
    while left:
        number = draw.choice(holders[left[0]])
        page, document = given[number]
        nodes: list[Place] = []
        for kind in list(left):
            place = places_of[number].get(kind)
            if place and len(nodes) < AT_ONCE and not any(touch(place, other) for other in nodes):
                nodes.append(place)
                left.remove(kind)
        yield Batch(page, document, nodes)


def touch(one: Place, other: Place) -> bool:
    """Whether one of them is inside the other. In a list only one goes: the others keep their places."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter] or (one[:-1] == other[:-1] and isinstance(one[-1], int))


# F42, F43, F44, and what F48 and F55 say of single values
@pytest.mark.parametrize("oddity", Oddity)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_page_renders_whatever_one_of_its_values_is(world: World, operation: str, oddity: Oddity) -> None:
    wrong = []
    for batch in batches(world.given[operation], seed=SEED + list(Oddity).index(oddity)):
        reached = []

        def change(document: Any, batch: Batch = batch, reached: list[bool] = reached) -> Any:
            if document != batch.document:
                return document
            reached.append(True)
            return batch.made(oddity)

        try:
            status, kind, text = world.page(batch.page, **{operation: change})
        except ServiceError:
            # A stream keeps the picture before it.
            problem = None if batch.page.startswith(LIVE) and loses_all(batch) else "raised"
        else:
            problem = problem_of(batch, status, kind, text) if reached else "was not asked"
        if problem:
            wrong.append((problem, batch.page, [kind_of(place) for place in batch.nodes]))
    assert not wrong, "\n".join(map(str, wrong))


def loses_all(batch: Batch) -> bool:
    return any(WHOLE.fullmatch(kind_of(place)) for place in batch.nodes)


def problem_of(batch: Batch, status: int, kind: str, text: str) -> str | None:
    if status >= 500 and not (status == 503 and loses_all(batch)):
        return str(status)
    if "html" in kind and "<img src=x" in text:
        return "markup"
    if "html" in kind and (found := re.search(r">\s*(None|nan|inf|NaN|Infinity)\s*<|Traceback|\bobject at 0x", text)):
        return found[0]
    if kind.startswith("application/json"):
        json.loads(text)
    if "xml" in kind:
        ElementTree.fromstring(text)  # noqa: S314 - our own feeds and badges
    return None
