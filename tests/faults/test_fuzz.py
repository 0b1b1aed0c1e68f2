"""Property tests: pages survive any response and any input, stay well-formed, and reveal no secret.

`make test` tries the same few examples each time, and `make fuzz` as many new ones as FUZZ_EXAMPLES says.
"""

import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
import time_machine
from django.conf import settings as django_settings
from django.core.cache import cache
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from selectolax.lexbor import LexborHTMLParser

from intents_ui import app, startup
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import Unreadable
from intents_ui.settings import ENV
from tests.faults import strategies
from tests.faults.odd_pages import (
    CATALOGUE,
    LISTS,
    LIVE,
    OF_AN_INTENT,
    OF_AN_OWNER,
    Sample,
    places,
    read,
    with_,
)
from tests.pages.conftest import fresh, switch_to
from tests.pages.reading import content
from tests.pages.recorded import Recorded, Script
from tests.service.clients import CANARY
from tests.serving import ROOT

REFERENCE: Final = {"GetChains", "GetTokenList"}
STATUSES: Final = {200, 204, 301, 302, 304, 308, 400, 403, 404, 405, 409, 413, 414, 503}
SCENARIOS: Final = (
    "cross-chain-fast",
    "stuck-recoverable",
    "refunded-on-destination",
    "hostile-memo",
    "gasless-permit",
)
# Hidden in an attribute, or in a cell of a file. What is copied or passed on to triage is exact: no reader sees
# it there. Our own direction marks are not among them.
HIDDEN: Final = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u202a-\u202e]"
RAW: Final = {
    "text/html": re.compile(f'(?<!data-copy)(?<!type="hidden" name="q" value)="[^"<>]*{HIDDEN}'),
    "text/csv": re.compile(HIDDEN),
}
# Parts of a page, which others put where they belong.
FRAGMENTS: Final = re.compile(
    r"live |/newest|/overview|/intent/[^/]+/(receipt|route-stats|proof|balances)|.*/(rows|newer|routes|intents)"
    r"|/routes/tokens"
)


TRIES: Final = settings(suppress_health_check=list(HealthCheck))


