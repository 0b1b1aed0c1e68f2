"""`stories.md` has the reviewed texts. A change of words changes the file and needs a new review."""

from pathlib import Path

from tests.display import stories

REVIEWED = Path(__file__).with_name("stories.md")


def test_every_scenario_says_at_each_step_the_reviewed_words():
    result, reviewed = stories.text().splitlines(), REVIEWED.read_text("utf-8").splitlines()
    assert result == reviewed, f"if these words are meant: {stories.COMMAND}"
