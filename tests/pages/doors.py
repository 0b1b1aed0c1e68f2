"""A service that delays its responses about an intent until the test releases them."""

import json
import threading

from tests.service.scripted_server import Visit, response


class Doors:
    """A script for `serving`: it responds about an intent once that is in `open`, or after `all_open`."""

    def __init__(self) -> None:
        self.open: set[str] = set()
        self.all_open = threading.Event()
        self.requests: list[tuple[str, str]] = []

    def __call__(self, visit: Visit) -> None:
        if visit.operation in ("GetChains", "GetTokenList"):
            visit.send(response({"chains": [{"id": 1}], "tokens": []}))
            return
        intent_id = json.loads(visit.body)["intentId"]
        self.requests.append((visit.operation, intent_id))
        while not (intent_id in self.open or self.all_open.wait(0.01) or visit.closing.is_set()):
            pass
        visit.send(response({"intent": {"intentId": intent_id, "status": "SUCCEEDED"},
                             "intentReceipt": {"intentId": intent_id, "status": "SUCCEEDED"}}))  # fmt: skip

    def intents(self) -> list[str]:
        return sorted(intent_id for operation, intent_id in self.requests if operation == "GetIntent")


def ids(count: int) -> list[str]:
    return [f"0x{number:064x}" for number in range(1, count + 1)]
