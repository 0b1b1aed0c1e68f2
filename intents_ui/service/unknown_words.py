"""States of intents and transactions that interface.md 3.1 and 3.2 do not know, counted since the process began.

A page shows such a word as it is and draws nothing from it; whoever runs the dashboard learns that it is behind.
"""

import logging
import threading
from collections import Counter

MOST_WORDS = 100  # that are told apart; the others are counted together
LONGEST_WORD = 40
OTHERS = "…"

log = logging.getLogger(__name__)

counts: Counter[tuple[str, str]] = Counter()
_lock = threading.Lock()


def heard(kind: str, word: str) -> None:
    """`kind`: what the word is a state of. The first time is logged."""
    key = kind, word[:LONGEST_WORD]
    with _lock:
        if key not in counts and len(counts) >= MOST_WORDS:
            key = kind, OTHERS
        is_first = key not in counts
        counts[key] += 1
    if is_first:
        log.warning("The service names a state of %s that this dashboard does not know: %r", *key)
