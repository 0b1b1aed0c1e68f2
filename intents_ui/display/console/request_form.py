"""Request form of an operation: its fields in groups, each with value, suggestions and example."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from intents_ui.service.decode import Brand
from intents_ui.service.wire.schemas import JsonFieldKind, Member

NOT_SENT = ("", "not sent")


@dataclass(frozen=True, slots=True)
class FormField:
    """`label`: the field's name under the operator's brand. `choices`: the only possible values, if limited.

    `meaning`: the chain, token or amount of this value, "" if unknown.
    """

    member: Member
    label: str
    value: str
    example: str
    choices: tuple[tuple[str, str], ...] = ()
    meaning: str = ""

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def known(self) -> tuple[str, ...]:
        """Known values of a list field, which has no suggestions because several can be entered."""
        return () if self.member.kind is JsonFieldKind.TEXT else self.member.words

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Suggestions while typing. Other values are possible."""
        if self.choices or self.member.kind.is_json:
            return ()
        words = self.member.words if self.member.kind is JsonFieldKind.TEXT else ()
        return words or ((self.example,) if self.example else ())


@dataclass(frozen=True, slots=True)
class FormGroup:
    """Fields of an object inside the request. `name` is "" for the request's own fields."""

    name: str
    fields: tuple[FormField, ...]

    @property
    def is_open(self) -> bool:
        return any(field.value for field in self.fields)


def groups(
    known: Iterable[Member],
    *,
    values: Mapping[str, str],
    examples: Mapping[str, str],
    choices: Mapping[str, tuple[tuple[str, str], ...]],
    meanings: Mapping[str, str],
    names: Brand,
) -> list[FormGroup]:
    fields = (
        FormField(
            member,
            member.under(names),
            values.get(member.name, ""),
            examples.get(member.name, ""),
            choices.get(member.name) or _choices(member, values.get(member.name, "")),
            meanings.get(member.name, ""),
        )
        for member in known
    )
    grouped = groupby(fields, key=lambda field: field.label.rpartition(".")[0].partition(".")[0])
    return [FormGroup(name, tuple(inside)) for name, inside in grouped]


def _choices(member: Member, value: str) -> tuple[tuple[str, str], ...]:
    """Return the choices of a boolean field. Other values can only be sent as JSON."""
    is_flag = member.kind is JsonFieldKind.FLAG and value in ("", "true", "false")
    return (NOT_SENT, ("true", "true"), ("false", "false")) if is_flag else ()
