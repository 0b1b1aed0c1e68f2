"""Compression and conditional requests for pages and data."""

import gzip
import re
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.service import operations
from tests.pages.conftest import fresh
from tests.policies import NOT_CACHED, policies
from tests.tables import rows


@pytest.fixture(scope="module")
def clock() -> Iterator[time_machine.Traveller]:
    """Yield a clock that only the test moves."""
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False) as clock:
        yield clock


@pytest.fixture(scope="module")
def emulator(clock: time_machine.Traveller) -> Iterator[Emulator]:
    """Yield the emulator without caching, because the age of cached entries follows another clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "POLICIES", policies(**NOT_CACHED))
        yield from fresh()


def paths(emulator: Emulator) -> list[str]:
    intent = f"/intent/{emulator.finished(8)['intentId']}"
    return [intent, f"{intent}.json", f"{intent}/feed.atom", "/tokens?chain=8453", "/nowhere"]


@pytest.mark.parametrize(("accepted", "is_compressed"), rows(__file__, "accept_encoding"))
@pytest.mark.usefixtures("emulator")
def test_accept_encoding_decides_whether_a_page_is_compressed(accepted: str, is_compressed: str) -> None:
    answer = Client().get("/help", headers={"Accept-Encoding": accepted})
    assert ("Content-Encoding" in answer.headers) == (is_compressed == "yes")


def test_pages_and_data_are_compressed(emulator: Emulator) -> None:
    site = Client()
    for path in paths(emulator):
        plain, packed = site.get(path), site.get(path, headers={"Accept-Encoding": "gzip"})
        assert gzip.decompress(packed.content) == plain.content, path
        assert packed.headers["Content-Encoding"] == "gzip", path
        assert "Content-Encoding" not in plain.headers, path
        for answer in (plain, packed):
            assert int(answer.headers["Content-Length"]) == len(answer.content), path
            assert "Accept-Encoding" in names(answer, "Vary"), path
        assert len(packed.content) < len(plain.content) / 2, path


@pytest.mark.usefixtures("emulator")
def test_the_secret_of_a_compressed_form_differs_in_each_response() -> None:
    """Otherwise, the sizes of compressed responses would reveal it (BREACH)."""
    site, secrets = Client(), set()
    for _ in range(3):
        page = gzip.decompress(site.get("/console/QuoteIntent", headers={"Accept-Encoding": "gzip"}).content).decode()
        secrets.add(re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1])
    assert len(secrets) == 3
    assert not any(morsel.value in page for morsel in site.cookies.values())


def test_an_unchanged_response_is_a_304_without_a_body(emulator: Emulator) -> None:
    """By either validator. A page cached compressed has a weak ETag."""
    site = Client()
    intent = f"/intent/{emulator.finished(8)['intentId']}"
    for path in (intent, f"{intent}/receipt", f"{intent}/feed.atom", "/tokens?chain=8453"):
        marks = {coding: site.get(path, headers={"Accept-Encoding": coding}).headers["ETag"] for coding in ("gzip", "")}
        assert marks["gzip"] == f"W/{marks['']}", path
        for mark in marks.values():
            again = site.get(path, headers={"If-None-Match": mark, "Accept-Encoding": "gzip"})
            assert (again.status_code, again.content) == (304, b""), path
            assert {"Accept-Encoding"} <= names(again, "Vary"), path
            assert again.headers["Cache-Control"] == "private, no-cache"
        assert site.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_page_without_relative_times_is_a_304_a_minute_later(
    emulator: Emulator, clock: time_machine.Traveller
) -> None:
    site = Client()
    mark = site.get("/chains").headers["ETag"]
    clock.shift(60)
    assert site.get("/chains", headers={"If-None-Match": mark}).status_code == 304


def test_a_no_store_response_has_no_etag(emulator: Emulator) -> None:
    for path in ("/nowhere", "/console/GetIntent", f"/intent/{emulator.finished(8)['intentId']}.json"):
        answer = Client().get(path)
        assert answer.headers["Cache-Control"] == "no-store"
        assert "ETag" not in answer.headers, path


def test_relative_times_are_part_of_the_etag(emulator: Emulator, clock: time_machine.Traveller) -> None:
    """Otherwise a browser without scripts would show outdated relative times."""
    intent, site = f"/intent/{emulator.finished(3)['intentId']}", Client()
    mark = site.get(intent).headers["ETag"]
    assert site.get(intent, headers={"If-None-Match": mark}).status_code == 304
    clock.shift(3600)
    assert site.get(intent, headers={"If-None-Match": mark}).status_code == 200


def names(answer: Any, header: str) -> set[str]:
    return {each.strip() for each in answer.headers[header].split(",")}
