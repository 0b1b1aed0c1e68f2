"""What every page has in common: what its frame needs."""

from collections.abc import Iterator

from django.http import HttpRequest

from intents_ui import operators, wiring
from intents_ui.exports import progress
from intents_ui.exports.formats import FORMATS
from intents_ui.service import freshness, paused, unanswered
from intents_ui.settings import ENV

NAV = (
    ("search", "Search"),
    ("history", "History"),
    ("recoverable", "Recoverable"),
    ("triage", "Triage"),
    ("tokens", "Tokens"),
    ("chains", "Chains"),
    ("routes", "Routes"),
)


def places() -> Iterator[tuple[str, str]]:
    """Where the navigation leads: not to what this dashboard does not offer."""
    yield from NAV
    if operators.may_read():
        yield "console", "Console"
    if wiring.embedded():
        yield "demo", "Demo"


def frame(request: HttpRequest) -> dict[str, object]:
    """Each export that a page's menu begins is a run of its own, whose id is drawn with the page."""
    return {
        "embedded": wiring.embedded(),
        "may_write": operators.level() is operators.Level.WRITE,
        "may_be_listed": ENV.intents_index == "index",
        "nav": list(places()),
        "export_rows": ENV.intents_export_rows,
        "export_runs": {kind: progress.new_run() for kind in FORMATS},
        "old": freshness.told(),
        "unanswered": unanswered.told(),
        "paused": paused.is_paused(),
    }
