"""No test asserts how long something takes, because machines differ tenfold in speed."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CLOCKS = {"monotonic", "perf_counter", "time"}
SMALLER, GREATER = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)


def limits(tree: ast.AST) -> Iterator[int]:
    """Return the lines that limit a time span read from a clock."""
    spans = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and is_span(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, order, right in zip(sides, node.ops, sides[1:], strict=False):
                if (isinstance(order, SMALLER) and is_span(left, spans)) or (
                    isinstance(order, GREATER) and is_span(right, spans)
                ):
                    yield node.lineno


def is_span(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and any(map(is_clock, ast.walk(node)))


def is_clock(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_no_test_asserts_a_duration(path: Path) -> None:
    assert list(limits(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize(
    "written",
    [
        "assert time.monotonic() - began < 2",
        "took = time.perf_counter() - began\nassert 0.1 <= took < 4",
        "if 4 > time.time() - began: pass",
    ],
)
def test_an_asserted_duration_is_detected(written: str) -> None:
    assert list(limits(ast.parse(written)))
