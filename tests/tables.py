"""Tables in text files: a first line that says what the columns are, and lines of cells with `|` between them."""

from pathlib import Path


def rows(test_file: str, name: str) -> list[list[str]]:
    """Return the cells of the table with this name beside a test."""
    lines = Path(test_file).with_name(f"{name}.txt").read_text().splitlines()[1:]
    return [[cell.strip() for cell in line.split("|")] for line in lines]
