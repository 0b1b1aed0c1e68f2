"""Sentences keep their parts through filling, joining and capitalizing."""

from intents_ui.formatting import times
from intents_ui.formatting.text import Name, Sentence, capitalized, fill, parts_of
from intents_ui.formatting.times import Time
from tests.display.builders import NOW

UNTIL = times.utc(NOW, now=NOW)


def test_a_filled_sentence_has_the_parts_of_its_values() -> None:
    inner = Sentence("at ", UNTIL)
    told = fill("{chain}: wait until {then}, on {chain}.", {"chain": Name("07:15 UTC"), "then": inner})
    assert told == "07:15 UTC: wait until at 14:03:11 UTC, on 07:15 UTC."
    assert [part for part in parts_of(told) if isinstance(part, Time)] == ["14:03:11 UTC"]
    assert [part for part in parts_of(told) if isinstance(part, Name)] == ["07:15 UTC"] * 2


def test_a_capital_letter_leaves_times_as_they_are() -> None:
    told = capitalized(Sentence("expected by ", UNTIL))
    assert told == "Expected by 14:03:11 UTC"
    assert [part.at for part in parts_of(told) if isinstance(part, Time)] == [NOW]
    assert capitalized("") == ""


def test_a_text_without_parts_is_one_part() -> None:
    assert parts_of("at 07:15 UTC") == ("at 07:15 UTC",)
