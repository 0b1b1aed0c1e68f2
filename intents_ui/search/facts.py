"""What a text says about a transfer besides identifiers: `2000 USDT Polygon to Katana this morning`.

Each fact has a pattern of the words that mean it (`words.toml`, the listed chains and tokens). What one has read is
blanked, so that no other reads it. No pattern reads a place of the text again and again, so no input is slow.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any, NamedTuple

from intents_ui.formatting import amounts as figures
from intents_ui.formatting import text
from intents_ui.search.identifiers import USUAL_NAMES, WORDS, ParsedText
from intents_ui.service.models import ChainInfo
from intents_ui.service.outcome import Outcome

LONGEST = 64_000  # characters, once written plainly: `½` becomes three
LONGEST_NUMBER = 80  # characters. A uint256 has 78 digits
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


IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
LETTER = rf"[^\W\d_{IDEOGRAPHS}]"
# Links, hashes, addresses and times of day aren't read, and nothing before them belongs to what follows.
APART = re.compile(
    r"https?://\S++|0x[0-9A-Za-z.…*]{4,}+|[0-9A-Za-z]{32,}+|(?<!\d)\d{1,2}:\d\d(?::\d\d)?(?!\d)", re.IGNORECASE
)
BLANK = "\ufffd"
# What may stand between two words that belong together: a little, `From: **Base**`.
SPACE, GAP, WIDE_GAP = (rf"[^\w{BLANK}]{{{least},{most}}}+" for least, most in ((1, 3), (0, 4), (0, 12)))
NUMBER = (
    r"(?<![\w.,'-])[1-9]\d{0,2}(?:\ \d{3}(?!\d))++(?:[.,]\d++)?+"
    r"|[.,]?\d++(?:[.,'_\u066b\u066c]\d++)*+"
)
# Not inside a number, so that each is read once however long it is.
COUNT = rf"(?<![\d.,'_\u066b\u066c])(?!(?<=\d\ )\d{{3}}(?!\d))(?>{NUMBER})"
ARROW = r"[→⇒➔➜]|[-=]{1,2}>|(?:(?<=\S)|(?<=\S\ ))>"
DATE = r"(?<![\w.,/-])(?:20\d\d-\d\d-\d\d(?![\d-])|\d{1,2}(?P<mark>[./])\d{1,2}(?P=mark)20\d\d(?![\d/]))"
BEFORE_A_NUMBER = re.compile(rf"(?:(?P<dollars>\$)\ ?|(?:{LETTER}|[\d_])[-:]?|[#/+@€£¥])\Z")
AFTER_A_NUMBER = re.compile(r"\ ?[%€£¥]|[/:-]\d")
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
    left = _Text(written, chains_by_name(chains), _of_symbols(symbols))
    # What is read first leaves its numbers and names to none of the others.
    memo, (since, until), statuses = left.memo(), left.window(now), left.statuses()
    origin, destination, others = left.route()
    return replace(
        left.amounts(has_chain=bool(origin or destination or others)),
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


def _plain(written: str) -> str:
    return unicodedata.normalize("NFKC", written).replace("₮", "T").replace("\u2019", "'")


def _key(written: str) -> str:
    return " ".join(re.findall(r"\w+", _plain(written).casefold()))


def _any_of(written: Iterable[str]) -> str:
    """Return the pattern of any of these words, the longest first, which no letters touch but ideographs.

    A word that begins with an apostrophe is a suffix.
    """
    patterns: dict[tuple[str, str], list[str]] = {}
    for words in sorted(map(_plain, written), key=len, reverse=True):
        start = "" if re.match(f"['{IDEOGRAPHS}]", words) else rf"(?<!{LETTER})"
        end = "" if re.search(rf"[{IDEOGRAPHS}]\Z", words) else END
        pattern = "'" * words.startswith("'") + SPACE.join(map(re.escape, re.findall(r"\w+", words)))
        patterns.setdefault((start, end), []).append(pattern)
    return "|".join(f"{start}(?:{'|'.join(each)}){end}" for (start, end), each in patterns.items()) or r"(?!)"


END = rf"(?!{LETTER}|\d)"


def _rows(kind: str) -> list[tuple[str, Any]]:
    return [(word, row.get("value")) for row in WORDS[kind] for word in row["words"]]


@cache
def _words(kind: str) -> str:
    return f"(?:{_any_of(word for word, _ in _rows(kind))})"


@cache
def _values(kind: str) -> dict[str, Any]:
    """Return the values of words. A pattern also finds words in other letters, such as a dotless i, which have none."""
    return {_key(word): value for word, value in _rows(kind)}


@lru_cache(32)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _memos() -> re.Pattern[str]:
    return _compiled(
        rf"{_words('memo')}(?:{GAP}{_words('memo_number')})?[\s:#=*.-]{{0,6}}"
        r"(?P<memo>(?=[A-Za-z_/-]{0,63}[0-9])[A-Za-z0-9][A-Za-z0-9_/-]{0,63}+)(?!\w)"
    )


def _times() -> re.Pattern[str]:
    month, between = _words("month"), rf"(?:{GAP}{_words('between')}){{0,2}}"
    day, year = rf"(?<![\d.,'])\d{{1,2}}(?!\d|[.,']\d)(?:(?={_words('between')})|(?!{LETTER}))", r"20\d\d(?!\d)"
    return _compiled(
        rf"(?P<date>{DATE})"
        rf"|(?P<day>{day}){between}{GAP}(?P<month>{month})(?:{between}{GAP}(?P<year>{year}))?"
        rf"|(?P<month_first>{month}){GAP}(?P<day_behind>{day}){between}(?:{GAP}(?P<year_behind>{year}))?"
        r"|(?P<month_number>\d{1,2})月(?P<its_day>\d{1,2})日?"
        rf"|(?:(?P<since>{_words('since')}){GAP})?(?P<count>{COUNT}|{_words('one')})[^\w{BLANK}]{{0,2}}+"
        rf"(?P<unit>{_words('unit')})(?:{GAP}(?P<ago>{_words('ago')}))?"
        rf"|(?P<days>{_words('days')})|(?P<now>{_words('now')})"
    )


@lru_cache(4)
def _routes(chains: tuple[str, ...]) -> re.Pattern[str]:
    return _compiled(
        rf"(?:(?:(?P<from>{_words('from')})|(?P<to>{_words('to')}|{ARROW})){WIDE_GAP}"
        rf"(?:{_words('filler')}{WIDE_GAP}){{0,3}})?(?P<chain>{_any_of(chains)})"
        rf"(?:[^\w{BLANK}]?(?:(?P<from_after>{_words('from_after')})|(?P<to_after>{_words('to_after')})))?"
    )


@lru_cache(4)
def _symbols(symbols: tuple[str, ...]) -> str:
    """Return the pattern of any of these tokens, spelled as they are listed."""
    spelled = "|".join(map(re.escape, sorted(symbols, key=len, reverse=True))) or "(?!)"
    return rf"(?<!{LETTER})(?:{spelled}){END}"


def _amounts(symbols: tuple[str, ...]) -> re.Pattern[str]:
    symbol = _symbols(symbols)
    return _compiled(
        rf"(?:(?P<before>{symbol})[^\w{BLANK}]{{0,4}})?"
        rf"(?!{symbol})(?P<number>(?>{NUMBER}))(?:\ ?(?P<factor>{_words('factor')}))?"
        rf"(?:{GAP}\$?(?:(?P<symbols>{symbol}(?:/{symbol})*)|(?P<dollars>{_words('dollars')})))?"
    )


class _Amount(NamedTuple):
    written: str
    values: tuple[Decimal, ...]
    symbols: frozenset[str]
    in_dollars: bool


class _Text:
    """A text, and what is left of it: what has been read is blank."""

    def __init__(self, written: str, chains: dict[str, ChainInfo], symbols: dict[str, str]) -> None:
        self._left = APART.sub(f" {BLANK} ", _plain(written)[:LONGEST])
        self._chains = {_key(name): chain for name, chain in chains.items()}
        self._listed = symbols  # as listed, by how they are written
        self._token = _symbols((*symbols,))

    def _blank(self, start: int, end: int) -> None:
        self._left = f"{self._left[:start]}{BLANK * (end - start)}{self._left[end:]}"

    def _is_amount(self, end: int) -> bool:
        """Return whether a token or dollars follow a number."""
        return _compiled(rf"{GAP}(?:{self._token}|{_words('dollars')})").match(self._left, end) is not None

    def _ends_with(self, pattern: str, end: int) -> bool:
        return re.search(rf"{pattern}\Z", self._left[max(0, end - 40) : end], re.IGNORECASE) is not None

    def memo(self) -> str:
        """Return the number of an order: `order no. 88123`, `#4711-0815`."""
        for pattern in (_memos(), BARE_MEMO):
            for found in pattern.finditer(self._left):
                is_amount = "#" not in found[0] and self._is_amount(found.end())  # `order 100 USDC`
                if any(map(str.isdigit, found["memo"])) and not is_amount:
                    self._blank(*found.span("memo"))
                    return found["memo"]
        return ""

    def statuses(self) -> frozenset[Outcome]:
        found = (_values("status").get(_key(each[0]), ()) for each in _compiled(_words("status")).finditer(self._left))
        return frozenset(Outcome(each) for values in found for each in values)

    def window(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """Return when the first time in the text began and ended."""
        windows = []
        for found in list(_times().finditer(self._left)):
            if found["unit"] and not (found["ago"] or found["since"]) and not self._is_time(found):
                continue
            self._blank(*found.span())
            if window := _window_of(found, now):
                windows.append((window[0], min(window[1], now) if window[0] < now else window[1]))
        return windows[0] if windows else (None, None)

    def _is_time(self, found: re.Match[str]) -> bool:
        """Return whether it is a number with a unit of time, which is no amount: neither `a day`, `1 S` nor `1.5M`."""
        unit = found["unit"]
        is_million = unit == "M" or (_key(unit) in _values("factor") and self._is_amount(found.end()))
        return _key(found["count"]) not in _values("one") and not self._symbol(unit) and not is_million

    def route(self) -> tuple[ChainInfo | None, ChainInfo | None, tuple[ChainInfo, ...]]:
        """Return origin, destination, and chains named without a direction. These fill the gap: of two, the first is
        the origin. A name that is a symbol too is a chain after a direction only.
        """
        ends: dict[str, ChainInfo] = {}
        others: dict[int, ChainInfo] = {}
        for found in list(_routes((*self._chains,)).finditer(self._left)):
            is_from, is_to = found["from"] or found["from_after"], found["to"] or found["to_after"]
            direction = "from" if is_from else "to" if is_to else ""
            is_token = found["chain"].casefold() in self._listed and (
                not direction
                or self._ends_with(r"\d\W{0,4}", found.start("chain"))
                or (found["to"] and self._ends_with(self._token + GAP, found.start()))  # `USDC to ETH`
            )
            if is_token:
                continue
            self._blank(*found.span("chain"))
            chain = self._chains.get(_key(found["chain"]))
            if chain and direction:
                ends.setdefault(direction, chain)
            elif chain:
                others.setdefault(chain.id, chain)
        loose = [each for each in others.values() if each not in ends.values()]
        if ends or len(loose) > 1:
            for end in ("from", "to"):
                if end not in ends and loose:
                    ends[end] = loose.pop(0)
        return ends.get("from"), ends.get("to"), tuple(loose)

    def amounts(self, *, has_chain: bool) -> TicketFacts:
        """Return the amounts by a token, else the first in dollars, else the first if a token or a chain is named."""
        found = [each for number in _amounts((*self._listed,)).finditer(self._left) if (each := self._amount(number))]
        chosen = [each for each in found if each.symbols]
        symbols = frozenset().union(*(each.symbols for each in chosen))
        if not chosen:
            named = re.findall(self._token, self._left, re.IGNORECASE)
            symbols = frozenset(each for each in named if each == self._symbol(each) and len(each) >= SHORTEST_SYMBOL)
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

    def _amount(self, found: re.Match[str]) -> _Amount | None:
        """Return the number if it is an amount, unlike those in `+49`, `3rd` and `5%`."""
        start, end = found.start("number"), found.end("factor" if found["factor"] else "number")
        before = BEFORE_A_NUMBER.search(self._left[max(0, start - 3) : start])
        if (before and not before["dollars"]) or AFTER_A_NUMBER.match(self._left, found.end("number")):
            return None
        is_glued = re.match(LETTER, self._left[end:]) and not (found["symbols"] or found["dollars"])
        factor = _values("factor").get(_key(found["factor"] or ""), 1)
        values = tuple(each * factor for each in readings(found["number"]))
        if not values or is_glued:
            return None
        written = (found["symbols"] or "").split("/")
        symbols = frozenset(filter(None, map(self._symbol, written))) or frozenset(
            filter(None, [self._symbol(found["before"] or "")])
        )
        in_dollars = bool(before or found["dollars"] or self._left[end : end + 2].strip() == "$")
        return _Amount(self._left[start:end], values, symbols, in_dollars)

    def _symbol(self, written: str) -> str:
        """Return the symbol as listed. A short one counts only in its own case."""
        symbol = self._listed.get(written.casefold(), "")
        return symbol if len(symbol) >= SHORTEST_SYMBOL or symbol == written else ""


def _window_of(found: re.Match[str], now: datetime) -> tuple[datetime, datetime] | None:
    """Return when the time began and ended, or None if it can't be."""
    today = now.date()
    if found["days"]:
        first, last = _values("days").get(_key(found["days"]), (0, 0))
        return _window(today - timedelta(first), today - timedelta(last))
    if found["now"]:
        return now - JUST_NOW, now
    if found["unit"]:
        return _since(found, now)
    month = found["month"] or found["month_first"]
    number = _values("month").get(_key(month), 0) if month else int(found["month_number"] or 0)
    day = found["day"] or found["day_behind"] or found["its_day"]
    year = found["year"] or found["year_behind"]
    on = _day_of_month(int(day), number, int(year or 0), today) if day else _date(found["date"], today)
    return _window(on, on) if on else None


