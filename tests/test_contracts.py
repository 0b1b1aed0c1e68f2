"""The import contracts cover every module, including new ones, and the package keeps its structure."""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import ROOT

PACKAGE = ROOT / "intents_ui"
# Calls whose result changes while the process runs. Prometheus's own registry of metrics (`ops/metrics.py`), context
# variables and thread-local variables aren't among them, nor are decorators that cache a function's results.
STATEFUL = {
    *("Counter", "defaultdict", "deque", "OrderedDict", "WeakKeyDictionary", "LRUCache", "TTLCache", "count"),
    *("Lock", "RLock", "Condition", "Event", "Semaphore", "BoundedSemaphore", "Queue", "SimpleQueue"),
    "ThreadPoolExecutor",
}
COLLECTIONS = {"dict", "list", "set"}
CHANGES = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault"),
    *("sort", "update"),
}
DISPLAY = "Of the service library, the display imports wire models and errors only"
MOST_MODULES = 12
# One module for each family of URLs, and one for each part of the simulated service.
FLAT = {"pages", "emulator"}


def contract(name: str) -> dict[str, Any]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(each for each in contracts if each["name"] == name)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("The emulator imports nothing of ours", {"emulator"}),
        ("The command line imports the emulator and text helpers only", {"cli", "emulator"}),
    ],
    ids=["emulator", "command line"],
)
def test_a_contract_of_a_tool_lists_every_other_module(name: str, allowed: set[str]) -> None:
    parts = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    others = {f"intents_ui.{part}" for part in parts - {"__init__", *allowed}}
    assert set(contract(name)["forbidden_modules"]) - {"django"} == others


def test_the_displays_contract_lists_everything_but_wire_models_and_errors() -> None:
    service = {path.stem for path in (PACKAGE / "service").iterdir()} - {"__init__", "__pycache__", "wire", "errors"}
    forbidden = set(contract(DISPLAY)["forbidden_modules"])
    assert {f"intents_ui.service.{part}" for part in service} <= forbidden


def modules(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders or ("",):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            yield path.relative_to(PACKAGE), ast.parse(path.read_text())


def test_no_folder_has_more_than_a_dozen_modules() -> None:
    sizes = Counter(path.parent.as_posix() for path, _ in modules() if path.stem != "__init__")
    assert {folder: size for folder, size in sizes.items() if size > MOST_MODULES and folder not in FLAT} == {}


def test_class_names_are_unique() -> None:
    names = Counter(
        node.name
        for _, tree in modules("display", "service", "pages")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_no_function_has_its_modules_name() -> None:
    assert [
        path.as_posix()
        for path, tree in modules()
        if path.parts[0] != "emulator"
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == path.stem
    ] == []


def test_state_of_the_process_is_held_by_the_dashboard_of_wiring() -> None:
    """Modules have constants and functions. A test that replaces the dashboard starts from nothing."""
    exempt = {"wiring.py", "ops/metrics.py"}
    found = {
        f"{path.as_posix()}: {problem}"
        for path, tree in modules()
        if path.as_posix() not in exempt and path.parts[0] != "emulator"
        for problem in stateful(tree)
    }
    assert found == set()


def stateful(tree: ast.Module) -> Iterator[str]:
    """Yield the module's variables that are built as mutable objects, changed or assigned anew by its functions."""
    variables = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            variables[ast.unparse(target)] = node.value
    for name, value in variables.items():
        if is_stateful(value, is_constant=name.strip("_").isupper() or name in ("__all__", "urlpatterns")):
            yield name
    collections = {name for name, value in variables.items() if is_stateful(value, is_constant=False)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in (inner for function in functions for inner in ast.walk(function)):
        match node:
            case ast.Global(names=names):
                yield from names
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in CHANGES:
                yield from {name} & collections
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
                yield from {name} & collections
            case ast.Delete(targets=[ast.Subscript(value=ast.Name(id=name))]):
                yield from {name} & collections


def is_stateful(value: ast.expr, *, is_constant: bool) -> bool:
    match value:
        case ast.List() | ast.Dict() | ast.Set():
            return not is_constant
        case ast.Call(func=function):
            name = ast.unparse(function).partition("[")[0].rpartition(".")[2]
            return name in STATEFUL or (name in COLLECTIONS and not is_constant)
    return False


@pytest.mark.parametrize(
    "module",
    [
        "seen = set()",
        "LOCK = threading.Lock()",
        "known: dict[str, int] = {}",
        "KNOWN = {}\ndef learn(name):\n    KNOWN[name] = 1",
        "KNOWN = {}\ndef learn(more):\n    KNOWN.update(more)",
        "is_on = False\ndef turn_on():\n    global is_on\n    is_on = True",
        "CACHE: Final = LRUCache[str, int](10)",
    ],
)
def test_state_in_a_module_is_found(module: str) -> None:
    assert list(stateful(ast.parse(module)))


def test_constants_are_no_state() -> None:
    assert list(stateful(ast.parse("NAMES = {'a': 1}\ndef name():\n    found = {}\n    found['a'] = NAMES['a']"))) == []
