"""`intents-ui export` writes whole histories, or says that it didn't."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from intents_ui.cli.exit_codes import Exit
from intents_ui.emulator.app import Emulator
from tests.command_line import run
from tests.service.scripted_server import Script, Visit, response, serving

OF_REFUNDED = ("--status", "REFUNDED", "--from", "2026-11-21T08:00", "--to", "2026-11-21T11:00")


@pytest.fixture
def refunded(site: Client) -> list[dict[str, Any]]:
    """Return the transfers of OF_REFUNDED."""
    path, found = "/api/v1/transfers?status=REFUNDED&from=1795248000&to=1795258800&size=100", []
    while path:
        page = json.loads(site.get(path).content)
        found += page["transfers"]
        path = (page["next"] or "").removeprefix("http://testserver")
    return found


@pytest.fixture
def some(site: Client) -> list[dict[str, Any]]:
    """Return three transfers of the history."""
    return list(json.loads(site.get("/api/v1/transfers?size=3").content)["transfers"])


def test_every_format_has_every_transfer_once(root: str, refunded: list[dict[str, Any]]) -> None:
    wanted = [each["intentId"] for each in refunded]
    assert len(wanted) == len(set(wanted)) > 100
    rows = list(csv.DictReader(io.StringIO(run("export", *OF_REFUNDED, root=root).out)))
    assert [row["intentId"] for row in rows] == wanted
    assert [row["summary.headline"] for row in rows] == [each["summary"]["headline"] for each in refunded]
    assert [row["sent.baseUnits"] for row in rows] == [each["sent"]["baseUnits"] or "" for each in refunded]
    whole = json.loads(run("export", *OF_REFUNDED, "--format", "json", root=root).out)
    lines = run("export", *OF_REFUNDED, "--format", "ndjson", root=root).out.splitlines()
    assert [each["intentId"] for each in whole] == wanted
    assert [json.loads(line)["intentId"] for line in lines] == wanted


def test_an_empty_history_is_a_valid_file(root: str) -> None:
    nothing = ("--owner", f"0x{'12' * 20}")
    assert json.loads(run("export", *nothing, "--format", "json", root=root).out) == []
    assert run("export", *nothing, "--format", "ndjson", root=root).out == ""
    assert len(run("export", *nothing, root=root).out.splitlines()) == 1


def test_an_invalid_filter_is_explained(root: str) -> None:
    done = run("export", "--status", "NO", root=root)
    assert (done.code, done.out) == (Exit.USAGE, "")
    assert "Unknown status" in done.err
    assert run("export", "--from", "yesterday", root=root).code == Exit.USAGE


def test_a_file_appears_when_it_is_complete(root: str, tmp_path: Path) -> None:
    target = tmp_path / "refunded.csv"
    done = run("export", *OF_REFUNDED, "--output", str(target), root=root, terminal=True)
    assert (done.code, done.out) == (Exit.FINE, "")
    assert "100 transfers" in done.err
    assert len(target.read_text().splitlines()) > 100
    assert list(tmp_path.iterdir()) == [target]
    done = run("export", "--output", str(tmp_path / "missing" / "file"), root=root)
    assert done.code == Exit.USAGE
    assert "can't be written" in done.err


def first_page_only(transfers: list[dict[str, Any]]) -> Script:
    def script(visit: Visit) -> None:
        if "cursor=" in visit.head:
            visit.send(response("busy", status=503, headers={"Retry-After": "30"}, kind="text/plain"))
        else:
            visit.send(response({"transfers": transfers, "next": "http://other.example/p?cursor=2", "unreadable": 0}))

    return script


def test_a_history_that_breaks_off_is_no_complete_file(tmp_path: Path, some: list[dict[str, Any]]) -> None:
    target = tmp_path / "history.json"
    with serving(first_page_only(some)) as server:
        done = run("export", "--format", "json", "--output", str(target), root=server.url)
        assert done.code == Exit.UNAVAILABLE
        assert list(tmp_path.iterdir()) == []
        printed = run("export", "--format", "json", root=server.url)
    assert printed.code == Exit.UNAVAILABLE
    with pytest.raises(ValueError, match="delimiter"):
        json.loads(printed.out)


def test_unreadable_transfers_are_reported(some: list[dict[str, Any]]) -> None:
    page = {"transfers": some[:1], "next": None, "unreadable": 2}
    with serving(lambda visit: visit.send(response(page))) as server:
        done = run("export", root=server.url)
    assert done.code == Exit.UNAVAILABLE
    assert "missing: 2" in done.err


def test_no_cell_is_a_formula_or_controls_the_terminal(some: list[dict[str, Any]], emulator: Emulator) -> None:
    hostile = some[0] | {"owner": "=1+1", "recipient": "\x1b[31m\u202e", "providers": ["+1"]}
    page = {"transfers": [hostile], "next": None, "unreadable": 0}
    with serving(lambda visit: visit.send(response(page))) as server:
        [row] = csv.DictReader(io.StringIO(run("export", root=server.url).out))
        assert (row["owner"], row["recipient"], row["providers"]) == ("'=1+1", "⟨U+001B⟩[31m⟨U+202E⟩", "'+1")
        for kind in ("json", "ndjson"):
            assert run("export", "--format", kind, root=server.url).out.isascii()
