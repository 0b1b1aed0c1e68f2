"""Types of the fields of the service's objects, and `Model`, the base class of the objects.

A type takes any JSON value and returns the exact value or raises ValueError, nothing else. null and "" are None. Length
and exponent are bounded before a number becomes an `int`, because converting hostile input can be slow:
`int(Decimal("1e1000000"))` takes half a minute.
"""

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Never, Self, TypeVar, get_args, get_origin

from annotated_types import MaxLen
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    GetPydanticSchema,
    PlainValidator,
    TypeAdapter,
    ValidationError,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema

from intents_ui.service import decode

UINT256_LIMIT = 2**256
MAX_DECIMALS = 77  # with more, no amount below 2**256 would make one whole token
MAX_DIGITS = 80
EXPONENT_LIMIT = 90
LONGEST_ID = 200  # characters that one of our URLs can carry
CHAIN_ID_LIMIT = 2**64  # the API's limit
CURSOR_LIMIT = 2**63
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_YEAR, LAST_YEAR = 2000, 2200  # of plausible times
LONGEST_WORD = 40  # characters of an unknown status to log
UNREADABLE_TEXT = 100  # characters of an invalid value to store
LONGEST_LIST = 20_000  # entries of a list to parse. The rest count as unreadable
EMPTY = (None, "")  # what a field without a value may have

_NUMBER = re.compile(r"[+-]?[0-9]{1,100}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,4})?", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_ANY_TIME = TypeAdapter(datetime)
USUAL_ID = "^0x[0-9a-fA-F]{64}$"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

_T = TypeVar("_T")

log = logging.getLogger(__name__)


def read_text(value: object) -> str:
    """Return the text, with lone surrogates replaced by U+FFFD because they can't be encoded in pages or logs."""
    if not isinstance(value, str):
        raise ValueError("not a text")
    return _LONE_SURROGATE.sub("\ufffd", value)


def read_intent_id(value: object) -> str:
    """Return an ID that is safe in a URL path.

    It has no blanks, slashes or unprintable characters, and is neither "." nor "..".
    """
    text = read_text(value)
    is_safe = text.isprintable() and " " not in text and "/" not in text and text not in (".", "..")
    if not 0 < len(text) <= LONGEST_ID or not is_safe:
        raise ValueError("an ID that doesn't fit a URL")
    return text


def read_identifier(value: object) -> str:
    """Return an address, a hash or another ID. Its length is bounded because pages show it in full."""
    text = read_text(value)
    if not 0 < len(text) <= LONGEST_ID:
        raise ValueError("empty, or longer than any address")
    return text


def read_figure(value: object) -> Decimal:
    """Return a USD amount, share or percentage: at most 80 digits, exponent within ±90, possibly negative."""
    if isinstance(value, Decimal):  # as `decode.read` returns most
        number = value
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and _NUMBER.fullmatch(str(value)):
        number = Decimal(str(value))
    else:
        raise ValueError("not a number")
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError("not a finite number")
    if not number:
        return Decimal(0)
    if number.adjusted() > EXPONENT_LIMIT or exponent < -EXPONENT_LIMIT:
        raise ValueError("out of range")
    if number.adjusted() - exponent >= MAX_DIGITS:
        raise ValueError("too many digits")
    return number


def read_uint256(value: object, *, limit: int = UINT256_LIMIT) -> int:
    """Return an amount, ID or counter: an integer from 0 to below the limit, in any JSON notation."""
    number = read_figure(value)
    if not 0 <= number < limit:
        raise ValueError("out of range")
    if number != number.to_integral_value():
        raise ValueError("not a whole number")
    return int(number)


def read_timestamp(value: object) -> datetime | None:
    """Return a time in UTC, or None for one that was never set (year 1 or Unix time 0).

    Takes RFC 3339 (UTC without a zone), Unix seconds or Unix milliseconds. Raises ValueError for a time outside the
    years 2000 to 2200, which can only be an error: sums with it would leave the calendar.
    """
    if isinstance(value, str) and _DATE.fullmatch(value):
        raise ValueError("a date without a time")
    moment = _ANY_TIME.validate_python(value)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment.year == 1 or moment == EPOCH:
        return None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"outside the years {FIRST_YEAR} to {LAST_YEAR}")
    return moment.astimezone(UTC)


