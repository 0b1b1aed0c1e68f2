"""What a call costs in processor time, for tests that compare two calls of one run."""

import time
from collections.abc import Callable

ROUNDS = 3


def processor_seconds(call: Callable[[], object], *, rounds: int = ROUNDS) -> float:
    """Return the least processor time of some rounds of a call, of all threads of this process."""
    return min(_once(call) for _ in range(rounds))


def _once(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began
