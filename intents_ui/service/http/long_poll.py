"""Cancellation of long polls whose caller is gone."""

import asyncio
from collections.abc import Mapping
from typing import Any

_REQUEST_SENT = "receive_response_headers.started"


class HeldCall:
    """Cancels the task of a call as soon as that is safe.

    A request that is canceled while it waits for a connection leaks a slot of httpcore's pool. Once the request is
    sent, canceling only closes the connection, which the service notices. httpcore reports that moment through the
    request's `trace` extension. Calls within this process have no pool and can be canceled at any time.
    """

    def __init__(self, task: asyncio.Task[Any], *, has_pool: bool) -> None:
        self._task = task
        self._is_sent = not has_pool
        self._is_canceled = False

    def give_up(self) -> None:
        self._is_canceled = True
        if self._is_sent:
            self._task.cancel()

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(_REQUEST_SENT):
            self._is_sent = True
            if self._is_canceled:
                self._task.cancel()
