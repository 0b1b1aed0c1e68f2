"""What happened to a transfer, and the newest transfers of an owner, as entries of a feed (RFC 4287, JSON Feed 1.1).

Plain text, made visible: no entry holds a character that XML cannot, whoever wrote it. An entry's id says what it is
about and never changes; its `updated` does. Moments in its words have their date, because it is read on another day.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from intents_ui.display import hashes, share, story, text, timeline, times, transfer
from intents_ui.display.facts import Facts
from intents_ui.display.names import Names
from intents_ui.display.statuses import EXPIRED, is_open
from intents_ui.display.timeline import Name, State, Step
from intents_ui.service.wire import Intent, IntentHistory, IntentReceipt, IntentStatus

NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST_TITLE = 120


@dataclass(frozen=True)
class Entry:
    """`about`: the intent whose page it leads to; `key`: what of it."""

    about: str
    key: str
    title: str
    paragraphs: tuple[str, ...]
    published: datetime
    updated: datetime

    @property
    def id(self) -> str:
        return _id(f"{self.about}#{self.key}")


@dataclass(frozen=True)
class Feed:
    """Newest entry first."""

    key: str
    title: str
    subtitle: str
    entries: tuple[Entry, ...]

    @property
    def id(self) -> str:
        return _id(self.key)

    @property
    def updated(self) -> datetime:
        return max((entry.updated for entry in self.entries), default=NO_TIME)


def of_intent(intent: Intent, receipt: IntentReceipt | None, *, using: Names, now: datetime) -> Feed:
    """An entry for each step that was done or has failed, and one for the end."""
    told = transfer.of_intent(intent, receipt, using=using, now=now)
    ways = share.preview(story.story(intent, receipt, now=now, using=using), told)
    steps = timeline.timeline(intent, receipt, now=now, using=using).steps
    entries = [*_of_steps(intent, steps, now=now), *_of_end(intent, receipt, told, using=using, now=now)]
    return Feed(
        key=intent.intent_id,
        title=_safe(f"Intent {hashes.short_id(intent.intent_id)}"),
        subtitle=_dated(ways.title, now=now),
        # Of two at the same moment the later step is the newer.
        entries=tuple(sorted(entries, key=lambda entry: entry.updated)[::-1]),
    )


def of_owner(address: str, found: Sequence[IntentHistory], *, using: Names, now: datetime) -> Feed:
    """An entry for each of the newest intents of an owner, which is updated when its state changes."""
    return Feed(
        key=f"owner:{address}",
        title=_safe(f"Intents of {hashes.short_address(address)}"),
        subtitle="The newest intents of this owner" if found else "No intent of this owner is known yet",
        entries=tuple(_of_transfer(entry, using=using, now=now) for entry in found),
    )


def _of_steps(intent: Intent, steps: Sequence[Step], *, now: datetime) -> Iterator[Entry]:
    """A step whose moment is not known stands where the one before it stands."""
    last = intent.created_at or NO_TIME
    for step in steps:
        if step.state not in (State.DONE, State.FAILED):
            continue
        last = step.at or last
        failed = " failed" if step.state is State.FAILED else ""
        title = share.cut(_dated(f"{step.title}{failed} · {step.sentence.rstrip('.')}", now=now), LONGEST_TITLE)
        reason = (f"The reason that was given: {step.reason.shown}",) if step.reason else ()
        said = tuple(_dated(words, now=now) for words in (step.sentence, *reason))
        yield Entry(intent.intent_id, _key(step, intent), title, said, last, last)


def _key(step: Step, intent: Intent) -> str:
    """That an offer was accepted is one piece of news, and that it was started another."""
    waits = step.name is Name.COMMITTED and intent.status == IntentStatus.COMMITTED
    return f"{step.name}:waiting" if waits else f"{step.name}:{step.state}"


def _of_end(
    intent: Intent, receipt: IntentReceipt | None, told: transfer.Transfer, *, using: Names, now: datetime
) -> Iterator[Entry]:
    facts = Facts.of(intent, receipt)
    has_expired = told.status is EXPIRED
    if is_open(facts.status) and not has_expired:
        return
    ended = facts.execute_by if has_expired else facts.last_change or facts.finished_at
    at = ended or intent.updated_at or NO_TIME
    key = "end:EXPIRED" if has_expired else f"end:{facts.status}"
    yield _told(intent, receipt, told, key=key, published=at, updated=at, using=using, now=now)


def _of_transfer(entry: IntentHistory, *, using: Names, now: datetime) -> Entry:
    intent = transfer.intent_in(entry)
    facts = Facts.of(intent, entry.receipt)
    told = transfer.of_entry(entry, using=using, now=now)
    ended = facts.execute_by if told.status is EXPIRED else facts.last_change
    published = facts.quoted_at or NO_TIME
    updated = max(published, ended or published)
    return _told(intent, entry.receipt, told, key="", published=published, updated=updated, using=using, now=now)


def _told(
    intent: Intent,
    receipt: IntentReceipt | None,
    told: transfer.Transfer,
    *,
    key: str,
    published: datetime,
    updated: datetime,
    using: Names,
    now: datetime,
) -> Entry:
    """The page's own answer."""
    tale = story.story(intent, receipt, now=now, using=using)
    said = share.preview(tale, told)
    words = (said.description, tale.next)
    paragraphs = tuple(_dated(each, now=now) for each in words if each)
    return Entry(intent.intent_id, key, _dated(said.title, now=now), paragraphs, published, updated)


def _dated(sentence: str, *, now: datetime) -> str:
    today = now.astimezone(UTC).date().isoformat()
    pieces = times.pieces(sentence, now=now)
    return _safe("".join(f"{today} {each.text}" if each.at and each.text[2] == ":" else each.text for each in pieces))


def _safe(words: str) -> str:
    return text.visible(text.bare(words), lines=True)


def _id(name: str) -> str:
    """The same under whatever host the dashboard is read."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"intent:{name}").urn
