"""Text for display: what isn't ours is sanitized, and sentences know their parts.

No finished text is searched for times or for our own words, because names come from the service and may look like
either. Escaping is up to the template. Also cells of CSV files, and JSON as indented text.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate
from string import Formatter
from typing import Protocol, Self

UNKNOWN = "—"

SYMBOL_CAP = 16
NAME_CAP = 64
MEMO_CAP = 280
REASON_CAP = 500
LONGEST = 4096

# Control, format (bidi, zero width, tags), lone surrogates, private use, unassigned, line and paragraph separators.
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Unicode's Default_Ignorable_Code_Point that aren't in these categories, such as variation selectors, and the blank
# pattern of Braille.
HIDDEN_CHARACTERS = re.compile(
    "[\u034f\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
MARKS = frozenset({"Mn", "Me"})
MAX_MARKS = 2
# Right-to-left letters and digits.
FROM_THE_RIGHT = frozenset({"R", "AL", "AN"})
ISOLATE, END_OF_ISOLATE = "\u2068", "\u2069"


@dataclass(frozen=True, slots=True)
class Text:
    """Sanitized text. `shown` is for the page, `rest` goes behind "show all", `more` counts the received characters
    after `shown`.
    """

    shown: str
    rest: str = ""
    more: int = 0

    @property
    def whole(self) -> str:
        return self.shown + self.rest


def capped(text: str | None, *, cap: int, lines: bool = False) -> Text:
    """Return the first `cap` characters as displayed, and the rest up to 4 kB. `lines` keeps line breaks and tabs."""
    if text is None or not text.strip():
        return Text(UNKNOWN)
    if len(text) <= cap and _is_plain(text):
        return Text(text)
    pieces = list(_pieces(text[:LONGEST], lines=lines))
    fitting = sum(length <= cap for length in accumulate(map(len, pieces)))
    shown, rest = "".join(pieces[:fitting]), "".join(pieces[fitting:])
    return Text(isolated(shown), isolated(rest), len(text) - fitting)


symbol, name = partial(capped, cap=SYMBOL_CAP), partial(capped, cap=NAME_CAP)
memo, reason = partial(capped, cap=MEMO_CAP, lines=True), partial(capped, cap=REASON_CAP, lines=True)


def isolated(text: str) -> str:
    """Return text for use within a sentence, isolated so that right-to-left text can't reorder what surrounds it."""
    if text.isascii() or not any(unicodedata.bidirectional(character) in FROM_THE_RIGHT for character in text):
        return text
    return f"{ISOLATE}{text}{END_OF_ISOLATE}"


def bare(sentence: str) -> str:
    """Return the text without our own isolates, for use outside of pages. Untrusted ones are visible already."""
    return sentence if sentence.isascii() else sentence.replace(ISOLATE, "").replace(END_OF_ISOLATE, "")


def visible(text: str, *, lines: bool = False) -> str:
    """Return the text with each hidden character as `⟨U+202E⟩`, and at most two combining marks in a row."""
    return text if _is_plain(text.replace("\n", "") if lines else text) else "".join(_pieces(text, lines=lines))


def is_hidden(character: str) -> bool:
    """Return whether readers can't see a character, such as a bidi control, a tag or a variation selector."""
    return unicodedata.category(character) in HIDDEN_CATEGORIES or HIDDEN_CHARACTERS.match(character) is not None


def styles_emoji(before: str, character: str) -> bool:
    """Return whether a variation selector chooses how the emoji before it is drawn, as most keyboards write it."""
    return character in ("\ufe0e", "\ufe0f") and before != "" and unicodedata.category(before) == "So"


def _is_plain(text: str) -> bool:
    """Return whether the text needs no check of each character, as most texts."""
    return text.isascii() and text.isprintable()


def _pieces(text: str, *, lines: bool) -> Iterator[str]:
    """Yield one piece per received character, so that a cut never splits a `⟨U+202E⟩`."""
    marks, before = 0, ""
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in MARKS else 0
        if lines and character in "\n\t\r":
            # The carriage return of a Windows line break is dropped.
            yield character.replace("\r", "")
        elif is_hidden(character):
            yield "" if styles_emoji(before, character) else f"⟨U+{ord(character):04X}⟩"
        else:
            yield character if marks <= MAX_MARKS else ""
        before = character


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return `1 transfer` or `1,234 transfers`."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


class Name(str):
    """A text that isn't ours, such as a chain's name."""


