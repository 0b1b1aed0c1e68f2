"""Every known fault names the tests that cover it, or the reason why there are none.

`ids.txt` are the faults, `rows/*.json` what proves them: {"F01": {"tests": ["path::function"]}}, or
{"F02": {"void": "Why nothing of it can be asked of this dashboard."}}.
"""

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.serving import ROOT

HERE = Path(__file__).parent
IDS = (HERE / "ids.txt").read_text().split()
SECTIONS = sorted((HERE / "rows").glob("*.json"))


def pairs(section: Path) -> list[tuple[str, dict[str, Any]]]:
    """As written, so that an id that stands twice in a file is seen."""
    return json.loads(
        section.read_text(), object_pairs_hook=lambda members: members if is_table(members) else dict(members)
    )


def is_table(members: list[tuple[str, Any]]) -> bool:
    return all(isinstance(value, dict) for _, value in members)


ROWS = [(section.stem, name, row) for section in SECTIONS for name, row in pairs(section)]


def test_every_fault_is_in_the_table_once() -> None:
    named = [name for _, name, _ in ROWS]
    assert len(IDS) == len(set(IDS))
    assert [name for name in IDS if name not in named] == [], "nobody says what becomes of these"
    assert [name for name in named if name not in IDS] == [], "no such faults"
    assert sorted({name for name in named if named.count(name) > 1}) == [], "in more than one place"


@pytest.mark.parametrize(("section", "name", "row"), ROWS, ids=[f"{section}-{name}" for section, name, _ in ROWS])
def test_the_tests_that_cover_a_fault_exist(section: str, name: str, row: dict[str, Any]) -> None:
    assert row.keys() <= {"tests", "void"}, "a row has tests, or a reason, or both where a part cannot be asked"
    if "void" in row:
        assert is_sentence(row["void"]), "a reason is a sentence"
    else:
        assert row["tests"], "neither a test nor a reason"
    assert [each for each in row.get("tests", []) if not is_test(each)] == []


def is_sentence(reason: str) -> bool:
    return len(reason.split()) >= 5 and reason.endswith(".")


def is_test(name: str) -> bool:
    path, _, function = name.partition("::")
    return path.startswith("tests/") and (ROOT / path).is_file() and function in functions(ROOT / path)


@cache
def functions(path: Path) -> frozenset[str]:
    """The tests of a file, those of a class as `Class::test`."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}::{each.name}"
                for each in node.body
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            }
    return frozenset(name for name in found if name.rpartition("::")[2].startswith("test_"))
