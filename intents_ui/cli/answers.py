"""The parts of the API's answers that the command line shows. Other fields are for programs (`--json`)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Self

from intents_ui.cli.client import NOT_OURS, Problem
from intents_ui.cli.exit_codes import Exit, worst

type Json = dict[str, Any]

OPEN: Final = "open"
DELIVERED: Final = "delivered"
RESOLVED: Final = ("found", "token", "nothing")  # outcomes of identifiers that leave no question
FAILED: Final = "failed"


@dataclass(frozen=True)
class Transfer:
    """A transfer, with the words of its page. Amounts are text such as `99.85 USDC on Base (expected)`."""

    intent_id: str
    url: str
    as_of: str | None
    outcome: str | None
    status: str
    headline: str
    location: str
    next_step: str
    certainty: str
    attention: str
    cause: str | None
    incident: str | None
    warn_second_deposit: bool
    sent: str
    received: str
    refunded: str | None
    created_at: str | None

    @classmethod
    def of(cls, found: Json) -> Self:
        summary = found["summary"]
        return cls(
            intent_id=found["intentId"],
            url=found["url"],
            as_of=found["asOf"],
            outcome=found["outcome"],
            status=summary["status"],
            headline=summary["headline"],
            location=summary["location"],
            next_step=summary["nextStep"],
            certainty=summary["certainty"],
            attention=summary["attention"],
            cause=summary["cause"],
            incident=summary["incident"],
            warn_second_deposit=summary["warnSecondDeposit"],
            sent=_amount(found["sent"]),
            received=_amount(found["received"]),
            refunded=_amount(found["refunded"]) if found["refunded"] else None,
            created_at=found["createdAt"],
        )

    @property
    def state(self) -> str:
        """Return the status and the headline, without repeating the status."""
        return self.headline if self.headline.startswith(self.status) else f"{self.status} · {self.headline}"

    @property
    def is_read(self) -> bool:
        """Return whether more than the status is known."""
        return self.outcome is not None

    @property
    def is_over(self) -> bool:
        """Return whether no further change is expected. A failed transfer can still be refunded."""
        return self.is_read and self.outcome != OPEN and self.cause != "refund"

    @property
    def exit_code(self) -> Exit:
        if self.attention == "act":
            return Exit.NEEDS_ACTION
        if not self.is_read:
            return Exit.UNAVAILABLE
        return Exit.FINE if self.outcome in (OPEN, DELIVERED) else Exit.NOT_DELIVERED


@dataclass(frozen=True)
class Lookup:
    """The transfers that match a text. If it isn't complete, a search failed, and there may be more."""

    matches: tuple[Transfer, ...]
    warnings: tuple[str, ...]
    is_complete: bool
    may_be_more: bool

    @classmethod
    def of(cls, found: Json) -> Self:
        matches = tuple(Transfer.of(each["transfer"]) for each in found["matches"])
        warnings = tuple(warning for each in found["matches"] for warning in each["warnings"])
        return cls(matches, warnings, found["isComplete"], found["mayBeMore"])

    @property
    def exit_code(self) -> Exit:
        codes = [each.exit_code for each in self.matches]
        if self.warnings:
            codes.append(Exit.NOT_FOUND)
        if not self.is_complete:
            codes.append(Exit.UNAVAILABLE)
        return worst(codes) if codes else Exit.NOT_FOUND


@dataclass(frozen=True)
class TriageRow:
    """What was found for an identifier of a ticket."""

    number: int
    value: str
    kind: str
    outcome: str
    headline: str
    details: tuple[str, ...]
    notes: tuple[str, ...]
    next_step: str | None
    transfers: tuple[Transfer, ...]
    link: str | None

    @classmethod
    def of(cls, found: Json) -> Self:
        return cls(
            number=found["number"],
            value=found["value"],
            kind=found["kind"],
            outcome=found["outcome"],
            headline=found["headline"],
            details=tuple(found["details"]),
            notes=tuple(found["notes"]),
            next_step=found["nextStep"],
            transfers=tuple(Transfer.of(each) for each in found["transfers"]),
            link=found["link"],
        )

    @property
    def exit_code(self) -> Exit:
        if self.outcome == FAILED:
            return Exit.UNAVAILABLE
        if self.outcome not in RESOLVED:
            return Exit.NOT_FOUND
        return worst(each.exit_code for each in self.transfers)


@dataclass(frozen=True)
class Triage:
    """What was found for all identifiers of a ticket."""

    rows: tuple[TriageRow, ...]
    summary: str

    @classmethod
    def of(cls, found: Json) -> Self:
        return cls(tuple(TriageRow.of(each) for each in found["rows"]), found["summary"])

    @property
    def exit_code(self) -> Exit:
        return worst(each.exit_code for each in self.rows)


@dataclass(frozen=True)
class Page:
    """A page of the history. `following` is the URL of the next one."""

    transfers: tuple[Json, ...]
    following: str | None
    unreadable: int

    @classmethod
    def of(cls, found: Json) -> Self:
        return cls(tuple(found["transfers"]), found["next"], found["unreadable"])


def read[Answer](of: Callable[[Json], Answer], found: Json) -> Answer:
    """Return an answer. Raises Problem if the API has another form."""
    try:
        return of(found)
    except (AttributeError, KeyError, TypeError) as error:
        raise Problem(Exit.ERROR, NOT_OURS) from error


def _amount(found: Json) -> str:
    token = found["token"]
    symbol = token["symbol"] or token["address"] or "an unknown token"
    if found["amount"] is not None:
        amount = f"{found['amount']} {symbol}"
    elif found["baseUnits"] is not None:
        amount = f"{found['baseUnits']} base units of {symbol}"
    else:
        amount = f"unknown amount of {symbol}"
    notes = [*([found["note"]] if found["note"] else []), *(each["word"] for each in token["warnings"])]
    return f"{amount} on {token['chain']}" + (f" ({', '.join(notes)})" if notes else "")
