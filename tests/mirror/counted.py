"""Figures counted the slow way, from rows or from the world, and as the rollups have them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from intents_ui.mirror.figures import histogram, tally
from intents_ui.mirror.figures.rollups import Period
from intents_ui.mirror.models import Day, DirtyHour, Hour, Reason, Scope, Summary, Token, Transfer
from intents_ui.mirror.windows import DAY, HOUR
from tests.mirror.world import NAMES, World, expected

ENDED = ("delivered", "refunded", "failed", "aborted", "rejected", "unconfirmed")
type Key = tuple[str, ...]  # of a scope


@dataclass(frozen=True)
class Ended:
    """An ended transfer. Times are Unix milliseconds. `cause` is the failed step and the reason."""

    intent_id: str
    outcome: str
    end: int
    duration: int | None
    owner: bytes | None
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


def of_rows() -> Iterator[Ended]:
    for row in Transfer.objects.select_related("route", "reason", "origin_token", "destination_token"):
        if row.outcome in ENDED:
            has_duration = row.outcome == "delivered" and row.started is not None and row.ended is not None
            yield Ended(
                intent_id=f"0x{bytes(row.intent_id).hex()}",
                outcome=row.outcome,
                end=row.ended or row.updated,
                duration=row.ended - row.started if has_duration else None,  # type: ignore[operator]
                owner=None if row.owner is None else bytes(row.owner),
                cause=(row.failed_step, row.reason.text if row.reason else None),
                sent=int(row.sent or 0) if row.outcome == "delivered" else 0,
                providers=row.route.providers,
                chains=(row.route.origin_chain, row.route.destination_chain),
                tokens=frozenset(
                    (each.chain, NAMES.get(each.address, each.address))
                    for each in (row.origin_token, row.destination_token)
                    if each
                ),
            )


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
            owner=bytes.fromhex(made.owner[2:]),
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
        "owners": len({each.owner for each in found} - {None}),
        "failed_owners": len({each.owner for each in failed} - {None}),
        "durations": dict(Counter(map(histogram.bucket, durations))),
        "reasons": {
            cause: (count, len({each.owner for each in failed if each.cause == cause} - {None}))
            for cause, count in Counter(each.cause for each in failed).items()
        },
        "count": len(found),
        "sent": sum(each.sent for each in found),
        "slowest": durations[::-1][: tally.FIRST],
        "failures": sorted((each.end for each in failed), reverse=True)[: tally.FIRST],
    }


def stored[B: Hour | Day | Summary, K](rows: Iterable[B], key: Callable[[B], K]) -> dict[K, dict[str, Any]]:
    """Return the same figures of rows, each by its key."""
    texts = dict(Reason.objects.values_list("pk", "text"))
    tokens = {None, *Token.objects.values_list("pk", flat=True)}
    return {key(row): _stored(row, texts, tokens) for row in rows}


def _stored(row: Hour | Day | Summary, texts: Mapping[int, str], tokens: Collection[int | None]) -> dict[str, Any]:
    found = tally.details(row.details)
    assert all(each in tokens for pair in found.tokens for each in pair[:2])
    return {
        **{outcome: getattr(row, outcome) for outcome in ENDED},
        "owners": row.owners,
        "failed_owners": row.failed_owners,
        "durations": dict(histogram.decode(bytes(row.durations))),
        "reasons": {
            (step, None if reason is None else texts[reason]): (count, owners)
            for step, reason, count, owners in found.reasons
        },
        "count": sum(count for _, _, count, _ in found.tokens),
        "sent": sum(sent for *_, sent in found.tokens),
        "slowest": [milliseconds for milliseconds, _ in found.slowest],
        "failures": [at for at, _ in found.failures],
    }


def grouped(ended: Iterable[Ended], place: Callable[[Ended], int | None]) -> dict[tuple[Key, int], dict[str, Any]]:
    """Return the figures by scope and by place in time. None is no place."""
    groups: dict[tuple[Key, int], list[Ended]] = {}
    for each in ended:
        for key in each.scopes:
            at = place(each)
            if at is not None:
                groups.setdefault((key, at), []).append(each)
    return {key: figures(several) for key, several in groups.items()}


def keys() -> dict[int, Key]:
    return {
        each.pk: (each.level, each.providers, each.origin_chain, each.destination_chain, each.token)
        for each in Scope.objects.all()
    }


def check_settled_hours() -> None:
    """Check that each hour without a mark equals its rows."""
    dirty, of = {*DirtyHour.objects.values_list("start", flat=True)}, keys()
    wanted = grouped(of_rows(), lambda each: each.end // (HOUR * 1000) * HOUR)
    found = stored(Hour.objects.all(), lambda row: (of[row.scope_id], row.start))
    assert {key: each for key, each in found.items() if key[1] not in dirty} == {
        key: each for key, each in wanted.items() if key[1] not in dirty
    }


def check_settled(ended: list[Ended], *, now: int) -> None:
    """Check that all hours, days and periods equal these transfers."""
    assert not DirtyHour.objects.exists()
    assert not Day.objects.filter(is_dirty=True).exists()
    of = keys()
    for table, length in ((Hour, HOUR), (Day, DAY)):
        found = stored(table._default_manager.all(), lambda row: (of[row.scope_id], row.start))
        wanted = grouped(ended, lambda each, length=length: each.end // (length * 1000) * length)  # type: ignore[misc]
        assert {*found} == {*wanted}
        assert found == wanted
    for period in Period:
        since = period.since(now)
        summaries = stored(
            Summary.objects.filter(period=period), lambda row: (of[row.scope_id], Period(row.period).since(now))
        )
        assert summaries == grouped(ended, lambda each, since=since: since if each.end >= since * 1000 else None)  # type: ignore[misc]
