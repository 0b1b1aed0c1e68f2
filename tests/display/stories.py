"""What the page says at each step of the thirty scenarios, as a text to be read by a person: `stories.md`."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from intents_ui.display import story, turns
from intents_ui.display.locator import Check
from intents_ui.display.story import Story
from intents_ui.emulator import Emulator
from intents_ui.emulator.plots import PLOTS
from intents_ui.emulator.scripts import Plot, Step
from intents_ui.service import transfers
from intents_ui.service.client import ServiceClient
from intents_ui.service.config import ServiceConfig
from intents_ui.service.in_process import InProcessTransport
from intents_ui.service.wire import Intent, IntentHistory, IntentReceipt
from tests.display.scenes import CATALOG

# Every transfer is quoted at this moment, so that the times in the words can be followed.
QUOTED = datetime(2026, 11, 21, 14, 0, 0, tzinfo=UTC)
LONG_AFTER = timedelta(days=2)
# The embedded service makes a copy a millisecond before now.
A_LITTLE = timedelta(milliseconds=2)
COMMAND = "python -m tests.display.stories > tests/display/stories.md"
HEAD = f"""\
# What the page says at each step of the thirty scenarios

Made by `{COMMAND}` and held by `test_stories.py`: a change of words is
a change of this file, to be read as somebody would who waits for their money. Every transfer is quoted at 14:00:00 UTC.

Under each headline: the row of `explanations.json` and its tone, what happened, where the money is, what to do, whose
turn it is. *Looked up* is what the page says once the balances were looked up as well, where that is something else.
"""


@dataclass(frozen=True)
class Film:
    """One transfer as it was at a step, and the moments at which its page says something new until the next step."""

    step: Step
    intent: Intent
    receipt: IntentReceipt | None
    entry: IntentHistory
    moments: tuple[datetime, ...]

    def told(self, now: datetime) -> Story:
        return story.story(self.intent, self.receipt, now=now, using=CATALOG)

    def looked_up(self, now: datetime) -> Story:
        held, balances = self.entry.has_balance, self.entry.balances
        return story.story(
            self.intent,
            self.receipt,
            now=now,
            using=CATALOG,
            has_balance=held,
            balances=balances,
            checked_at=now,
        )


def text() -> str:
    return "\n".join([HEAD, *(line for plot in PLOTS for line in chapter(plot))])


def chapter(plot: Plot) -> Iterator[str]:
    for variant in plot.variant_names:
        named = f", variant {variant}" if len(plot.variant_names) > 1 else ""
        yield f"## {plot.number}. {plot.title}{named}\n\n{plot.route}. {plot.why}\n"
        last = ""
        for film in films(plot, variant):
            for number, now in enumerate(film.moments):
                words = "\n".join(answer(film, now))
                if words != last:
                    yield f"### {clock(now)} · {states(film.step)}\n\n{words}\n"
                elif number == 0:
                    yield f"### {clock(now)} · {states(film.step)}\n\nThe same.\n"
                last = words


def films(plot: Plot, variant: str) -> Iterator[Film]:
    """One copy of the scenario, followed from its quote on."""
    now = QUOTED
    emulator = Emulator(now=lambda: (now + A_LITTLE).timestamp(), size=10)
    intent_id = emulator.play(plot.number, variant=variant)["intentId"]
    script = plot.script_of(variant)
    begins = [QUOTED + timedelta(seconds=step.at) for step in script]
    for step, now, until in zip(script, begins, [*begins[1:], QUOTED + LONG_AFTER], strict=True):
        yield film(emulator, intent_id, step, now=now + A_LITTLE, until=until)


def film(emulator: Emulator, intent_id: str, step: Step, *, now: datetime, until: datetime) -> Film:
    # Each with a client of its own, which remembers nothing of the step before.
    service = ServiceClient(ServiceConfig("http://embedded"), transport=InProcessTransport(emulator))
    with closing(service):
        intent, receipt, _ = transfers.read(service, intent_id)
        history = service.get_intent_history(by_owner_address=intent.owner_address, include_balances=True)
    entry = next(entry for entry in history.intents if entry.intent_id == intent_id)
    return Film(step, intent, receipt, entry, tuple(moments(intent, receipt, now=now, until=until)))


def moments(intent: Intent, receipt: IntentReceipt | None, *, now: datetime, until: datetime) -> Iterator[datetime]:
    """Just after the step, and whenever the clock alone changes what is said, before the next one."""
    at: datetime | None = now
    while at and at < until:
        yield at
        at = story.changes_at(intent, receipt, now=at)


def answer(film: Film, now: datetime) -> Iterator[str]:
    told, looked = film.told(now), film.looked_up(now)
    yield from paragraph(told)
    if said(looked) != said(told):
        yield "\n*Looked up:*\n"
        yield from paragraph(looked)
    elif looked.located.check is Check.DIFFERS:
        yield f"\n*Looked up:* {looked.located.finding}"


def paragraph(told: Story) -> Iterator[str]:
    yield f"**{told.headline}** ({told.key}, {told.tone})\n"
    yield f"- {told.sentence}"
    amount = f" [{told.located.amount}]" if told.located.amount else ""
    yield f"- Where: {told.where}{amount}"
    yield f"- Next: {told.next}"
    until = f" (until {told.deadline:%H:%M:%S})" if told.deadline else ""
    yield f"- Who: {turns.whose(told)}{until}"
    if told.located.finding:
        yield f"- {told.located.finding} ({told.located.check})"


def said(told: Story) -> tuple[str, ...]:
    return told.headline, told.sentence, told.where, told.next


def states(step: Step) -> str:
    return " · ".join((step.status, *(leg or "-" for leg in step.legs)))


def clock(now: datetime) -> str:
    passed = int((now - QUOTED).total_seconds())
    return f"+{passed // 3600}:{passed // 60 % 60:02}:{passed % 60:02}"


if __name__ == "__main__":
    print(text(), end="")