def _optional(read: Callable[[object], Any], *usual: CoreSchema) -> GetPydanticSchema:
    """Return the schema of a field that may be empty. `read` parses what the faster `usual` schemas reject."""
    fallback = core_schema.no_info_plain_validator_function(lambda value: None if value == "" else read(value))
    either = core_schema.union_schema([*usual, fallback], mode="left_to_right")
    return GetPydanticSchema(lambda _, __: core_schema.nullable_schema(either))


def _required(read: Callable[[object], str], usual: CoreSchema) -> GetPydanticSchema:
    """Return the schema of a text that may not be empty. `read` parses what the faster `usual` schema rejects."""
    either = core_schema.union_schema([usual, core_schema.no_info_plain_validator_function(read)], mode="left_to_right")
    return GetPydanticSchema(lambda _, __: either)


def _integer(limit: int) -> GetPydanticSchema:
    """Return the schema of an integer that may be empty."""
    digits = core_schema.str_schema(strict=True, pattern="^[0-9]{1,80}$")
    as_text = core_schema.chain_schema([digits, core_schema.int_schema(lt=limit)])
    as_number = core_schema.int_schema(strict=True, ge=0, lt=limit)
    return _optional(partial(read_uint256, limit=limit), as_number, as_text)


def _or_default(default: Any) -> GetPydanticSchema:
    """Return the schema of a list's entry. An invalid one gets a default, so that the others keep their positions."""
    return GetPydanticSchema(
        lambda source, handler: core_schema.with_default_schema(handler(source), default=default, on_error="default")
    )


def status_type(kind: str, known: Iterable[str]) -> GetPydanticSchema:
    """Return the schema of a status. Unknown ones are kept, because the service may send others, and logged."""

    def read(value: object) -> str:
        word = read_text(value)
        log.warning("Unknown value of %s from the service: %r", kind, word[:LONGEST_WORD], extra={"once": True})
        return word

    return _optional(read, core_schema.literal_schema([str(word) for word in known]))


def _refuse(value: object) -> Never:
    raise ValueError("not of the field's type")


_TEXT = core_schema.str_schema(strict=True, min_length=1)
_SHORT_TEXT = core_schema.str_schema(strict=True, min_length=1, max_length=LONGEST_ID)
_TIME = core_schema.chain_schema(
    [
        core_schema.str_schema(strict=True, min_length=len("2000-01-01T00:00:00Z")),
        core_schema.datetime_schema(
            ge=datetime(FIRST_YEAR, 1, 1, tzinfo=UTC),
            lt=datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC),
            tz_constraint=0,
            microseconds_precision="truncate",
        ),
    ]
)

Text = Annotated[str | None, _optional(read_text, _TEXT)]
Identifier = Annotated[str | None, _optional(read_identifier, _SHORT_TEXT)]
UInt256 = Annotated[int | None, _integer(UINT256_LIMIT)]
Cursor = Annotated[int | None, _integer(CURSOR_LIMIT)]
Decimals = Annotated[int | None, _integer(MAX_DECIMALS + 1)]
Figure = Annotated[Decimal | None, _optional(read_figure)]
Timestamp = Annotated[datetime | None, _optional(read_timestamp, _TIME)]
Flag = Annotated[bool | None, _optional(_refuse, core_schema.bool_schema(strict=True))]
TextInList = Annotated[str, _required(read_text, core_schema.str_schema(strict=True)), _or_default("")]
FigureInList = Annotated[Figure, _or_default(None)]
# A list that may be null or "". Its first invalid entry ends the validation, because each is read by itself then.
ListOf = Annotated[
    tuple[_T, ...],
    FailFast(),
    MaxLen(LONGEST_LIST),
    BeforeValidator(lambda value: () if value in EMPTY else value),
]
# Without these, an object is meaningless.
IntentId = Annotated[str, _required(read_intent_id, core_schema.str_schema(strict=True, pattern=USUAL_ID))]
RequiredIdentifier = Annotated[str, PlainValidator(read_identifier)]
RequiredUInt256 = Annotated[int, PlainValidator(read_uint256)]
ChainId = Annotated[int, PlainValidator(partial(read_uint256, limit=CHAIN_ID_LIMIT))]


