"""Figures of the mirror as rows of tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from intents_ui.display.formatting import shares, text
from intents_ui.display.insight import charts
from intents_ui.display.insight.charts import Spark
from intents_ui.mirror.figures.queries import Counts, PeriodFigures, ReasonCount
from intents_ui.service.wire.outcome import Outcome
from intents_ui.web.insight.scopes import LinkedScope, linked

STEPS = ("Deposit", "Origin", "Destination")
OTHER = "Other reasons"


@dataclass(frozen=True)
class FigureRow:
    """The figures of a scope, its success rate in words, and the trend of its hours or days."""

    scope: LinkedScope
    figures: PeriodFigures
    rate: str
    interval: str
    spark: Spark


@dataclass(frozen=True)
class ReasonRow:
    """Why transfers were not delivered: the step that failed, the reason of the first one, and how many."""

    step: str
    reason: str
    count: int
    share: str


def step_name(step: int | None) -> str:
    """Return the name of a step by its position, or "" if it is unknown."""
    return STEPS[step] if step is not None and step < len(STEPS) else ""


def rate(figures: Counts) -> tuple[str, str]:
    """Return the success rate, `98.0%`, and its interval. Both are "" if there is none."""
    share = figures.success
    return (shares.percent(share.part, share.whole), shares.interval(share.low, share.high)) if share else ("", "")


def of_rows(found: Sequence[PeriodFigures]) -> Sequence[FigureRow]:
    scopes = linked(each.scope for each in found)
    return [
        FigureRow(scope, each, *rate(each), charts.spark(each.bars)) for scope, each in zip(scopes, found, strict=True)
    ]


def of_reasons(found: Sequence[ReasonCount], figures: PeriodFigures) -> Sequence[ReasonRow]:
    """Return the reasons of figures."""
    failed = sum(count for outcome, count in figures.counts.items() if outcome is not Outcome.DELIVERED)
    return of_causes(found, failed=failed)


def of_causes(found: Sequence[ReasonCount], *, failed: int) -> Sequence[ReasonRow]:
    """Return why so many failed, most frequent first. Rare reasons are one row at the end."""
    rows = [
        ReasonRow(
            step_name(each.step) or "Unknown step",
            text.reason(each.example).shown if each.example else "No reason reported",
            each.count,
            shares.percent(each.count, max(failed, each.count)),
        )
        for each in found
    ]
    if rest := failed - sum(each.count for each in found):
        rows.append(ReasonRow("", OTHER, rest, shares.percent(rest, failed)))
    return rows
