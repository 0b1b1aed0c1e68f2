"""Parameters of a URL's query: parsers with messages for invalid values, and the canonical query of filters."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self
from urllib.parse import urlencode

from intents_ui.formatting import text
from intents_ui.formatting.text import Sentence
from intents_ui.search import identifiers, input_errors
from intents_ui.search.facts import chains_by_name
from intents_ui.search.identifiers import Kind
from intents_ui.service.models import ChainInfo, TokenInfo
from intents_ui.tokens import names

LARGEST_NUMBER = 2**64 - 1
LONGEST_ECHO = 100  # characters of an invalid value
SHORTEST_OF_OTHER_CHAINS = 25  # characters of an address

type Query = Mapping[str, Sequence[str]]
type Parser = Callable[[str], Any]


class InvalidParameter(ValueError):
    """A validation message for the user. `choices` are suggested tokens."""

    def __init__(self, message: str, *choices: TokenInfo) -> None:
        super().__init__(message)
        self.choices = choices


@dataclass(frozen=True)
class UrlFilters:
    """Base of filters in a URL. `PARAMETERS`: names of parameters that differ from the field's."""

    PARAMETERS: ClassVar[Mapping[str, str]] = {}

    @cached_property
    def query(self) -> str:
        """Return the canonical query string, so that every list has one URL."""
        return encode(self.written)

    @property
    def written(self) -> dict[str, object]:
        """Return the parameters without defaults."""
        given = ((each, getattr(self, each.name)) for each in fields(self))
        return {self.PARAMETERS.get(each.name, each.name): value for each, value in given if value != each.default}

    def with_(self, **changes: Any) -> Self:
        return replace(self, **changes)


@dataclass(frozen=True)
class Parsed[T]:
    """Filters from the valid parameters. By filter name: `problems` are messages, `typed` the text to show again in
    the fields, and `choices` suggested tokens.
    """

    filters: T
    problems: Mapping[str, str]
    typed: Mapping[str, str]
    choices: Mapping[str, Sequence[TokenInfo]] = field(default_factory=dict)

    def field(self, name: str) -> str:
        """Return the text of a filter's field."""
        return self.typed[name]


@dataclass(frozen=True)
class Chip:
    """An active filter. `without` is the list's query without it."""

    name: str
    label: str
    value: str
    without: str

    @property
    def text(self) -> str:
        """Return `Status: open`, `From Base` or `Recoverable only`."""
        return Sentence(self.label, " " if self.label and self.value else "", self.value)


def parse[T](
    query: Query,
    parsers: Mapping[str, Parser],
    make: Callable[..., T],
    *,
    called: Mapping[str, str] = {},
    repeated: Collection[str] = (),
) -> Parsed[T]:
    """Parse each filter's parameter, and ignore other parameters and blank values.

    `called`: names of parameters that differ from the filter's. `repeated`: filters with several values, which their
    parser gets with commas between them. Other parsers get the last value.
    """
    found: dict[str, Any] = {}
    problems: dict[str, str] = {}
    typed: dict[str, str] = {}
    choices: dict[str, Sequence[TokenInfo]] = {}
    for name, parser in parsers.items():
        given = _values(query, called.get(name, name))
        typed[name] = echo(given[-1]) if given else ""
        try:
            if given:
                found[name] = parser(",".join(given) if name in repeated else given[-1])
                typed[name] = text.visible(given[-1])
        except InvalidParameter as problem:
            problems[name], choices[name] = str(problem), problem.choices
    return Parsed(make(**found), problems, typed, choices)


def encode(given: Mapping[str, object]) -> str:
    """Return the query string. A parameter is left out with None and repeated for each value of a tuple."""
    written = {name: "1" if value is True else value for name, value in given.items() if value is not None}
    return urlencode(written, doseq=True)


def last(query: Query, name: str) -> str:
    """Return the parameter's last value, or ""."""
    return next(reversed(_values(query, name)), "")


def echo(written: str) -> str:
    return text.visible(written)[:LONGEST_ECHO]


def _values(query: Query, name: str) -> list[str]:
    return [value.strip() for value in query.get(name, ()) if value.strip()]


# Parsers


def number(written: str, *, what: str) -> int:
    if problem := input_errors.of_number(written, what=what, most=LARGEST_NUMBER):
        raise InvalidParameter(problem)
    return int(written.lstrip("0") or "0")


def address(written: str) -> str:
    """Return the only address in the text."""
    if found := identifiers.only(written, identifiers.ADDRESSES):
        return found
    read = identifiers.read(written)
    problem = "" if Kind.WORDS in read.kinds else read.refusal
    if not problem and len(written) >= SHORTEST_OF_OTHER_CHAINS and written[:2].lower() != "0x":
        problem = input_errors.UNKNOWN
    raise InvalidParameter(problem or input_errors.of_address(written))


def chain_id(written: str, chains: Sequence[ChainInfo]) -> int:
    """Return a chain ID by number or name. Accept any number but 0 while the chain list is unavailable."""
    if written.isdigit():
        number(written, what="A chain ID")
    found = find_chain(written, chains)
    if found is None and not chains:
        raise InvalidParameter("Couldn't load the chain list. Enter a chain ID.")
    if found is None:
        known = ", ".join(names.by_id(chains).values())
        raise InvalidParameter(f"Unknown chain “{text.name(written).shown}”. Known chains: {known}.")
    return found


def find_chain(written: str, chains: Sequence[ChainInfo]) -> int | None:
    """Return what `chain_id` returns, but None for an unknown chain."""
    try:
        given = number(written, what="A chain ID")
    except InvalidParameter:
        given = 0
    named = names.by_id(chains)
    if given and (given in named or not named):
        return given
    found = next((each for each, name in named.items() if name.lower() == written.lower()), None)
    usual = chains_by_name(chains).get(written.casefold())
    return usual.id if found is None and usual else found


def switch(written: str) -> bool:
    if written.lower() in ("1", "true", "on", "yes"):
        return True
    if written.lower() in ("0", "false", "off", "no"):
        return False
    raise InvalidParameter("Use 1 (on) or 0 (off).")


def one_of(written: str, *, known: Iterable[str], what: str) -> str:
    by_name = {word.lower(): word for word in known}
    return required(by_name.get(written.lower()), f"Unknown {what}. Valid values: {', '.join(by_name.values())}.")


def words(written: str) -> list[str]:
    """Split at commas and spaces."""
    return [word for word in re.split(r"[,\s]+", written) if word]


def required[T](found: T | None, problem: str) -> T:
    """Return the value that was found. Raises InvalidParameter with the message if there is none."""
    if found is None:
        raise InvalidParameter(problem)
    return found
