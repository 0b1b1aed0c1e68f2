"""The icon sprite contains exactly the icons that are used."""

import re
from pathlib import Path

from intents_ui.tokens import token_amounts
from intents_ui.transfers import statuses
from intents_ui.web import frame

ROOT = Path(__file__).parent.parent


def used() -> set[str]:
    templates = "\n".join(path.read_text() for path in (ROOT / "templates").rglob("*.html"))
    written = re.findall(r'icon\("([a-z0-9-]+)"', templates)
    marks = re.search(r"set marks = (\{.*?\})", templates)
    assert marks is not None
    notes = re.findall(r'note\("[a-z]+", "([a-z0-9-]+)"', templates)
    shown = [*statuses.INTENTS.values(), *statuses.TRANSACTIONS.values(), statuses.EXPIRED, statuses.NOT_SENT]
    shown += [statuses.NOT_GIVEN, statuses.unknown("FROZEN")]
    return {
        *written,
        *notes,
        *re.findall(r': "([a-z-]+)"', marks[1]),
        *(each.icon for each in shown),
        *(page.icon for page in frame.PAGES),
    }


def test_the_sprite_contains_exactly_the_icons_in_use() -> None:
    sprite = (ROOT / "static" / "img" / "icons.svg").read_text()
    assert set(re.findall(r'<symbol id="([^"]+)"', sprite)) == used()


def test_each_coin_is_in_the_file_that_is_named_and_each_file_has_only_these() -> None:
    """Those of most transfers are in a file of their own, so that a first visit loads few others."""
    named = {*token_amounts.CHAIN_PICTURES.values(), *token_amounts.TOKEN_PICTURES.values()}
    sprites = {path.stem: path.read_text() for path in (ROOT / "static" / "img").glob("coins*.svg")}
    found = {f"{stem}/{name}" for stem, text in sprites.items() for name in re.findall(r'<symbol id="([^"]+)"', text)}
    assert len(sprites) == 2
    assert found == named
