"""Maintenance mode: whether the service last responded that it is switched off (IntentsDisabled).

Pages keep sending requests, so the flag follows the service. Without requests it expires after a while.
"""

import time

PAUSED_CODE = 9000
REMEMBERED_SECONDS = 30.0

clock = time.monotonic
_until = float("-inf")


def is_paused() -> bool:
    return clock() < _until


def heard(code: int | None) -> None:
    """Record a response's error code, or None for a success."""
    global _until
    if code == PAUSED_CODE:
        _until = clock() + REMEMBERED_SECONDS
    elif code is None:
        _until = float("-inf")
