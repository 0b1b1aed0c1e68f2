"""The import contracts cover every module, including new ones."""

import tomllib
from typing import Any

from tests.serving import ROOT


def contract(name: str) -> dict[str, Any]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(each for each in contracts if each["name"] == name)


def test_the_emulators_contract_lists_every_other_module() -> None:
    package = ROOT / "intents_ui"
    parts = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    others = {f"intents_ui.{part}" for part in parts - {"__init__", "emulator"}}
    assert set(contract("The emulator imports nothing of ours")["forbidden_modules"]) == others
