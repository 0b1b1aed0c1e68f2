"""The sprites contain exactly the icons and logos that are used."""

import re
from pathlib import Path

from intents_ui.tokens import token_amounts
from intents_ui.transfers import statuses

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
    }


def test_each_sprite_has_exactly_what_is_drawn_from_it_once() -> None:
    """The logos of most transfers are with the icons. A first visit loads few of the others, a file each."""
    static = ROOT / "static"
    found = [
        f"{path.relative_to(static).with_suffix('')}#{name}"
        for path in (static / "icons.svg", *static.glob("coins/*.svg"))
        for name in re.findall(r'<symbol id="([^"]+)"', path.read_text())
    ]
    logos = {*token_amounts.CHAIN_PICTURES.values(), *token_amounts.TOKEN_PICTURES.values()}
    assert sorted(found) == sorted({*(f"icons#{name}" for name in used()), *logos})
