"""Figures of the mirror as rows of tables, without what only the operator may see."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from intents_ui.display.formatting import shares, text
from intents_ui.display.insight import charts
from intents_ui.display.insight.charts import Spark
from intents_ui.mirror.figures.queries import BucketFigures, Counts, PairFigures, PeriodFigures, ReasonCount
from intents_ui.service.wire.outcome import Outcome
from intents_ui.web.insight.access import FEW_OWNERS
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
class FigureTable:
    """Rows of a table. `left_out`: how many have too few owners for this client."""

    rows: Sequence[FigureRow]
    left_out: int


@dataclass(frozen=True)
class ReasonRow:
    """Why transfers were not delivered: the step that failed, the reason of the first one, and how many."""

    step: str
    reason: str
    count: int
    share: str


def is_shown(figures: PeriodFigures | BucketFigures | PairFigures, *, sees_all: bool) -> bool:
    """Whether this client may see the figures: with few owners, only who sees all."""
    return sees_all or figures.owners >= FEW_OWNERS


def step_name(step: int | None) -> str:
    """Return the name of a step by its position, or "" if it is unknown."""
    return STEPS[step] if step is not None and step < len(STEPS) else ""


def rate(figures: Counts) -> tuple[str, str]:
    """Return the success rate, `98.0%`, and its interval. Both are "" if there is none."""
    share = figures.success
    return (shares.percent(share.part, share.whole), shares.interval(share.low, share.high)) if share else ("", "")


def of_rows(found: Iterable[PeriodFigures], *, sees_all: bool) -> FigureTable:
    found = list(found)
    shown = [each for each in found if is_shown(each, sees_all=sees_all)]
    scopes = linked(each.scope for each in shown)
    rows = [
        FigureRow(scope, each, *rate(each), charts.spark(each.bars)) for scope, each in zip(scopes, shown, strict=True)
    ]
    return FigureTable(rows, len(found) - len(shown))


def of_total(figures: PeriodFigures, *, sees_all: bool) -> FigureRow | None:
    """Return the figures of one scope, or None if this client may not see them."""
    return next(iter(of_rows([figures], sees_all=sees_all).rows), None)


def of_reasons(found: Sequence[ReasonCount], figures: PeriodFigures, *, sees_all: bool) -> Sequence[ReasonRow]:
    """Return the reasons of figures."""
    failed = sum(count for outcome, count in figures.counts.items() if outcome is not Outcome.DELIVERED)
    return of_causes(found, failed=failed, sees_all=sees_all)


def of_causes(found: Sequence[ReasonCount], *, failed: int, sees_all: bool) -> Sequence[ReasonRow]:
    """Return why so many failed, most frequent first. The reasons of a few owners are one row at the end."""
    shown = [each for each in found if sees_all or each.owners >= FEW_OWNERS]
    rows = [
        ReasonRow(
            step_name(each.step) or "Unknown step",
            text.reason(each.example).shown if each.example else "No reason reported",
            each.count,
            shares.percent(each.count, max(failed, each.count)),
        )
        for each in shown
    ]
    if rest := failed - sum(each.count for each in shown):
        rows.append(ReasonRow("", OTHER, rest, shares.percent(rest, failed)))
    return rows
