"""Cache poisoning and open redirects: one visitor's request never changes another's page."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
import time_machine
from django.test import Client
from django.utils.http import url_has_allowed_host_and_scheme

from intents_ui.emulator.app import Emulator
from intents_ui.service import operations
from intents_ui.service.operations import Kind
from intents_ui.settings import ENV
from intents_ui.web import frame
from tests.pages.conftest import fresh
from tests.pages.reading import PARTIAL
from tests.policies import NOT_CACHED, policies
from tests.tables import toml
from tests.url_patterns import url_patterns

ELSEWHERE: Final = "evil.example"
ODD: Final = toml(__file__, "requests")["odd_headers"]


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    """At a moment that does not pass: two answers differ in nothing but what was asked."""
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False), pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "new_export_run", lambda: "a" * 22)  # drawn for each page
        # The age of what is kept is told by another clock, and that one runs on.
        patch.setattr(operations, "POLICIES", policies(Kind.BALANCES, **NOT_CACHED))
        patch.setattr(ENV, "intents_rate_pages", 10_000)
        yield from fresh()


@pytest.fixture(scope="module")
def names(emulator: Emulator) -> dict[str, str]:
    """What stands in the place of what an address names."""
    intent = emulator.finished(3)
    known = {"intent_id": intent["intentId"], "address": intent["ownerAddress"].lower(), "operation": "GetIntent"}
    return known | {"transaction_hash": "0x12"}


# Not what is a file of its own for each reader, nor the form that holds a reader's own proof, nor what tells how the
# service was a moment ago.
KEPT: Final = [
    each
    for each in url_patterns()
    if not str(each.pattern).startswith("export/") and each.name not in ("commit", "demo-create", "operator", "status")
]


def said(answer: Any) -> tuple[int, bytes, dict[str, str]]:
    """Without what is left of a client's limit. A forwarded address is a client, and this machine is none."""
    headers = {name: value for name, value in answer.headers.items() if not name.startswith("RateLimit")}
    return answer.status_code, answer.content, headers


@pytest.fixture(scope="module")
def answers(names: dict[str, str]) -> dict[str, tuple[Any, ...]]:
    """The responses to unusual headers, to none, and to a request for a part of the page, by path."""
    paths = [route.path(**names) for route in KEPT]
    for path in paths:
        Client().get(path).close()  # what a page shows once it is known is there from now on
    return {path: tuple(Client().get(path, headers=how) for how in (ODD, {}, PARTIAL)) for path in paths}


def test_unusual_headers_change_nothing(answers):
    """Neither the response to their sender nor the next one."""
    for path, (odd, whole, _) in answers.items():
        assert said(odd) == said(whole), path
        assert ELSEWHERE.encode() not in whole.content, path


def test_responses_with_variants_declare_what_they_vary_on(answers):
    two_forms = 0
    for path, (_, whole, part) in answers.items():
        aimed = Client().get(path, headers={**PARTIAL, "HX-Target": "div#list"})
        vary = [{each.strip() for each in answer.headers.get("Vary", "").split(",")} for answer in (whole, part, aimed)]
        if said(whole)[:2] != said(part)[:2]:
            two_forms += 1
            assert all("HX-Request-Type" in each for each in vary), path
        if said(part)[:2] != said(aimed)[:2]:
            assert all("HX-Target" in each for each in vary[1:]), path
    assert two_forms > 10


def test_publicly_cacheable_responses_are_the_same_for_every_visitor(answers):
    shared = set()
    for pattern, (path, (_, answer, part)) in zip(KEPT, answers.items(), strict=True):
        kept = answer.headers["Cache-Control"]
        assert re.search(r"no-store|private|public", kept), path
        if "public" in kept:
            shared.add(pattern.name)
            assert not answer.cookies
            assert "Vary" not in answer.headers
            assert said(part) == said(answer)
    assert shared == {"card", "qr", "address-qr", "robots", "manifest"} & shared
    assert {"card", "qr", "robots"} <= shared


@pytest.mark.parametrize(
    "end", ["x.css", "x.js", "card.png/x.css", "%2e%2e/x.css", "receipt/x.png", ";x.css", "%0a.css"]
)
def test_a_page_is_not_available_under_a_file_name(emulator, names, end):
    answer = Client().get(f"/intent/{names['intent_id']}/{end}")
    assert answer.status_code == 404
    assert answer["Cache-Control"] == "no-store"


# No address leads to another site.

PLACES: Final = [
    "https://evil.example",
    "//evil.example",
    "/\t/evil.example",
    "/%2f%2fevil.example",
    "x%0d%0aSet-Cookie:%20a=b",
    "/history//evil.example/",
]
FORMS: Final = ["/i/{}", "/intent/{}", "/tx/{}", "/address/{}", "/{}/", "{}/", "{}"]
FIELDS: Final = ("next", "url", "return", "redirect", "q", "cursor", "tx", "to", "continue")


def on_the_wire(path: str) -> str:
    return path.encode().decode("latin-1")


@pytest.mark.parametrize("place", PLACES)
def test_no_redirect_leaves_this_site(emulator, place):
    """Whatever is in a path, in a field or in a header."""
    asked: list[dict[str, Any]] = [{"PATH_INFO": on_the_wire(form.format(place))} for form in FORMS]
    fields = {"query_params": dict.fromkeys(FIELDS, place), "headers": {"Referer": on_the_wire(place)}}
    asked += [{"PATH_INFO": path, **fields} for path in ("/search", "/history/")]
    led = 0
    for each in asked:
        answer = Client(raise_request_exception=False).get("/", **each)
        assert answer.status_code < 500, each
        assert not {"HX-Redirect", "HX-Location", "Refresh"} & set(answer.headers)
        if (to := answer.headers.get("Location")) is not None:
            led += 1
            assert re.match(r"/(?![/\\])", to), (each, to)
            assert url_has_allowed_host_and_scheme(to, None, require_https=True), (each, to)
            assert not re.search(r"[\x00-\x20\\]", to), (each, to)
    assert led >= 1
