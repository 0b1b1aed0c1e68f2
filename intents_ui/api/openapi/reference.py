"""The API's operations as its documentation shows them, read from its description as OpenAPI."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

type Schema = Mapping[str, Any]

WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
}
UNKNOWN = "any value"


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of an object. `type` is in words, `object` the name of the object that it has, or ""."""

    name: str
    type: str
    object: str
    description: str
    example: str
    is_required: bool = True


@dataclass(frozen=True)
class Object:
    """An object of requests and answers."""

    name: str
    description: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Operation:
    """An operation, with a command that runs it and an answer that it could have."""

    id: str
    method: str
    path: str
    description: str
    parameters: tuple[Field, ...]
    body: Object | None
    answer: Object
    command: str
    example: str


class Reference:
    """The documentation of a description as OpenAPI."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        self._schemas: Mapping[str, Schema] = described["components"]["schemas"]
        self._paths = described["paths"]

    def operations(self, root: str, known: Mapping[str, str]) -> tuple[Operation, ...]:
        """Return the operations of a dashboard, by URL. `known` are values for examples, by name of parameter."""
        return tuple(
            self._operation(method, path, each, root, known)
            for path, methods in self._paths.items()
            for method, each in methods.items()
        )

    def objects(self) -> tuple[Object, ...]:
        """Return the objects within requests and answers, and that of failures, by name."""
        parts = (each for schema in self._schemas.values() for each in schema["properties"].values())
        return tuple(self._object(name) for name in sorted({"Problem", *map(_name, parts)} - {""}))

    def _operation(self, method: str, path: str, described: Schema, root: str, known: Mapping[str, str]) -> Operation:
        sent = _json_of(described.get("requestBody", {}))
        answer = _json_of(described["responses"]["200"])
        return Operation(
            id=described["operationId"],
            method=method.upper(),
            path=path,
            description=described["description"],
            parameters=tuple(_parameter(each) for each in described["parameters"]),
            body=self._object(_name(sent)) if sent else None,
            answer=self._object(_name(answer)),
            command=command(
                root + _url(path, described["parameters"], known),
                body=self._example(sent) if sent else None,
            ),
            example=json.dumps(self._example(answer), indent=2, ensure_ascii=False),
        )

    def _object(self, name: str) -> Object:
        schema = self._schemas[name]
        required = schema.get("required", ())
        fields = (_field(each, found, is_required=each in required) for each, found in schema["properties"].items())
        return Object(name, schema.get("description", ""), tuple(fields))

    def _example(self, schema: Schema) -> Any:
        """Return a value of this schema: its example, else one made of its parts."""
        if "examples" in schema:
            return schema["examples"][0]
        if "$ref" in schema:
            properties = self._schemas[_name(schema)]["properties"]
            return {name: self._example(each) for name, each in properties.items()}
        if schema.get("type") == "array":
            return [self._example(schema["items"])]
        return self._example(next(_alternatives(schema), {"examples": [None]}))


def command(url: str, *, body: Any) -> str:
    """Return a shell command that sends the request."""
    words = ["curl -s", shlex.quote(url)]
    words += [] if body is None else ["--json", shlex.quote(json.dumps(body, ensure_ascii=False))]
    return " ".join(words)


def _url(path: str, parameters: list[Schema], known: Mapping[str, str]) -> str:
    query = []
    for each in parameters:
        value = known.get(each["name"], _shown(each["schema"]))
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", quote(value, safe=""))
        elif each["required"] or "x-shown" in each["schema"]:
            query.append((each["name"], value))
    return f"{path}?{urlencode(query)}" if query else path


def _parameter(described: Schema) -> Field:
    schema = {**described["schema"], "description": described.get("description", "")}
    return _field(described["name"], schema, is_required=described["required"])


def _field(name: str, schema: Schema, *, is_required: bool) -> Field:
    of = _name(schema)
    return Field(name, _type(schema), of, schema.get("description", ""), "" if of else _shown(schema), is_required)


def _type(schema: Schema) -> str:
    """Return the type in words: `list of text, or null`."""
    if "anyOf" in schema:
        words = [_type(each) for each in _alternatives(schema)]
        is_nullable = len(words) < len(schema["anyOf"])
        return ", or ".join([*words, *(["null"] if is_nullable else [])])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if schema.get("format") == "date-time":
        return "time"
    return _name(schema) or WORDS.get(schema.get("type", ""), UNKNOWN)


def _name(schema: Schema) -> str:
    """Return the name of the object that a schema has, alone or in a list, or ""."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    parts = [schema["items"]] if "items" in schema else _alternatives(schema)
    return next(filter(None, map(_name, parts)), "")


def _alternatives(schema: Schema) -> Iterator[Schema]:
    return (each for each in schema.get("anyOf", ()) if each.get("type") != "null")


def _json_of(described: Schema) -> Schema:
    """Return the schema of a body in JSON, or an empty one."""
    found: Schema = described.get("content", {}).get("application/json", {}).get("schema", {})
    return found


def _shown(schema: Schema) -> str:
    """Return the first example that is not null, as text."""
    found = next((each for each in schema.get("examples", ()) if each is not None), "")
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    return found if isinstance(found, str) else "" if found == [] else json.dumps(found)
