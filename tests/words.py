"""Lint of words: what pages, messages and documents must not say, and the better word (docs/style.md, words.toml).

`python -m tests.words` reads templates, message tables, scripts, messages in Python, documents and names in code, and
prints what it found with a count for each kind of file. `tests/pages/test_words.py` and
`tests/browser/test_every_page.py` read rendered pages.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from intents_ui import tables

ROOT: Final = Path(__file__).parent.parent
LONGEST: Final = 22  # words of a sentence
SENTENCE_END: Final = re.compile(r"(?<=[.!?])(?:\s+(?=[A-Z0-9“\"({…])|(?={))|\n+")
WORD: Final = re.compile(r"\w\S*")
FOR_DEVELOPERS: Final = {"key", "when", "declaration", "group"}  # fields of JSON tables


TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
# What no text may contain, by name.
PATTERNS: Final = {
    each["name"]: re.compile(each["found"], re.IGNORECASE if each["found"] == each["found"].lower() else 0)
    for each in TABLE["patterns"]
}


@dataclass(frozen=True)
class Finding:
    where: str
    pattern: str
    around: str


def findings(text: str, where: str, *, is_message: bool = False) -> list[Finding]:
    """Return what the patterns find in a text, and in a message also sentences of more than 22 words."""
    for allowed in TABLE["allowed"]:
        if where.startswith(allowed["where"]):
            text = text.replace(allowed["text"], "…")
    found = [
        Finding(where, name, text[max(0, match.start() - 40) : match.end() + 40].replace("\n", " "))
        for name, pattern in PATTERNS.items()
        for match in pattern.finditer(text)
    ]
    if is_message:
        sentences = SENTENCE_END.split(text)
        found += [Finding(where, "long sentence", each) for each in sentences if len(WORD.findall(each)) > LONGEST]
    return found


# Sources

INLINE_CODE: Final = re.compile(r"^```.*?^```$|``?[^`\n]+``?|<[^>]+>|\]\([^)]*\)", re.MULTILINE | re.DOTALL)
GLOSSARY: Final = re.compile(r"^## Glossary$.*?^## ", re.MULTILINE | re.DOTALL)
COMMENT_OR_BLOCK: Final = re.compile(r"\{#.*?#\}|\{%.*?%\}", re.DOTALL)
VALUE: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
JINJA_STRINGS: Final = re.compile(r"\{[%{].*?[%}]\}", re.DOTALL)
QUOTED: Final = re.compile(r'"([^"\n]*)"')
# Code, and names that the service or the reply's JSON gives to fields.
NOT_OURS: Final = 'script, style, pre, code, [data-raw], [data-field] dt, [aria-label="JSON"], textarea[id^=copy-]'
SPOKEN: Final = ("aria-label", "title", "alt", "placeholder", "data-note", "data-said", "aria-description")
SCRIPT_STRING: Final = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
NO_WORDS: Final = re.compile(r"^\w+\(|\(\?")  # signatures of functions and regular expressions
CODE: Final = (
    *(f"{folder}/**/*.py" for folder in ("intents_ui", "tests", "bench")),
    *("templates/**/*.html", "static/css/*.css", "static/js/*.js"),
)
DOCUMENTS: Final = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/*.md")


def document(path: Path) -> str:
    text = path.read_text()
    if path.name == "style.md":
        text = GLOSSARY.sub("", text)
    return INLINE_CODE.sub(" ", text)


def markup(text: str) -> str:
    """Return the text of a rendered page with its labels, a line for each element."""
    tree = LexborHTMLParser(text)
    for node in tree.css(NOT_OURS):
        node.decompose()
    lines = [tree.root.text(separator="\n") if tree.root else ""]
    for node in tree.css(", ".join(f"[{name}]" for name in SPOKEN)):
        lines += [value for name in SPOKEN if (value := node.attributes.get(name))]
    return "\n".join(" ".join(line.split()) for line in "\n".join(lines).splitlines() if line.strip())


def template(path: Path) -> str:
    text = path.read_text()
    strings = [quoted for part in JINJA_STRINGS.findall(text) for quoted in QUOTED.findall(part) if " " in quoted]
    return "\n".join([markup(VALUE.sub("…", COMMENT_OR_BLOCK.sub("\n", text))), *strings])


def script(path: Path) -> str:
    text = re.sub(r"^\s*(//|\*|/\*).*$", "", path.read_text(), flags=re.MULTILINE)
    return "\n".join(a or b for a, b in SCRIPT_STRING.findall(text) if " " in (a or b))


def table(path: Path) -> str:
    """Return the messages of a table, without the fields for developers."""
    return "\n".join(_strings(tables.parse(path.read_text(), path.name)))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str) and " " in value:
        yield value
    elif isinstance(value, dict):
        shown = {key: field for key, field in value.items() if key not in FOR_DEVELOPERS}
        yield from (each for entry in (*shown, *shown.values()) for each in _strings(entry))
    elif isinstance(value, list):
        yield from (each for entry in value for each in _strings(entry))


def python(path: Path) -> str:
    """Return the messages of a module: its string constants of several words that aren't docstrings."""
    tree = ast.parse(path.read_text())
    plain = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            lines.append("".join(str(each.value) if isinstance(each, ast.Constant) else "…" for each in node.values))
            plain |= {id(each) for each in node.values}
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in plain
            and " " in node.value
        ):
            lines += [] if NO_WORDS.search(node.value) else [node.value]
    return "\n".join(lines)


