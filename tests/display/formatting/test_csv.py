import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import text
from intents_ui.formatting.text import visible

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\0=1", "＝1+1", "＋1", "－1", "＠SUM(A1)"]  # noqa: RUF001

AFTER_BLANKS = [" =1+1", "\u00a0@A1", " \t +1", "\u3000-1"]


@pytest.mark.parametrize("formula", [*FORMULAS, *AFTER_BLANKS])
def test_would_be_formulas_become_text(formula):
    assert text.csv_cell(formula) == f"'{visible(formula, lines=True)}"


@pytest.mark.parametrize("ordinary", ["", "0x12", "100 USDC", "a=b", "1-1", "'quoted'", " 1", "order -1"])
def test_cells_that_are_not_formulas_stay_unchanged(ordinary):
    assert text.csv_cell(ordinary) == ordinary


def test_a_csv_cell_is_quoted_where_needed():
    assert text.csv_line(["a", "b,c", 'say "x"', "one\ntwo", ""]) == 'a,"b,c","say ""x""","one\ntwo",\r\n'


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_a_csv_parser_returns_each_cell_unchanged(cells):
    assert list(csv.reader(io.StringIO(text.csv_line(cells), newline=""))) == [cells]


def test_hidden_characters_are_visible_in_a_cell():
    assert text.csv_cell("a\u202eb\u200bc\0d\ne") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+0000⟩d\ne"
    assert text.csv_cell("=1\u202e") == "'=1⟨U+202E⟩"
