"""Transfer size of pages of figures: at most 60 KB on a first visit, and at most 6 KB for a chart of a week."""

import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.test import Client

from intents_ui.display.insight import charts
from intents_ui.display.insight.charts import Bucket
from intents_ui.mirror.entry import RouteKey
from tests.mirror import ledgers, past
from tests.test_weight import FIRST_VISIT, LIMITS, collected, linked, transferred

__all__ = ["collected"]

CHART = 6_000
POINTS = 168
ROUTES = tuple(RouteKey("RELAY", str(origin), "42161") for origin in range(1, 51))


def test_a_first_visit_is_light(collected: Path, site: Client, mirrored: None) -> None:
    now = datetime.now(UTC)
    ledgers.whole(now)
    ledgers.present(now)
    past.write(now, days=1, per_hour=2, routes=ROUTES)
    past.count(now)
    past.judged(now)
    page = site.get("/insight").content.decode()
    assert page.count("row-link") == len(ROUTES)
    for path in ("/insight", "/insight/route/RELAY/1/42161", "/insight/provider/RELAY?window=7d"):
        for coding, suffix in (("br", "br"), ("gzip", "gz")):
            text = len(site.get(path, headers={"Accept-Encoding": coding}).content)
            files = {kind: transferred(collected, linked(site, path), kind, suffix) for kind in LIMITS}
            assert text + sum(files.values()) <= FIRST_VISIT, f"{path}: {text} bytes of page, {files} ({coding})"


def test_charts_of_many_points_are_light() -> None:
    buckets = [
        Bucket(
            good=place * 7919 % 500,
            bad=place * 104_729 % 40,
            is_complete=place % 97 > 0,
            median=timedelta(seconds=20 + place * 31 % 60),
            p95=timedelta(seconds=90 + place * 17 % 300),
        )
        for place in range(POINTS)
    ]
    drawn = charts.columns(buckets), charts.band(buckets)
    paths = "".join(str(value) for each in drawn for value in vars(each).values())
    assert paths.count("M") > 3.9 * POINTS
    assert len(zlib.compress(paths.encode(), 9)) <= CHART
