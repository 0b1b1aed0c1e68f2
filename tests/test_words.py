"""The lint of words (tests/words.py, part of `make lint`)."""

import pytest

from tests.words import LONGEST, findings, markup

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


def test_a_label_a_heading_and_a_placeholder_of_a_page_are_read() -> None:
    page = """<title>One</title><main><h2>Two</h2><input placeholder="Three" aria-label="Four"><pre>raw</pre></main>"""
    assert set(markup(page).splitlines()) == {"One", "Two", "Three", "Four"}
