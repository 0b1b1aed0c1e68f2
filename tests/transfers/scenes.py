"""The emulator's scenarios as the display gets them: an intent and its receipt at a number of seconds after the
quote.
"""

from dataclasses import dataclass
from functools import cache

from intents_ui.emulator import Emulator
from intents_ui.emulator.scenario_engine import SCENARIOS
from intents_ui.service import operations
from intents_ui.service.catalog import Catalog
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.service.errors import NotFound
from intents_ui.service.models import Intent, IntentReceipt
from intents_ui.service.operations import ServiceConfig
from intents_ui.transfers import summary, timeline
from intents_ui.transfers.timeline import RouteStop
from intents_ui.transfers.transfer import Transfer
from tests.transfers import builders
from tests.transfers.builders import NOW

EMULATOR = Emulator(now=NOW.timestamp, size=10)
SERVICE = ServiceClient(ServiceConfig("http://embedded"), transport=InProcessTransport(EMULATOR))
CATALOG = Catalog(SERVICE)
# The moments just after each change: scenario, seconds after the quote, variant.
MOMENTS = [
    (scenario.number, step.at + 1, variant)
    for scenario in SCENARIOS
    for variant in scenario.variant_names
    for step in scenario.script_of(variant)
]


@dataclass(frozen=True)
class Scene:
    intent: Intent
    receipt: IntentReceipt | None

    def at(self, now=NOW, **more) -> Transfer:
        return builders.at(self.intent, self.receipt, now=now, names=CATALOG, **more)

    def story(self, now=NOW, **more) -> summary.Summary:
        return summary.of(self.at(now, **more))

    def timeline(self, now=NOW, **more) -> timeline.Timeline:
        return timeline.of(self.at(now, **more))

    def stops(self, now=NOW, **more) -> tuple[RouteStop, ...]:
        return timeline.stops(self.at(now, **more))

    def sentences(self, now=NOW, **more) -> dict[str, str]:
        return {step.name.value: step.sentence for step in self.timeline(now, **more).steps}


@cache
def scene(which: int, at: float, variant: str = "A") -> Scene:
    intent = SERVICE.ask(operations.get_intent(EMULATOR.play(which, variant=variant, age=at)["intentId"]))
    try:
        return Scene(intent, SERVICE.ask(operations.get_intent_receipt(intent.intent_id)))
    except NotFound:
        return Scene(intent, None)
