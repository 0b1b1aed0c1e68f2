"""What a text says about a transfer besides identifiers: `2000 USDT Polygon to Katana this morning`.

The text becomes a list of terms, each with every meaning that it may have (`words.toml`, the listed chains and tokens).
Neighbors decide which one applies. No pattern backtracks, so no input is slow.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from intents_ui.formatting import amounts as figures
from intents_ui.formatting import text
from intents_ui.search.identifiers import USUAL_NAMES, WORDS, ParsedText
from intents_ui.service.models import ChainInfo
from intents_ui.service.outcome import Outcome

LONGEST_NUMBER = 80  # characters. A uint256 has 78 digits
LONGEST_GAP = 12  # characters between a direction and its chain: `From: **Base**`
SHORTEST_NAME = 3  # characters of the beginning of a chain's name
SHORTEST_SYMBOL = 3  # characters. Shorter ones count only in their own case, and next to the amount
MAX_AMOUNTS = 8
MAX_DAYS_AGO = 366
# "Yesterday" in any time zone.
EARLIEST_ZONE, LATEST_ZONE = timedelta(hours=14), timedelta(hours=12)
JUST_NOW = timedelta(minutes=30)


@dataclass(frozen=True)
class TicketFacts:
    """Facts about one transfer. Whatever the text doesn't say is empty.

    `amounts`: every amount that it may be. `1.500` has two, and `notes` say so. They are US dollars if `in_dollars`.
    `symbols`: as listed. `chains`: named without a direction. `since` and `until`: when it was sent, in UTC, in
    whatever time zone the writer may be. `statuses`: what may have become of it.
    """

    amounts: tuple[Decimal, ...] = ()
    in_dollars: bool = False
    symbols: frozenset[str] = frozenset()
    origin: ChainInfo | None = None
    destination: ChainInfo | None = None
    chains: tuple[ChainInfo, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    statuses: frozenset[Outcome] = frozenset()
    memo: str = ""
    pasted: ParsedText = field(default_factory=ParsedText)
    notes: tuple[str, ...] = ()

    @property
    def describes_transfer(self) -> bool:
        """Whether it has an amount, and a token or a chain."""
        return bool(self.amounts and (self.symbols or self.origin or self.destination or self.chains))

    @property
    def description(self) -> str:
        """`100 USDC, Arbitrum One to Base, Nov 24`."""
        amount = " or ".join(("$" if self.in_dollars else "") + figures.number(each) for each in self.amounts)
        token = text.listed(sorted(self.symbols), "or")
        of = " of " if self.in_dollars and token else " "
        return ", ".join(filter(None, (f"{amount}{of}{token}".strip(), self._route(), self._days())))

    def _route(self) -> str:
        origin, destination = self.origin and name_of(self.origin), self.destination and name_of(self.destination)
        if origin and destination:
            return f"{origin} to {destination}"
        if origin or destination:
            return f"from {origin}" if origin else f"to {destination}"
        return f"on {text.listed(list(map(name_of, self.chains)), 'or')}" if self.chains else ""

    def _days(self) -> str:
        if self.since is None or self.until is None:
            return ""
        if self.until - self.since < timedelta(hours=12):
            return f"{_day(self.since)}, {self.since:%H:%M} to {self.until:%H:%M} UTC"
        first, last = self.since + EARLIEST_ZONE, self.until - LATEST_ZONE - timedelta(seconds=1)
        return _day(first) if last.date() <= first.date() else f"{_day(first)} to {_day(last)}"


def name_of(chain: ChainInfo) -> str:
    return text.name(chain.name).shown if chain.name else f"Chain {chain.id}"


def _day(at: datetime) -> str:
    return f"{at:%b} {at.day}, {at.year}"


class Word(NamedTuple):
    """A word or several, with a meaning. `spelled`: how they must be written, with what is between them."""

    words: tuple[str, ...]
    kind: str
    value: Any
    spelled: str = ""


class Term(NamedTuple):
    """A number, a word or several, with the text's place and all meanings."""

    start: int
    end: int
    written: str
    meanings: Mapping[str, Any] = {}

    def value(self, kind: str) -> Any:
        return self.meanings.get(kind)

    def has(self, *kinds: str) -> bool:
        return not self.meanings.keys().isdisjoint(kinds)


