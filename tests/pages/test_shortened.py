"""A shortened ID leads to possible matches in the same ticket or among the newest transfers, never to a redirect."""

import re
from collections import Counter
from typing import Any

import pytest
from django.test import Client

from intents_ui.display.triage.rows import MOST_LISTED
from intents_ui.emulator.app import Emulator
from intents_ui.web.transfers import reading
from tests.pages.reading import rows, visible_text
from tests.pages.test_triage import legs, send

UNKNOWN = "0x12ab…34cd"
UNUSED_ADDRESS = "0x" + "34" * 20


def short(value: str, *, head: int = 4, tail: int = 4) -> str:
    return f"{value[: head + 2]}…{value[-tail:]}"


@pytest.fixture
def newest_transfer(emulator: Emulator) -> dict[str, Any]:
    """Return one of the newest transfers, with its deposit."""
    found: dict[str, Any] = emulator.play(2, age=60)
    return found


@pytest.fixture
def busiest(emulator: Emulator) -> tuple[str, list[str]]:
    """Return an owner with several of the newest transfers, and their IDs, newest first."""
    entries = reading.latest().entries
    owners = Counter(entry.receipt.owner_address for entry in entries if entry.receipt)
    owner, count = owners.most_common(1)[0]
    assert owner is not None
    assert count > 1
    return owner, [each.intent_id for each in entries if each.receipt and each.receipt.owner_address == owner]


@pytest.mark.parametrize("form", ["{head}…{tail}", "{head}...{tail}", "{head}..{tail}", "…{tail}", "{head}ab…"])
def test_a_shortened_intent_id_lists_the_transfer_and_does_not_redirect(
    site: Client, newest_transfer: dict[str, Any], form: str
) -> None:
    intent_id = newest_transfer["intentId"]
    query = form.format(head=intent_id[:6], tail=intent_id[-4:]).replace(f"{intent_id[:6]}ab", intent_id[:12])
    page = site.get("/search", {"q": query})
    assert page.status_code == 200
    assert rows(page) == [intent_id]
    assert "Possible matches" in visible_text(page)
    assert "Searched the 100 newest transfers." in visible_text(page)
    assert "Matching value" in visible_text(page)
    assert f'title="{intent_id}"' in page.content.decode()


def test_each_shortened_hash_or_address_finds_its_transfer_and_says_which_matched(
    site: Client, newest_transfer: dict[str, Any]
) -> None:
    hashes = legs(site, newest_transfer["intentId"])
    assert "deposit" in hashes
    for leg, value in hashes.items():
        page = site.get("/search", {"q": f"my wallet says {short(value).upper().replace('0X', '0x')}, help"})
        assert rows(page) == [newest_transfer["intentId"]]
        assert f"{leg} transaction" in visible_text(page)
    owner = visible_text(site.get("/search", {"q": short(newest_transfer["ownerAddress"])}))
    assert "owner" in owner
    assert "deposit address" in visible_text(site.get("/search", {"q": short(newest_transfer["originIntentAddress"])}))


def test_a_miss_says_what_was_searched(site: Client, emulator: Emulator) -> None:
    page = site.get("/search", {"q": UNKNOWN})
    assert page.status_code == 404
    assert "No matches" in visible_text(page)
    assert "Searched the 100 newest transfers." in visible_text(page)
    assert "Request the full ID." in visible_text(page)
    assert rows(page) == []


@pytest.mark.parametrize(
    ("fault", "status", "retry_after"),
    [("failing-500", 503, "10"), ("broken-json", 503, "10"), ("geoblocked", 403, None)],
)
def test_newest_transfers_that_failed_to_load_are_an_error_and_not_a_miss(
    site: Client, emulator: Emulator, fault: str, status: int, retry_after: str | None
) -> None:
    emulator.inject("GetIntentHistory", fault)
    page = site.get("/search", {"q": UNKNOWN})
    assert page.status_code == status
    assert page.headers.get("Retry-After") == retry_after
    assert "Couldn't search the newest transfers" in visible_text(page)
    assert "No matches" not in visible_text(page)
    assert "Searched the" not in visible_text(page)


def test_a_shortened_id_next_to_a_full_one_is_offered_and_does_not_change_the_redirect(
    site: Client, emulator: Emulator, newest_transfer: dict[str, Any]
) -> None:
    found = site.get("/search", {"q": f"{newest_transfer['intentId']} and {UNKNOWN}"})
    assert (found.status_code, found["Location"]) == (302, f"/intent/{newest_transfer['intentId']}")
    several = site.get("/search", {"q": f"{newest_transfer['ownerAddress']} and {UNKNOWN}"})
    assert 'href="/search?q=0x12ab%E2%80%A634cd"' in several.content.decode()


