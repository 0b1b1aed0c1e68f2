"""Tables of tests: TOML, or text with a first line that says what the columns are and `|` between cells."""

import tomllib
from pathlib import Path
from typing import Any


def rows(test_file: str, name: str) -> list[list[str]]:
    """Return the cells of the table with this name beside a test."""
    lines = Path(test_file).with_name(f"{name}.txt").read_text("utf-8").splitlines()[1:]
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def toml(test_file: str, name: str) -> dict[str, Any]:
    return tomllib.loads(Path(test_file).with_name(f"{name}.toml").read_text("utf-8"))