def _day_of_month(day: int, month: int, year: int, today: date) -> date | None:
    """Return the day: the latest such day if the year is unknown."""
    try:
        found = date(year or today.year, month, day)
        return found if year or found <= today + timedelta(1) else found.replace(year=today.year - 1)
    except ValueError:
        return None


def _since(found: re.Match[str], now: datetime) -> tuple[datetime, datetime] | None:
    """Return when `20 minutes ago` was: people round it."""
    minutes = _values("unit").get(_key(found["unit"]), 0)
    values = (Decimal(1),) if _key(found["count"]) in _values("one") else readings(found["count"])
    spent = values[-1] * minutes if values and (found["ago"] or found["since"]) else Decimal(0)
    if not 0 < spent <= MAX_DAYS_AGO * 24 * 60:
        return None
    if minutes == 24 * 60:
        day = now.date() - timedelta(int(values[-1]))
        return _window(day, day)
    span = timedelta(minutes=int(spent) or 1)
    return now - 2 * span, now - span / 2


@cache
def _reserved() -> frozenset[str]:
    """Return the words that name no chain and no token."""
    kinds = ("from", "to", "filler", "days", "now", "month", "dollars", "one", "since")
    return frozenset(_plain(word).casefold() for kind in kinds for word, _ in _rows(kind))


