"""Rows as blocks of Slack: only our words and links are markup."""

from datetime import UTC, datetime
from typing import Any

from intents_ui.display.transfers.assistance import Help
from intents_ui.display.triage import rows, slack
from intents_ui.display.triage.rows import Link, TriageOutcome, TriageRow

HOSTILE = "<!channel> <https://evil.example|*you*> & `x`"


def row(**changes: Any) -> TriageRow:
    at = datetime(2026, 11, 21, 12, tzinfo=UTC)
    return TriageRow(1, "0x12", "transaction", TriageOutcome.FOUND, rows.NOT_FOUND, HOSTILE, at, **changes)


def test_words_are_plain_text_and_only_links_are_markup() -> None:
    links = (Link(HOSTILE, "/intent/0x12?tx=a&b=c"),)
    said, linked = slack.blocks(
        [row(links=links, help=(Help("Recover funds", "https://app.example/?a=1&b=2"),))], root="https://i.example"
    )
    assert said["text"]["type"] == "plain_text"
    assert HOSTILE in said["text"]["text"]
    assert linked["text"] == {
        "type": "mrkdwn",
        "verbatim": True,
        "text": "<https://i.example/intent/0x12?tx=a&amp;b=c|&lt;!channel&gt; &lt;https://evil.exampleyou&gt; &amp; x>"
        " · <https://app.example/?a=1&amp;b=2|Recover funds>",
    }


def test_a_block_is_not_longer_than_slack_allows() -> None:
    assert len(slack.plain("x" * 5000)["text"]["text"]) == 3000
