"""What the page says at each step of the thirty scenarios, as text for people to read: `stories.md`."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from intents_ui.emulator import Emulator
from intents_ui.emulator.scenario_engine import SCENARIOS, Scenario, Step
from intents_ui.service import lookup, operations
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.service.models import Intent, IntentHistory, IntentReceipt
from intents_ui.service.operations import ServiceConfig
from intents_ui.transfers import comparison, summary, timeline
from intents_ui.transfers.deposits import DepositCheck
from intents_ui.transfers.summary import Summary
from intents_ui.transfers.transfer import UNCHECKED, Balances, Transfer
from tests.transfers.scenes import CATALOG

# Every transfer is quoted at this time, so that the times in its texts are easy to follow.
QUOTED = datetime(2026, 11, 21, 14, 0, 0, tzinfo=UTC)
LONG_AFTER = timedelta(days=2)
# The emulator creates a copy a millisecond before now.
A_LITTLE = timedelta(milliseconds=2)
COMMAND = "python -m tests.transfers.stories > tests/transfers/stories.md"
HEAD = f"""\
# What the page says at each step of the thirty scenarios

Made by `{COMMAND}` and held by `test_stories.py`: a change of words is
a change of this file, to be read as a user would who waits for their funds. Every transfer is quoted at 14:00:00 UTC.

Each headline is followed by the row of `messages.toml` and its tone, what happened, where the funds are, the next
step with the warning that the page shows below it, and who must act. *Balances checked* is what the page says once it
has the on-chain balances, where that differs. With these balances, the table has the row of a list, the steps,
the route, the comparison with the quote, the fees and the deposit check. It is left out where it is as before.
"""


@dataclass(frozen=True)
class Film:
    """A transfer at one step, and the times at which its page changes until the next step."""

    step: Step
    intent: Intent
    receipt: IntentReceipt | None
    entry: IntentHistory
    moments: tuple[datetime, ...]

    def told(self, now: datetime) -> Summary:
        return summary.of(self.at(now))

    def looked_up(self, now: datetime) -> Summary:
        return summary.of(self.at(now, balances=Balances.of_entry(self.entry, checked_at=now)))

    def at(self, now: datetime, *, balances: Balances = UNCHECKED) -> Transfer:
        return Transfer(self.intent, self.receipt, now=now, names=CATALOG, balances=balances)


def text() -> str:
    return "\n".join([HEAD, *(line for scenario in SCENARIOS for line in chapter(scenario))])


def chapter(scenario: Scenario) -> Iterator[str]:
    for variant in scenario.variant_names:
        named = f", variant {variant}" if len(scenario.variant_names) > 1 else ""
        yield f"## {scenario.number}. {scenario.title}{named}\n\n{scenario.route}. {scenario.why}\n"
        last, shown = "", ""
        for film in films(scenario, variant):
            for number, now in enumerate(film.moments):
                words, cards = "\n".join(answer(film, now)), "\n".join(below(film.looked_up(now).transfer))
                told = "The same." if words == last else words
                told += "" if cards == shown else f"\n\n{cards}"
                if told != "The same." or number == 0:
                    yield f"### {clock(now)} · {states(film.step)}\n\n{told}\n"
                last, shown = words, cards


def films(scenario: Scenario, variant: str) -> Iterator[Film]:
    """Follow one copy of the scenario from its quote."""
    now = QUOTED
    emulator = Emulator(now=lambda: (now + A_LITTLE).timestamp(), size=10)
    intent_id = emulator.play(scenario.number, variant=variant)["intentId"]
    script = scenario.script_of(variant)
    begins = [QUOTED + timedelta(seconds=step.at) for step in script]
    for step, now, until in zip(script, begins, [*begins[1:], QUOTED + LONG_AFTER], strict=True):
        yield film(emulator, intent_id, step, now=now + A_LITTLE, until=until)


def film(emulator: Emulator, intent_id: str, step: Step, *, now: datetime, until: datetime) -> Film:
    # Each with its own client, so that nothing is cached from the previous step.
    service = ServiceClient(ServiceConfig("http://embedded"), transport=InProcessTransport(emulator))
    with closing(service):
        intent, receipt, _ = lookup.read_transfer(service, intent_id)
        call = operations.get_intent_history(by_owner_address=intent.owner_address, include_balances=True)
        history = service.ask(call)
    entry = next(entry for entry in history.intents if entry.intent_id == intent_id)
    return Film(step, intent, receipt, entry, tuple(moments(intent, receipt, now=now, until=until)))


def moments(intent: Intent, receipt: IntentReceipt | None, *, now: datetime, until: datetime) -> Iterator[datetime]:
    """Return the time just after the step, and every time before the next one at which the clock alone changes the
    page.
    """
    at: datetime | None = now
    while at and at < until:
        yield at
        at = summary.changes_at(Transfer(intent, receipt, now=at))


def answer(film: Film, now: datetime) -> Iterator[str]:
    result, looked = film.told(now), film.looked_up(now)
    yield from paragraph(result)
    if said(looked) != said(result):
        yield "\n*Balances checked:*\n"
        yield from paragraph(looked)
    elif "moved on" in looked.finding:
        yield f"\n*Balances checked:* {looked.finding}"


def paragraph(told: Summary) -> Iterator[str]:
    yield f"**{told.headline}** ({told.key}, {told.tone})\n"
    yield f"- {told.sentence}"
    amount = f" [{told.amount}]" if told.amount else ""
    yield f"- Where: {told.location}{amount}"
    yield f"- Next: {told.instructions}"
    until = f"until {told.deadline:%H:%M:%S}" if told.deadline else ""
    if turn := " · ".join(filter(None, (summary.waiting_on(told), until))):
        yield f"- {turn}"
    if told.finding:
        yield f"- {told.finding}"


def below(transfer: Transfer) -> Iterator[str]:
    """Return the rows of the cards below the answer."""
    compared, told = comparison.of(transfer), summary.of(transfer)
    yield "| | | |\n|---|---|---|"
    yield row("Row of a list", told.status.word, f"{told.sent} → {told.outcome}", told.duration, told.recipient_label)
    for step in timeline.of(transfer).steps:
        reason = f"{step.explanation} “{step.reason.shown}”" if step.reason else ""
        yield row(step.title, step.state, step.sentence, reason)
    stops = [f"{stop.title} ({stop.note or stop.reached})" for stop in timeline.stops(transfer)]
    yield row("Route", "", " → ".join(stops))
    yield row("Quote vs. actual", compared.shown.word, compared.text)
    for each in compared.rows:
        yield row(each.label, each.shown.word, each.quoted, each.limit, each.actual, each.difference)
    fees = comparison.Fees(transfer)
    yield row(
        "Fees", "", fees.shown, fees.in_token, *(f"{part.label} {part.shown}" for part in fees.parts), fees.sentence
    )
    for check in DepositCheck(transfer).rows:
        yield row(check.label, check.result.word, check.expected, check.found)


def row(label: str, word: str, *cells: str) -> str:
    return f"| {label} | {word} | {' · '.join(filter(None, cells))} |"


def said(told: Summary) -> tuple[str, ...]:
    return told.headline, told.sentence, told.location, told.next_step


def states(step: Step) -> str:
    return " · ".join((step.status, *(leg or "-" for leg in step.legs)))


def clock(now: datetime) -> str:
    passed = int((now - QUOTED).total_seconds())
    return f"+{passed // 3600}:{passed // 60 % 60:02}:{passed % 60:02}"


if __name__ == "__main__":
    print(text(), end="")
