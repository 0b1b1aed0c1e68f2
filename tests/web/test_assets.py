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


def test_every_color_of_text_is_readable_on_every_ground_that_it_can_have() -> None:
    """Also under the pointer and with the focus: components have no colors but these (WCAG 1.4.3, 1.4.11)."""
    theme = (ROOT / "static" / "css" / "theme.css").read_text()
    assert re.findall("#[0-9a-f]{3,8}", "".join(sheet.read_text() for sheet in SHEETS if sheet.stem != "theme")) == []
    colors = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", theme)}
    pages = ("paper", "card", "sunk")
    tones = ("accent", "good", "attention", "bad", "neutral")
    needs = {
        4.5: [
            *((ink, ground) for ink in ("ink", "ink-2", "ink-3", *tones) for ground in pages),
            *((ink, f"{tone}-ground") for tone in tones for ink in ("ink", "ink-2", tone)),
            ("on-accent", "accent"),
        ],
        3: [("line-control", ground) for ground in pages],
    }
    for ratio, pairs in needs.items():
        for ink, ground in pairs:
            for one, other in zip(colors[ink], colors[ground], strict=True):
                lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
                assert (lighter + 0.05) / (darker + 0.05) >= ratio, (ink, ground, one, other)


def luminance(color: str) -> float:
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_comments_and_indents_are_removed_from_collected_files_and_nothing_else() -> None:
    scripts = list((ROOT / "static" / "js").glob("*.js"))
    assert all(line.count("`") % 2 == 0 for path in scripts for line in path.read_text().splitlines()), "of one line"
    kept = bare("x.js", "// One.\nadd(`//x`); // two\n  // Three.\n  add(1);\n")
    assert kept == "add(`//x`);\nadd(1);\n"
    sheet = "/* One\n   two. */\n.a {\n  gap: 0; /* three */\n}\n.b,\n.c { }"
    assert bare("x.css", sheet) == "\n.a {gap: 0;\n}.b,.c {}"
    assert not any(re.search(r'"[^"\n]*/\*', sheet.read_text()) for sheet in SHEETS)


def classes(sheet: str) -> set[str]:
    """The classes in its selectors: what stands before a brace, comments and strings taken out."""
    bare = re.sub(r'/\*.*?\*/|"[^"]*"|url\([^)]*\)', "", sheet, flags=re.DOTALL)
    return {name for selector in re.findall(r"([^{};]*)\{", bare) for name in CLASS.findall(selector)}
