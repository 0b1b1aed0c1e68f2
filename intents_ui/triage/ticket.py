"""Triage input: the identifiers in a text, and notes about what was not read."""

import re
from dataclasses import dataclass, replace

from intents_ui.search import identifiers, input_errors
from intents_ui.search.identifiers import Finding, Kind

MOST = 200  # identifiers of one ticket
LONGEST = 64_000  # characters
# Replaces characters that can't be typed. It is neither part of an identifier nor whitespace that could break one.
SEPARATOR = "\ufffd"

EMPTY = "Paste some text."
# What a link to a case may contain, and nothing else that a ticket may. `search.js` reads it.
LINKED = re.compile(r"0x(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]+\.{3}[0-9a-f]+)")

TOO_LONG = "Only the first {read:,} of {length:,} characters were read. Submit the rest separately."
TOO_MANY = "Only the first {most} of {found:,} identifiers were looked up. Submit the other {left:,} separately."
# Notes about the whole text appear once.
SAID_ONCE = {
    input_errors.INVISIBLE: "Ignored invisible characters in or around identifiers.",
    input_errors.LOOKALIKES_READ: "Read lookalike characters in identifiers as regular ones.",
}


@dataclass(frozen=True)
class Ticket:
    """`notes`: what was changed or not read; `problem`: why there is nothing to look up."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""

    @property
    def linked(self) -> tuple[str, ...]:
        """Return the identifiers that a link to the case contains: hashes and addresses, also shortened ones."""
        written = (f"0x{each.head}...{each.tail}" if each.head else each.value for each in self.findings)
        return tuple(each for each in map(str.lower, written) if LINKED.fullmatch(each))


def read(received: str) -> Ticket:
    """Return the identifiers of a text, each once, in order, with notes about what exceeds the limits."""
    fitting = readable(received)
    found = identifiers.read(identifiers.CONTROL.sub(SEPARATOR, fitting), longest=LONGEST)
    if found.kinds == {Kind.WORDS} and not _is_a_number(found.findings[0].value):
        return Ticket(problem=input_errors.NOTHING)
    # A single malformed identifier gets a validation message instead of a row.
    if len(found.findings) < 2 and not (found.lookups or found.shortened):
        return Ticket(problem=found.problem or EMPTY)
    notes = []
    if len(fitting) < len(received):
        notes.append(TOO_LONG.format(length=len(received), read=len(fitting)))
    if left := len(found.findings[MOST:]):
        notes.append(TOO_MANY.format(found=len(found.findings), most=MOST, left=left))
    warnings = {finding.warning for finding in found.findings}
    notes += [note for warning, note in SAID_ONCE.items() if warning in warnings]
    return Ticket(
        tuple(
            (replace(finding, warning="") if finding.warning in SAID_ONCE else finding)
            for finding in found.findings[:MOST]
        ),
        tuple(notes),
    )


def _is_a_number(words: str) -> bool:
    """Return whether it is a number, for example of an order, which may be saved with a transfer, unlike text."""
    return all(any(character.isdigit() for character in word) for word in words.split())


def readable(received: str) -> str:
    """Return the text up to the limit, without cutting a word."""
    whole, following = received[:LONGEST], received[LONGEST : LONGEST + 1]
    if not following or following.isspace() or whole[-1].isspace():
        return whole
    return whole.rsplit(maxsplit=1)[0]
