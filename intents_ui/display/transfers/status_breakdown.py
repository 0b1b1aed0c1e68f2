"""Number of listed intents by status, for a bar and its legend."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from intents_ui.display.transfers.statuses import Shown, Tone

# Delivered first, then open, then not delivered.
ORDER = (Tone.GOOD, Tone.PROGRESS, Tone.ATTENTION, Tone.BAD, Tone.NEUTRAL)
WHOLE = Decimal(100)
HUNDREDTH = Decimal("0.01")
GAP = Decimal("0.8")


@dataclass(frozen=True)
class Share:
    """Intents of one status; `start` and `width` are percent of the bar, with a gap before the next."""

    word: str
    tone: Tone
    count: int
    start: Decimal
    width: Decimal


def mix(statuses: Iterable[Shown]) -> tuple[Share, ...]:
    """Return one share per status, by tone, then most frequent first."""
    counted = Counter((status.tone, status.word) for status in statuses)
    total = counted.total()
    ordered = sorted(counted.items(), key=lambda entry: (ORDER.index(entry[0][0]), -entry[1], entry[0][1]))
    shares = []
    before = 0
    for (tone, word), count in ordered:
        start, end = (percent(each, of=total) for each in (before, before + count))
        gap = min(GAP, (end - start) / 2) if end < WHOLE else Decimal(0)
        shares.append(Share(word, tone, count, start, (end - start - gap).quantize(HUNDREDTH)))
        before += count
    return tuple(shares)


def percent(count: int, *, of: int) -> Decimal:
    return (WHOLE * count / of).quantize(HUNDREDTH)