NO_TERM = Term(0, 0, "")
IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
# Links, hashes, addresses and times of day aren't read, and nothing before them belongs to what follows.
APART = re.compile(
    r"https?://\S++|0x[0-9A-Za-z.…*]{4,}+|[0-9A-Za-z]{32,}+|(?<!\d)\d{1,2}:\d\d(?::\d\d)?(?!\d)", re.IGNORECASE
)
GAP = "\ufffd"
NUMBER = (
    r"(?<![\w.,'-])[1-9]\d{0,2}(?:\ \d{3}(?!\d))++(?:[.,]\d++)?+"
    r"|[.,]?\d++(?:[.,'_\u066b\u066c]\d++)*+"
)
LETTER = rf"[^\W\d_{IDEOGRAPHS}]"
PIECE = re.compile(
    r"(?P<date>(?<![\w.,/-])\d{4}-\d\d-\d\d(?![\d-])"
    r"|(?<![\w.,/-])\d{1,2}(?P<mark>[./])\d{1,2}(?P=mark)20\d\d(?![\d/]))"
    rf"|(?P<number>{NUMBER})"
    r"|(?P<arrow>[→⇒➔➜]|[-=]{1,2}>|(?:(?<=\S)|(?<=\S\ ))>)"
    rf"|(?P<ideograph>[{IDEOGRAPHS}])"
    rf"|(?P<word>(?:(?<=\w)')?{LETTER}(?:{LETTER}|\d)*+)"
)
BEFORE_A_NUMBER = re.compile(rf"(?:(?P<dollars>\$)\ ?|(?:{LETTER}|[\d_])[-:]?|[#/+@€£¥])\Z")
AFTER_A_NUMBER = re.compile(r"\ ?[%€£¥]|[/:-]\d")
MEMO = re.compile(r"[\s:#=*.-]{0,6}(?P<memo>[A-Za-z0-9][A-Za-z0-9_/-]{0,63}+)(?!\w)", re.ASCII)
BARE_MEMO = re.compile(r"(?<!\w)#(?P<memo>[A-Za-z0-9][A-Za-z0-9_-]{0,63}+)(?!\w)", re.ASCII)
THOUSANDS = "' _\u066c"  # the last one in Arabic


def read(
    written: str,
    *,
    chains: Iterable[ChainInfo],
    symbols: Iterable[str | None],
    now: datetime,
    pasted: ParsedText | None = None,
) -> TicketFacts:
    """Read the facts of a text, whose identifiers are known."""
    named = [_word(name, "chain", chain) for name, chain in chains_by_name(chains).items()]
    terms = _Terms(written, [*named, *_of_symbols(symbols)])
    # What is read first leaves its numbers and names to none of the others.
    memo, (since, until), statuses = terms.memo(), terms.window(now), terms.statuses()
    origin, destination, others = terms.route()
    return replace(
        terms.amounts(has_chain=bool(origin or destination or others)),
        origin=origin,
        destination=destination,
        chains=others,
        since=since,
        until=until,
        statuses=statuses,
        memo=memo,
        pasted=pasted or ParsedText(),
    )


def readings(written: str) -> tuple[Decimal, ...]:
    """Return every number that the digits and separators may mean: two for `1.500`, none for `1.2.3`."""
    if len(written) > LONGEST_NUMBER or not re.fullmatch(NUMBER, written):
        return ()
    plain = re.sub(f"[{THOUSANDS}]", "'", written).replace("\u066b", ".")
    marks, groups = re.findall(r"\D", plain), re.split(r"\D", plain)
    if not marks:
        return (Decimal(groups[0]),)
    *grouped, last = marks
    decimal = Decimal(f"{''.join(groups[:-1]) or '0'}.{groups[-1]}")
    whole = Decimal("".join(groups))
    if grouped and last not in grouped:  # `1,250.50`
        return (decimal,) if last != "'" and len(set(grouped)) == 1 and _are_thousands(groups[:-1]) else ()
    if len(set(marks)) > 1:
        return ()
    if grouped or last == "'":  # `1.250.000`
        return (whole,) if _are_thousands(groups) else ()
    return (whole, decimal) if _are_thousands(groups) else (decimal,)


