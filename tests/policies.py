"""Policies of service calls, changed for a test."""

from collections.abc import Mapping
from typing import Any, Final

from intents_ui.service import operations
from intents_ui.service.operations import Kind, Policy

NOT_CACHED: Final[Mapping[str, Any]] = {"fresh": 0, "renewed": 0, "old": 0}


def policies(*kinds: Kind, **fields: Any) -> dict[Kind, Policy]:
    """Return all policies, with these fields for these kinds of calls, or for every one."""
    return {
        kind: policy._replace(**fields) if kind in (kinds or Kind) else policy
        for kind, policy in operations.POLICIES.items()
    }


def seconds(limit: float) -> dict[str, Any]:
    """Return the fields for a call that may wait this long for anything."""
    return {"connect": limit, "read": limit, "total": limit}
