"""Collected style sheets and scripts: minified without a change in meaning, and no unused rules."""

import re
from pathlib import Path

import pytest

from intents_ui.web import assets

ROOT = Path(__file__).parents[2]
SHEETS = sorted((ROOT / "static" / "css").glob("*.css"))
CLASS = re.compile(r"\.(-?[a-z_][\w-]*)", re.IGNORECASE)
# Set by htmx while a request is under way, and never written by us.
OF_HTMX = {"htmx-request", "htmx-swapping", "htmx-added", "htmx-settling"}


@pytest.mark.parametrize(
    ("written", "slim"),
    [
        ("a { /* why */ & b, & > :is(c) { margin: 0 1px; } }", "a{& b,& > :is(c){margin: 0 1px;}}"),
        ('a::before { content: "{ , }  /* */"; }', 'a::before{content: "{ , }  /* */";}'),
        ("a { background: url(a; b) }", "a{background: url(a; b)}"),
    ],
    ids=["nested", "string", "address"],
)  # fmt: skip
def test_minified_css_means_the_same(written: str, slim: str) -> None:
    assert assets.slim_sheet(written) == slim
    assert assets.slim_sheet(slim) == slim


def test_a_script_loses_only_comments_and_whitespace() -> None:
    script = '// Why.\n\nfunction f() {\n  // Why not.\n  return g("// stays"); // stays too\n}\n'
    assert assets.slim_script(script) == 'function f() {\nreturn g("// stays"); // stays too\n}\n'


def test_no_string_literal_of_a_script_spans_lines() -> None:
    for script in (ROOT / "static" / "js").glob("*.js"):
        for line in script.read_text().splitlines():
            assert line.count("`") % 2 == 0, f"{script.name}: {line}"
            assert not line.endswith("\\"), f"{script.name}: {line}"


def test_every_css_class_is_used_in_a_template_or_a_script() -> None:
    templates = [path for path in (ROOT / "templates").rglob("*") if path.is_file()]
    sources = [*templates, *(ROOT / "static" / "js").glob("*.js"), *(ROOT / "intents_ui").rglob("*.py")]
    text = "\n".join(path.read_text() for path in sources)
    words = set(re.findall(r"[\w-]+", text))
    begun = tuple(re.findall(r"([\w-]+-)\{\{", text))
    every = {(sheet.name, name) for sheet in SHEETS for name in classes(sheet.read_text()) - words - OF_HTMX}
    assert {(sheet, name) for sheet, name in every if not name.startswith(begun)} == set()


def classes(sheet: str) -> set[str]:
    """The classes in its selectors: what stands before a brace, comments and strings taken out."""
    bare = re.sub(r'/\*.*?\*/|"[^"]*"|url\([^)]*\)', "", sheet, flags=re.DOTALL)
    return {name for selector in re.findall(r"([^{};]*)\{", bare) for name in CLASS.findall(selector)}
