"""Whether the service says of itself that it is switched off (IntentsDisabled), as far as this process has heard.

While it is, pages ask and hear so again. Where nobody asks, it is taken to be back after a while.
"""

import time

PAUSED_CODE = 9000
REMEMBERED_SECONDS = 30.0

clock = time.monotonic
_until = float("-inf")


def is_paused() -> bool:
    return clock() < _until


def heard(code: int | None) -> None:
    """What an answer came with: the code of its error, or None for one that is none."""
    global _until
    if code == PAUSED_CODE:
        _until = clock() + REMEMBERED_SECONDS
    elif code is None:
        _until = float("-inf")
