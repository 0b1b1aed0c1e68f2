"""Confusable characters and mixed scripts in names (UTS #39)."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from confusable_homoglyphs import categories
from confusable_homoglyphs.utils import load

from intents_ui.display.formatting import text

# Words: runs without spaces and ASCII punctuation.
WORD = re.compile(r"[^\s!-/:-@\[-`{-~]+")
# Punctuation around a symbol.
AROUND = "$.,:;'\"`"
NO_SCRIPT = frozenset({"COMMON", "INHERITED", "Unknown"})
# Scripts that may be mixed with each other and with Latin in one word (UTS #39, 5.2).
EAST_ASIAN = frozenset({"HAN", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
# Dotless i, gamma, v with hook: used in Turkish and Ewe.
ORDINARY = frozenset("\u0131\u0263\u028b")
LETTERS_AND_NUMERALS = frozenset({"Lu", "Ll", "Lt", "Nd", "Nl", "So"})
JOINERS = frozenset("\u200c\u200d")
# Characters with several ASCII lookalikes.
ALIKE = str.maketrans({"0": "O", "1": "l", "I": "l", "|": "l", "m": "rn"})
CACHED = 4096

EXPLICIT_LINK = re.compile(r"(?:https?://|www\.|\bt\.me/)\S+", re.IGNORECASE)
# Country domains have two letters. Of the longer ones, the most common.
DOMAIN = re.compile(
    r"(?<![\w.@-])(?:[\w-]+\.)+(?:[a-z]{2}|app|biz|cash|claims|click|club|com|dev|edu|events|example|exchange|finance|fun|gift"
    r"|gifts|info|link|live|money|net|network|news|online|org|page|pro|promo|shop|site|space|store|tech|test|today"
    r"|token|top|trade|vip|website|win|world|xyz)\b(?:/\S*)?",
    re.IGNORECASE,
)


def _ascii_lookalikes() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return the letters that look like ASCII, apart from accents, with their lookalikes.

    The package's own table has all lookalikes and the names of all characters, which takes 17 times the memory.
    """
    for letter, alike in load("confusables.json").items():
        plain = tuple(each["c"] for each in alike if _without_accents(each["c"]).isascii())
        if plain and len(letter) == 1 and not letter.isascii():
            yield letter, plain


def _without_accents(characters: str) -> str:
    return "".join(each for each in characters if unicodedata.category(each) not in text.MARKS)


HOMOGLYPHS = dict(_ascii_lookalikes())


@dataclass(frozen=True)
class Imitation:
    """A letter that imitates the ASCII character `instead`."""

    letter: str
    instead: str


@dataclass(frozen=True)
class Mixture:
    """A word that mixes scripts. `letter` is the first one of `script`."""

    scripts: tuple[str, ...]
    letter: str
    script: str


@lru_cache(CACHED)
def readings(name: str) -> frozenset[str]:
    """Return the readings of a name. Two names that share one look the same as written, lowercase or uppercase."""
    return frozenset(filter(None, map(_skeleton, (name, name.casefold(), name.upper()))))


def imitations(name: str) -> Iterator[Imitation]:
    """Return the letters that imitate ASCII in a word with ASCII letters, each once."""
    for letter in dict.fromkeys("".join(word for word in WORD.findall(name) if _is_partly_ascii(word))):
        if instead := _imitated(letter):
            yield Imitation(letter, instead)


def mixture(name: str) -> Mixture | None:
    """Return the first word that mixes scripts no language combines."""
    return next(filter(None, map(_mixture, WORD.findall(name))), None)


def hidden(name: str) -> Iterator[str]:
    """Return the invisible characters, each once, without joiners that belong to the letters or emoji around them."""
    around = zip(" " + name, name, name[1:] + " ", strict=False)
    found = (at for before, at, after in around if text.is_hidden(at) and not _joins(before, at, after))
    yield from dict.fromkeys(found)


def link(name: str, *, is_explicit: bool) -> str:
    """Return the first web address in the text, or "". `is_explicit`: don't count a bare domain name."""
    seen = "".join(each for each in unicodedata.normalize("NFKC", name) if not text.is_hidden(each))
    found = EXPLICIT_LINK.search(seen) or (None if is_explicit else DOMAIN.search(seen))
    return found[0] if found else ""


def script(letter: str) -> str:
    """Return `Cyrillic`, or "" for a character of no single script."""
    alias = _alias(letter)
    return "" if alias in NO_SCRIPT else alias.replace("_", " ").title()


@lru_cache(CACHED)
def _alias(character: str) -> str:
    return str(categories.alias(character))


def _skeleton(name: str) -> str:
    return "".join(map(_plain, unicodedata.normalize("NFKD", name))).strip(AROUND).translate(ALIKE)


@lru_cache(CACHED)
def _plain(character: str) -> str:
    """Return the text as it looks: without accents, with ASCII instead of its lookalikes."""
    if text.is_hidden(character) or character.isspace() or unicodedata.category(character) in text.MARKS:
        return ""
    if character.isascii():
        return character
    return next(map(_without_accents, HOMOGLYPHS.get(character, ())), character)


@lru_cache(CACHED)
def _imitated(letter: str) -> str:
    """Return the ASCII letter or digit that a letter imitates, or ""."""
    if letter.isascii() or letter in ORDINARY:
        return ""
    folded = unicodedata.normalize("NFKC", letter)
    if folded != letter:
        is_letter = unicodedata.category(letter) in LETTERS_AND_NUMERALS
        return folded if is_letter and _is_ascii_letter(folded) else ""
    return next(filter(_is_ascii_letter, HOMOGLYPHS.get(letter, ())), "")


def _mixture(word: str) -> Mixture | None:
    if word.isascii():
        return None
    scripts = dict.fromkeys(script(letter) for letter in word if letter.isalpha())
    mixed = [each for each in scripts if each and each != "Latin" and each.upper() not in EAST_ASIAN]
    if not mixed or len(scripts.keys() - {""}) == 1:
        return None
    letter = next(each for each in word if script(each) == mixed[0])
    return Mixture(tuple(filter(None, scripts)), letter, mixed[0])


def _joins(before: str, character: str, after: str) -> bool:
    is_joined = character in JOINERS and not (before.isascii() or after.isascii())
    return is_joined or text.styles_emoji(before, character)


def _is_partly_ascii(word: str) -> bool:
    return not word.isascii() and any(each.isascii() and each.isalpha() for each in word)


def _is_ascii_letter(folded: str) -> bool:
    return len(folded) == 1 and folded.isascii() and folded.isalnum()