def _are_thousands(groups: Sequence[str]) -> bool:
    """Return whether the digits are in groups of three, or of two as in India: `12,34,567`."""
    first, *between, last = groups
    sizes = {len(each) for each in between}
    return len(last) == 3 and 1 <= len(first) <= 3 and not first.startswith("0") and (sizes <= {3} or sizes == {2})


class _Amount(NamedTuple):
    written: str
    values: tuple[Decimal, ...]
    symbols: frozenset[str]
    in_dollars: bool


class _Terms:
    """The terms of a text. Those that have been read are `used`."""

    def __init__(self, written: str, listed: Iterable[Word]) -> None:
        self._text = APART.sub(f" {GAP} ", _plain(written))
        lexicon: dict[str, list[Word]] = {}
        for each in (*_known_words(), *listed):
            if each.words:
                lexicon.setdefault(each.words[0], []).append(each)
        self._list = list(_terms(self._text, lexicon))
        self._used: set[int] = set()

    def _at(self, place: int) -> Term:
        """Return the term at this place; one without meaning if there is none or it has been used."""
        known = 0 <= place < len(self._list) and place not in self._used
        return self._list[place] if known else NO_TERM

    def _gap(self, place: int) -> str:
        """Return what stands between the term and the next one."""
        if not 0 <= place < len(self._list) - 1:
            return GAP
        return self._text[self._list[place].end : self._list[place + 1].start]

    def _touches(self, place: int, *, longest: int = 4) -> bool:
        """Return whether the next term belongs to the term."""
        gap = self._gap(place)
        return len(gap) <= longest and GAP not in gap

    def memo(self) -> str:
        """Return the number of an order: `order no. 88123`, `#4711-0815`."""
        for place, term in enumerate(self._list):
            if not term.has("memo"):
                continue
            last = place + 1 if self._at(place + 1).has("memo_number") and self._touches(place) else place
            if memo := self._memo(MEMO.match(self._text, self._list[last].end)):
                return memo
        return next((memo for each in BARE_MEMO.finditer(self._text) if (memo := self._memo(each))), "")

    def _memo(self, found: re.Match[str] | None) -> str:
        if found is None or not any(map(str.isdigit, found["memo"])):
            return ""
        inside = {
            place
            for place, term in enumerate(self._list)
            if found.start("memo") <= term.start and term.end <= found.end("memo")
        }
        following = self._at(max(inside, default=-2) + 1)
        if "#" not in found[0] and following.has("symbol", "dollars"):  # `order 100 USDC`
            return ""
        self._used |= inside
        return found["memo"]

    def statuses(self) -> frozenset[Outcome]:
        found = (Outcome(each) for term in self._list for each in term.value("status") or ())
        return frozenset(found)

    def window(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """Return when the first time in the text began and ended."""
        found: tuple[datetime, datetime] | None = None
        for place in range(len(self._list)):
            window = self._days(place, now.date()) or self._since(place, now)
            found = found or (window and (window[0], min(window[1], now) if window[0] < now else window[1]))
        return found or (None, None)

    def _days(self, place: int, today: date) -> tuple[datetime, datetime] | None:
        term = self._at(place)
        if ago := term.value("days"):
            return _window(today - timedelta(ago[0]), today - timedelta(ago[1]))
        day = _date(term.written, today) if term.has("date") else self._day_of_month(place, today)
        if day is None:
            return None
        self._used.add(place)
        return _window(day, day)

    def _day_of_month(self, place: int, today: date) -> date | None:
        """Return the latest such day: `Nov 3`, `3. November 2025`, `11月3日`."""
        month, before, behind = self._at(place).value("month"), self._at(place - 1), place - 1
        while self._at(behind).has("between"):
            behind -= 1
        around: tuple[int, ...] = (behind, place + 1)
        if self._at(place).written == "月" and re.fullmatch("[0-9]{1,2}", before.written):
            month, around = int(before.written), (place + 1,)
            self._used.add(place - 1)
        day = next((at for at in around if re.fullmatch("[0-9]{1,2}", self._at(at).written)), None)
        if month is None or day is None or not self._touches(min(day, place)):
            return None
        number, at = int(self._at(day).written), max(day, place) + 1
        at += self._at(at).has("between")
        year = self._at(at).written if re.fullmatch("20[0-9]{2}", self._at(at).written) else ""
        self._used |= {day, at} if year else {day}
        try:
            found = date(int(year or today.year), month, number)
            return found if year or found <= today + timedelta(1) else found.replace(year=today.year - 1)
        except ValueError:
            return None

    def _since(self, place: int, now: datetime) -> tuple[datetime, datetime] | None:
        """Return when `20 minutes ago` was: people round it. A number with a unit of time is no amount."""
        term, unit = self._at(place), self._at(place + 1)
        if term.has("now"):
            return now - JUST_NOW, now
        minutes = unit.value("unit") if self._touches(place, longest=2) else None
        if minutes is None:
            return None
        values = readings(term.written) if term.has("number") else (Decimal(1),) if term.has("one") else ()
        if not values:
            return None
        is_ago = self._at(place + 2).has("ago") or self._at(place - 1).has("since")
        if not is_ago and (term.has("one") or self._symbol(place + 1) or self._is_million(place + 1)):
            return None
        self._used |= {place, place + 1}
        spent = values[-1] * minutes
        if not is_ago or not 0 < spent <= MAX_DAYS_AGO * 24 * 60:
            return None
        if minutes == 24 * 60:
            day = now.date() - timedelta(int(values[-1]))
            return _window(day, day)
        span = timedelta(minutes=int(spent) or 1)
        return now - 2 * span, now - span / 2

    def _is_million(self, place: int) -> bool:
        """Return whether `m` means millions rather than minutes: `1.5m USDC`, `1.5M`."""
        term = self._at(place)
        return term.has("factor") and (term.written == "M" or self._at(place + 1).has("symbol", "dollars"))

    def route(self) -> tuple[ChainInfo | None, ChainInfo | None, tuple[ChainInfo, ...]]:
        """Return origin, destination, and chains named without a direction. These fill the gap: of two, the first is
        the origin. A name that is a symbol too is a chain after a direction only.
        """
        ends: dict[str, ChainInfo] = {}
        others: dict[int, ChainInfo] = {}
        for place in range(len(self._list)):
            term = self._at(place)
            chain = term.value("chain")
            direction = self._direction(place) if chain else ""
            is_token = term.has("symbol") and (
                not direction
                or self._at(place - 1).has("number")
                or (direction == "to" and self._at(place - 2).has("symbol"))  # `USDC to ETH`
            )
            if not chain or is_token:
                continue
            self._used.add(place)
            if direction:
                ends.setdefault(direction, chain)
            else:
                others.setdefault(chain.id, chain)
        loose = [each for each in others.values() if each not in ends.values()]
        if ends or len(loose) > 1:
            for end in ("from", "to"):
                if end not in ends and loose:
                    ends[end] = loose.pop(0)
        return ends.get("from"), ends.get("to"), tuple(loose)

    def _direction(self, place: int) -> str:
        after = self._at(place + 1) if self._touches(place, longest=1) else NO_TERM
        if after.has("from_after", "to_after"):
            return "from" if after.has("from_after") else "to"
        for before in range(place - 1, place - 5, -1):
            if not self._touches(before, longest=LONGEST_GAP) or before in self._used:
                return ""
            if self._at(before).has("from", "to"):
                return "from" if self._at(before).has("from") else "to"
            if not self._at(before).has("filler"):
                return ""
        return ""

    def amounts(self, *, has_chain: bool) -> TicketFacts:
        """Return the amounts next to a token, else the first in dollars, else the first. A token or a chain must be
        named.
        """
        found = [each for place in range(len(self._list)) if (each := self._amount(place))]
        chosen = [each for each in found if each.symbols]
        symbols = frozenset().union(*(each.symbols for each in chosen))
        if not chosen:
            symbols = frozenset(
                symbol
                for place in range(len(self._list))
                if (symbol := self._at(place).value("symbol"))
                and self._at(place).written == symbol
                and len(symbol) >= SHORTEST_SYMBOL
            )
            if not (symbols or has_chain):
                return TicketFacts()
            chosen = [*(each for each in found if each.in_dollars), *found][:1]
        values = tuple(dict.fromkeys(value for each in chosen for value in each.values))[:MAX_AMOUNTS]
        notes = tuple(
            f"“{each.written}” could be {' or '.join(map(figures.number, each.values))}."
            for each in chosen
            if len(each.values) > 1
        )
        in_dollars = any(each.in_dollars and not each.symbols for each in chosen)
        return TicketFacts(values, in_dollars, symbols, notes=tuple(dict.fromkeys(notes)))

    def _amount(self, place: int) -> _Amount | None:
        """Return the number at this place if it is an amount, unlike those in `+49`, `3rd` and `5%`."""
        term = self._at(place)
        before = BEFORE_A_NUMBER.search(self._text[max(0, term.start - 3) : term.start])
        in_dollars = bool(before and before["dollars"])
        if not term.has("number") or (before and not in_dollars) or AFTER_A_NUMBER.match(self._text, term.end):
            return None
        last, factor = place, self._at(place + 1).value("factor")
        if factor and self._touches(place, longest=1):
            last = place + 1
        values = tuple(each * (factor if last > place else 1) for each in readings(term.written))
        following = self._at(last + 1)
        is_glued = self._gap(last) == "" and following.written and not following.has("symbol", "dollars", "ideograph")
        if not values or is_glued:
            return None
        symbols = self._symbols_from(last + 1) if self._touches(last) else frozenset()
        if not symbols and self._touches(place - 1):
            symbols = frozenset(filter(None, [self._symbol(place - 1)]))
        in_dollars = in_dollars or following.has("dollars") or self._text[self._list[last].end :][:2].strip() == "$"
        return _Amount(self._text[term.start : self._list[last].end], values, symbols, in_dollars)

    def _symbols_from(self, place: int) -> frozenset[str]:
        """Return the token at this place, and those after a slash: `WETH/USDC`."""
        found = []
        while symbol := self._symbol(place):
            found.append(symbol)
            place += 1
            if self._gap(place - 1) != "/":
                break
        return frozenset(found)

    def _symbol(self, place: int) -> str:
        term = self._at(place)
        symbol: str = term.value("symbol") or ""
        return symbol if len(symbol) >= SHORTEST_SYMBOL or symbol == term.written else ""


def _plain(written: str) -> str:
    return unicodedata.normalize("NFKC", written).replace("₮", "T").replace("\u2019", "'")


def _terms(written: str, lexicon: Mapping[str, Sequence[Word]]) -> Iterator[Term]:
    """Return the terms: the longest known ones, and single words of no meaning."""
    pieces = list(PIECE.finditer(written))
    words = [each[0].casefold() for each in pieces]
    place = 0
    while place < len(pieces):
        start, kind = pieces[place].start(), pieces[place].lastgroup or ""
        count, meanings = _longest(lexicon, words, pieces, place)
        if not meanings and words[place].startswith("'"):  # French: `d'Arbitrum`
            words[place] = words[place][1:]
            start += 1
            count, meanings = _longest(lexicon, words, pieces, place)
        if kind == "arrow":
            meanings["to"] = None
        elif kind != "number" or count < 2:
            meanings["date" if kind == "mark" else kind] = None
        end = pieces[place + max(count, 1) - 1].end()
        yield Term(start, end, written[start:end], meanings)
        place += max(count, 1)


def _longest(
    lexicon: Mapping[str, Sequence[Word]], words: Sequence[str], pieces: Sequence[re.Match[str]], place: int
) -> tuple[int, dict[str, Any]]:
    """Return the number of words of the longest term here, and its meanings."""
    longest, meanings = 0, dict[str, Any]()
    for each in lexicon.get(words[place], ()):
        last = place + len(each.words) - 1
        if len(each.words) < longest or tuple(words[place : last + 1]) != each.words:
            continue
        text = pieces[place].string
        gaps = [text[pieces[at].end() : pieces[at + 1].start()] for at in range(place, last)]
        is_spelled = text[pieces[place].start() : pieces[last].end()].casefold() == each.spelled
        if is_spelled if each.spelled else all(len(gap) <= 3 and GAP not in gap for gap in gaps):
            meanings = meanings if len(each.words) == longest else {}
            longest = len(each.words)
            meanings.setdefault(each.kind, each.value)
    return longest, meanings


def _word(written: str, kind: str, value: Any) -> Word:
    plain = _plain(written).casefold()
    # An apostrophe counts after a letter only.
    pieces = PIECE.finditer(f"x{plain}", 1) if plain.startswith("'") else PIECE.finditer(plain)
    return Word(tuple(each[0] for each in pieces), kind, value, plain.removeprefix("$") if kind == "symbol" else "")


@cache
def _known_words() -> Sequence[Word]:
    rows = [(kind, row) for kind, rows in WORDS.items() if isinstance(rows, list) for row in rows]
    return [_word(written, kind, row.get("value")) for kind, row in rows for written in row["words"]]


@cache
def _reserved() -> frozenset[str]:
    """Return the words that name no chain and no token."""
    kinds = ("from", "to", "filler", "days", "now", "month", "dollars", "one", "since")
    return frozenset(each.words[0] for each in _known_words() if each.kind in kinds and len(each.words) == 1)


def chains_by_name(chains: Iterable[ChainInfo]) -> dict[str, ChainInfo]:
    """Return the chains by every name in lowercase: listed, usual, and the beginning of a name for the first chain that
    has it.
    """
    listed = [(text.name(each.name).shown.casefold(), each) for each in chains if each.name]
    usual = [(name, chain) for _, chain in listed for name in USUAL_NAMES.get(str(chain.id), ())]
    words = [(re.findall(r"\w+", name), chain) for name, chain in listed]
    beginnings = [(" ".join(each[:end]), chain) for each, chain in words for end in range(1, len(each))]
    named = dict(reversed([*listed, *usual, *beginnings]))
    return {name: chain for name, chain in named.items() if _is_name(name)}


def _is_name(name: str) -> bool:
    is_long = len(name) >= SHORTEST_NAME or any(map(str.isdigit, name)) or not name.isascii() or name == "op"
    return is_long and name.split()[0].casefold() not in _reserved()


def _of_symbols(symbols: Iterable[str | None]) -> list[Word]:
    """Return the symbols as listed. Of several that differ in case only, the first."""
    named = {each.casefold(): text.symbol(each).shown for each in reversed([*symbols]) if each}
    return [_word(name, "symbol", shown) for name, shown in named.items() if name not in _reserved()]


def _date(written: str, today: date) -> date | None:
    """Return the day of `2026-11-03`, `3.11.2026`, `11/3/2026`. Day and month are tried in both orders."""
    try:
        if "-" in written:
            return date.fromisoformat(written)
        first, second, year = map(int, re.split("[./]", written))
        orders = ((second, first), (first, second))[: 1 if "." in written else 2]
        days = [date(year, month, day) for month, day in orders if 1 <= month <= 12]
        return min(days, key=lambda day: abs(today - day), default=None)
    except ValueError:
        return None


def _window(first: date, last: date) -> tuple[datetime, datetime]:
    """Return when these days began and ended, in any time zone."""
    begin = datetime.combine(first, time(), UTC) - EARLIEST_ZONE
    return begin, datetime.combine(last + timedelta(1), time(), UTC) + LATEST_ZONE
