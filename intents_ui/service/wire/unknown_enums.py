"""Counts unknown status values of intents and transactions since process start.

Pages show such a value unchanged and infer nothing from it. The counter tells operators that the dashboard is outdated.
"""

import logging
import threading
from collections import Counter

MOST_WORDS = 100  # distinct values. The others share one counter
LONGEST_WORD = 40
OTHERS = "…"

log = logging.getLogger(__name__)

counts: Counter[tuple[str, str]] = Counter()
_lock = threading.Lock()


def heard(kind: str, word: str) -> None:
    """Count an unknown status. `kind` is the kind of object, and the first occurrence is logged."""
    key = kind, word[:LONGEST_WORD]
    with _lock:
        if key not in counts and len(counts) >= MOST_WORDS:
            key = kind, OTHERS
        is_first = key not in counts
        counts[key] += 1
    if is_first:
        log.warning("Unknown value of %s from the service: %r", *key)
