"""The icon sprite contains exactly the icons that are used."""

import re
from pathlib import Path

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
