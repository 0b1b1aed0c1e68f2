"""`intents-ui lookup` says what the pages say, and its exit code says whether there is something to do."""

import json

import pytest
from django.test import Client

from intents_ui.cli.exit_codes import Exit
from intents_ui.display.formatting.text import is_hidden
from intents_ui.display.summary import summary
from intents_ui.display.summary.rules import SECOND_DEPOSIT
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import Scenario
from intents_ui.emulator.scenarios import SCENARIOS, scenario_named
from intents_ui.web.transfers import situations
from tests.command_line import run
from tests.service.scripted_server import answering, serving

HOUR = 3600


def played(emulator: Emulator, which: int | str, age: float | None = None) -> str:
    """Return the intent ID of a transfer, by default at the scenario's worst moment."""
    scenario = scenario_named(which)
    if age is None:
        return str(emulator.play(which, variant=scenario.worst.variant, age=scenario.worst.at)["intentId"])
    return str(emulator.play(which, age=age)["intentId"])


@pytest.mark.parametrize(
    ("scenario", "age", "code"),
    [
        ("cross-chain-fast", HOUR, Exit.FINE),
        ("cctp-slow", 60, Exit.FINE),
        ("stuck-recoverable", None, Exit.NEEDS_ACTION),
        ("refunded-on-origin", HOUR, Exit.NOT_DELIVERED),
        ("expired-quote", HOUR, Exit.NOT_DELIVERED),
    ],
    ids=["delivered", "in progress", "funds to recover", "refunded", "expired"],
)
def test_a_transfer_is_described_and_rated(
    root: str, emulator: Emulator, scenario: str, age: float | None, code: Exit
) -> None:
    intent_id = played(emulator, scenario, age)
    done = run("lookup", "see", intent_id, "please", root=root)
    assert done.code == code, done
    told = summary.of(situations.read(intent_id))
    for words in (told.headline, told.location, told.next_step, intent_id, f"{root}/intent/{intent_id}"):
        assert words in done.out
    assert (SECOND_DEPOSIT in done.out) is told.warn_second_deposit
    assert done.err == ""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.slug)
def test_no_text_of_strangers_controls_the_terminal(root: str, emulator: Emulator, scenario: Scenario) -> None:
    intent_id = played(emulator, scenario.number)
    for arguments in ((), ("--json",)):
        done = run("lookup", intent_id, *arguments, root=root)
        assert done.out
        assert not [each for each in done.out.replace("\n", "") if is_hidden(each)]


def test_json_is_the_answer_of_the_api(root: str, site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished("refunded-on-origin")["intentId"]
    done = run("lookup", "--json", intent_id, root=root)
    [match] = json.loads(done.out)["matches"]
    page = json.loads(site.get(f"/api/v1/transfers/{intent_id}").content)
    assert {**match["transfer"]["summary"], "balancesCheckedAt": None} == {**page["summary"], "balancesCheckedAt": None}


def test_several_transfers_are_a_table_or_records(
    root: str, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = emulator.play("same-chain-swap", age=HOUR)["ownerAddress"]
    found = json.loads(run("lookup", "--json", owner, root=root).out)["matches"]
    assert len(found) > 1
    monkeypatch.setenv("COLUMNS", "300")
    head, *rows = run("lookup", owner, root=root).out.splitlines()
    assert head.split() == ["Status", "Sent", "Received", "Created", "Intent", "ID"]
    assert [row.split()[-1] for row in rows] == [each["transfer"]["intentId"] for each in found]
    monkeypatch.setenv("COLUMNS", "80")
    records = run("lookup", owner, root=root).out.split("\n\n")
    assert [record.split()[-1] for record in records] == [each["transfer"]["intentId"] for each in found]


def test_nothing_found_is_said_and_has_its_exit_code(root: str) -> None:
    done = run("lookup", f"0x{'12' * 20}", root=root)
    assert (done.code, done.out) == (Exit.NOT_FOUND, "")
    assert "No transfer found" in done.err


def test_a_text_without_an_identifier_is_an_invalid_command(root: str) -> None:
    done = run("lookup", "xx", root=root)
    assert (done.code, done.out) == (Exit.USAGE, "")
    assert "Invalid parameters" in done.err
    assert "Correct them" in done.err


def test_a_failing_service_is_not_an_empty_result(root: str, emulator: Emulator) -> None:
    emulator.inject("SearchIntents", "failing-500")
    done = run("lookup", f"0x{'12' * 20}", root=root)
    assert (done.code, done.out) == (Exit.UNAVAILABLE, "")
    assert "Request ID: " in done.err
    assert done.pauses


def test_what_is_missing_is_said_and_is_not_rated_as_fine(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished("cross-chain-fast")["intentId"]
    read = json.loads(site.get(f"/api/v1/transfers/{intent_id}").content)
    whole = {"identifiers": [], "isComplete": True, "mayBeMore": False}
    for answer, code, said in (
        ({"matches": [read, read]}, Exit.FINE, ""),
        ({"matches": [read, read], "mayBeMore": True}, Exit.FINE, "There are more."),
        ({"matches": [read, read], "isComplete": False}, Exit.UNAVAILABLE, "A search failed"),
        ({"matches": [], "isComplete": False}, Exit.UNAVAILABLE, "A search failed"),
        ({"matches": [read, read | {"outcome": None}]}, Exit.UNAVAILABLE, "only the status was read: 1."),
    ):
        matches = [{"reasons": [], "transfer": each} for each in answer["matches"]]
        with serving(answering(whole | answer | {"matches": matches})) as server:
            done = run("lookup", "0x12", root=server.url)
        assert done.code == code
        assert said in done.err
        assert said or not done.err
