"""A transfer described in words: `100 USDC from Arbitrum to Base yesterday`.

One regular expression without backtracking splits the text into words, numbers and dates, and each is looked at a fixed
number of times, so no input is slow. Digits are ASCII, as in identifiers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Self

from intents_ui.display.formatting import amounts, text
from intents_ui.display.tokens import names
from intents_ui.service.models import ChainInfo

LONGEST_NUMBER = 80  # characters. A uint256 has 78 digits
LONGEST_NAME = 4  # words of a chain's name
SHORTEST_NAME = 3  # characters of the beginning of a chain's name
SHORTEST_SYMBOL = 3  # characters. Shorter ones count only in their own case, and next to the amount
MOST_DAYS_AGO = 366
EARLIEST_YEAR = 2015

SCAN = re.compile(
    r"(?P<day>(?<![\w/.-])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9-]))"
    r"|(?P<number>(?<![\w#/:+@.,$€£¥-])(?P<before>(?:US)?\$\ ?)?(?P<digits>\.?[0-9][0-9.,]*+)(?!\ ?[%€£¥]|[/:-][0-9])"
    r"(?P<after>\ ?\$)?)"
    r"|(?P<word>[^\W\d_]\w*+(?:\.[^\W_]\w*+)*+)"
    # Not the mark of a quoted line.
    r"|(?P<arrow>[→⇒➔➜]|[-=]{1,2}>|(?:(?<=\S)|(?<=\S\ ))>)"
)
NUMBER = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?")
DAY_OF_MONTH = re.compile(r"[0-9]{1,2}")
YEAR = re.compile(r"[0-9]{4}")
ORDINALS = frozenset({"st", "nd", "rd", "th"})
BEFORE_MONTH = ORDINALS | {"of"}
ORIGIN, DESTINATION = frozenset({"from"}), frozenset({"to", "into", "onto", "towards"})
ARTICLES = frozenset({"the", "my"})
DOLLARS = frozenset({"usd", "dollar", "dollars"})
RELATIVE_DAYS = {"today": 0, "yesterday": 1}
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
MONTH_NUMBERS = {name[:length]: number for number, name in enumerate(MONTHS, 1) for length in (3, len(name))}
MONTH_NUMBERS["sept"] = 9
RESERVED = ORIGIN | DESTINATION | ARTICLES | DOLLARS | RELATIVE_DAYS.keys() | MONTH_NUMBERS.keys() | {"on", "chain"}


@dataclass(frozen=True)
class NamedChain:
    id: int
    name: str


@dataclass(frozen=True)
class Description:
    """What a text says about a transfer. None and "" are what it doesn't say.

    `token`: the symbol as listed. The amount of `in_usd` is in dollars instead. `chain` is named without a direction.
    """

    amount: Decimal
    token: str = ""
    in_usd: bool = False
    origin: NamedChain | None = None
    destination: NamedChain | None = None
    chain: NamedChain | None = None
    day: date | None = None

    def said(self, *, today: date) -> str:
        """Return `100 USDC, Arbitrum One to Base, Nov 24`."""
        number = amounts.number(self.amount)
        of_token = f" of {self.token}" if self.token and self.in_usd else f" {self.token}".rstrip()
        amount = f"${number}{of_token}" if self.in_usd else f"{number}{of_token}"
        return ", ".join(filter(None, (amount, self._route(), self._day(today))))

    def _route(self) -> str:
        if self.origin and self.destination:
            return f"{self.origin.name} to {self.destination.name}"
        named = {"from": self.origin, "to": self.destination, "on": self.chain}
        return next((f"{word} {chain.name}" for word, chain in named.items() if chain), "")

    def _day(self, today: date) -> str:
        if self.day is None:
            return ""
        written = f"{MONTHS[self.day.month - 1][:3].capitalize()} {self.day.day}"
        return written if self.day.year == today.year else f"{written}, {self.day.year}"


@dataclass(frozen=True)
class Vocabulary:
    """The chains by the words of their names, and the tokens' symbols, both in lowercase."""

    chains: Mapping[tuple[str, ...], NamedChain]
    symbols: Mapping[str, str]

    @classmethod
    def of(cls, chains: Iterable[ChainInfo], symbols: Iterable[str | None]) -> Self:
        """A chain is also known by the beginning of its name, such as `Arbitrum` for the first of that name."""
        named = [
            NamedChain(number, name) for number, name in names.by_id(chain for chain in chains if chain.name).items()
        ]
        words = [(_words_of(each.name), each) for each in named]
        known = dict(reversed(words))  # the first of several, here and below
        for found, chain in words:
            for end in range(1, len(found)):
                known.setdefault(found[:end], chain)
        return cls(
            {found: chain for found, chain in known.items() if _is_a_name(found)},
            {each.casefold(): text.symbol(each).shown for each in reversed([*symbols]) if each and _is_a_symbol(each)},
        )


