"""Requests of the thirteen operations with every field, for the API console, from requests.json.

The typed `operations` send only what pages need. Here the descriptions are the console's help texts. A field's `words`
name a list of documented values. The service may accept others. GetIntentHistory has the timeout of balances, because
any of its requests can include balances, which the service reads from chains.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from intents_ui import tables
from intents_ui.service.operations.config import Group
from intents_ui.service.wire.schemas import JsonFieldKind, Member


@dataclass(frozen=True, slots=True)
class Operation:
    """Operation of the API console. `is_write` if it creates or executes something, with that as the `consequence`."""

    name: str
    about: str
    group: Group
    members: tuple[Member, ...]
    consequence: str = ""

    @property
    def is_write(self) -> bool:
        return self.group is Group.WRITE


_TABLE: Mapping[str, Any] = tables.read(__package__, "requests.json")


def _member(row: Mapping[str, Any]) -> Member:
    words = _TABLE["words"][row["words"]] if "words" in row else ()
    return Member(**{**row, "kind": JsonFieldKind(row["kind"]), "words": tuple(words)})


def _operation(name: str, row: Mapping[str, Any]) -> Operation:
    return Operation(name, **{**row, "group": Group(row["group"]), "members": tuple(map(_member, row["members"]))})


# In the order of the API's documentation.
OPERATIONS: Mapping[str, Operation] = {name: _operation(name, row) for name, row in _TABLE["operations"].items()}
