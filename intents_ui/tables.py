"""Tables of data: JSON and TOML files beside the modules that read them."""

import json
import tomllib
from importlib import resources
from typing import Any


def read(package: str, name: str) -> Any:
    return parse(resources.files(package).joinpath(name).read_text("utf-8"), name)


def parse(text: str, name: str) -> Any:
    return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
