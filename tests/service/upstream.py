"""A service on a real socket that says what the test wants at the moment, and a clock that the test moves."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from intents_ui.service.client import ServiceClient
from tests.service.clients import config
from tests.service.scripted_server import Script, Visit, answering, response, serving


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def intent(visit: Visit, status: str = "EXECUTING") -> bytes:
    """What a good service says of whichever intent it is asked about."""
    result = {"intentId": json.loads(visit.body).get("intentId", "0x1"), "status": status}
    lists: dict[str, list[object]] = {"intents": [], "tokens": [], "chains": [{"id": 1}]}
    return response({"intent": result, "intentReceipt": result, "intentId": "0x1"} | lists)


def good(visit: Visit) -> None:
    visit.send(intent(visit))


def no(code: int, name: str, status: int, **headers: str) -> Script:
    return answering({"error": name, "code": code, "msg": "?"}, status=status, headers=headers)


BAD = no(2001, "Unexpected", 500)


class Upstream:
    """`does` is what happens to a visit; `requested` the operations so far."""

    def __init__(self, url: str, visits: list[Visit], clock: Clock, **how: Any) -> None:
        self.url = url
        self.clock = clock
        self.does: Script = good
        self.visits = visits
        self.service = ServiceClient(config(url, **how), clock=clock)

    @property
    def requested(self) -> list[str]:
        return [visit.operation for visit in self.visits]

    def is_quiet(self) -> bool:
        """Return whether no call is under way, not even a refresh behind a page."""
        return self.service.threads.running == 0


@contextlib.contextmanager
def upstream(**how: Any) -> Iterator[Upstream]:
    made: list[Upstream] = []
    with serving(lambda visit: made[0].does(visit)) as server:
        made.append(Upstream(server.url, server.visits, Clock(), **({"total": 5.0} | how)))
        with made[0].service:
            yield made[0]
