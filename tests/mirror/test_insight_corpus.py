"""The hostile corpus in reasons, and in names of providers and tokens, changes nothing about pages of figures."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import batched

import pytest
from django.test import Client

from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.models import STATUSES, Reason, Token, Transfer, Window, set_state
from intents_ui.mirror.windows import NEVER
from tests.faults import corpus, hostile
from tests.mirror import past
from tests.mirror.conftest import empty, read

# A database stores no half of a character.
TEXTS = [each.encode(errors="replace").decode() for each in (*corpus.XSS, *corpus.UNICODE)]
APART = str.maketrans({";": None, "'": None, "`": None})  # `;` is between two providers, and the twin has it for others
# One text of each kind: a script, an attribute, an entity, a link, a comment, a direction, a NUL, a long word.
CHOSEN = tuple(TEXTS[:: len(TEXTS) // 8])
PATHS = (
    "/insight", "/insight?by=provider", "/insight?by=chain&window=7d", "/insight/chain/8453", "/insight/incidents",
    "/insight/incident/1", "/late", "/insight/coverage",
)  # fmt: skip


@pytest.mark.usefixtures("mirrored_file", "still")
@pytest.mark.parametrize(
    "texts", [CHOSEN, *(pytest.param(each, marks=pytest.mark.slow) for each in batched(TEXTS, 10, strict=False))]
)
def test_pages_are_those_with_harmless_texts(site: Client, texts: tuple[str, ...]) -> None:
    site.get("/attention")  # so that both have its count
    attacked = drawn(site, texts, providers=[each.translate(APART) for each in texts])
    empty()
    harmless = [each.translate(hostile.HARMLESS) for each in texts]
    twin = drawn(site, harmless, providers=[each.translate(APART).translate(hostile.HARMLESS) for each in texts])
    for path in PATHS:
        assert hostile.differences(attacked[path], twin[path]) == [], path


def drawn(site: Client, texts: Sequence[str], *, providers: Sequence[str]) -> dict[str, str]:
    """Return the pages of a mirror with a route, a reason and a token for each text."""
    now = datetime.now(UTC)
    past.whole(now)
    past.present(now)
    routes = [RouteKey(each, "8453", str(place)) for place, each in enumerate(providers, 1)]
    past.write(now, days=1, per_hour=1, routes=routes)
    past.incident(now, key=routes[0])
    for number, each in enumerate(texts):
        Window.objects.create(start=number, end=number + 1, due=NEVER, failures=1, reason=each)
    set_state(STATUSES, dict.fromkeys(texts, 0))
    for number, (key, each) in enumerate(zip(routes, texts, strict=True), 1):
        past.open_transfer(now, number=number, age=timedelta(hours=2), key=key)
        reason = Reason.objects.create(text=f"{each} {number}", example=each)
        token = Token.objects.create(chain="8453", address=f"{each} {number}", symbol=each)
        on_route = Transfer.objects.filter(route=past.route(key))
        on_route.update(origin_token=token)
        on_route.filter(outcome="delivered").update(outcome="failed", reason=reason, failed_step=1)
    past.count(now)
    return {path: read(site, path) for path in PATHS}
