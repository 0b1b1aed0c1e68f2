"""Triage rows as text to copy: the content of the rows, without anything that untrusted text could inject."""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from intents_ui.formatting.text import visible
from intents_ui.search import input_errors
from intents_ui.search.identifiers import Finding, Kind
from intents_ui.transfers import statuses
from intents_ui.triage import lookup, rows
from intents_ui.triage.rows import Link, TriageOutcome, TriageRow
from tests.transfers.builders import NOW, OWNER, TXN_HASH, at, intent, receipt, transaction

ROOT = "https://dash.example"
MOVED = TriageRow(
    number=1,
    finding=Finding(Kind.HASH, TXN_HASH),
    value=TXN_HASH,
    what="deposit transaction",
    outcome=TriageOutcome.FOUND,
    status=statuses.INTENTS["FAILED"],
    headline="Failed, refund expected",
    at=NOW,
    details=("100.00 USDC on Arbitrum → 99.50 USDC as quoted on Base, quoted 14:01:11 UTC",),
    where="At the deposit address on Arbitrum.",
    address=OWNER,
    next="Wait.",
    turn="Waiting on: owner.",
    notes=("One note.", "Another."),
    links=(Link("View transfer", "/intent/0x12?tx=0x34"), Link("View all", "/search?q=1")),
    intent_id="0x12",
)
NEARLY = rows.unasked(rows.begin(2, Finding(Kind.NEAR_MISS, "0x1234…abcd", problem=input_errors.SHORTENED), now=NOW))
ROWS = [MOVED, NEARLY]


def row(outcome: TriageOutcome, headline: str = "Done") -> TriageRow:
    return replace(MOVED, outcome=outcome, headline=headline)


def copied(*found: TriageRow) -> dict[str, str]:
    forms = lookup.copies(found, root=ROOT, now=NOW)
    return dict(zip(("txt", "markdown", "csv"), (copy for _, _, copy in forms), strict=True))


COPIES = copied(*ROWS)


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_has_the_content_of_the_rows(kind):
    assert COPIES[kind] == Path(__file__).with_name(f"copied.{kind}").read_bytes().decode()


def test_csv_has_the_outcome_of_the_transfer_unless_it_could_not_be_read():
    delivered = at(intent("SUCCEEDED"), receipt("SUCCEEDED", destination_transaction=transaction("SUCCEEDED")))
    unread = replace(delivered, receipt=None, is_unread=True)
    sent = [replace(MOVED, transfers=(each,)) for each in (delivered, unread)]
    written = csv.DictReader(io.StringIO(copied(*sent)["csv"], newline=""))
    assert [each["Outcome"] for each in written] == ["delivered", ""]


HOSTILE = [
    "a | b",
    "`code`",
    "[here](https://evil.example)",
    "<img src=x onerror=alert(1)>",
    "**bold** _it_ ~~gone~~",
    "https://evil.example",
    "@everyone $x$",
    "a\\| b\\",
    "one\n| 9 | two |\r\n# three",
]
LEFT_OF_MARKUP = re.compile(r"[`*_{}\[\]#~|!$@<>\n]|://|www\.|&(?!(?:amp|lt|gt);)", re.IGNORECASE)


def unescaped(cell: str) -> str:
    """Return what a Markdown reader would still take for markup."""
    return re.sub(r"\\[!-/:-@\[-`{-~]", "", cell)


def cells_of(table: str) -> list[str]:
    """Return the cells of the only row, without our own links."""
    (line,) = table.splitlines()[4:]
    return re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-2]


@pytest.mark.parametrize("words", HOSTILE)
def test_untrusted_text_stays_in_its_cell_and_its_link(words):
    links = (Link(words, "/intent/0x12"),)
    hostile = replace(MOVED, value=words, headline=words, details=(words,), where=words, notes=(words,), links=links)
    table = copied(hostile)["markdown"]
    cells = cells_of(table)
    assert len(cells) == 8
    assert not any(LEFT_OF_MARKUP.search(unescaped(cell)) for cell in cells)
    named = table.rstrip().removesuffix(f"](<{ROOT}/intent/0x12>) |").rpartition("Wait. Waiting on: owner. | [")[2]
    assert not LEFT_OF_MARKUP.search(unescaped(named))
    plain, usual = copied(replace(MOVED, headline=words))["txt"], copied(MOVED)["txt"]
    assert len(plain.splitlines()) == len(usual.splitlines())


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\0", "＝1"])  # noqa: RUF001
def test_no_csv_cell_is_a_formula(formula):
    hostile = replace(MOVED, value=formula, what=formula, headline=formula, where=formula, address="", next=formula)
    written = copied(hostile)["csv"]
    for cell in next(csv.reader(io.StringIO(written.partition("\r\n")[2], newline=""))):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\0", "＝"))  # noqa: RUF001
    assert f"'{visible(formula, lines=True)}" in written


def test_the_total_counts_results_and_failures_separately():
    found, failed = row(TriageOutcome.FOUND), row(TriageOutcome.FAILED, "Request timed out")
    kinds = (TriageOutcome.UNKNOWN, TriageOutcome.TOKEN, TriageOutcome.TOKEN, TriageOutcome.NOTHING)
    others = [row(outcome) for outcome in kinds]
    assert rows.total([found]) == "1 identifier resolved: 1 found."
    assert rows.total([found, *others]) == (
        "All 5 identifiers resolved: 1 found, 2 tokens, 1 not an identifier, 1 not found."
    )
    assert rows.total([found, failed, failed]) == (
        "1 of 3 identifiers resolved: 1 found. The others failed: Request timed out."
    )
    assert rows.total([failed]) == "Identifier not resolved: Request timed out."
