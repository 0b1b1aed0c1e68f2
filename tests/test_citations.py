"""Everything that documents, docstrings and comments name exists in the repository.

Checked are Markdown documents with their anchors, paths, modules, `module.name` in backticks, and test functions.
"""

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
HERE: Final = Path(__file__).name
FOLDERS: Final = ("intents_ui", "tests", "docs", "bench", "templates", "static", "deploy", ".ci")
DOCUMENT: Final = re.compile(r"(?<![\w/.-])((?:[\w.-]+/)*[\w-]+\.md)(?:#([\w-]+))?", re.ASCII)
PATH: Final = re.compile(rf"(?<![\w/.:-])((?:{'|'.join(map(re.escape, FOLDERS))})/[\w./@-]*\w)(?![\w/*{{<…-])")
MODULE: Final = re.compile(r"(?<![\w./-])((?:intents_ui|tests|bench)(?:\.\w+)+)", re.ASCII)
ATTRIBUTE: Final = re.compile(r"`([a-z_]+)\.([A-Za-z_]\w*)(?:\(\))?`", re.ASCII)
TEST: Final = re.compile(r"\btest_[a-z_]+\b(?!\.py|/)")
# Endings of file and host names, and fields of JSON objects.
NO_ATTRIBUTES: Final = frozenset("py json js css html toml md txt conf svg example field".split())  # noqa: SIM905
FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SUFFIXES: Final = frozenset(
    ".py .js .css .html .svg .md .toml .txt .conf .yaml .yml .service .ini .json .cfg".split()  # noqa: SIM905
)


@cache
def files() -> tuple[Path, ...]:
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts)
    return tuple(path for path in (*ROOT.iterdir(), *below) if path.is_file() and path.name != HERE)


def has_words(path: Path) -> bool:
    is_text = path.suffix in SUFFIXES or path.name in ("Makefile", "Dockerfile") or path.parent.name == ".ci"
    return is_text and not {"vendor", "data"} & set(path.parts)


def prose(path: Path) -> str:
    """Return what a file says in words: docstrings and comments of Python, otherwise everything except fences."""
    text = path.read_text()
    if path.suffix == ".md":
        return FENCE.sub("", text)
    if path.suffix == ".json":
        return "\n".join(strings(json.loads(text))) if path.parent.name == "rows" else ""
    if path.suffix != ".py":
        return text
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    words = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, nodes)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join([*words, *(token.string for token in tokens if token.type == tokenize.COMMENT)])


def strings(value: object) -> Iterator[str]:
    """Return the words of a JSON document. Names of tests are checked where the table of faults is."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key != "tests":
                yield from strings(each)
    elif isinstance(value, str):
        yield value


@cache
def anchors(document: Path) -> frozenset[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", document.read_text()), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


@cache
def stems() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in files():
        if path.suffix == ".py":
            found.setdefault(path.parent.name if path.stem == "__init__" else path.stem, []).append(path)
    return found


@cache
def functions() -> frozenset[str]:
    return frozenset(
        name
        for path in files()
        if path.suffix == ".py" and "tests" in path.parts
        for name in re.findall(r"def (test_\w+)", path.read_text())
    )


def dangling(path: Path) -> Iterator[str]:
    text = prose(path)
    made = set(re.findall(r"<!-- file: (\S+) -->", path.read_text())) if path.suffix == ".md" else set()
    for name, anchor in DOCUMENT.findall(text):
        places = [each for each in (ROOT / name, path.parent / name, ROOT / "docs" / name) if each.is_file()]
        if not places or (anchor and anchor not in anchors(places[0])):
            yield f"{name}#{anchor}" if anchor else name
    for name in PATH.findall(text):
        if name not in made and not (ROOT / name).exists():
            yield name
    for name in MODULE.findall(text):
        if not leads_somewhere(name):
            yield name
    if path.suffix in (".py", ".md"):
        for module, attribute in ATTRIBUTE.findall(text):
            if module in stems() and not is_in(module, attribute):
                yield f"{module}.{attribute}"
        for name in TEST.findall(text):
            if name not in functions() and name not in stems() and not name.endswith("_"):
                yield name


def leads_somewhere(name: str) -> bool:
    """Return whether a dotted name is a module, or a name in one."""
    path, *rest = [ROOT, *name.split(".")]
    assert isinstance(path, Path)
    while rest:
        step = str(rest.pop(0))
        if (path / step).is_dir():
            path = path / step
        elif (path / f"{step}.py").is_file():
            return not rest or is_named(path / f"{step}.py", str(rest[0]))
        else:
            return is_named(path / "__init__.py", step)
    return True


def is_in(module: str, attribute: str) -> bool:
    return (
        any(
            is_named(path, attribute)
            or (path.name == "__init__.py" and any(is_named(each, attribute) for each in path.parent.glob("*.py")))
            for path in stems()[module]
        )
        or attribute in NO_ATTRIBUTES
    )


def is_named(path: Path, name: str) -> bool:
    return path.is_file() and re.search(rf"\b{name}\b", path.read_text()) is not None


@pytest.mark.parametrize("folder", ["", *FOLDERS])
def test_every_cited_name_exists(folder: str) -> None:
    inside = [
        path for path in files() if path.relative_to(ROOT).as_posix().rpartition("/")[0].partition("/")[0] == folder
    ]
    found = {path.relative_to(ROOT).as_posix(): sorted(set(dangling(path))) for path in inside if has_words(path)}
    assert {name: names for name, names in found.items() if names} == {}


def test_a_dead_citation_is_detected(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text(
        '"""See no_such.md 2.1, docs/contract.md#no-such-section and docs/contract.md#errors."""\n'
        "# tests/no_such.py, intents_ui.no_such, `error_mapping.no_such`, `error_mapping.KNOWN`, test_no_such\n"
        'words = "no_such.md"\n'
    )
    assert sorted(dangling(file)) == [
        "docs/contract.md#no-such-section",
        "error_mapping.no_such",
        "intents_ui.no_such",
        "no_such.md",
        "test_no_such",
        "tests/no_such.py",
    ]
