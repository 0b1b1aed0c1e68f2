"""CPU time of a call, for tests that compare two calls of one run."""

import time
from collections.abc import Callable

ROUNDS = 3


def processor_seconds(call: Callable[[], object], *, rounds: int = ROUNDS) -> float:
    """Return the minimum CPU time in seconds of several rounds of a call, over all threads of this process."""
    return min(_once(call) for _ in range(rounds))


def _once(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began
