"""Every page has the same bytes as with Jinja's own code generator."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from django.template import engines
from django.template.backends import utils
from django.test import Client
from jinja2.compiler import CodeGenerator

from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import Scenario
from intents_ui.emulator.scenarios import SCENARIOS
from intents_ui.exports import progress
from intents_ui.template_compiler import PlainCodeGenerator
from intents_ui.web.jinja import Page, Templates, environment
from tests import surfaces
from tests.browser.kinds import PLACES, QUOTE
from tests.surfaces import PARTIAL, Transfer, moments, play

OF_A_TRANSFER = (
    "/intent/{0}",
    "/intent/{0}/receipt",
    "/intent/{0}/balances",
    "/intent/{0}/route-stats",
    "/intent/{0}/proof",
    "/intent/{0}/reply",
    "/intent/{0}/share",
    "/intent/{0}/commit",
    "/intent/{0}/badge.svg",
    "/embed/intent/{0}",
)
LISTS = (
    "/search?q={0}",
    "/saved/status?id={0}",
    "/address/{1}",
    "/history?owner={1}",
    "/history?owner={1}&balances=1",
    "/history?owner={1}&recoverable=1",
)
IN_TROUBLE = ("/", "/history", "/attention", "/chains", "/tokens?chain=1", "/routes?from=1&token=AAVE", "/status")


class Compared:
    """Renders each template with Jinja's own generator, too. `names`: of the templates, `differ`: with other text."""

    def __init__(self) -> None:
        self.ours: Templates = engines["jinja2"].env  # type: ignore[attr-defined]
        assert self.ours.code_generator_class is PlainCodeGenerator
        self.stock = stock(self.ours)
        self.names: list[str] = []
        self.differ: list[str] = []

    def render(self, page: Page, *args: Any, **kwargs: Any) -> str:
        shown = original(page, *args, **kwargs)
        if page.environment is self.ours and page.name:
            self.note(page.name, shown, self.stock.get_template(page.name).render(*args, **kwargs))
        return shown

    def note(self, name: str, shown: str, expected: str) -> None:
        self.names.append(name)
        if shown != expected:
            pairs = zip(shown.splitlines(), expected.splitlines(), strict=False)
            self.differ.append(f"{name}: {next((pair for pair in pairs if pair[0] != pair[1]), 'lines')}")


@cache
def stock(ours: Templates) -> Templates:
    """Return templates with Jinja's own generator. They take seconds to compile."""
    found: Templates = environment(loader=ours.loader, autoescape=True)
    found.code_generator_class = CodeGenerator
    return found


original = Page.render


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Compared]:
    found = Compared()
    monkeypatch.setattr(Page, "render", lambda page, *args, **kwargs: found.render(page, *args, **kwargs))
    monkeypatch.setattr(utils, "get_token", lambda request: "the same token each time")
    monkeypatch.setattr(progress, "new_run", lambda: "the same run each time")
    yield found
    assert found.names
    assert found.differ == []


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.slug)
def test_pages_of_a_transfer_are_the_same_at_any_moment(
    compared: Compared, world: tuple[Emulator, Client], scenario: Scenario
) -> None:
    emulator, site = world
    # Every second moment: together, the scenarios have all of them.
    for moment in list(moments(scenario))[scenario.number % 2 :: 2]:
        played = play(emulator, scenario, moment)
        transfer = Transfer(played["intentId"], played["ownerAddress"], site)
        for path in OF_A_TRANSFER + (LISTS if moment.name == "at its worst" else ()):
            for headers in ({}, PARTIAL):
                site.get(path.format(transfer.intent_id, transfer.owner), headers=headers)
        rows: list[Any] = [env.get_template("triage/rows.html").module for env in (compared.ours, compared.stock)]
        ours, stock = (each.triage_row(transfer.triage_row) for each in rows)
        compared.note("triage/rows.html", ours, stock)


@pytest.mark.parametrize("kind", [each for each in PLACES if not each.then], ids=lambda kind: kind.name)
def test_every_kind_of_page_is_the_same(compared: Compared, world: tuple[Emulator, Client], kind: Any) -> None:
    _, site = world
    for headers in ({}, PARTIAL):
        site.get(kind.path, headers=headers)


def test_pages_without_the_service_are_the_same(compared: Compared) -> None:
    with surfaces.world() as (emulator, site):
        for operation in ("GetIntentHistory", "GetChains", "GetTokenList", "SearchIntents", "GetIntent"):
            emulator.inject(operation, "failing-500")
        for path in IN_TROUBLE:
            site.get(path)


def test_pages_of_a_console_call_are_the_same(compared: Compared) -> None:
    with surfaces.world() as (_, site):
        site.post("/console/QuoteIntent", {"ask": "json", "json": json.dumps(QUOTE)})
        for query in ("GetIntentHistory?ask=fields", "GetChains?ask=fields", "GetIntent?ask=json&json={}"):
            site.get(f"/console/{query}")
    assert compared.names == ["console/operation.html"] * 4
