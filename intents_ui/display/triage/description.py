"""A transfer described in words: `100 USDC from Arbitrum to Base yesterday`.

The day, the chains and the amount are read in this order, each from the text that the one before has left. No pattern
backtracks, so no input is slow. Digits are ASCII, as in identifiers.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import date, timedelta
from decimal import Decimal

from intents_ui.display.formatting import amounts, text
from intents_ui.display.tokens import names
from intents_ui.service.models import ChainInfo

LONGEST_NUMBER = 80  # characters. A uint256 has 78 digits
LONGEST_NAME = 4  # words of a chain's name
SHORTEST_NAME = 3  # characters of the beginning of a chain's name
SHORTEST_SYMBOL = 3  # characters. Shorter ones count only in their own case, and next to the amount
MOST_DAYS_AGO = 366

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
MONTH = f"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in MONTHS)}|sept)"
DAY = re.compile(
    r"(?<![\w/.-])(?P<iso>[0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9-])"
    r"|\b(?P<ago>today|yesterday|[0-9]{1,3} days? ago)\b"
    rf"|\b(?:(?P<month>{MONTH})[ .]{{1,2}}(?P<day>[0-9]{{1,2}})(?![.,][0-9])(?:st|nd|rd|th)?"
    rf"|(?<![.,])(?P<day_first>[0-9]{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month_last>{MONTH}))\b"
    r"(?:,? (?P<year>20[0-9]{2})\b)?",
    re.IGNORECASE,
)
WORD = r"[^\W\d_]\w*+(?:\.[^\W_]\w*+)*+"
SCAN = re.compile(
    r"(?<![\w#/:+@.,$€£¥-])(?P<before>(?:US)?\$\ ?)?(?P<digits>\.?[0-9][0-9.,]*+)(?!\ ?[%€£¥]|[/:-][0-9])"
    rf"(?P<after>\ ?\$)?|(?P<word>{WORD})"
)
NUMBER = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?")
# What stands before a chain. An arrow at the beginning of a line is the mark of a quoted one.
DIRECTION = (
    r"(?:\b(?P<from>from)|\b(?:to|into|onto|towards)|[→⇒➔➜]|[-=]{1,2}>|(?:(?<=\S)|(?<=\S\ ))>)(?P<direction>)"
    r"\s{0,9}(?:\b(?:the|my)\s{1,9})?"
)
DOLLARS = frozenset({"usd", "dollar", "dollars"})
RESERVED = DOLLARS | {"from", "to", "into", "onto", "towards", "the", "my", "on", "chain", "today", "yesterday"}

READ = " chain "  # replaces words that have been read, between words that don't belong together


def has_number(written: str) -> bool:
    """Return whether the text may describe a transfer, before anything is known about chains and tokens."""
    return any(each["digits"] for each in SCAN.finditer(written))


def read(written: str, *, chains: Iterable[ChainInfo], symbols: Iterable[str | None], today: date) -> str:
    """Return `100 USDC, Arbitrum One to Base, Nov 24`; "" without an amount, or without a token and a chain."""
    # The first of several with the same name, here and below.
    tokens = {
        each.casefold(): text.symbol(each).shown
        for each in reversed([*symbols])
        if each and re.fullmatch(WORD, each) and not _is_reserved(each.casefold())
    }
    rest, day = _day(written, today)
    rest, route = _route(rest, _names(chains), tokens)
    amount = _amount(rest, tokens, has_chain=bool(route))
    return ", ".join(filter(None, (amount, route, day))) if amount else ""


def _is_reserved(word: str) -> bool:
    return word in RESERVED or bool(re.fullmatch(MONTH, word))


def _names(chains: Iterable[ChainInfo]) -> Mapping[str, str]:
    """Return the chains by name. A chain is also known by its beginning, such as `Arbitrum` for the first of them."""
    named = names.by_id(chain for chain in chains if chain.name).values()
    words = [(re.findall(r"\w+", name.casefold()), name) for name in named]
    known = {" ".join(each): name for each, name in reversed(words)}
    for each, name in words:
        for end in range(1, len(each)):
            known.setdefault(" ".join(each[:end]), name)
    return {each: name for each, name in known.items() if _is_name(each)}


def _is_name(words: str) -> bool:
    is_long = len(words) >= SHORTEST_NAME or any(map(str.isdigit, words))
    return is_long and words.count(" ") < LONGEST_NAME and not _is_reserved(words.partition(" ")[0])


def _day(written: str, today: date) -> tuple[str, str]:
    """Return the text without the first day in it, and the day as `Nov 24`."""
    for found in DAY.finditer(written):
        try:
            day = _date(found, today)
        except ValueError:
            continue
        shown = f"{MONTHS[day.month - 1][:3].capitalize()} {day.day}"
        rest = f"{written[: found.start()]}{READ}{written[found.end() :]}"
        return rest, shown if day.year == today.year else f"{shown}, {day.year}"
    return written, ""


def _date(found: re.Match[str], today: date) -> date:
    """Return the day. Without a year, it is the latest such day. Raises ValueError if there is none."""
    if found["iso"]:
        return date.fromisoformat(found["iso"])
    if found["ago"]:
        days = {"today": "0", "yesterday": "1"}.get(found["ago"].lower()) or found["ago"].partition(" ")[0]
        if int(days) > MOST_DAYS_AGO:
            raise ValueError(days)
        return today - timedelta(int(days))
    month = (found["month"] or found["month_last"])[:3].lower()
    number, day = [name[:3] for name in MONTHS].index(month) + 1, int(found["day"] or found["day_first"])
    if found["year"]:
        return date(int(found["year"]), number, day)
    latest = today + timedelta(1)
    return date(today.year - ((number, day) > (latest.month, latest.day)), number, day)


def _route(written: str, known: Mapping[str, str], tokens: Mapping[str, str]) -> tuple[str, str]:
    """Return the text without the chains in it, and the chains as `Base to Ethereum` or `on Base`.

    Those without a direction fill the gap: of two, the first is the origin. After a number, a word that is a symbol
    too is a token: `5 BNB`."""
    ends: dict[str, str] = {}
    others: dict[str, None] = {}

    def cut(found: re.Match[str]) -> str:
        word = " ".join(re.findall(r"\w+", found["name"].casefold()))
        before = written[max(0, found.start("name") - 2) : found.start("name")].strip()
        if word in tokens and before[-1:].isdigit():
            return found[0]
        if found["direction"] is None:
            others[known[word]] = None
        else:
            ends.setdefault("from" if found["from"] else "to", known[word])
        return READ

    longest_first = sorted(known, key=len, reverse=True)
    names = "|".join(r"[\W_]{1,3}".join(map(re.escape, each.split())) for each in longest_first)
    rest = re.sub(rf"(?:{DIRECTION})?\b(?P<name>{names})\b", cut, written, flags=re.IGNORECASE) if known else written
    loose = [each for each in others if each not in ends.values()]
    if not ends and len(loose) == 1:
        return rest, f"on {loose[0]}"
    ends |= dict(zip((end for end in ("from", "to") if end not in ends), loose, strict=False))
    if len(ends) == 2:
        return rest, f"{ends['from']} to {ends['to']}"
    return rest, "".join(f"{end} {chain}" for end, chain in ends.items())


def _amount(written: str, tokens: Mapping[str, str], *, has_chain: bool) -> str:
    """Return the first amount next to a token, else the first in dollars, else any. A token or chain must be named."""
    words = list(SCAN.finditer(written))
    lowered = [each[0].casefold() for each in words]
    symbols = {
        place: symbol
        for place, word in enumerate(lowered)
        if (symbol := tokens.get(word)) and (len(symbol) >= SHORTEST_SYMBOL or symbol == words[place][0])
    }
    units = symbols.keys() | {place for place, word in enumerate(lowered) if word in DOLLARS}
    values = {place: value for place in range(len(words)) if (value := _value(words, place, units)) is not None}
    for place, value in values.items():
        if symbol := symbols.get(place + 1) or symbols.get(place - 1):
            return f"{amounts.number(value)} {symbol}"
    named = (each for place, each in symbols.items() if each == words[place][0] and len(each) >= SHORTEST_SYMBOL)
    token = next(named, "")
    if not (values and (token or has_chain)):
        return ""
    in_usd = (place for place in values if place + 1 in units or words[place]["before"] or words[place]["after"])
    first = next(in_usd, None)
    if first is not None:
        return f"${amounts.number(values[first])}{f' of {token}' if token else ''}"
    return f"{amounts.number(next(iter(values.values())))} {token}".rstrip()


def _value(words: Sequence[re.Match[str]], place: int, units: Set[int]) -> Decimal | None:
    """Return the number at this place; None if it isn't an amount, such as those in `1.2.3`, `24h` and `3rd`."""
    digits = (words[place]["digits"] or "").rstrip(".,")
    if not digits or len(digits) > LONGEST_NUMBER or not NUMBER.fullmatch(digits):
        return None
    following = words[place + 1] if place + 1 < len(words) else None
    is_glued = following and following["word"] and following.start() == words[place].end()
    return None if is_glued and place + 1 not in units else Decimal(digits.replace(",", ""))
