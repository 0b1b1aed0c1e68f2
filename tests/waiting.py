"""Wait for another thread or process, without limits that a slow machine would exceed."""

import time
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 120.0  # seconds, longer than any successful wait
PAUSE: Final = 0.005


def until(condition: Callable[[], object], *, pause: float = PAUSE) -> None:
    """Return when `condition` is true, which is asked every `pause` seconds. Raises AssertionError after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"not so after {PATIENCE:g} s"
        time.sleep(pause)