@dataclass(repr=False)
class Site:
    way: Recorded
    samples: list[Sample] = field(default_factory=list)
    client: Client = field(default_factory=Client)
    log: list[logging.LogRecord] = field(default_factory=list)

    def use(self, **changes: Script) -> ServiceClient:
        """Change the responses. Lists of names stay cached unless they change: every page would load them again."""
        names_stay = not REFERENCE & (changes.keys() | self.way.changes.keys())
        self.way.changes = changes
        client = ServiceClient(app.service_config(), transport=self.way)
        objects = startup.build(emulator=app.current().emulator, service=client)
        switch_to(replace(objects, catalog=app.current().catalog) if names_stay else objects)
        cache.clear()
        return client

    def read(self, page: str, **changes: Script) -> tuple[int, str]:
        """A page that knows nothing yet, held to what is true of every page."""
        self.use(**changes)
        answer = read(self.client, page)
        status, text = self.whole(page, answer)
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        assert not (kind in RAW and RAW[kind].search(text)), page
        assert kind != "text/html" or "<img src=x" not in text, page
        if kind == "application/json":
            json.loads(text)
        elif "xml" in kind:
            ElementTree.fromstring(text)  # noqa: S314 - our own feeds and images
        return status, text

    def whole(self, page: str, answer: Any) -> tuple[int, str]:
        text = content(answer)
        assert answer.status_code in STATUSES, page
        for secret in ("Traceback", str(ROOT), CANARY, django_settings.SECRET_KEY, "http://embedded/"):
            assert secret not in text or page.startswith("/console/"), (page, secret)
        assert CANARY not in text
        is_page = answer.headers.get("Content-Type", "").startswith("text/html") and not 300 < answer.status_code < 303
        if is_page and not FRAGMENTS.match(page):
            tree = LexborHTMLParser(text)
            assert tree.css_first("html[lang] head title").text().strip(), page
            assert len(tree.css("main h1")) == 1, page
        unhandled = [record for record in self.log if record.exc_info or record.name == "asyncio"]
        self.log.clear()
        assert not unhandled, [(record.getMessage(), record.exc_info) for record in unhandled]
        return answer.status_code, text


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with (
        time_machine.travel("2026-11-21T12:00:00Z", tick=False),
        contextmanager(fresh)() as emulator,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(ENV, "intents_max_export_rows", 60)
        patch.setattr(ENV, "intents_service_access_key", SecretStr(CANARY))
        found = Site(Recorded(emulator))
        client = found.use()
        found.samples = [Sample.of(client, emulator.finished(slug)["intentId"]) for slug in SCENARIOS]
        listening = logging.Handler(logging.WARNING)
        listening.emit = found.log.append  # type: ignore[method-assign]
        loggers = [logging.getLogger(name) for name in ("asyncio", "django", "intents_ui")]
        for logger in loggers:
            logger.addHandler(listening)
        yield found
        for logger in loggers:
            logger.removeHandler(listening)


# -- what the service answers --

MARK: Final = "\ue000here\ue000"
MISSING, TWICE = "missing", "twice"


def fragments() -> st.SearchStrategy[str]:
    """JSON, or what pretends to be, that stands where something else belongs."""
    hostile = st.one_of(st.sampled_from(strategies.ODD), st.text(max_size=40), st.just("\ud800x")).map(json.dumps)
    numbers = st.one_of(st.integers(), st.integers(0, 2**256), st.floats(width=16)).map(json.dumps)
    return st.one_of(
        st.sampled_from([MISSING, TWICE, "null", '""', "[]", "{}", "true", "[null]", '[{"intentId":null}]', '{"":""}']),
        st.sampled_from(
            ["-1", "1.5", "1e1000000", "1E400", "-0", "01", "NaN", "-Infinity", "9" * 5000, '"' + "9" * 5000 + '"']
        ),
        st.sampled_from(
            ["[" * 70 + "]" * 70, '{"a":' * 70 + "1" + "}" * 70, '"' + "x" * 70_000 + '"', "'", "", "\ufeff", "//"]
        ),
        numbers,
        numbers.map(json.dumps),
        hostile,
    )


@dataclass
class Mutation:
    """The answer to one call of a page has one node changed; the calls beside it are answered as ever."""

    call: int
    node: int
    fragment: str
    seen: int = 0

    def __call__(self, document: Any) -> Any:
        self.seen += 1
        if self.seen <= self.call or not (every := list(places(document))):
            return document
        self.seen = -1000
        return self.of(document, every[self.node % len(every)])

    def of(self, document: Any, place: tuple[str | int, ...]) -> str:
        key = json.dumps(place[-1])
        marked = json.dumps(with_(document, place, MARK), ensure_ascii=False)
        member = f"{key}: {json.dumps(MARK, ensure_ascii=False)}"
        if self.fragment == MISSING:
            return marked.replace(f"{member}, ", "").replace(member, "").replace(f'"{MARK}"', "null")
        if self.fragment == TWICE:
            return marked.replace(member, f"{key}: null, {key}: 1").replace(f'"{MARK}"', "null")
        return marked.replace(f'"{MARK}"', self.fragment)


ASKED: Final = (
    "SearchIntents", "GetIntentHistory", "GetIntent", "GetIntentReceipt", "GetTokenList", "GetChains",
    "GetExactInputRoutes", "GetExactOutputRoutes", "GetTokenPrices",
)  # fmt: skip


PAGES: Final = [*OF_AN_INTENT, *OF_AN_OWNER, *LISTS, *CATALOGUE]


@pytest.mark.parametrize("forms", [PAGES[start::3] for start in range(3)], ids=range(3))
@TRIES
@given(
    page=st.integers(0, len(PAGES) // 3 - 1),
    which=st.integers(0, len(SCENARIOS) - 1),
    call=st.integers(0, 4),
    node=st.integers(0, 2**20),
    fragment=fragments(),
)
def test_one_node_of_a_response_may_be_anything(site, forms, page, which, call, node, fragment):
    mutation = Mutation(call, node, fragment)
    try:
        site.read(site.samples[which].page(forms[page]), **dict.fromkeys(ASKED, mutation))
    except Unreadable:
        assert forms[page].startswith(LIVE)  # a stream keeps its last snapshot


# -- what a visitor sends --


def tickets() -> st.SearchStrategy[str]:
    """Texts with identifiers, halves of them and anything else in between."""
    digits = st.text("0123456789abcdefABCDEF", min_size=1, max_size=70).map("0x".__add__)
    between = st.sampled_from(["\n", " ", "", ",", "/", "\x00", "\u202e", " https://explorer.example/tx/"])
    return st.lists(st.tuples(st.one_of(strategies.words(), digits), between), max_size=6).map(
        lambda pieces: "".join(word + space for word, space in pieces)
    )


@TRIES
@given(text=tickets())
def test_a_search_and_a_ticket_may_be_anything(site, text):
    site.read("/search?" + urlencode({"q": text}))
    site.whole("/triage", site.client.post("/triage", {"q": text}, headers={"Sec-Fetch-Site": "same-origin"}))


API_EXAMPLES = 60


@pytest.mark.slow
def test_every_operation_answers_as_it_is_described(server: str, tmp_path: Path) -> None:
    """Values can be of the right type and still be rejected, such as a chain that is not listed."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server}/api/openapi.json", "--url", server),
            *("--checks", "all", "--exclude-checks", "positive_data_acceptance", "--suppress-health-check", "all"),
            *("--max-examples", str(API_EXAMPLES), "--generation-deterministic"),
            *("--continue-on-failure", "--no-color"),
        ],
        cwd=tmp_path,  # it has a cache
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