def chains_by_name(chains: Iterable[ChainInfo]) -> dict[str, ChainInfo]:
    """Return the chains by each listed or usual name in lowercase, and the first one by each beginning of a name."""
    listed = [(text.name(each.name).shown.casefold(), each) for each in chains if each.name]
    usual = [(name, chain) for _, chain in listed for name in USUAL_NAMES.get(str(chain.id), ())]
    words = [(re.findall(r"\w+", name), chain) for name, chain in listed]
    beginnings = [(" ".join(each[:end]), chain) for each, chain in words for end in range(1, len(each))]
    named = dict(reversed([*listed, *usual, *beginnings]))
    return {name: chain for name, chain in named.items() if _is_name(name)}


def _is_name(name: str) -> bool:
    is_long = len(name) >= SHORTEST_NAME or any(map(str.isdigit, name)) or not name.isascii() or name == "op"
    return is_long and name.split()[0].casefold() not in _reserved()


def _of_symbols(symbols: Iterable[str | None]) -> dict[str, str]:
    """Return the symbols as listed, by how they are written. Of several that differ in case only, the first."""
    named = {each.casefold(): text.symbol(each).shown for each in reversed([*symbols]) if each}
    return {
        _plain(name).casefold().removeprefix("$"): shown for name, shown in named.items() if name not in _reserved()
    }


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
