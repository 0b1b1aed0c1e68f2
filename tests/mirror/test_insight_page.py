"""Pages about many transfers: only rates of complete times."""

import json
import re
import sqlite3
from contextlib import closing
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client

from intents_ui.api.models import Problem
from intents_ui.emulator.app import Emulator
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.models import Incident, Lease, Reason, Route, State, Token, Transfer, Window
from intents_ui.mirror.windows import HOUR
from intents_ui.settings import ENV
from intents_ui.web import reading
from tests.fenced import json_of
from tests.mirror import past
from tests.mirror.conftest import read, text
from tests.mirror.past import NOW
from tests.mirror.test_access import FIGURES, RELAY, TOKEN
from tests.pages.test_mcp import call, failure

pytestmark = pytest.mark.usefixtures("figures")

INCIDENTS = ("/insight/incidents", "/insight/incident/1", "/insight/incidents/feed.atom", "/api/v1/incidents/1")


def hole(*, hours: int = 5) -> None:
    """Let a window of so many hours ago be incomplete."""
    start = int(NOW.timestamp()) // HOUR * HOUR - hours * HOUR
    assert Window.objects.filter(start=start).update(is_sealed=False, failures=1)


# Figures


def test_figures_have_their_sample_their_interval_and_their_age(site: Client) -> None:
    page = text(read(site, "/insight"))
    assert re.search(r"Delivered in time \d\d\.\d% \d\d\.\d\S\d\d\.\d% [\d,]+ of [\d,]+ decided", page)
    assert re.search(r"Delivered \d\d\.\d% [\d,]+ of [\d,]+ ended", page)
    assert re.search(r"[\d,]+ delivered 0 refunded \d+ failed 0 aborted 0 rejected", page)
    assert re.search(r"Owners not served \d+ of \d+", page)
    assert re.search(r"Base → Arbitrum One Relay \d+ \d\d\.\d% ", page)
    assert "Origin execution reverted: slippage 1.5% exceeded" in page
    assert re.search(r"Updated (just now|\d s ago)", page)
    assert "Open incidents 1" in page
    assert re.search(r"Delivered in time .* Open now 0 0 late", page)
    assert "Table of hours" in page
    Transfer.objects.filter(failed_step=1).update(failed_step=3)
    past.count(NOW)
    assert "Refund execution reverted: slippage 1.5% exceeded" in text(read(site, RELAY))


def test_a_time_with_a_hole_has_counts_but_no_percentage(site: Client) -> None:
    hole()
    for path in FIGURES:
        page = text(read(site, path))
        summary = page.partition("Ended transfers")[0].partition("Failure reasons")[0]  # without the hours
        assert "incomplete, so there are counts but no rates or durations" in summary, path
        assert "%" not in summary, path
        assert "Median —" in summary, path
        hours = re.findall(r"(\d+ of \d+) (\d+\.\d%|100%|—|incomplete)", page.partition("Table of hours")[2])
        assert path == "/insight" or [rate for _, rate in hours].count("incomplete") >= 2  # of creation and of ending
    assert site.get("/insight.json?window=1h").json()["total"]["isComplete"]


def test_a_rate_has_the_color_of_its_level(site: Client) -> None:
    for path, tone in (("/insight/provider/CCTP", "good"), ("/insight", "attention"), (RELAY, "bad")):
        assert re.search(rf'<strong data-tone="{tone}">[\d.]+%</strong>', read(site, path)), path


def test_every_period_and_each_scope_of_the_table_has_a_page(site: Client) -> None:
    for window in ("1h", "24h", "7d", "30d", "90d"):
        for path in ("/insight", RELAY):
            page = read(site, f"{path}?window={window}")
            assert 'aria-current="true"' in page, window
            assert ("Table of" in page) is (window != "1h"), window
    for by in ("route", "provider", "chain", "token"):
        paths = re.findall(r'class="row-link" href="([^"]+)"', read(site, f"/insight?by={by}"))
        read(site, unescape(paths[-1]))


# Who sees what


