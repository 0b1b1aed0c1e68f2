"""The service's errors: a `Refusal` has a code from data/errors.json and is sent as a flat error object."""

from typing import Final

from intents_ui.emulator import documents
from intents_ui.emulator.documents import Document

BAD_REQUEST: Final = -4
BAD_METHOD: Final = -3
BAD_ROUTE: Final = -2
PANIC: Final = -6
UNAUTHORIZED: Final = 1000
KEY_NOT_FOUND: Final = 1101
TIMED_OUT: Final = 1900
INVALID_ARGUMENT: Final = 2000
QUERY_FAILED: Final = 2003
INTENT_STATUS: Final = 2004
INTENTS_SKIPPED: Final = 7000
QUOTE_EXPIRED: Final = 7001
HIGH_PRICE_IMPACT: Final = 7002
NOT_FOUND: Final = 8000
UNSUPPORTED_NETWORK: Final = 8008

TABLE: Final = {row["code"]: row for row in documents.table("errors.json")}


class Refusal(Exception):
    """An error response. `cause` names the field of the request, or the intent, that caused it."""

    def __init__(self, code: int, cause: str = "") -> None:
        super().__init__(f"{code} {cause}")
        self.code = code
        self.cause = cause

    @property
    def status(self) -> int:
        return int(TABLE[self.code]["status"])

    def envelope(self) -> Document:
        row = TABLE[self.code]
        document = {"error": row["name"], "code": row["code"], "msg": row["msg"]}
        if self.cause:
            document["cause"] = self.cause
        return document | {"status": row["status"]}
