"""`intents-ui triage` against the API's answer as documented, over a real socket."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from intents_ui.cli.exit_codes import Exit
from intents_ui.emulator.app import Emulator
from tests.command_line import run
from tests.service.scripted_server import answering, serving

TEXT = "Please look at 0x12\nand ключ"


@pytest.fixture
def stuck(site: Client, emulator: Emulator) -> dict[str, Any]:
    """Return a transfer that needs action."""
    intent_id = emulator.worst("stuck-recoverable")["intentId"]
    return dict(json.loads(site.get(f"/api/v1/transfers/{intent_id}").content))


def row(outcome: str, *transfers: dict[str, Any], number: int = 1) -> dict[str, Any]:
    return {
        "number": number,
        "value": "0x12",
        "kind": "intent ID",
        "outcome": outcome,
        "headline": "Failed, \x1b[31mfunds recoverable",
        "details": ["Where: \u202eon Base."],
        "nextStep": "Recover them.",
        "transfers": transfers,
        "link": "https://intents.example/intent/0x12",
    }


def answer(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"rows": rows, "summary": f"All {len(rows)} identifiers resolved."}


def test_a_ticket_is_sent_and_its_rows_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "ticket.txt"
    file.write_text(TEXT)
    with serving(answering(answer(row("found"), row("unknown", number=2)))) as server:
        for arguments, stdin in (([str(file)], ""), (["-"], TEXT)):
            done = run("triage", *arguments, root=server.url, stdin=stdin)
            assert done.out.splitlines() == [
                "1. 0x12 (intent ID)",
                "   Failed, ⟨U+001B⟩[31mfunds recoverable",
                "   Where: ⟨U+202E⟩on Base.",
                "   Next step: Recover them.",
                "   https://intents.example/intent/0x12",
                "",
                "2. 0x12 (intent ID)",
                "   Failed, ⟨U+001B⟩[31mfunds recoverable",
                "   Where: ⟨U+202E⟩on Base.",
                "   Next step: Recover them.",
                "   https://intents.example/intent/0x12",
                "",
                "All 2 identifiers resolved.",
            ]
    for visit in server.visits:
        assert visit.head.startswith("POST /api/v1/triage HTTP/1.1")
        assert visit.headers["content-type"] == "application/json"
        assert json.loads(visit.body) == {"text": TEXT}


def test_a_ticket_has_the_words_of_the_page(root: str, emulator: Emulator) -> None:
    over, stuck = emulator.finished(1)["intentId"], emulator.worst("stuck-recoverable")["intentId"]
    done = run("triage", "-", root=root, stdin=f"Where are {over} and {stuck}?")
    assert done.code == Exit.NEEDS_ACTION
    assert [line for line in done.out.splitlines() if line.startswith("   http")] == [
        f"   {root}/intent/{over}",
        f"   {root}/intent/{stuck}",
    ]
    assert done.out.endswith("All 2 identifiers resolved: 2 found.\n")
    assert run("triage", "-", root=root, stdin="Nothing").code == Exit.USAGE


def test_json_is_the_answer_of_the_api() -> None:
    with serving(answering(answer(row("found")))) as server:
        done = run("triage", "-", "--json", root=server.url)
    assert json.loads(done.out) == json.loads(json.dumps(answer(row("found"))))
    assert done.out.isascii()


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (["found"], Exit.FINE),
        (["found", "token", "nothing"], Exit.FINE),
        (["found", "unknown"], Exit.NOT_FOUND),
        (["unclear"], Exit.NOT_FOUND),
        (["a word of a later version"], Exit.NOT_FOUND),
        (["unknown", "failed"], Exit.UNAVAILABLE),
    ],
)
def test_the_exit_code_is_that_of_the_worst_row(outcomes: list[str], code: Exit) -> None:
    rows = [row(outcome, number=number) for number, outcome in enumerate(outcomes, 1)]
    with serving(answering(answer(*rows))) as server:
        assert run("triage", "-", root=server.url).code == code


def test_a_transfer_that_needs_action_comes_first(stuck: dict[str, Any]) -> None:
    with serving(answering(answer(row("failed"), row("found", stuck, number=2)))) as server:
        assert run("triage", "-", root=server.url).code == Exit.NEEDS_ACTION


def test_an_answer_of_another_form_is_an_error() -> None:
    for rows in ([{"number": 1}], [None], [row("found", {})]):
        with serving(answering({"rows": rows, "summary": ""})) as server:
            done = run("triage", "-", root=server.url)
        assert (done.code, done.out) == (Exit.ERROR, "")


def test_a_file_that_cannot_be_read_is_an_invalid_command(tmp_path: Path) -> None:
    with serving(answering(answer())) as server:
        done = run("triage", str(tmp_path / "missing"), root=server.url)
    assert done.code == Exit.USAGE
    assert "can't be read" in done.err
    assert not server.visits
