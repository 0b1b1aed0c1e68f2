"""Snapshot of an intent, with serialization for Redis."""

import hashlib
import json
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Self

from pydantic import AwareDatetime, TypeAdapter

from intents_ui.service import decode
from intents_ui.service.decode import Brand
from intents_ui.service.models import IntentReceipt

TIME: Final[TypeAdapter[Any]] = TypeAdapter(AwareDatetime | None)


@dataclass(frozen=True)
class Snapshot:
    """The newest receipt of an intent, and how current it is.

    `receipt` is None if the service has none yet or hasn't responded so far. `is_unknown`: the service doesn't know the
    intent. `learned_at`: time of the last response. `stale_since`: start of an outage, None if there is none.
    `regressed_to`: an earlier status that the service reported after this one. `is_final`: nothing will change, so
    polling has ended.
    """

    intent_id: str
    receipt: IntentReceipt | None
    learned_at: datetime | None
    stale_since: datetime | None = None
    is_final: bool = False
    is_unknown: bool = False
    regressed_to: str | None = None

    @cached_property
    def content(self) -> str:
        """Hash of the receipt's content, independent of its JSON formatting."""
        if self.receipt is None:
            return digest("")
        return digest(json.dumps(decode.read(self.receipt.raw), sort_keys=True, separators=(",", ":"), default=str))

    @cached_property
    def id(self) -> str:
        """Hash of all that a user sees of the snapshot. Opaque, and safe as the ID of an event."""
        return digest(f"{self.content} {self.stale_since} {self.is_final} {self.is_unknown} {self.regressed_to}")

    def stale(self, since: datetime) -> "Snapshot":
        return replace(self, stale_since=since)

    def to_text(self) -> str:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return json.dumps(values | {"receipt": self.receipt and self.receipt.raw}, default=datetime.isoformat)

    @classmethod
    def from_text(cls, text: str, names: Brand) -> Self:
        """Parse the output of `to_text`. `names` are the field names of the service that the receipt came from.

        Invalid text can raise any exception.
        """
        values = json.loads(text)
        raw = values["receipt"]
        receipt = IntentReceipt.model_validate(names.read(decode.read(raw))).with_raw(raw) if raw else None
        times = {name: TIME.validate_python(values[name]) for name in ("learned_at", "stale_since")}
        return cls(**values | times | {"receipt": receipt})


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=9).hexdigest()
