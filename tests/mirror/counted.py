"""Figures counted the slow way, from the world, and as the mirror counts them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from intents_ui.mirror.figures import queries, statistics
from intents_ui.mirror.figures.queries import Sort, count_open
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName
from intents_ui.mirror.figures.snapshots import ENOUGH_FOR_P95, Period
from intents_ui.mirror.models import ENDED
from intents_ui.mirror.windows import DAY
from intents_ui.service.outcome import Outcome
from tests.mirror.world import World, expected

UNDELIVERED = [each for each in ENDED if each is not Outcome.DELIVERED]
SECONDS = dict(zip(Period, (3600, DAY, 7 * DAY, 30 * DAY, 90 * DAY), strict=True))
BARS = dict(zip(Period, (0, 25, 8, 31, 91), strict=True))
type Key = tuple[str, ...]  # of a scope


@dataclass(frozen=True)
class Ended:
    """An ended transfer. Times are Unix milliseconds. `cause` is the failed step and the reason."""

    intent_id: str
    outcome: str
    end: int
    duration: int | None
    cause: tuple[int | None, str | None]
    sent: int
    providers: str
    chains: tuple[str, str]
    tokens: frozenset[tuple[str, str]]  # chain and address

    @property
    def scopes(self) -> set[Key]:
        return {
            ("service", "", "", "", ""),
            *(("provider", each, "", "", "") for each in self.providers.split(";") if each),
            *(("chain", "", each, "", "") for each in self.chains if each),
            *(("token", "", chain, "", address) for chain, address in self.tokens),
            ("route", self.providers, *self.chains, ""),
        }


def of_world(world: World) -> Iterator[Ended]:
    outcomes = {intent_id: outcome for intent_id, (_, outcome) in expected(world).items()}
    for made in world.transfers:
        seen = made.seen(world.now)
        if seen is None or outcomes[made.intent_id] not in ENDED:
            continue
        outcome, failed = outcomes[made.intent_id], outcomes[made.intent_id] != "delivered"
        yield Ended(
            intent_id=made.intent_id,
            outcome=outcome,
            end=seen[1],
            duration=None if failed else seen[1] - made.created,
            cause=(1, made.reason or None) if failed else (None, None),
            sent=0 if failed else 1_000_000,
            providers=made.provider,
            chains=("1", str(made.destination)),
            tokens=made.tokens,
        )


def figures(ended: Iterable[Ended]) -> dict[str, Any]:
    """Return the figures of transfers."""
    found = list(ended)
    failed = [each for each in found if each.outcome != "delivered"]
    durations = sorted(each.duration for each in found if each.duration is not None)
    return {
        **{outcome: sum(each.outcome == outcome for each in found) for outcome in ENDED},
        "durations": dict(Counter(map(statistics.bucket, durations))),
        "reasons": Counter((step, reason or "") for step, reason in (each.cause for each in failed)),
        "count": len(found),
        "sent": sum(each.sent for each in found),
        "slowest": [each // 1000 for each in durations[::-1][: queries.MAX_LISTED]],
        "failures": [each // 1000 for each in sorted((each.end for each in failed), reverse=True)],
    }


def check_pages(ended: list[Ended], *, now: int) -> None:
    """Check that the pages of all scopes show these transfers, after snapshots of now were written."""
    counts = count_open(now=datetime.fromtimestamp(now, UTC))
    for period in Period:
        lately = [each for each in ended if each.end >= now * 1000 - SECONDS[period] * 1000]
        overview = queries.overview(period, counts)
        rows, total = {row.scope: row for row in overview.rows}, overview.total
        assert total.counts == Counter(each.outcome for each in lately)
        assert total.ended == len(lately) == sum(row.ended for row in overview.rows)
        assert total.ended == total.delivered + sum(n for *_, n in overview.reasons)
        assert total.success == (statistics.share(total.delivered, total.ended) if total.is_complete else None)
        assert (total.since.timestamp(), total.at.timestamp()) == (now - SECONDS[period], now)
        assert [len(total.trend), sum(each for each, _ in total.trend)] == [
            BARS[period],
            total.ended * bool(BARS[period]),
        ]
        counted = figures(lately)
        slowest, count = queries.listed(EVERYTHING, period.span(now), outcomes=[Outcome.DELIVERED], sort=Sort.SLOWEST)
        assert [int(each.duration.total_seconds()) for each in slowest if each.duration] == counted["slowest"]
        assert count == counted["delivered"]
        failures, count = queries.listed(EVERYTHING, period.span(now), outcomes=UNDELIVERED, sort=Sort.NEWEST)
        assert [int(each.ended_at.timestamp()) for each in failures] == counted["failures"][: queries.MAX_LISTED]
        for key in {key for each in lately for key in each.scopes}:
            of_scope = [each for each in lately if key in each.scopes]
            counted, length = figures(of_scope), period.step
            page = queries.report(ScopeName(Level(key[0]), *key[1:]), period, counts)
            assert rows.get(page.total.scope, page.total) == page.total
            assert page.total.counts == Counter(each.outcome for each in of_scope)
            assert page.total.durations == counted["durations"]
            assert {(step, reason): n for step, reason, _, n in page.reasons} == counted["reasons"]
            assert sum(n for *_, n, _ in page.tokens) == counted["count"]
            assert sum(sent for *_, sent in page.tokens) == counted["sent"]
            for bar in page.series:
                start = int(bar.since.timestamp()) // length * length * 1000
                inside = figures(each for each in of_scope if start <= each.end < start + length * 1000)
                assert (bar.ended, bar.delivered) == (inside["count"], inside["delivered"])
                durations = inside["durations"]
                p95 = statistics.quantile(durations, 95) if sum(durations.values()) >= ENOUGH_FOR_P95 else None
                known = [each for each in (statistics.quantile(durations, 50), p95) if bar.is_complete]
                shown = [None if each is None else each // timedelta(milliseconds=1) for each in (bar.median, bar.p95)]
                assert shown == (known or [None, None])
            assert sum(bar.ended for bar in page.series) == (counted["count"] if page.series else 0)
