"""Fields of a request, for the console's form."""

from dataclasses import dataclass
from enum import StrEnum

from intents_ui.service.decode import Brand


class JsonFieldKind(StrEnum):
    """Type of a field: how it is serialized and edited."""

    TEXT = "string"
    WHOLE = "integer"
    FIGURE = "number"
    FLAG = "boolean"
    TEXTS = "string[]"
    WHOLES = "integer[]"
    OBJECT = "object"
    OBJECTS = "object[]"

    @property
    def is_json(self) -> bool:
        """Whether the field is edited and sent as JSON."""
        return self in (JsonFieldKind.OBJECT, JsonFieldKind.OBJECTS)


@dataclass(frozen=True, slots=True)
class Member:
    """Form field of a request. `name` is its path in the API's schema, separated by dots."""

    name: str
    kind: JsonFieldKind
    about: str
    is_required: bool = False
    words: tuple[str, ...] = ()

    @property
    def path(self) -> list[str]:
        return self.name.split(".")

    def under(self, names: Brand) -> str:
        """Return the field's name with the operator's brand."""
        return ".".join(name for each in self.path for name in names.write({each: None}))
