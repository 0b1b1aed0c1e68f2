"""The import contracts cover every module, including new ones, and the package keeps its structure."""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.serving import ROOT

PACKAGE = ROOT / "intents_ui"
DISPLAY = "Of the service library, the display imports wire models and errors only"
MOST_MODULES = 12
# One module for each family of URLs, and one for each part of the simulated service.
FLAT = {"pages", "emulator"}


def contract(name: str) -> dict[str, Any]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(each for each in contracts if each["name"] == name)


def test_the_emulators_contract_lists_every_other_module() -> None:
    package = ROOT / "intents_ui"
    parts = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    others = {f"intents_ui.{part}" for part in parts - {"__init__", "emulator"}}
    assert set(contract("The emulator imports nothing of ours")["forbidden_modules"]) == others


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