def test_a_value_of_another_type_is_a_copy_that_cannot_be_read(
    site: Client, mirrored_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LIMITS_MAX_AGE", -1.0)
    past.open_transfer(NOW, number=1, age=timedelta(hours=2))
    connection.close()
    values: list[tuple[type[Model], str, object, tuple[str, ...]]] = [
        (Incident, "document", "7", INCIDENTS), (Incident, "document", '{"kind": "x"}', INCIDENTS),
        (Incident, "closed", "x", INCIDENTS),
        (Lease, "until", "x", ("/late",)), (State, "value", "7", ("/insight", "/insight.json", "/insight/incidents")),
        (Reason, "example", b"\xff", (RELAY, "/insight.json")), (Token, "address", b"\xff", (RELAY, TOKEN, "/late")),
        (Transfer, "intent_id", 7, (RELAY, "/late", "/late.csv")), (Transfer, "created", "x", (RELAY, "/late.csv")),
        (Route, "late_after", "x", ("/late", "/late.csv")),
            ]  # fmt: skip
    with closing(sqlite3.connect(mirrored_file, autocommit=True)) as database:
        for model, column, value, paths in values:
            table = model._meta.db_table
            [usual] = database.execute(f"SELECT {column} FROM {table} WHERE rowid = 1").fetchone()  # noqa: S608 - names
            change = f"UPDATE {table} SET {column} = ? WHERE rowid = 1"  # noqa: S608 - names
            database.execute(change, [value])
            for path in ("/", *paths):
                assert site.get(path).status_code in ((200,) if path == "/" else (200, 503)), (column, path)
            database.execute(change, [usual])


def test_figures_as_data_are_those_of_the_page(site: Client) -> None:
    found = site.get("/insight.json").json()
    total = found["total"]
    page = text(read(site, "/insight"))
    assert f"{total['outcomes']['delivered']:,} of {total['ended']:,} ended" in page
    assert f"{100 * total['successRate']['value']:.1f}%" in page
    assert sum(each["ended"] for each in found["rows"]) == total["ended"]
    assert (found["rows"][0]["providers"], found["rows"][0]["originChainId"]) == (["RELAY"], "8453")
    assert found["incidents"][0]["number"] == 1
    assert site.get("/insight.json?window=2y").status_code == 400
    hole()
    lacking = site.get("/insight.json").json()["total"]
    assert (lacking["isComplete"], lacking["successRate"], lacking["medianSeconds"]) == (False, None, None)
    assert lacking["ended"] == total["ended"]


# Lists


def test_each_number_links_to_its_transfers(site: Client) -> None:
    page = read(site, RELAY)
    total = site.get("/api/v1/insight/routes/RELAY/8453/42161").json()["total"]
    for outcome, count in (("failed", total["outcomes"]["failed"]), ("undelivered", total["outcomes"]["failed"])):
        path = unescape(next(each for each in re.findall(r'href="([^"]+)"', page) if f"outcome={outcome}" in each))
        listed = text(read(site, path))
        assert re.search(rf"(of {count}|{count} transfers)", listed), path
        assert "slippage 1.5% exceeded" in listed
    slowest = unescape(next(each for each in re.findall(r'href="([^"]+)"', page) if "sort=slowest" in each))
    found = [int(each) for each in re.findall(r"UTC (\d\d) s ", text(read(site, slowest)))]
    assert len(found) > 20
    assert found == sorted(found, reverse=True)


# Late transfers


def test_transfers_that_are_stuck_for_days_do_not_head_the_list(site: Client) -> None:
    for number, hours in ((1, 2), (2, 50)):
        past.open_transfer(NOW, number=number, age=timedelta(hours=hours))
    for age, listed in (("", ["1"]), ("?age=older", ["2"]), ("?age=any", ["2", "1"])):
        assert re.findall(r'title="0x0*(\d)"', read(site, f"/late{age}")) == listed
    page = text(read(site, "/late"))
    assert "Up to a day: 1 Older: 1 All: 2" in page
    assert re.search(r"Late by route .* Base → Arbitrum One Relay 2", page)


def test_late_transfers_are_listed_worst_first(site: Client) -> None:
    for number, minutes in ((1, 20), (2, 600), (3, 2)):
        past.open_transfer(NOW, number=number, age=timedelta(minutes=minutes))
    past.open_transfer(NOW, number=4, age=timedelta(minutes=4), key=RouteKey("CCTP", "1", "8453"))
    page = read(site, "/late")
    assert re.findall(r'title="0x0*(\d)"', page) == ["2", "1"]
    assert "Open longer than usual on their route" in text(page)
    rows = site.get("/late.csv").content.decode().split("\r\n")
    assert [row.partition(",")[0][-1] for row in rows[1:3]] == ["2", "1"]
    assert rows[3] == "# complete: 2 rows"
    assert "No late transfer matches these filters" in text(read(site, "/late?chain=1"))
    assert text(read(site, "/late?provider=RELAY&chain=8453")).count("In progress") == 2


def test_a_name_in_an_export_of_late_transfers_is_no_formula(site: Client) -> None:
    past.open_transfer(NOW, number=1, age=timedelta(hours=2), key=RouteKey("-1+1", "=8453", "42161"))
    assert ",'-1+1,'=8453,42161," in site.get("/late.csv").content.decode()


# A transfer's route


def test_a_transfer_that_took_longer_than_most_of_its_route_says_so(site: Client, emulator: Emulator) -> None:
    page = text(read(site, f"/intent/{emulator.finished(3)['intentId']}/route-stats"))
    assert re.search(r"This transfer .*, longer than (9[5-9]|100)% of recent transfers", page)


def test_a_transfer_is_compared_with_its_route_or_without_figures_with_the_newest(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent_id = emulator.finished(4)["intentId"]
    key = RouteKey(*reading.read(intent_id).route)

    def is_of_figures() -> bool:
        page = text(read(site, f"/intent/{intent_id}/route-stats"))
        assert ("Based on the last" in page) is ("transfers on this route were delivered in" not in page)
        return "Based on the last" not in page

    assert not is_of_figures()  # there are too few
    Transfer.objects.filter(route=past.route(past.RELAY)).update(route=past.route(key))
    past.count(NOW)
    for headers in ({}, {"HX-Request-Type": "partial"}):
        page = text("<main" + site.get(f"/intent/{intent_id}/route-stats", headers=headers).content.decode())
        assert re.search(r"\d+ of \d+ transfers on this route were delivered in the last 24 hours", page)
        assert re.search(r"\( ?\d\d\.\d% ?\)", page)
        assert re.search(r"This transfer .*, within the usual range", page)
        assert "Median" in page
    assert f'href="/insight/route/{key.providers}/{key.origin_chain}/{key.destination_chain}?window=24h"' in read(
        site, f"/intent/{intent_id}/route-stats"
    )
    with monkeypatch.context() as patch:
        patch.setattr(ENV, "intents_insight", "off")
        assert not is_of_figures()
    assert is_of_figures()
    hole()
    assert not is_of_figures()


# Links from other pages


def test_a_token_has_the_figures_of_the_transfers_that_send_or_deliver_it(site: Client) -> None:
    page = text(read(site, TOKEN))
    assert "Transfers that send or deliver this token" in page
    assert re.search(r"Delivered in time \d\d\.\d%", page)
    assert text(read(site, TOKEN.replace("0x", "0X"))) == page
    rows = site.get("/insight.json?by=token").json()["rows"]
    assert [each["token"] for each in rows] == ["0x" + "11" * 20] * 2
    assert {each["originChainId"] for each in rows} == {"8453", "42161"}
    total = site.get("/insight.json").json()["total"]
    assert rows[0]["ended"] == total["ended"]


def test_an_export_of_late_transfers_says_what_it_lacks(site: Client) -> None:
    past.open_transfer(NOW, number=1, age=timedelta(hours=2))
    hole(hours=30)  # which says nothing about the last day
    assert site.get("/late.csv").content.decode().endswith("# complete: 1 row\r\n")
    hole()
    assert site.get("/late.csv").content.decode().endswith("the local copy of the last day is not complete\r\n")
    assert "Late transfers may be missing" in text(read(site, "/late"))


def test_pages_and_lists_say_what_is_unknown_few_or_in_another_order(site: Client) -> None:
    for path, status, says in (
        ("/insight?window=2y&by=moon", 400, "Unknown time “2y”. This is the default.*Unknown grouping “moon”"),
        ("/insight/transfers?outcome=moon", 400, "Unknown outcome “moon”"),
        ("/late?age=moon", 400, "Unknown age “moon”. This is the default.*Late now"),
        ("/late.csv?age=moon", 400, ""),
        ("/insight/transfers?chain=4711&reason=&from=1&to=5", 200, "No transfer of these is known"),
        (f"/insight/token/1/0x{'0' * 40}", 200, "No transfer is known that ended in this time"),
        ("/insight/route/ZEROX/8453/8453?window=1h", 200, r"in time \d of \d Delivered \d of \d ended Median"),
        ("/insight?by=provider&order=slowest", 200, "Trend CCTP"),
        ("/insight?by=chain&order=worst", 200, "Trend Arbitrum One .* Base"),
        ("/insight?by=chain", 200, r"Trend Base \d+ .* Arbitrum One"),
    ):
        assert re.search(says, text(read(site, path, status))), path
    for path in (
        "/insight/route/RELAY/1/2", "/insight/provider/ACME", "/insight/chain/4711", "/insight/token/8453/a%20b",
        "/insight/chain/..%2f", "/insight/transfers?route=RELAY", "/insight/transfers?token=8453",
        f"/insight/transfers?route={600 * 'x'}",
    ):  # fmt: skip
        read(site, path, 404)


# The API and `route_health`

ROUTE = "/api/v1/insight/routes/RELAY/8453/42161"
PAIR = {"origin": "base", "destination": "42161"}


def get(site: Client, path: str, status: int = 200) -> Any:
    answer = site.get(path)
    assert answer.status_code == status, answer.content
    assert "no-store" in answer["Cache-Control"]
    return json.loads(answer.content)


def test_figures_and_incidents_are_those_of_the_pages(site: Client) -> None:
    page = get(site, "/insight.json?by=provider&window=7d")
    assert get(site, "/api/v1/insight?by=provider&window=7d") == page
    report = get(site, ROUTE)
    [row] = [each for each in get(site, "/insight.json")["rows"] if each["title"] == report["total"]["title"]]
    assert report["total"]["ended"] == row["ended"]
    assert get(site, "/api/v1/incidents/1") == get(site, "/insight/incident/1.json")
    for incidents in (report["incidents"], get(site, "/api/v1/incidents")["open"], page["incidents"]):
        assert [each["number"] for each in incidents] == [1]
    for unknown, status in (("2", 404), ("9" * 30, 404), ("-1", 404), ("x", 404)):
        Problem.model_validate(get(site, f"/api/v1/incidents/{unknown}", status))


def health(site: Client, **arguments: str) -> Any:
    return json_of(call(site, "route_health", **PAIR | arguments))


def test_each_route_between_the_chains_has_the_figures_of_the_page(site: Client) -> None:
    page = json.loads(site.get("/insight.json").content)
    there = [each for each in page["rows"] if (each["originChainId"], each["destinationChainId"]) == ("8453", "42161")]
    found = health(site)
    assert found["routes"]
    shared = ("title", "ended", "outcomes", "successRate", "medianSeconds", "p95Seconds", "isComplete")
    assert sorted([[each[name] for name in shared] for each in found["routes"]], key=str) == sorted(
        [[each[name] for name in shared] for each in there], key=str
    )
    assert found["period"] == "24 hours"
    assert found["updatedAt"]
    assert found["notes"] == []
    assert {each["number"] for each in found["incidents"]} == {each["number"] for each in page["incidents"]}


def test_a_provider_narrows_the_routes(site: Client) -> None:
    for provider in ("RELAY", "relay", "Relay"):
        assert [each["providers"] for each in health(site, provider=provider)["routes"]] == [["RELAY"]]
    found = health(site, provider="ACME")
    assert (found["routes"], found["incidents"]) == ([], [])
    assert found["notes"] == ["No transfer with a deposit ended in 24 hours or is open on this route."]


def test_an_unknown_chain_is_told(site: Client) -> None:
    told = failure(site, "route_health", origin="Base", destination="Moonbase")
    assert told == "Unknown destination chain. Give its ID, for example 8453, or its name."
