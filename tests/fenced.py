"""Answers of MCP tools: what is between the marks, and that all else is the notice."""

import json
import re
from typing import Any, Final

from intents_ui.http.json_rpc import NOTICE

FENCED: Final = re.compile(
    r"(?P<notice>.*)\n<untrusted-(?P<mark>[0-9a-f]{12})>\n(?P<data>.*)\n</untrusted-(?P=mark)>", re.DOTALL
)


def data_of(text: str) -> str:
    """Return the data of an answer. Nothing else in it is of anyone but us."""
    found = FENCED.fullmatch(text)
    assert found, text
    assert found["notice"] == NOTICE.format(mark=found["mark"])
    assert found["mark"] not in found["data"]
    return found["data"]


def json_of(text: str) -> Any:
    return json.loads(data_of(text))