def test_a_ticket_with_two_full_hashes_says_which_one_a_shortened_id_matches(site: Client, emulator: Emulator) -> None:
    first, second = emulator.finished(3)["intentId"], emulator.finished(8)["intentId"]
    deposit = legs(site, second)["deposit"]
    answer = send(
        f"> {first}\n> {second}\nand **{short(second)}**, also `{short(deposit, head=6, tail=6)}`, …{deposit[-5:]}"
    )
    assert len(answer.rows) == 5
    for row, said in zip(answer.rows[2:], answer.texts[2:], strict=True):
        assert "Possible match: same transfer as row 2" in said
        assert f'class="row-link" href="/intent/{second}"' in row
    assert "It matches the intent ID" in answer.texts[2]
    assert "It matches the deposit transaction" in answer.texts[3]
    assert answer.total == "All 5 identifiers resolved: 2 found, 3 with possible matches."
    assert "lookalike" not in answer.page


def test_a_shortened_id_before_the_others_waits_for_them_and_keeps_its_place(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(8)["intentId"]
    answer = send(f"{short(intent_id)} is {intent_id}")
    assert "Possible match: same transfer as row 2" in answer.texts[0]
    assert [row.startswith(f'<tr id="row-{number}"') for number, row in enumerate(answer.rows, start=1)] == [True, True]


def test_an_owner_in_the_ticket_matches_the_same_transfers(site: Client, emulator: Emulator) -> None:
    owner = emulator.finished(18)["ownerAddress"]
    answer = send(f"{owner} or {short(owner)}")
    assert "Possible match: same transfers as row 1" in answer.texts[1]
    assert f'href="/address/{owner}"' in answer.rows[1]


def test_several_matching_rows_are_a_list_without_a_default(site: Client, emulator: Emulator) -> None:
    first, second = emulator.finished(3)["intentId"], emulator.finished(8)["intentId"]
    tail = "0x" + "5" * 56 + first[-8:]
    answer = send(f"{first} {second} {tail[:2]}{'a' * 56}{first[-8:]} …{first[-8:]}")
    row, said = answer.rows[3], answer.texts[3]
    assert "2 possible matches in other rows" in said
    assert "Row 1: it matches the intent ID" in said
    assert "Row 3: it matches the" in said
    assert 'class="row-link"' not in row
    assert f'href="/intent/{first}"' in row


@pytest.mark.usefixtures("response_cache")
def test_a_shortened_id_without_a_match_in_the_ticket_is_compared_with_the_newest_transfers(
    site: Client, newest_transfer: dict[str, Any], operations: list[str]
) -> None:
    answer = send(f"{UNUSED_ADDRESS} {short(newest_transfer['intentId'])} {UNKNOWN} 0x12ab…34ce")
    assert "Possible match among the newest transfers" in answer.texts[1]
    assert f'href="/intent/{newest_transfer["intentId"]}"' in answer.rows[1]
    for said in answer.texts[2:]:
        assert "No match" in said
        assert "Searched the 100 newest transfers. No match there or in the other rows." in said
        assert "Request the full ID." in said
    assert operations.count("GetIntentHistory") == 1
    assert answer.total == "All 4 identifiers resolved: 3 not found, 1 possible match."


def test_several_matches_among_the_newest_are_a_list(site: Client, busiest: tuple[str, list[str]]) -> None:
    owner, intents = busiest
    answer = send(f"{UNUSED_ADDRESS} {short(owner)}")
    assert f"{len(intents)} possible matches among the newest transfers" in answer.texts[1]
    assert 'class="row-link"' not in answer.rows[1]
    assert re.findall(r'href="/intent/([^"]+)"', answer.rows[1]) == intents[:MOST_LISTED]
    assert "All possible matches" in answer.texts[1]


def test_rows_whose_newest_transfers_failed_to_load_say_so_after_one_attempt(
    site: Client, emulator: Emulator, operations: list[str]
) -> None:
    emulator.inject("GetIntentHistory", "failing-500")
    answer = send(f"{UNUSED_ADDRESS} {UNKNOWN} 0x12ab…34ce 0x12ab…34cf")
    for said in answer.texts[1:]:
        assert "Lookup failed" in said
        assert "Couldn't search the newest transfers." in said
        assert "No match" not in said
    once = operations.count("GetIntentHistory")
    operations.clear()
    send(UNKNOWN)
    assert operations.count("GetIntentHistory") == once
