"""The generated intents: identical in every process, and each name leads back to its intent."""

import json
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.emulator import names
from intents_ui.emulator.documents import MICROSECONDS
from intents_ui.emulator.names import SIGNATURE_BYTES, Role
from intents_ui.emulator.scenario_engine import PENDING_STATUSES
from tests.emulator.driving import NOW, call

PRINT_A_PAGE = """
import sys
from tests.emulator.driving import Clock, request
from intents_ui.emulator import Emulator
sys.stdout.buffer.write(request(Emulator(now=Clock()), "GetIntentHistory", {"page": {"pageSize": 30}}).body)
"""


def everything(emulator, now=NOW):
    return list(emulator.ledger.entries(round(now * MICROSECONDS), descending=True))


def test_another_process_has_the_same_intents(emulator):
    printed = subprocess.run([sys.executable, "-c", PRINT_A_PAGE], capture_output=True, check=True).stdout
    assert json.loads(printed) == call(emulator, "GetIntentHistory", {"page": {"pageSize": 30}})


@given(st.sampled_from(Role), st.integers(0, 2**50), st.integers(0, 7))
def test_names_lead_back(role, number, attempt):
    name = names.hash_of(role, number, attempt)
    signature = names.base58_of(role, number, attempt, size=SIGNATURE_BYTES)
    made = [name, name.upper(), name[2:], signature, names.base58_of(role, number), names.address_of(role, number)]
    assert {names.read(each) for each in made} == {(role, number)}


@given(st.one_of(st.text(), st.binary(min_size=32, max_size=32).map(bytes.hex), st.just("0x" + "0" * 64)))
def test_foreign_names_lead_nowhere(name):
    assert names.read(name) is None


def test_there_are_about_three_thousand_over_two_days(emulator):
    entries = everything(emulator)
    ids = [entry.transfer.born for entry in entries]
    assert 2950 <= len(entries) <= 3050
    assert ids == sorted(set(ids), reverse=True)
    assert NOW - ids[-1] / MICROSECONDS == pytest.approx(2 * 86_400, rel=0.02)
    assert NOW - ids[0] / MICROSECONDS < 30
    statuses = Counter(entry.scene.status for entry in entries)
    assert set(statuses) == {*PENDING_STATUSES, "SUCCEEDED", "FAILED", "ABORTED", "REFUNDED", "INVALID"}
    assert statuses["SUCCEEDED"] > 2000
    assert sum(1 for entry in entries[:200] if entry.scene.status == "EXECUTING") > 3
