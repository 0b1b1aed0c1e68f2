"""Words that Markdown shows as they are, wherever it is pasted: no markup, mention, HTML or link comes of them."""

import re

MARKUP = re.compile(r"[\\`*_{}\[\]#~|!$@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def literal(words: str) -> str:
    return MARKUP.sub(r"\\\g<0>", words).translate(ENTITIES)
