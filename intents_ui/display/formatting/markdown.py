"""Escapes text for Markdown, so that it contains no markup, mention, HTML or link wherever it is pasted."""

import re

MARKUP = re.compile(r"[\\`*_{}\[\]#~|!$@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def literal(words: str) -> str:
    return MARKUP.sub(r"\\\g<0>", words).translate(ENTITIES)
