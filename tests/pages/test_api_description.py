"""The API describes every parameter and every field, for programs and for people."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui.api import v1


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(v1.written())
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
    for kind, name in re.findall(r'"#/components/(\w+)/([^"]+)"', json.dumps(described)):
        assert name in described["components"][kind]


def test_the_page_has_every_operation_and_links_the_description(site: Client, described: dict[str, Any]) -> None:
    page = LexborHTMLParser(site.get("/api").content)
    listed = {each.text(): each.next.text() for each in page.css("dt.api-operation")}  # type: ignore[union-attr]
    assert listed == {
        f"{method.upper()} {path}": each["description"].replace("`", "")
        for path, methods in described["paths"].items()
        for method, each in methods.items()
    }
    assert page.css_first('main a[href="/api/openapi.json"]')
