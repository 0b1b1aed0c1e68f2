"""Glossary: one explanation per term, in plain language, and none that no page uses."""

import re

from intents_ui.web.jinja import GLOSSARY, used_in


def test_each_glossary_term_has_an_anchor_and_full_sentences() -> None:
    for word in GLOSSARY.values():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", word.anchor)
        assert word.meaning[0].isupper()
        assert word.meaning.endswith(".")
        assert len(word.meaning) <= 200, word.word
        assert word.heading.lower() == word.word
    assert list(GLOSSARY) == sorted(GLOSSARY)
    assert len({word.meaning for word in GLOSSARY.values()}) == len(GLOSSARY)


def test_the_glossary_terms_of_a_page_are_found_once() -> None:
    page = 'interestfor="term-deposit-address" interestfor="term-gas" id="term-owner" interestfor="term-gas" term-quote'
    assert [word.word for word in used_in(page)] == ["deposit address", "gas"]
    assert used_in('<p interestfor="term-nobodys">') == ()
