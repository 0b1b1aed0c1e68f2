"""The API describes every parameter and every field, for programs and for people."""

import html
import json
import shlex
from collections.abc import Iterator
from typing import Any, Final

import brotli
import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui.api.openapi import description
from intents_ui.emulator.app import Emulator
from tests.pages.test_api import ROOT

HEAVIEST_PAGE: Final = 25_000  # bytes, compressed


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(description.written()[0])
    return found


def operations(described: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for methods in described["paths"].values() for each in methods.values()]


def has_object(schema: Any) -> bool:
    """Return whether a schema has an object, alone or in a list. Its fields have examples of their own."""
    return "$ref" in json.dumps(schema)


def fields(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in described["components"]["schemas"].items():
        for field, found in schema["properties"].items():
            yield f"{name}.{field}", found
    for each in operations(described):
        for parameter in each["parameters"]:
            place = f"{each['operationId']}({parameter['name']})"
            yield place, {**parameter["schema"], "description": parameter.get("description")}


def test_every_field_and_parameter_has_a_description_and_an_example(described: dict[str, Any]) -> None:
    found = dict(fields(described))
    assert len(found) > 80
    assert [name for name, each in found.items() if not each.get("description")] == []
    assert [name for name, each in found.items() if not has_object(each) and not each.get("examples")] == []
    names = [each for schema in described["components"]["schemas"].values() for each in schema["properties"]]
    assert [name for name in names if "_" in name] == [], "camelCase"


def commands(page: LexborHTMLParser) -> list[str]:
    copied = [each.attributes["data-copy"] or "" for each in page.css("[data-copy]")]
    return [each for each in copied if each.startswith("curl ")]


def test_the_page_has_every_operation_with_its_fields(site: Client, described: dict[str, Any]) -> None:
    answer = site.get("/api")
    assert answer.status_code == 200
    page = LexborHTMLParser(answer.content)
    assert {each.id for each in page.css("details > [id]")} >= {each["operationId"] for each in operations(described)}
    text = html.unescape(answer.content.decode())
    for each in operations(described):
        for parameter in each["parameters"]:
            assert f">{parameter['name']}<" in text
    for name, schema in described["components"]["schemas"].items():
        assert all(f">{field}<" in text for field in schema["properties"]), name
    targets = {each.id for each in page.css("[id]")}
    links = {(each.attributes["href"] or "")[1:] for each in page.css('main a[href^="#"]')}
    assert links
    assert links <= targets
    assert len(brotli.compress(answer.content, quality=3)) < HEAVIEST_PAGE


def test_the_examples_of_the_page_run(site: Client, emulator: Emulator, described: dict[str, Any]) -> None:
    emulator.finished(3)
    found = commands(LexborHTMLParser(site.get("/api").content))
    assert len(found) == len(operations(described))
    for each in found:
        words = shlex.split(each)
        path = next(word for word in words if word.startswith(ROOT)).removeprefix(ROOT)
        if "--json" in words:
            answer = site.post(path, words[words.index("--json") + 1], content_type="application/json")
        else:
            answer = site.get(path)
        is_of_mirror = path.startswith(("/api/v1/insight", "/api/v1/incidents"))  # and there is none
        assert answer.status_code == (404 if is_of_mirror else 200), each
