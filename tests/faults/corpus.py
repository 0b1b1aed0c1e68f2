"""Hostile strings for names, memos and reasons, by what they try (corpus.json).

The homoglyphs are those of real imitation tokens. The marks reverse, hide or stack letters. Each of the URLs stands
where the address of an explorer or of a picture is expected. None may become a link or be requested.
"""

import json
from pathlib import Path
from typing import Any, Final

_TABLE: Final[dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text())
TAGS: Final[list[str]] = _TABLE["tags"]
OUT_OF_A_VALUE: Final[list[str]] = _TABLE["out_of_a_value"]
ENTITIES: Final[list[str]] = _TABLE["entities"]
ADDRESSES: Final[list[str]] = _TABLE["addresses"]
LINES: Final[list[str]] = _TABLE["lines"]
POLYGLOTS: Final[list[str]] = _TABLE["polyglots"]
_XSS = ("tags", "out_of_a_value", "out_of_a_place", "entities", "templates", "of_the_library", "addresses", "lines")
XSS: Final[list[str]] = [each for kind in (*_XSS, "formulas", "polyglots") for each in _TABLE[kind]]
HOMOGLYPHS: Final[dict[str, str]] = _TABLE["homoglyphs"]
URLS: Final[list[str]] = [*_TABLE["urls"], f"https://{'a' * 300}.example", "https://etherscan.io" + "/a" * 200]
_HIDDEN = (
    *(range(0x20), range(0x7F, 0xA0), range(0x200B, 0x2010), range(0x2028, 0x202F), range(0x2060, 0x2070)),
    *(range(0xFFF9, 0xFFFC), (0xAD, 0x34F, 0x61C, 0x115F, 0x3164, 0xFEFF, 0xFFA0)),
    (0xE0001, 0xE0041, 0xE007F, 0xE000, 0xFDD0, 0x10FFFF),
)
HIDDEN: Final = [chr(code) for codes in _HIDDEN for code in codes]
_LONG = ["W" * 5_000, "W\n" * 3_000]
UNICODE: Final = [*HOMOGLYPHS, *_TABLE["turned"], *_TABLE["odd"], *_LONG, "".join(HIDDEN)]
