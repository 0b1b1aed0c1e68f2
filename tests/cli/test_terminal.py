"""Tables and records for terminals."""

import pytest

from intents_ui.cli import terminal

HEAD = ("Status", "Sent")
ROWS = [("Delivered", "1 USDC"), ("Refunded on Base", "2 日本")]


def test_a_table_has_aligned_columns_also_with_wide_characters() -> None:
    rows = [("日本", "1"), ("e\u0301", "2")]
    assert list(terminal.table(HEAD, rows, width=80)) == ["Status  Sent", "日本    1", "e\u0301       2"]


@pytest.mark.parametrize(("width", "lines"), [(24, 3), (23, 5)], ids=["table", "records"])
def test_a_table_that_is_too_wide_becomes_records(width: int, lines: int) -> None:
    assert len(list(terminal.table(HEAD, ROWS, width=width))) == lines


def test_a_record_has_a_line_for_each_field() -> None:
    assert list(terminal.table(HEAD, ROWS, width=10)) == [
        "Status  Delivered",
        "Sent    1 USDC",
        "",
        "Status  Refunded on Base",
        "Sent    2 日本",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", "⟨U+001B⟩]0;title⟨U+0007⟩"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u2066b", "a⟨U+2066⟩b"),
        ("two\nlines\r", "two⟨U+000A⟩lines⟨U+000D⟩"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("\ud800", "⟨U+D800⟩"),
        ("\u2068אבג\u2069", "אבג"),
    ],
    ids=["escape", "bidi override", "bidi isolate", "line break", "C1", "surrogate", "our own isolates"],
)
def test_what_controls_a_terminal_is_made_visible(capsys: pytest.CaptureFixture[str], text: str, shown: str) -> None:
    terminal.show([text])
    assert capsys.readouterr().out == f"{shown}\n"
