"""gunicorn configuration that changes constants of the dashboard, for tests and benchmarks of real processes.

The rest is the configuration of production, in the working directory. `TEST_CONSTANTS` has the values as JSON by
`module:name`. A mapping changes only the members that it names, of a named tuple or a dataclass, too.
"""

import json
import os
import runpy
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from importlib import import_module
from typing import Any

VARIABLE = "TEST_CONSTANTS"
POLICIES = "intents_ui.service.operations:POLICIES"
BALANCE_TIMEOUT = "intents_ui.web.reading:BALANCE_TIMEOUT"
PAGE_TIMEOUT = "intents_ui.service.request_context:PAGE_TIMEOUT"


def constants(**values: Any) -> dict[str, str]:
    """Return the environment that gives constants these values: `constants(**{POLICIES: {"history": {"old": 9}}})`.

    Those that this process passes on to all servers stay.
    """
    return {VARIABLE: json.dumps(json.loads(os.environ.get(VARIABLE, "{}")) | values)}


def apply() -> None:
    for place, value in json.loads(os.environ.get(VARIABLE, "{}")).items():
        module, _, name = place.partition(":")
        owner = import_module(module)
        setattr(owner, name, _changed(getattr(owner, name), value))


def _changed(before: Any, value: Any) -> Any:
    if isinstance(before, Mapping):
        return {**before, **{key: _changed(before[key], each) for key, each in value.items()}}
    if isinstance(value, Mapping):
        return replace(before, **value) if is_dataclass(before) else before._replace(**value)
    return value


def post_fork(server: object, worker: object) -> None:
    """Change the constants before the worker loads the application."""
    apply()


if __name__ == "__config__":
    globals().update(runpy.run_path("gunicorn.conf.py"))
