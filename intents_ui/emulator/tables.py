"""Tables of the emulator: the JSON files in `data`."""

import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

_DATA: Final = Path(__file__).parent / "data"


@cache
def read(name: str) -> Any:
    return json.loads((_DATA / name).read_text(encoding="utf-8"), parse_float=Decimal)
