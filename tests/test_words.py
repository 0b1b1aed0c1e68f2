"""The lint of words (tests/words.py, part of `make lint`)."""

from pathlib import Path

import pytest

from tests.words import LONGEST, findings, markup, name_findings

SENTENCE = " ".join(["Word"] * LONGEST)


@pytest.mark.parametrize(
    ("where", "text", "found"),
    [
        ("an example", "Whoever pays has to sign.", "nobody in particular"),
        ("an example", "The owner must sign.", None),
        ("an example", "The money is on Base. Native coin: ETH.", "money"),
        ("an example", "28 s for 95 % of 14.", "percent"),
        ("an example", "Copy the intent id.", "ID"),
        ("an example", "Copy the intent ID.", None),
        ("an example", "Export a csv file.", "URL and CSV"),
        ("an example", "Open the URL, or export a CSV.", None),
        ("an example", "Cancelled, of a grey color.", "British spelling"),
        ("an example", f"{SENTENCE}. {SENTENCE}.", None),
        ("an example", f"{SENTENCE} more.", "long sentence"),
        ("an example", "A proxy on the way mixes up the bytes.", "way"),
        ("docs/operations.md", "A proxy on the way mixes up the bytes.", None),  # an exception
    ],
)
def test_a_text_has_what_the_patterns_find(where: str, text: str, found: str | None) -> None:
    assert {each.pattern for each in findings(text, where, is_message=True)} == ({found} if found else set())


@pytest.mark.parametrize(
    ("file", "code", "found"),
    [
        ("limits.py", "MOST_ROWS: Final = 20", {"limit"}),
        ("limits.py", "MAX_ROWS = MOST_USED = 20", set()),
        ("owners.py", "def tell(whose): ...", {"actor"}),
        ("owners.py", "def test_whose_turn_it_is(): ...", set()),  # a sentence
        ("rows.css", ".take-off { color: red; }", {"chip"}),
        ("focus.js", "function takeBack() {}", {"focus"}),
        ("rows.html", "{% macro carrier(row) %}{% endmacro %}", {"provider"}),
    ],
)
def test_a_name_that_stands_for_a_standard_one_is_found(tmp_path: Path, file: str, code: str, found: set[str]) -> None:
    path = tmp_path / file
    path.write_text(code)
    assert {each.pattern for each in name_findings(path)} == found


def test_a_label_a_heading_and_a_placeholder_of_a_page_are_read() -> None:
    page = """<title>One</title><main><h2>Two</h2><input placeholder="Three" aria-label="Four"><pre>raw</pre></main>"""
    assert set(markup(page).splitlines()) == {"One", "Two", "Three", "Four"}
