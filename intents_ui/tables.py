"""Tables of data: JSON files beside the modules that read them."""

import json
from importlib import resources
from typing import Any


def read(package: str, name: str) -> Any:
    return json.loads(resources.files(package).joinpath(name).read_text("utf-8"))
