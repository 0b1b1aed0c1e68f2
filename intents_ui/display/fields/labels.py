"""Labels of the API's fields and objects.

labels.json has those whose name would be unclear. Others are derived from the name.
"""

from collections.abc import Mapping

from intents_ui import tables
from intents_ui.service.fields import Model
from intents_ui.service.models import Intent, IntentReceipt

_TABLE: Mapping[str, Mapping[str, str]] = tables.read(__package__, "labels.json")
FIELDS, TITLES, WORDS = _TABLE["fields"], _TABLE["objects"], _TABLE["words"]


def field(name: str) -> str:
    return FIELDS.get(name) or words(name)


def title(name: str) -> str:
    return TITLES.get(name) or words(name)


def part(name: str, *, inside: type[Model], title: str) -> str:
    """Return the title of a nested object. Below the top level it includes the parent's title."""
    if name == "deposit_transaction":
        return "Deposit (transaction)" if issubclass(inside, IntentReceipt) else "Deposit to make"
    own = TITLES.get(name) or words(name)
    if name == "calls" and not issubclass(inside, Intent):
        return f"{title}: call"
    return own if issubclass(inside, Intent | IntentReceipt) else f"{title}: {own[0].lower()}{own[1:]}"


def words(name: str) -> str:
    """Return `Route providers fee USD` for `route_providers_fee_usd`."""
    known = [WORDS.get(word, word) for word in name.split("_")]
    if known[-1] in ("id", "at") and len(known) > 1:
        known.pop()
    text = " ".join(known)
    return text[0].upper() + text[1:]
