"""Transfers that were created at the same time: lists and exports contain each once."""

import html
import re
from datetime import datetime
from itertools import product
from typing import Any

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from tests.exported import KINDS, emulator_entries
from tests.exported import read as read_export
from tests.pages.asgi import ask
from tests.pages.reading import read, rows
from tests.pages.recorded import Recorded

LIST = "GetIntentHistory"
NOW = 1_795_262_400  # 2026-11-21T12:00:00Z
ALL, TIED = 330, 30
WINDOW = f"from={NOW - 3600}&to={NOW}"
FILTERS = ["", "status=SUCCEEDED", "origin=8453", WINDOW]
SIZES = [("", 10), ("", 20), ("", 30), ("", 100), *zip(FILTERS[1:], (10, 20, 30), strict=True)]


class TiedList:
    """A service's list of ALL transfers, of which TIED were created at the same time.

    By creation time, a page continues after all transfers of the time at which the last one ended.
    """

    def __init__(self, emulator: Emulator) -> None:
        self.entries = emulator_entries(emulator, fromTime=NOW - 3600, toTime=NOW)[:ALL]
        for number, entry in enumerate(reversed(self.entries)):
            entry["receipt"]["id"] = number + 1
        tied = self.entries[90 : 90 + TIED]  # at the edges of pages of any size
        for entry in tied:
            entry["createdAt"] = tied[-1]["createdAt"]

    def ids(self, query: str) -> list[str]:
        body = {"byStatus": "SUCCEEDED"} if "status" in query else {"originChainId": 8453} if "origin" in query else {}
        return [entry["intentId"] for entry in self.filtered(body)]

    def filtered(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            entry
            for entry in self.entries
            if body.get("byStatus") in (None, entry["status"])
            and body.get("originChainId") in (None, entry["receipt"]["summary"]["originChainId"])
        ]

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        page = body["page"]
        [sort] = page["sort"]
        sign = 1 if sort["order"] == "ASC" else -1
        key = {"id": number, "createdAt": created}[sort["column"]]
        found = sorted(self.filtered(body), key=lambda entry: sign * key(entry))
        if "before" in page:
            found = [entry for entry in found if sign * key(entry) < sign * page["before"]]
            shown = found[-page["pageSize"] :]
            cursor = {"before": key(shown[0])} if shown else {}
        else:
            found = [entry for entry in found if "after" not in page or sign * key(entry) > sign * page["after"]]
            shown = found[: page["pageSize"]]
            cursor = {"after": key(shown[-1])} if shown else {}
        following = {"column": sort["column"], "sort": [sort], "pageSize": page["pageSize"], "more": True} | cursor
        return {"intents": shown, "nextPage": following if len(found) > len(shown) else None}


def number(entry: dict[str, Any]) -> int:
    return int(entry["receipt"]["id"])


def created(entry: dict[str, Any]) -> int:
    return int(datetime.fromisoformat(entry["createdAt"]).timestamp())


@pytest.fixture
def tied(transport: Recorded, emulator: Emulator) -> TiedList:
    listed = TiedList(emulator)
    assert len(listed.entries) == ALL
    transport.scripts[LIST] = listed
    return listed


def walked(site: Client, path: str, rel: str) -> tuple[list[str], str]:
    """Return the rows of a list from one page to its end, and the last page's URL."""
    found: list[str] = []
    path = site.get(path).get("Location", path)
    while True:
        page = read(site, path)
        shown = rows(page)
        found = [*found, *shown] if rel == "next" else [*shown, *found]
        onward = re.search(rf'<a class="button" href="([^"]+)"[^>]* rel="{rel}"', page)
        if onward is None:
            return found, path
        path = html.unescape(onward[1])


@pytest.mark.parametrize("order", ["DESC", "ASC"])
@pytest.mark.parametrize(("query", "size"), SIZES)
def test_a_list_shows_each_transfer_once(site, tied, query, size, order):
    shown, last = walked(site, f"/history?{query}&size={size}&order={order}", "next")
    ids = tied.ids(query)
    assert sorted(shown) == sorted(ids)
    if size >= 20:
        assert walked(site, last, "prev")[0] == shown


@pytest.mark.parametrize("order", ["DESC", "ASC"])
@pytest.mark.parametrize(("kind", "query"), [*product(KINDS, FILTERS[:1]), *product(["csv"], FILTERS[1:])])
def test_an_export_contains_each_transfer_once_and_is_complete(tied, kind, query, order):
    found = read_export(kind, ask("GET", f"/export/history.{kind}?{query}&order={order}").content)
    assert (found.state, found.counted) == ("complete", len(found.ids))
    assert sorted(found.ids) == sorted(tied.ids(query))


def test_an_export_that_the_service_paged_by_creation_time_is_not_called_complete(transport, tied):
    def by_time(body: dict[str, Any]) -> dict[str, Any]:
        body["page"]["sort"][0]["column"] = "createdAt"
        return tied(body)

    transport.scripts[LIST] = by_time
    found = read_export("csv", ask("GET", "/export/history.csv").content)
    assert found.state == "truncated"
    assert str(found.why).startswith("the service paged by creation time")
