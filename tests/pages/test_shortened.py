"""A shortened ID leads to possible matches in the same ticket, never to a redirect. The mirror's tests find others."""

from tests.pages.test_triage import legs, send


def short(value: str, *, head: int = 4, tail: int = 4) -> str:
    return f"{value[: head + 2]}…{value[-tail:]}"


def test_a_ticket_with_two_full_hashes_says_which_one_a_shortened_id_matches(site, emulator):
    first, second = emulator.finished(3)["intentId"], emulator.finished(8)["intentId"]
    deposit = legs(site, second)["deposit"]
    ends = f"**{short(second, head=8, tail=6)}**, also `{short(deposit, head=6, tail=6)}`, …{deposit[-5:]}"
    answer = send(f"> {first}\n> {second}\nand {ends}")
    assert len(answer.rows) == 5
    for row, said in zip(answer.rows[2:], answer.texts[2:], strict=True):
        assert "Possible match: same transfer as row 2" in said
        assert f'class="row-link" href="/intent/{second}"' in row
    assert "It matches the intent ID" in answer.texts[2]
    assert "It matches the deposit transaction" in answer.texts[3]
    assert answer.total == "All 5 identifiers resolved: 2 found, 3 with possible matches."
    assert "lookalike" not in answer.page


def test_a_shortened_id_before_the_others_waits_for_them_and_keeps_its_place(emulator):
    intent_id = emulator.finished(8)["intentId"]
    answer = send(f"{short(intent_id)} is {intent_id}")
    assert "Possible match: same transfer as row 2" in answer.texts[0]
    assert [row.startswith(f'<tr id="row-{number}"') for number, row in enumerate(answer.rows, start=1)] == [True, True]


def test_an_owner_in_the_ticket_matches_the_same_transfers(emulator):
    owner = emulator.finished(18)["ownerAddress"]
    answer = send(f"{owner} or {short(owner)}")
    assert "Possible match: same transfers as row 1" in answer.texts[1]
    assert f'href="/address/{owner}"' in answer.rows[1]


def test_several_matching_rows_are_a_list_without_a_default(emulator):
    first, second = emulator.finished(3)["intentId"], emulator.finished(8)["intentId"]
    tail = "0x" + "5" * 56 + first[-8:]
    answer = send(f"{first} {second} {tail[:2]}{'a' * 56}{first[-8:]} …{first[-8:]}")
    row, said = answer.rows[3], answer.texts[3]
    assert "2 possible matches in other rows" in said
    assert "Row 1: it matches the intent ID" in said
    assert "Row 3: it matches the" in said
    assert 'class="row-link"' not in row
    assert f'href="/intent/{first}"' in row
