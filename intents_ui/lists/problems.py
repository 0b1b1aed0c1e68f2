"""Transfers that need attention, grouped by what is wrong and why.

A transfer is in one group, by the cause in its summary. All of a group have the same message and, apart from numbers,
the same reason of the service, so their next step is the same.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property, partial
from typing import ClassVar
from zlib import crc32

from intents_ui.search import parameters
from intents_ui.search.parameters import InvalidParameter, Parsed, Parser, Query, UrlFilters
from intents_ui.service.models import ChainInfo
from intents_ui.transfers import balances, placeholders, summary
from intents_ui.transfers.balances import LAST, RecoverableRow, Value
from intents_ui.transfers.route_stats import NUMBERS
from intents_ui.transfers.rules import Cause
from intents_ui.transfers.transfer import Transfer

# In the order of the page.
TITLES: Mapping[Cause, str] = {
    Cause.RECOVERABLE: "Funds waiting for their owner",
    Cause.REFUND_FAILED: "Refund failed",
    Cause.CONFLICT: "Service and chain disagree",
    Cause.LATE: "Late",
}
# What the lists are called that the transfers are from.
LISTS: Mapping[str, str] = {
    "recoverable": "transfers with a recoverable balance",
    "open": "open transfers",
    "failed": "failed transfers",
}
USD = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?")


@dataclass(frozen=True)
class AttentionFilters(UrlFilters):
    """Filters of the page: transfers from or to a chain, and not known to hold less than `least` USD."""

    PARAMETERS: ClassVar[Mapping[str, str]] = {"least": "min"}

    chain: int | None = None
    least: Decimal | None = None

    def takes(self, row: RecoverableRow) -> bool:
        if self.least is not None and row.value.priced and row.value.usd < self.least:
            return False
        return self.chain is None or self.chain in (
            row.summary.sent.token.chain_id,
            row.summary.received.token.chain_id,
        )


def read_filters(query: Query, *, chains: Sequence[ChainInfo] = ()) -> Parsed[AttentionFilters]:
    """Parse a URL's query. Ignores other parameters."""
    parsers: dict[str, Parser] = {"chain": partial(parameters.chain_id, chains=chains), "least": _usd}
    return parameters.parse(query, parsers, AttentionFilters, called={"least": "min"})


def _usd(written: str) -> Decimal:
    if not USD.fullmatch(written):
        raise InvalidParameter("Enter an amount in USD, such as 100 or 99.50.")
    return Decimal(written)


@dataclass(frozen=True)
class ProblemRows:
    """Transfers with a problem, oldest first."""

    rows: Sequence[RecoverableRow]

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def value(self) -> Value:
        return balances.value(holding for row in self.rows for holding in row.holdings)

    @property
    def oldest(self) -> datetime | None:
        return self.rows[0].created_at if self.rows else None


@dataclass(frozen=True)
class ProblemGroup(ProblemRows):
    """Transfers with the same problem. `key`: the group's name in URLs, which stays the same."""

    key: str

    @property
    def headline(self) -> str:
        row = summary.of(self.rows[0].transfer).row
        return row.title or row.headline

    @property
    def explanation(self) -> str:
        """Return the reason in plain language, without token and chain if they differ, or "" if it is unknown."""
        transfers = [row.transfer for row in self.rows]
        return _common(map(placeholders.reason_of_failure, transfers)) or _common(
            map(placeholders.reason_anywhere, transfers)
        )

    @property
    def reason(self) -> str:
        """Return the service's reason."""
        return _common(_reason(row) for row in self.rows)


@dataclass(frozen=True)
class ProblemSection(ProblemRows):
    """Transfers with one cause, and their groups, largest first."""

    cause: Cause

    @property
    def title(self) -> str:
        return TITLES[self.cause]

    @cached_property
    def groups(self) -> Sequence[ProblemGroup]:
        alike: dict[str, list[RecoverableRow]] = {}
        for row in self.rows:
            problem = f"{summary.of(row.transfer).key}\n{NUMBERS.sub('…', _reason(row))}"
            alike.setdefault(f"{self.cause}-{crc32(problem.encode()):08x}", []).append(row)
        groups = [ProblemGroup(same, key) for key, same in alike.items()]
        return sorted(groups, key=lambda group: (-group.count, group.oldest or LAST))


@dataclass(frozen=True)
class Problems:
    rows: Sequence[tuple[Cause, RecoverableRow]]

    @property
    def count(self) -> int:
        return len(self.rows)

    @cached_property
    def sections(self) -> Sequence[ProblemSection]:
        """Return a section for each cause, also if it is empty."""
        return [ProblemSection([row for of, row in self.rows if of is cause], cause) for cause in TITLES]

    def narrowed(self, filters: AttentionFilters) -> "Problems":
        return Problems([(cause, row) for cause, row in self.rows if filters.takes(row)])

    def section(self, cause: Cause) -> ProblemSection:
        return next(each for each in self.sections if each.cause == cause)

    def group(self, key: str) -> ProblemGroup | None:
        return next((group for each in self.sections for group in each.groups if group.key == key), None)


def of(transfers: Iterable[Transfer]) -> Problems:
    """Return those that need attention. Of the same transfer in two lists, the first counts."""
    by_id: dict[str, Transfer] = {}
    for transfer in transfers:
        by_id.setdefault(transfer.intent.intent_id.lower(), transfer)
    found = []
    for each in by_id.values():
        cause = summary.of(each).cause
        if cause in TITLES or each.has_balance:
            found.append((cause if cause in TITLES else Cause.RECOVERABLE, balances.recoverable_row(each)))
    return Problems(sorted(found, key=lambda each: balances.by_age(each[1])))


def _common(texts: Iterable[str]) -> str:
    """Return the text of all, with `…` for numbers that differ, or "" if more differs."""
    found = {*texts}
    if len(found) > 1:
        found = {NUMBERS.sub("…", each) for each in found}
    return found.pop() if len(found) == 1 else ""


def _reason(row: RecoverableRow) -> str:
    found = row.transfer.reason
    return found.whole if found else ""