class Shortened(Name):
    """A shortened text. `whole` has every digit or character."""

    whole: str

    def __new__(cls, shown: str, whole: str) -> Self:
        made = str.__new__(cls, shown)
        made.whole = whole
        return made


class Figure(Shortened):
    """A rounded amount of a token."""


class Address(Shortened):
    """A shortened address."""


class Sentence(str):
    """A text made of `parts`: our words, `Name`, `Figure`, `Address` and `times.Time`."""

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> "Sentence":
        made = str.__new__(cls, "".join(parts))
        flat: list[str] = []
        for part in parts:
            flat += parts_of(part)
        made.parts = tuple(flat)
        return made


class Values(Protocol):
    """Values of placeholders by name."""

    def __getitem__(self, name: str, /) -> str: ...


def fill(template: str, values: Values | Mapping[str, str]) -> str:
    """Return a sentence from a template with `{placeholders}`, or a template without any."""
    if "{" not in template:
        return template
    return Sentence(*[values[part] if is_name else part for part, is_name in parsed(template)])


def parts_of(words: str) -> tuple[str, ...]:
    return words.parts if type(words) is Sentence else (words,)


def capitalized(words: str) -> Sentence:
    """Return the words with a capital first letter."""
    first, *others = parts_of(words)
    return Sentence(first if isinstance(first, Name) else first[:1].upper() + first[1:], *others)


def without_period(sentence: str) -> Sentence:
    """Return the sentence without its period, for a title."""
    *others, last = parts_of(sentence)
    return Sentence(*others, last if isinstance(last, Name) else last.removesuffix("."))


def fitting(words: Iterable[str], longest: int, *, between: str = " ") -> str:
    """Return the texts that fit into so many characters together. The first is always among them."""
    first, *others = filter(None, words)
    for each in others:
        if len(first) + len(between) + len(each) <= longest:
            first = f"{first}{between}{each}"
    return first


def joined(between: str, words: Iterable[str]) -> Sentence:
    return Sentence(*[part for each in words for part in (between, each)][1:])


def listed(words: Sequence[str], last: str = "and") -> str:
    """Return `a`, `a and b` or `a, b, and c`."""
    if len(words) < 2:
        return words[0] if words else ""
    comma = "," if len(words) > 2 else ""
    return Sentence(joined(", ", words[:-1]), f"{comma} {last} ", words[-1])


def exact(words: str) -> str:
    """Return the words with every digit of their amounts."""
    return "".join(part.whole if isinstance(part, Figure) else part for part in parts_of(words))


@cache
def parsed(template: str) -> tuple[tuple[str, bool], ...]:
    """Return the literal texts, and the names of the placeholders."""
    return tuple(
        (part, is_name)
        for words, name, _, _ in Formatter().parse(template)
        for part, is_name in ((words, False), (name, True))
        if part
    )


# Characters that start a formula in spreadsheets, full-width forms in Japanese ones. Some programs drop blank ones and
# NUL, so that the next character comes first.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")  # noqa: RUF001


def csv_cell(written: str) -> str:
    """Return the text of a CSV cell (RFC 4180), which no spreadsheet interprets as a formula: with `'` before one, with
    hidden characters made visible, and without our direction marks.
    """
    shown = visible(bare(written), lines=True)
    starts = (written, shown, shown.lstrip())  # spreadsheets skip blanks before a formula
    return f"'{shown}" if any(each.startswith(FORMULA) for each in starts) else shown


def csv_line(cells: Iterable[str]) -> str:
    """Return a CSV record with its line break. Quotes cells where needed. Cells must come from `csv_cell`."""
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


JSON_INDENT = "  "
# Maximum indentation, so that deeply nested text doesn't become a page of spaces.
MAX_INDENTS = 64

JSON_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]\s*[\]}]|[\[\]{}:,]|[^\s\[\]{}:,"]+|"', re.DOTALL)


def indented(text: str) -> str:
    """Return the same tokens in the same order, one field per line. In other text, only whitespace changes."""
    parts: list[str] = []
    depth = 0
    for match in JSON_TOKENS.finditer(text):
        part = match[0]
        depth += (part in ("[", "{")) - (part in ("]", "}"))
        new_line = "\n" + JSON_INDENT * max(0, min(depth, MAX_INDENTS))
        if part in ("]", "}"):
            parts += [new_line, part]
        elif part in ("[", "{", ","):
            parts += [part, new_line]
        elif part == ":":
            parts.append(": ")
        else:
            parts.append("".join(part.split()) if part[0] in "[{" else part)
    return "".join(parts)
