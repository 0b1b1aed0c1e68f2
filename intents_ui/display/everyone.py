"""Is it me or everyone: how the newest transfers of the same way went."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from intents_ui.display import providers, statuses, text
from intents_ui.display.facts import Facts
from intents_ui.display.legs import DEAD, leg
from intents_ui.display.statuses import Tone
from intents_ui.service.wire import Intent, IntentHistory

# Fewer prove nothing.
FEW = 5
# So many with the same reason are no coincidence.
SEVERAL = 3
MOST_ARRIVE = 9, 10
HALF = 1, 2
# A step after the one that failed only echoes it (domain.md 1.5).
ECHO = "aborted:"
NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9]+(?:[.,][0-9]+)*", re.IGNORECASE)


@dataclass(frozen=True)
class Repeated:
    """A reason that several gave, as the first of them worded it."""

    reason: str
    times: int


@dataclass(frozen=True)
class Everyone:
    """What became of the others. `ended` were paid for and are over, `running` were paid for and are not.

    `median` and `p95` are those of the `timed` that succeeded, from the start of the execution to its end."""

    looked_at: int
    alike: int
    ended: int
    succeeded: int
    running: int
    timed: int
    median: timedelta | None
    p95: timedelta | None
    repeated: Repeated | None
    way: str

    @property
    def failed(self) -> int:
        return self.ended - self.succeeded

    @property
    def tone(self) -> Tone:
        if self.ended < FEW:
            return Tone.NEUTRAL
        return Tone.GOOD if self._at_least(MOST_ARRIVE) else Tone.ATTENTION if self._at_least(HALF) else Tone.BAD

    @property
    def verdict(self) -> str:
        if self.ended < FEW:
            return "Too few others went this way to say."
        if self.succeeded == self.ended:
            return "The others on this way arrived."
        if self._at_least(MOST_ARRIVE):
            return "Most others on this way arrive."
        if self._at_least(HALF):
            return "Others on this way have trouble too."
        return "Most others on this way have trouble too."

    def _at_least(self, share: tuple[int, int]) -> bool:
        part, whole = share
        return self.succeeded * whole >= self.ended * part


def everyone(entries: Sequence[IntentHistory], *, like: Facts) -> Everyone:
    """Of history entries with the chains of `like`: those with its providers, without the intent itself."""
    others = [each for each in _facts(entries) if each.intent.intent_id.lower() != like.intent.intent_id.lower()]
    alike = [each for each in others if _way(each) == _way(like)]
    paid = [each for each in alike if each.has_arrived or each.is_delivered]
    ended = [each for each in paid if not statuses.is_open(each.status)]
    succeeded = [each for each in ended if each.is_delivered]
    durations = sorted(filter(None, map(_duration, succeeded)))
    return Everyone(
        looked_at=len(others),
        alike=len(alike),
        ended=len(ended),
        succeeded=len(succeeded),
        running=len(paid) - len(ended),
        timed=len(durations),
        median=_rank(durations, 50),
        p95=_rank(durations, 95),
        repeated=_repeated([each for each in ended if not each.is_delivered]),
        way=" and ".join(providers.labels(like.providers)) or "any provider",
    )


def _facts(entries: Iterable[IntentHistory]) -> list[Facts]:
    return [Facts.of(Intent(intent_id=each.intent_id, status=each.status), each.receipt) for each in entries]


def _way(facts: Facts) -> frozenset[str]:
    return frozenset(provider.upper() for provider in facts.providers)


def _duration(facts: Facts) -> timedelta | None:
    if facts.started_at is None or facts.finished_at is None or facts.finished_at < facts.started_at:
        return None
    return facts.finished_at - facts.started_at


def _rank(durations: Sequence[timedelta], percent: int) -> timedelta | None:
    """The nearest rank: a duration that somebody really had to wait."""
    return durations[ceil(len(durations) * percent / 100) - 1] if durations else None


def _repeated(failed: Iterable[Facts]) -> Repeated | None:
    reasons = [reason for reason in map(first_reason, failed) if reason]
    counted = Counter(map(_gist, reasons))
    gist, times = next(iter(counted.most_common(1)), ("", 0))
    if times < SEVERAL:
        return None
    return Repeated(next(reason for reason in reasons if _gist(reason) == gist), times)


def first_reason(facts: Facts) -> str:
    """Why the first step that failed did so, made visible; "" when nobody says."""
    for transaction in (facts.deposit, facts.origin, facts.destination):
        said = transaction.status_reason if transaction and leg(transaction) in DEAD else None
        if said and not said.lower().startswith(ECHO):
            return text.reason(said).shown
    return ""


def _gist(reason: str) -> str:
    """Amounts and addresses differ where the reason is the same."""
    return NUMBERS.sub("#", reason).casefold()
