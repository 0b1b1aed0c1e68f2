"""The API describes every parameter and every field, for programs and for people."""

import html
import json
import re
import shlex
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import brotli
import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui.api import tokens
from intents_ui.api.openapi import description
from intents_ui.api.openapi.reference import Reference
from intents_ui.emulator.app import Emulator
from tests.pages.test_api import ROOT

HEAVIEST_PAGE: Final = 25_000  # bytes, compressed


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(description.written("public")[0])
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


def test_every_operation_and_object_has_a_description(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    assert [name for name, each in schemas.items() if not each.get("description")] == []
    for each in operations(described):
        assert each["summary"]
        assert each["description"].endswith(".")


def test_every_operation_says_which_tokens_it_takes_and_how_it_fails(described: dict[str, Any]) -> None:
    assert described["openapi"].startswith("3.1")
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for each in operations(described):
        anonymous, with_token = each["security"]
        assert anonymous == {}
        [scope] = with_token["token"]
        assert scope in tokens.SCOPES
        assert {"200", "400", "401", "403", "404", "405", "429", "500", "503"} <= each["responses"].keys()
        for status, answer in each["responses"].items():
            [kind] = answer["content"]
            assert kind == ("application/json" if status == "200" else "application/problem+json")
            assert {"RateLimit", "X-Request-ID"} <= answer["headers"].keys()


def test_every_reference_leads_somewhere(described: dict[str, Any]) -> None:
    references = set(re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(described)))
    assert references
    for reference in references:
        found: Any = described
        for part in reference.split("/"):
            found = found[part]


def test_the_description_is_made_once_and_not_sent_again(site: Client) -> None:
    answer = site.get("/api/openapi.json")
    assert json.loads(answer.content) == json.loads(description.written("public")[0])
    assert answer["ETag"] == description.written("public")[1]
    assert site.get("/api/openapi.json", headers={"If-None-Match": answer["ETag"]}).status_code == 304
    assert description.written("public") is description.written("public")
    again = description.document.__wrapped__("public")
    assert json.dumps(again) == json.dumps(description.document("public"))


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
    for each, operation in zip(found, operations(described), strict=True):
        words = shlex.split(each)
        path = next(word for word in words if word.startswith(ROOT)).removeprefix(ROOT)
        if "--json" in words:
            answer = site.post(path, words[words.index("--json") + 1], content_type="application/json")
        else:
            answer = site.get(path)
        is_of_mirror = operation["security"][-1]["token"] == ["insight"]  # and there is none
        assert answer.status_code == (404 if is_of_mirror else 200), each


def test_an_example_answer_has_the_fields_of_its_object(described: dict[str, Any]) -> None:
    for each in Reference(described).operations(ROOT, {}):
        assert {field.name for field in each.answer.fields} == json.loads(each.example).keys()
        assert urlsplit(shlex.split(each.command)[2]).path.startswith("/api/v1/")


def test_the_page_is_there_while_the_service_fails(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetIntentHistory", "failing-500")
    answer = site.get("/api")
    assert answer.status_code == 200
    assert len(commands(LexborHTMLParser(answer.content))) >= 3
