"""An event loop that skips idle time: half an hour of live pages takes a second."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

REAL_SECONDS = 0.0002  # for the kernel to deliver data over a socket within this process


class _Swift(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    def __init__(self) -> None:
        super().__init__()
        self.ahead = 0.0

    def select(self, timeout: float | None = None) -> Any:
        events = super().select(timeout if timeout is None else min(timeout, REAL_SECONDS))
        if timeout and not events:
            self.ahead += timeout
        return events


class SwiftLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._swift = _Swift()
        super().__init__(self._swift)

    def time(self) -> float:
        """Return the seconds since the start. Time passes only while the loop is idle."""
        return self._swift.ahead


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=SwiftLoop) as runner:
        runner.run(test())
