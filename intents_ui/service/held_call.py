"""A call that the service may hold for half a minute, and how it is given up when nobody wants its answer any more."""

import asyncio
from collections.abc import Mapping
from typing import Any

_QUESTION_IS_OUT = "receive_response_headers.started"


class HeldCall:
    """Ends the task of a call as soon as that does no harm.

    A request that is cancelled while it gets its connection costs httpcore's pool a slot for good (libraries.md 5.1).
    Once the question is out and only the answer is missing, cancelling just closes the connection, and the service
    notices. httpcore tells of that moment through the request's `trace`; a call in this process has no pool to harm.
    """

    def __init__(self, task: asyncio.Task[Any], *, has_pool: bool) -> None:
        self._task = task
        self._is_out = not has_pool
        self._is_unwanted = False

    def give_up(self) -> None:
        self._is_unwanted = True
        if self._is_out:
            self._task.cancel()

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(_QUESTION_IS_OUT):
            self._is_out = True
            if self._is_unwanted:
                self._task.cancel()