class MissingField(ValueError):
    """An object lacks a field, or has an invalid value in it, without which it is meaningless."""

    def __init__(self, field: str) -> None:
        super().__init__(f"{field} is missing or invalid")
        self.field = field


class Model(BaseModel):
    """Object of the service. Immutable. An invalid field is empty, and never invalidates the object or another field.

    Fields are snake_case here and camelCase in JSON. Absent, null and "" are all None, or () for a list.
    """

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True, frozen=True)

    # Fields that may be absent, but without which the object is meaningless if they are invalid.
    essential: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def model_validate(cls, obj: Any, **_: Any) -> Self:
        """Parse a JSON object, with its names in JSON. Raises ValueError if it isn't one or is meaningless.

        If anything in it is invalid, the failing fields are read one by one, and the object is validated once more.
        """
        fields, unreadable, lost = obj, dict[str, str](), 0
        while True:
            try:
                found = super().model_validate(fields, by_alias=True, by_name=False)
                break
            except ValidationError as error:
                if not isinstance(obj, dict):
                    raise ValueError("not an object") from None
                failing = {each["loc"][0] for each in error.errors(include_url=False, include_input=False)}
            fields = {**fields}
            for name, field in cls.model_fields.items():
                if field.alias in failing:
                    value, invalid, entries = cls._readable(name, fields.get(field.alias), obj.get(field.alias))
                    fields[field.alias], lost = value, lost + entries
                    unreadable |= {} if invalid is None else {name: invalid}
        if unreadable:
            found.notes.update(unreadable=unreadable, lost=lost)
        return found

    @classmethod
    def _readable(cls, name: str, value: Any, received: Any) -> tuple[Any, str | None, int]:
        """Return what is readable of an invalid field, the text of what isn't, and how many entries of a list that is.

        Raises MissingField if the object is meaningless without it.
        """
        field = cls.model_fields[name]
        part, is_list = _model_in(field.annotation), get_origin(field.annotation) is tuple
        if is_list and isinstance(value, list):
            entries, invalid, more = [], [], max(len(value) - LONGEST_LIST, 0)
            for entry in value[:LONGEST_LIST]:
                try:
                    entries.append(part.model_validate(entry) if part else entry)
                except ValueError:
                    invalid.append(entry)
            text = f"{more} more entries" if more else _cut(invalid[0]) if invalid else None
            return entries, text, len(invalid) + more
        if part and not is_list and isinstance(value, dict):
            with suppress(ValueError):
                return part.model_validate(value), None, 0
        if field.is_required() or (name in cls.essential and value not in EMPTY):
            raise MissingField(str(field.alias))
        return None, None if value in EMPTY else _cut(received), 0

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Parse an object from JSON text. Raises ValueError if it is invalid."""
        text.encode()  # rejects lone surrogates, which could be parsed but not sent back
        return cls.model_validate(decode.read(text)).with_raw(text)

    @cached_property
    def notes(self) -> dict[str, Any]:
        """What is known about this object besides its fields. It is no part of its value."""
        return {}

    @property
    def raw(self) -> str:
        """The object's JSON text as received, byte for byte, or "" if it isn't known."""
        return str(self.notes.get("raw", ""))

    def with_raw(self, text: str) -> Self:
        """Note the object's JSON text. Return the object."""
        self.notes["raw"] = text
        return self

    @property
    def unreadable(self) -> Mapping[str, str]:
        """The first 100 characters of each invalid value, by field name."""
        found: Mapping[str, str] = self.notes.get("unreadable", {})
        return found

    @property
    def unreadable_entries(self) -> int:
        """Number of list entries left out because they are invalid or don't match the filter."""
        return int(self.notes.get("lost", 0)) + self.unfit_entries

    @property
    def unfit_entries(self) -> int:
        """Number of list entries left out because they don't match the request's filter."""
        return int(self.notes.get("unfit", 0))


def _model_in(annotation: Any) -> type[Model] | None:
    """Return the model in the type of a field or of its list."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def _cut(value: object) -> str:
    if isinstance(value, str):
        return read_text(value[:UNREADABLE_TEXT])
    return (str(value) if isinstance(value, Decimal) else json.dumps(value, default=str))[:UNREADABLE_TEXT]
