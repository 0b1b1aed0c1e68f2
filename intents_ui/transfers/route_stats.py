"""Delivery statistics for recent transfers on the same route."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from intents_ui.formatting import text, times
from intents_ui.service.models import IntentHistory
from intents_ui.service.outcome import Outcome
from intents_ui.tokens import names
from intents_ui.tokens.names import Provider
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import Transfer

# Fewer transfers are not significant.
FEW = 5
# This many with the same reason are no coincidence.
SEVERAL = 3
# With fewer, the nearest rank would be the maximum.
ENOUGH_FOR_P95 = 20
NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9]+(?:[.,][0-9]+)*", re.IGNORECASE)


@dataclass(frozen=True)
class RouteStats:
    """Outcomes of other transfers with a deposit: `ended` are closed, `running` are open.

    `median` and `p95` are durations of the `timed` delivered ones, from the start of the execution to its end.
    `is_settled`: the compared transfer was delivered, or its quote expired. `repeated`: failure reasons of several
    transfers that are the same but for amounts and addresses.
    """

    looked_at: int
    alike: int
    ended: int
    succeeded: int
    running: int
    timed: int
    median: timedelta | None
    p95: timedelta | None
    repeated: Sequence[str]
    providers: tuple[Provider, ...]
    is_settled: bool

    @property
    def not_delivered(self) -> int:
        return self.ended - self.succeeded

    @property
    def tone(self) -> Tone:
        return Tone.NEUTRAL if self.is_settled else self._judgment[0]

    @property
    def verdict(self) -> str:
        return self._judgment[1]

    @property
    def _judgment(self) -> tuple[Tone, str]:
        if self.ended < FEW:
            return Tone.NEUTRAL, "Not enough recent transfers to compare."
        if self.succeeded == self.ended:
            return Tone.GOOD, "All recent transfers on this route were delivered."
        if 10 * self.succeeded >= 9 * self.ended:
            return Tone.GOOD, "Most recent transfers on this route were delivered."
        if 2 * self.succeeded >= self.ended:
            return Tone.ATTENTION, "Some recent transfers on this route were not delivered."
        return Tone.BAD, "Most recent transfers on this route were not delivered."

    @property
    def delivered(self) -> str:
        """Return `17 of 27 delivered (63%)`."""
        if not self.ended:
            return "No closed transfers"
        return f"{self.succeeded} of {self.ended} delivered ({round(100 * self.succeeded / self.ended)}%)"

    @property
    def times(self) -> str:
        """Return `Median 18 s · p95 28 s (27 transfers)`, or "" if no duration is known."""
        if self.median is None:
            return ""
        shown = [f"Median {times.duration(self.median)}", *([f"p95 {times.duration(self.p95)}"] if self.p95 else [])]
        return f"{' · '.join(shown)} ({text.counted(self.timed, 'transfer')})"


def of_route(entries: Sequence[IntentHistory], *, like: Transfer, now: datetime) -> RouteStats:
    """Return statistics of the history entries that used the providers of `like`, without `like` itself.

    What became of them is their outcome. An open one counts once its deposit has arrived.
    """
    own = like.intent.intent_id.lower()
    others = [Transfer.of_entry(each, now=now) for each in entries if each.intent_id.lower() != own]
    alike = [each for each in others if _way(each) == _way(like)]
    ended = [each for each in alike if each.outcome not in (Outcome.OPEN, Outcome.NO_DEPOSIT)]
    running = [each for each in alike if each.outcome is Outcome.OPEN and each.has_arrived]
    succeeded = [each for each in ended if each.outcome is Outcome.DELIVERED]
    ends = [(each.started_at, each.finished_at) for each in succeeded]
    durations = sorted(end - start for start, end in ends if start and end and end > start)
    failed = [each for each in ended if each.outcome is not Outcome.DELIVERED]
    # The largest group of reasons that are equal without amounts and addresses.
    groups: dict[str, list[str]] = {}
    for reason in (each.reason.shown for each in failed if each.reason):
        groups.setdefault(NUMBERS.sub("#", reason).casefold(), []).append(reason)
    reasons = max(groups.values(), key=len, default=[])
    return RouteStats(
        looked_at=len(others),
        alike=len(alike),
        ended=len(ended),
        succeeded=len(succeeded),
        running=len(running),
        timed=len(durations),
        median=_rank(durations, 50),
        p95=_rank(durations, 95) if len(durations) >= ENOUGH_FOR_P95 else None,
        repeated=reasons if len(reasons) >= SEVERAL else (),
        providers=tuple(map(names.provider, like.providers)),
        is_settled=like.is_delivered or like.is_expired,
    )


def _way(transfer: Transfer) -> frozenset[str]:
    return frozenset(provider.upper() for provider in transfer.providers)


def _rank(durations: Sequence[timedelta], percent: int) -> timedelta | None:
    """Return the nearest-rank percentile, which is always an observed value."""
    return durations[ceil(len(durations) * percent / 100) - 1] if durations else None
