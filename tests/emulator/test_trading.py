"""QuoteIntent, CommitIntent and ExecuteIntent, and that what they make is there like everything else."""

from intents_ui.emulator import population
from tests.emulator.driving import call, quote, request


def commit(emulator, intent):
    return request(emulator, "CommitIntent", {"intent": intent})


def execute(emulator, intent, **more):
    return request(emulator, "ExecuteIntent", {"intentId": intent["intentId"]} | more)


def status(emulator, intent):
    return call(emulator, "GetIntent", {"intentId": intent["intentId"]})["intent"]["status"]


def test_a_second_commit_or_execution_is_rejected_with_the_current_status(emulator):
    intent = quote(emulator)
    commit(emulator, intent)
    answer = commit(emulator, intent)
    assert (answer.status, answer.code) == (422, 2004)
    assert "status=COMMITTED" in answer.document["cause"]
    execute(emulator, intent)
    answer = execute(emulator, intent)
    assert (answer.code, "status=EXECUTING" in answer.document["cause"]) == (2004, True)


def test_execution_must_follow_within_ten_minutes(emulator, clock):
    early, late = quote(emulator), quote(emulator)
    clock.forward(200)
    for intent in (early, late):
        assert commit(emulator, intent).status == 200
    clock.forward(599)
    assert execute(emulator, early).status == 200
    clock.forward(2)
    assert (execute(emulator, late).code, status(emulator, late)) == (7001, "COMMITTED")


def test_the_number_of_callers_intents_is_bounded(emulator, clock, monkeypatch):
    monkeypatch.setattr(population, "MADE_KEPT", 20)
    first = quote(emulator)
    for _ in range(20):
        clock.forward(0.01)
        quote(emulator)
    assert request(emulator, "GetIntent", {"intentId": first["intentId"]}).code == 8000
