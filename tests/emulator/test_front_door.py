"""Requests that reach no operation, and the promise that no request causes a traceback."""

import contextlib
import urllib.error
import urllib.request

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.emulator import Emulator, faults
from intents_ui.emulator import __main__ as command
from intents_ui.emulator.scenario_engine import SCENARIOS, scenario_named
from tests.emulator.driving import Clock, call, request
from tests.serving import free_port, running

EMULATOR = Emulator(now=Clock(), hold=0.0)


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({"path": "/rpc/Service/NoSuchOperation"}, 404, -2),
        ({"path": "/rpc/Other/GetChains"}, 404, -2),
        ({"path": "/"}, 404, -2),
        ({"method": "GET"}, 405, -3),
        ({"method": "OPTIONS"}, 405, -3),
        ({"content_type": "text/plain"}, 400, -4),
        ({"content_type": None}, 400, -4),
        ({"raw": b"{"}, 400, -4),
        ({"raw": b""}, 400, -4),
        ({"raw": b"[1]"}, 400, -4),
        ({"raw": b'{"routeProvider": 7}'}, 400, -4),
        ({"raw": b'{"routeProvider": NaN}'}, 400, -4),
        ({"raw": b"[" * 100_000}, 400, -4),
        ({"raw": b'{"routeProvider":' + b"9" * 5000 + b"}"}, 400, -4),
        ({"raw": b" " * (1024 * 1024 + 1)}, 400, -4),
        ({"raw": b"\xff\xfe"}, 400, -4),
        ({"raw": b'{"nested": {"\\udfff": 1}}'}, 400, -4),
        ({"raw": b'{"ownerAddress": "\\ud800"}'}, 400, -4),
        ({"raw": b"null"}, 200, None),
        ({"content_type": "Application/JSON; charset=utf-8"}, 200, None),
    ],
)
def test_invalid_requests_are_rejected_before_any_operation(asked, status, code):
    answer = request(EMULATOR, "GetChains", **asked)
    assert answer.status == status
    assert answer.document.get("code") == code
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers.get("allow") == ("POST" if status == 405 else None)


@pytest.mark.parametrize(("key", "status", "code"), [(None, 401, 1000), ("wrong", 401, 1101), ("right", 200, None)])
def test_access_key(clock, key, status, code):
    answer = request(Emulator(now=clock, access_key="right"), "GetChains", key=key)
    assert (answer.status, answer.document.get("code")) == (status, code)


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(), max_size=40),
        st.sampled_from(["0x" + "0" * 40, "0x" + "f" * 64, "USDC", "ASC", "id", "\ud800", "٣"]),
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    """
    intentId lastReceiptStates intent page byOwnerAddress byStatus byStatuses byQueryString byTransactionHash
    byProjectId fromTime toTime chainIds limit tokenAddress searchQuery excludeTokens routeProvider originChainId
    scenario tokens memo originTokenAddress destinationChainId destinationTokenAddress ownerAddress originTokenAmount
    tradeType options depositTransactionHash depositSignature includeBalances onlyRecoverable destinationCallData
    """.strip().split()
)
PAGE = st.fixed_dictionaries({}, optional=dict.fromkeys(("column", "before", "after", "sort", "pageSize"), JSON))


@given(st.sampled_from(sorted(EMULATOR.operations)), st.dictionaries(FIELDS, JSON | PAGE, max_size=8))
def test_no_request_causes_a_traceback(operation, body):
    answer = request(EMULATOR, operation, body)
    assert isinstance(answer.document, dict)
    assert answer.status < 500
    assert answer.document.get("code") != -6


@contextlib.contextmanager
def served(*flags):
    port = free_port()
    words = ("-m", "intents_ui.emulator", "--port", str(port), *flags)
    with running(*words, url=f"http://127.0.0.1:{port}/"):
        yield port


def ask_over_tcp(port, operation, body=b"{}", key="k"):
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/rpc/Service/{operation}",
        data=body,
        headers={"Content-Type": "application/json", "X-Access-Key": key},
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310 - on loopback
        return answer.status, answer.headers, answer.read()


def test_the_emulator_runs_standalone_over_tcp():
    with served("--key", "k", "--size", "50", "--fault", "GetTokenList=failing-500") as port:
        status, headers, body = ask_over_tcp(port, "GetIntentHistory")
        assert (status, headers["Webrpc"][:7]) == (200, "webrpc@")
        assert body.count(b'"startedAt"') == 20
        assert len(headers.get_all("Date")) == 1
        for operation, key in (("GetTokenList", "k"), ("GetChains", "wrong")):
            with pytest.raises(urllib.error.HTTPError) as refused:
                ask_over_tcp(port, operation, key=key)
            with refused.value as answer:
                assert answer.code == (500 if key == "k" else 401)


def test_every_scenario_fault_and_operation_is_listed(capsys):
    command.main(["--list"])
    listed = {word for line in capsys.readouterr().out.splitlines() for word in line.split()}
    assert {each.slug for each in SCENARIOS} <= listed
    assert listed >= faults.NAMES
    assert EMULATOR.operations <= listed


@pytest.mark.parametrize(("fault", "named"), [("GetChain=busy", "'GetChain'"), ("GetChains=busier", "'busier'")])
def test_an_unknown_fault_or_operation_is_named(capsys, fault, named):
    with pytest.raises(SystemExit) as stopped:
        command.main(["--fault", fault])
    assert stopped.value.code == 2
    assert named in capsys.readouterr().err


def test_scenarios_are_there_at_once_at_the_moment_that_shows_them(capfd, monkeypatch):
    asked = []
    monkeypatch.setattr(command.Server, "run", lambda server: asked.append(server.application))
    command.main(["--scenario", "all", "--scenario", "refund-failed@120"])
    [played] = asked
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert [name for name, *_ in lines] == [*(each.slug for each in SCENARIOS), "refund-failed"]
    for name, intent_id, owner in lines[:-1]:
        found = call(played, "GetIntent", {"intentId": intent_id})["intent"]
        worst = scenario_named(name).worst
        assert found["ownerAddress"] == owner
        assert found["status"] == played.play(name, variant=worst.variant, age=worst.at)["status"]
    with pytest.raises(SystemExit):
        command.main(["--scenario", "no-such"])
