"""What is known of one intent at a moment, and the same as text for other processes."""

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Self

from intents_ui.service import json_text
from intents_ui.service.brand import Brand
from intents_ui.service.wire import IntentReceipt


@dataclass(frozen=True)
class Picture:
    """The newest receipt, and how far it can be trusted.

    `receipt` None: the service has none yet, or could not be asked so far. `is_unknown`: it knows no such intent.
    `learned_at`: when the service last said so. `stale_since`: since when it has not answered; None while it does.
    `went_back_to`: the earlier status that the service named after this one.
    `is_last`: nothing will change any more, so nobody is waiting for it.
    """

    intent_id: str
    receipt: IntentReceipt | None
    learned_at: datetime | None
    stale_since: datetime | None = None
    is_last: bool = False
    is_unknown: bool = False
    went_back_to: str | None = None

    @cached_property
    def content(self) -> str:
        """The same for two receipts that say the same, however they are written."""
        return digest(_normal(self.receipt.received) if self.receipt else "")

    @cached_property
    def id(self) -> str:
        """The same for two pictures that look the same to a reader; opaque, fit for an event's id."""
        return digest(f"{self.content} {self.stale_since} {self.is_last} {self.is_unknown} {self.went_back_to}")

    def stale(self, since: datetime) -> "Picture":
        return replace(self, stale_since=since)

    def to_text(self) -> str:
        return json.dumps(
            {
                "intent_id": self.intent_id,
                "receipt": self.receipt.received if self.receipt else None,
                "learned_at": self.learned_at.isoformat() if self.learned_at else None,
                "stale_since": self.stale_since.isoformat() if self.stale_since else None,
                "is_last": self.is_last,
                "is_unknown": self.is_unknown,
                "went_back_to": self.went_back_to,
            }
        )

    @classmethod
    def from_text(cls, text: str, names: Brand) -> Self:
        """Reads what `to_text` wrote; `names` are those of the service that the receipt came from.

        Raises whatever reading an invented text can end in.
        """
        told = json.loads(text)
        received = told["receipt"]
        receipt = IntentReceipt.model_validate(names.read(json_text.read(received))) if received else None
        return cls(
            intent_id=told["intent_id"],
            receipt=receipt.keeping(received) if receipt else None,
            learned_at=_moment(told["learned_at"]),
            stale_since=_moment(told["stale_since"]),
            is_last=told["is_last"],
            is_unknown=told["is_unknown"],
            went_back_to=told.get("went_back_to"),
        )


def _moment(text: str | None) -> datetime | None:
    moment = datetime.fromisoformat(text) if text else None
    if moment and moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=9).hexdigest()


def _normal(received: str) -> str:
    return json.dumps(json_text.read(received), sort_keys=True, separators=(",", ":"), default=str)