def _words_of(name: str) -> tuple[str, ...]:
    return tuple(each[0].casefold() for each in SCAN.finditer(name) if each["word"] or each["digits"])


def _is_a_name(words: Sequence[str]) -> bool:
    is_long = len(" ".join(words)) >= SHORTEST_NAME or any(map(str.isdigit, "".join(words)))
    return len(words) <= LONGEST_NAME and is_long and words[0] not in RESERVED


def _is_a_symbol(symbol: str) -> bool:
    match = SCAN.fullmatch(symbol)
    return bool(match and match["word"]) and symbol.casefold() not in RESERVED


def has_number(written: str) -> bool:
    """Return whether the text may describe a transfer, before anything is known about chains and tokens."""
    return any(each["digits"] for each in SCAN.finditer(written))


def read(written: str, *, known: Vocabulary, today: date) -> Description | None:
    """Return what the text says about a transfer; None without an amount, or without a token and a chain."""
    words = list(SCAN.finditer(written))
    lowered = [each[0].casefold() for each in words]
    day, of_day = _day(words, lowered, today)
    mentions = list(_mentions(words, lowered, known))
    used = of_day | {place for _, places in mentions for place in places}
    route = _route([(chain, _direction(lowered, places[0])) for chain, places in mentions])
    found = _amount(words, lowered, known, used, has_chain=bool(mentions))
    return found and replace(
        found, day=day, origin=route.get("origin"), destination=route.get("destination"), chain=route.get("chain")
    )


def _day(words: Sequence[re.Match[str]], lowered: Sequence[str], today: date) -> tuple[date | None, set[int]]:
    """Return the first day in the text, and the places of its words."""
    for place, word in enumerate(lowered):
        found: tuple[date | None, range] | None = None
        if words[place]["day"]:
            found = _date(*map(int, word.split("-"))), range(place, place + 1)
        elif word in RELATIVE_DAYS:
            found = today - timedelta(RELATIVE_DAYS[word]), range(place, place + 1)
        elif lowered[place : place + 2] in (["day", "ago"], ["days", "ago"]) and place:
            found = _days_ago(lowered[place - 1], today), range(place - 1, place + 2)
        elif word in MONTH_NUMBERS:
            found = _day_of_month(words, lowered, place, today)
        if found and found[0]:
            return found[0], set(found[1])
    return None, set()


def _days_ago(count: str, today: date) -> date | None:
    if not (count.isascii() and count.isdigit() and len(count) < 4 and int(count) <= MOST_DAYS_AGO):
        return None
    return today - timedelta(int(count))


def _day_of_month(
    words: Sequence[re.Match[str]], lowered: Sequence[str], month: int, today: date
) -> tuple[date | None, range] | None:
    """Read `Nov 3`, `November 3rd, 2026` and `3rd of November 2026`. Without a year, it is the latest such day."""
    first = month - 1
    while first > 0 and lowered[first] in BEFORE_MONTH:
        first -= 1
    end = month + 1
    if DAY_OF_MONTH.fullmatch(_digits(words, end)):
        first, day = month, _digits(words, end)
        end += 2 if ORDINALS.intersection(lowered[end + 1 : end + 2]) else 1
    elif DAY_OF_MONTH.fullmatch(_digits(words, first)):
        day = _digits(words, first)
    else:
        return None
    year, number = _digits(words, end), MONTH_NUMBERS[lowered[month]]
    if YEAR.fullmatch(year) and EARLIEST_YEAR <= int(year) <= today.year:
        return _date(int(year), number, int(day)), range(first, end + 1)
    found = _date(today.year, number, int(day))
    if found is None or found > today + timedelta(1):
        found = _date(today.year - 1, number, int(day))
    return found, range(first, end)