def names(path: Path) -> set[str]:
    """Return the names that a file gives: definitions of Python and scripts, macros, classes of styles."""
    text = path.read_text()
    match path.suffix:
        case ".py":
            found = set(re.findall(r"\bintents_ui_\w+", text))
            for node in ast.walk(ast.parse(text)):
                match node:
                    case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test_"):
                        pass  # a sentence
                    case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                        found.add(name)
                    case (
                        ast.arg(arg=name)
                        | ast.Name(id=name, ctx=ast.Store())
                        | ast.Attribute(attr=name, ctx=ast.Store())
                    ):
                        found.add(name)
            return found
        case ".html":
            return set(re.findall(r"{%-? (?:macro|set) (\w+)", text))
        case ".css":
            return set(re.findall(r"\.([a-z][\w-]*)", text))
        case _:
            return set(re.findall(r"\b(?:function|const|let) (\w+)", text))


def spaced(name: str) -> str:
    """Return the words of a name: `goOn` and `go_on` are `go on`."""
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)).lower()


def name_findings(path: Path) -> Iterator[Finding]:
    for name in sorted(names(path)):
        for pattern in TABLE["names"]:
            words = name if pattern["found"].isupper() else spaced(name)
            if re.search(rf"\b_?({pattern['found']})(?:\b|(?<=_))", words):
                yield Finding(str(path), pattern["name"], f"{name}: {pattern['use']}")


# How the text of each kind of file is read, and whether it is a message rather than a document.
SOURCES: Final = (
    ("templates/**/*.html", template, True),
    ("static/js/*.js", script, True),
    ("intents_ui/**/*.json", table, False),
    ("intents_ui/**/*.toml", table, False),
    ("intents_ui/**/*.py", python, False),
    *((pattern, document, False) for pattern in DOCUMENTS),
    ("Makefile", lambda path: "\n".join(re.findall(r"## (.*)$", path.read_text(), re.MULTILINE)), False),
)


def report() -> bool:
    """Print the findings and their number per kind of file, and return whether there are none."""
    counts: Counter[str] = Counter()
    for pattern, read, is_message in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            where = str(path.relative_to(ROOT))
            found = findings(read(path), where, is_message=is_message)
            counts[where.partition("/")[0] if "/" in where else "top level"] += len(found)
            for each in found:
                print(f"{where}: {each.pattern}: …{each.around}…")
    for each in (found for pattern in CODE for path in sorted(ROOT.glob(pattern)) for found in name_findings(path)):
        counts["names"] += 1
        print(f"{each.where}: {each.pattern}: {each.around}")
    print("Words that are not ours:", ", ".join(f"{kind} {count}" for kind, count in counts.items()))
    return not counts.total()


if __name__ == "__main__":
    sys.exit(not report())
