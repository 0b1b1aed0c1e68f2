"""The commands of `intents-ui`, with a dashboard on a real socket: what they say, and their exit codes."""

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client

from intents_ui.cli.exit_codes import Exit
from intents_ui.display.summary import summary
from intents_ui.emulator.app import Emulator
from intents_ui.web.transfers import situations
from tests.command_line import run
from tests.service.scripted_server import response, serving

NOBODY = f"0x{'12' * 20}"
OF_REFUNDED = ("--status", "REFUNDED", "--from", "2026-11-21T10:00", "--to", "2026-11-21")


@pytest.mark.parametrize(
    ("scenario", "code"),
    [("stuck-recoverable", Exit.NEEDS_ACTION), ("refunded-on-origin", Exit.NOT_DELIVERED)],
)
def test_a_transfer_is_described_and_rated(root: str, emulator: Emulator, scenario: str, code: Exit) -> None:
    intent_id = str(emulator.worst(scenario)["intentId"])
    done = run("lookup", "see", intent_id, "please", root=root)
    assert done.code == code, done
    told = summary.of(situations.read(intent_id))
    for words in (told.headline, told.location, told.next_step, intent_id, f"{root}/intent/{intent_id}"):
        assert words in done.out
    [match] = json.loads(run("lookup", "--json", intent_id, root=root).out)["matches"]
    assert match["transfer"]["summary"]["headline"] == told.headline


def test_what_was_not_found_has_its_exit_code(root: str, emulator: Emulator) -> None:
    done = run("lookup", NOBODY, root=root)
    assert (done.code, done.out) == (Exit.NOT_FOUND, "")
    assert "No transfer found" in done.err
    assert run("lookup", "xx", root=root).code == Exit.USAGE
    assert run("watch", f"0x{'12' * 32}", root=root).code == Exit.NOT_FOUND
    emulator.inject("SearchIntents", "failing-500")
    done = run("lookup", f"0x{'13' * 20}", root=root)
    assert (done.code, done.out) == (Exit.UNAVAILABLE, "")
    assert "Request ID: " in done.err


def test_a_transfer_is_watched_until_it_is_over(root: str, emulator: Emulator) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        intent_id = emulator.play("same-chain-swap")["intentId"]
        done = run("watch", intent_id, "--json", root=root, pause=clock.shift)
    assert (done.code, done.err) == (Exit.FINE, "")
    assert json.loads(done.out)["outcome"] == "delivered"
    assert len(done.pauses) > 2


def test_a_ticket_has_the_words_of_the_page(root: str, emulator: Emulator) -> None:
    over, stuck = emulator.finished(1)["intentId"], emulator.worst("stuck-recoverable")["intentId"]
    done = run("triage", "-", root=root, stdin=f"Where are {over} and {stuck}?")
    assert done.code == Exit.NEEDS_ACTION
    assert [line for line in done.out.splitlines() if line.startswith("   http")] == [
        f"   {root}/intent/{over}",
        f"   {root}/intent/{stuck}",
    ]
    assert done.out.endswith("All 2 identifiers resolved: 2 found.\n")


def test_every_format_of_an_export_has_every_transfer_once(root: str, site: Client, tmp_path: Path) -> None:
    path, wanted = "/api/v1/transfers?status=REFUNDED&from=1795255200&to=1795305599&size=100", []
    while path:
        page = json.loads(site.get(path).content)
        wanted += [each["intentId"] for each in page["transfers"]]
        path = (page["next"] or "").removeprefix("http://testserver")
    assert len(wanted) == len(set(wanted)) > 1
    target = tmp_path / "refunded.csv"
    assert run("export", *OF_REFUNDED, "--output", str(target), root=root).code == Exit.FINE
    assert [row["intentId"] for row in csv.DictReader(io.StringIO(target.read_text()))] == wanted
    lines = run("export", *OF_REFUNDED, "--format", "ndjson", root=root).out.splitlines()
    assert [json.loads(line)["intentId"] for line in lines] == wanted
    for wrong in (("--status", "NO"), ("--to", "2026-02-30")):
        done = run("export", *wrong, root=root)
        assert (done.code, done.out) == (Exit.USAGE, "")
    assert "Use the format 2026-11-21 14:03." in done.err


@pytest.fixture
def transfer(site: Client) -> dict[str, Any]:
    return dict(json.loads(site.get("/api/v1/transfers?size=1").content)["transfers"][0])


def test_no_cell_is_a_formula_or_controls_the_terminal(transfer: dict[str, Any]) -> None:
    hostile = transfer | {"owner": "=1+1", "recipient": "\x1b[31m\u202e", "providers": ["+1"]}
    with serving(lambda visit: visit.send(response({"transfers": [hostile], "next": None, "unreadable": 0}))) as server:
        [row] = csv.DictReader(io.StringIO(run("export", root=server.url).out))
    assert (row["owner"], row["recipient"], row["providers"]) == ("'=1+1", "⟨U+001B⟩[31m⟨U+202E⟩", "'+1")