def _digits(words: Sequence[re.Match[str]], place: int) -> str:
    """Return the number at this place without the punctuation after it; "" if there is none."""
    return (words[place]["digits"] or "").rstrip(".,") if 0 <= place < len(words) else ""


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _mentions(
    words: Sequence[re.Match[str]], lowered: Sequence[str], known: Vocabulary
) -> Iterator[tuple[NamedChain, range]]:
    """Yield each mention of a chain by the longest name that fits, with the places of its words.

    After a number, a word that is a symbol too is a token: `5 BNB`."""
    place = 0
    while place < len(lowered):
        is_token = lowered[place] in known.symbols and bool(_digits(words, place - 1))
        ends = () if is_token else range(min(place + LONGEST_NAME, len(lowered)), place, -1)
        end = next((end for end in ends if tuple(lowered[place:end]) in known.chains), place)
        if end > place:
            yield known.chains[tuple(lowered[place:end])], range(place, end)
        place = max(end, place + 1)


def _direction(lowered: Sequence[str], place: int) -> str:
    """Return `origin` or `destination` by the word or the arrow before this place; "" without one."""
    before = place - 1
    if before > 0 and lowered[before] in ARTICLES:
        before -= 1
    word = lowered[before] if before >= 0 else ""
    if word in ORIGIN:
        return "origin"
    return "destination" if word in DESTINATION or word[-1:] in ("→", "⇒", "➔", "➜", ">") else ""


def _route(mentions: Sequence[tuple[NamedChain, str]]) -> dict[str, NamedChain]:
    """Return the chains by direction. Those without one fill the gap: of two, the first is the origin."""
    route: dict[str, NamedChain] = {}
    for chain, direction in mentions:
        if direction:
            route.setdefault(direction, chain)
    loose = list(dict.fromkeys(chain for chain, _ in mentions if chain not in route.values()))
    missing = [each for each in ("origin", "destination") if each not in route]
    if len(missing) == 2 and len(loose) == 1:
        return {"chain": loose[0]}
    return route | dict(zip(missing, loose, strict=False))


def _amount(
    words: Sequence[re.Match[str]], lowered: Sequence[str], known: Vocabulary, used: set[int], *, has_chain: bool
) -> Description | None:
    """Return the first amount next to a token, else the first in dollars, else any. A token or chain must be named."""
    symbols = {
        place: symbol
        for place, word in enumerate(lowered)
        if place not in used and (symbol := known.symbols.get(word))
        if len(symbol) >= SHORTEST_SYMBOL or symbol == words[place][0]
    }
    units = symbols.keys() | {place for place, word in enumerate(lowered) if word in DOLLARS}
    values = {
        place: value
        for place in range(len(words))
        if place not in used and (value := _value(words, place, units)) is not None
    }
    for place, value in values.items():
        if symbol := symbols.get(place + 1) or symbols.get(place - 1):
            return Description(value, symbol)
    token = next(
        (each for place, each in symbols.items() if each == words[place][0] and len(each) >= SHORTEST_SYMBOL), ""
    )
    if not (values and (token or has_chain)):
        return None
    in_usd = (place for place in values if place + 1 in units or words[place]["before"] or words[place]["after"])
    first = next(in_usd, None)
    if first is None:
        return Description(next(iter(values.values())), token)
    return Description(values[first], token, in_usd=True)


def _value(words: Sequence[re.Match[str]], place: int, units: Set[int]) -> Decimal | None:
    """Return the number at this place; None if it isn't an amount, such as those in `1.2.3`, `24h` and `3rd`."""
    digits = _digits(words, place)
    if not digits or len(digits) > LONGEST_NUMBER or not NUMBER.fullmatch(digits):
        return None
    following = words[place + 1] if place + 1 < len(words) else None
    is_glued = following and following["word"] and following.start() == words[place].end()
    return None if is_glued and place + 1 not in units else Decimal(digits.replace(",", ""))
