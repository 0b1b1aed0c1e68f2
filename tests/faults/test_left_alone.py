"""What readers see while the circuit is open or calls are paused: the reason, until when, and cached data."""

import re
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.faults.site import Dashboard
from tests.faults.test_upstream import NOWHERE
from tests.service.clients import CANARY
from tests.service.scripted_server import answering

LATER = 400.0  # an intent that is under way is no longer shown without a word


def main(answer: Any) -> str:
    return " ".join(LexborHTMLParser(answer.body).css_first("main").text(separator=" ").split())


def wanting_quiet(**headers: str) -> Any:
    return answering({"error": "QuotaRateLimit", "code": 1201, "msg": "?"}, status=429, headers=headers)


def asked(dashboard: Dashboard) -> int:
    return len(dashboard.service.requested())


@pytest.mark.parametrize(("header", "seconds"), [("999999999", 30), ("20", 20), ("abc", 5)])
def test_while_a_429_pause_lasts_no_request_is_sent_and_readers_see_its_end(
    dashboard: Dashboard, paths: dict[str, str], header: str, seconds: int
) -> None:
    dashboard.open(paths["intent running"])
    dashboard.visit(paths["history"])
    dashboard.later(LATER)
    dashboard.service.inject(wanting_quiet(**{"Retry-After": header}))
    dashboard.visit(paths["intent running"])
    before = asked(dashboard)
    known, cold = dashboard.visit(paths["intent running"]), dashboard.visit(NOWHERE)
    assert (known.status_code, cold.status_code) == (200, 429)
    assert re.search(r"Last updated <time", known.body)
    assert "Rate limited by the service" in main(known)
    assert "Rate limited until" in main(cold)
    assert seconds - 10 <= int(cold["Retry-After"]) <= seconds * 1.1 + 1
    assert "until" in main(dashboard.visit("/history?origin=10"))
    assert asked(dashboard) == before
    dashboard.service.clear_faults()
    dashboard.later(seconds * 1.1)
    again = dashboard.visit(paths["intent running"])
    assert (again.status_code, "slow down" in main(again)) == (200, False)


def test_a_rejected_key_is_reported_without_the_key_and_probed_every_30_seconds(
    dashboard: Dashboard, paths: dict[str, str]
) -> None:
    dashboard.service.inject(answering({"error": "AccessKeyNotFound", "code": 1101, "msg": f"no {CANARY}"}, status=401))
    dashboard.open(NOWHERE)
    dashboard.visit(paths["history"])
    before = asked(dashboard)
    answer = dashboard.visit(NOWHERE[:-1] + "2")
    assert answer.status_code == 403
    assert "Authentication failed" in main(answer)
    assert CANARY not in answer.body
    assert asked(dashboard) == before
    assert sum("rejected the access key" in line for line in dashboard.log.lines) == 1
    dashboard.later(30)
    dashboard.visit(NOWHERE[:-1] + "3")
    assert asked(dashboard) == before + 1
    dashboard.service.clear_faults()
    dashboard.later(30)
    assert dashboard.visit(paths["history"]).status_code == 200
