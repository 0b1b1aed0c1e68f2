"""Style sheets have no unused rules, and collected files no comments."""

import re
from pathlib import Path

from intents_ui.web.assets import bare

ROOT = Path(__file__).parents[2]
SHEETS = sorted((ROOT / "static" / "css").glob("*.css"))
CLASS = re.compile(r"\.(-?[a-z_][\w-]*)", re.IGNORECASE)
# Set by htmx while a request is under way, and never written by us.
OF_HTMX = {"htmx-request", "htmx-swapping", "htmx-added", "htmx-settling"}


def test_sheets_share_their_spacings_and_breakpoints() -> None:
    """Eight spacings, of the theme, and three widths. A slightly different one would be a mistake nobody sees."""
    text = "\n".join(sheet.read_text() for sheet in SHEETS)
    assert len(SHEETS) <= 12
    assert len(set(re.findall(r"--space-\d+: ", text))) == 8
    assert re.findall(r"(?m)^\s*(?:[a-z]+-)?gap: .*\drem.*|^\s*(?:padding|margin)[a-z-]*: .*\drem.*", text) == []
    widths = re.findall(r"([\d.]+)rem", "".join(re.findall(r"@(?:media|container) ([^{]+)", text)))
    assert set(widths) == {"37", "48", "72"}


def test_every_css_class_is_used_in_a_template_or_a_script() -> None:
    templates = [path for path in (ROOT / "templates").rglob("*") if path.is_file()]
    sources = [*templates, *(ROOT / "static" / "js").glob("*.js"), *(ROOT / "intents_ui").rglob("*.py")]
    text = "\n".join(path.read_text() for path in sources)
    words = set(re.findall(r"[\w-]+", text))
    begun = tuple(re.findall(r"([\w-]+-)\{\{", text))
    every = {(sheet.name, name) for sheet in SHEETS for name in classes(sheet.read_text()) - words - OF_HTMX}
    assert {(sheet, name) for sheet, name in every if not name.startswith(begun)} == set()


def test_comments_are_removed_from_collected_files_and_nothing_else() -> None:
    scripts = list((ROOT / "static" / "js").glob("*.js"))
    assert all(line.count("`") % 2 == 0 for path in scripts for line in path.read_text().splitlines()), "of one line"
    kept = bare("x.js", "// One.\nadd(`//x`); // two\n  // Three.\n  add(1);\n")
    assert kept == "add(`//x`); // two\n  add(1);\n"
    sheet = "/* One\n   two. */\n.a {\n  gap: 0; /* three */\n}\n.b,\n.c { }"
    assert bare("x.css", sheet) == "\n.a {\ngap: 0; \n}\n.b,\n.c { }"
    assert not any(re.search(r'"[^"\n]*/\*', sheet.read_text()) for sheet in SHEETS)


def classes(sheet: str) -> set[str]:
    """The classes in its selectors: what stands before a brace, comments and strings taken out."""
    bare = re.sub(r'/\*.*?\*/|"[^"]*"|url\([^)]*\)', "", sheet, flags=re.DOTALL)
    return {name for selector in re.findall(r"([^{};]*)\{", bare) for name in CLASS.findall(selector)}
