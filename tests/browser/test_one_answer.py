"""The headline of a transfer's page is complete in its first response: nothing that loads later changes it."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import batched
from typing import Any, NamedTuple

import httpx
import pytest
from playwright.sync_api import Browser
from selectolax.lexbor import LexborHTMLParser

from intents_ui.display.transfers import statuses
from intents_ui.service.wire.models import Intent
from tests.browser.conftest import Visit, loaded, visiting
from tests.serving import dashboard
from tests.waiting import PATIENCE

pytestmark = pytest.mark.browser

COPIES = ["Live", "Completed", "at its worst"]
SCENARIOS = 30  # each scenario has one transfer of each kind
AT_ONCE = 4  # a browser opens six connections per server, and a live transfer's stream uses one
ROUNDS = 3  # in which a transfer that moved while it was watched is watched again
SETTLED_MS = 2_000  # every part is refreshed at least this often
PHONE = (360, 740)
WORDS_AND_BOTTOMS = "all => all.map((each) => [each.innerText, each.getBoundingClientRect().bottom])"
HELD = re.compile(r"^On-chain balances: ([\d,.]+ \S+) at ")


class Copy(NamedTuple):
    name: str
    path: str

    @property
    def is_live(self) -> bool:
        return self.name.startswith("Live")

    @property
    def is_worst(self) -> bool:
        return self.name.endswith("at its worst")


@pytest.fixture(scope="module")
def patient() -> Iterator[str]:
    """Yield a dashboard whose pages wait for the balances, however busy the machine is."""
    with dashboard(INTENTS_BALANCE_TIMEOUT="5") as root:
        yield root


def copies(root: str) -> list[Copy]:
    page = httpx.get(f"{root}/demo", trust_env=False, timeout=PATIENCE).text
    links = LexborHTMLParser(page).css(".scenarios a")
    return [Copy(link.attributes["aria-label"] or "", link.attributes["href"] or "") for link in links]


def headline(html: str) -> str:
    [found] = LexborHTMLParser(html).css("h1")
    return " ".join(found.text().split())


def asked(root: str, operation: str, request: dict[str, object]) -> Any:
    """Return the service's response, None for a 404."""
    answer = httpx.post(f"{root}/rpc/Service/{operation}", json=request, trust_env=False, timeout=PATIENCE)
    assert answer.status_code in (200, 404), answer.text
    return answer.json() if answer.status_code == 200 else None


def state(root: str, copy: Copy) -> tuple[object, object, object]:
    """When the receipt last changed, what the intent addresses hold (a balance moves without it), and
    whether the deadline of a quote has passed."""
    intent_id = copy.path.rpartition("/")[2]
    receipt = asked(root, "GetIntentReceipt", {"intentId": intent_id})
    intent = asked(root, "GetIntent", {"intentId": intent_id})
    assert intent is not None
    of_owner = {"byOwnerAddress": intent["intent"]["ownerAddress"], "includeBalances": True, "page": {"pageSize": 100}}
    history = asked(root, "GetIntentHistory", of_owner)
    assert history is not None
    [balances] = [each["balances"] for each in history["intents"] if each["intentId"] == intent_id]
    read = Intent.model_validate(intent["intent"])
    deadline = statuses.execute_by(read.status, expires_at=read.expires_at, updated_at=read.updated_at)
    has_passed = deadline is not None and deadline <= datetime.now(UTC)
    return receipt and receipt["intentReceipt"]["updatedAt"], balances, has_passed


def first_response(tab: Visit, copy: Copy) -> str:
    response = tab.page.goto(tab.root + copy.path, wait_until="domcontentloaded")
    assert response is not None
    assert response.status == 200, copy
    return response.text()


def another(visit: Visit) -> Visit:
    tab = Visit(visit.page.context.new_page(), visit.root)
    tab.watch()
    return tab


@pytest.mark.parametrize("kind", COPIES)
def test_no_headline_changes_after_the_first_response(
    browser: Browser, patient: str, draw: Callable[[Sequence, int], list], kind: str
) -> None:
    all_copies = [copy for copy in copies(patient) if kind in copy.name]
    assert len(all_copies) == SCENARIOS
    moved = found = draw(all_copies, 10)
    with visiting(browser, patient, theme="light", width=1280) as visit:
        tabs = [visit, *(another(visit) for _ in range(AT_ONCE - 1))]
        for _ in range(ROUNDS):
            moved = list(moved_meanwhile(patient, tabs, moved))
            assert all(copy.is_live for copy in moved), moved
        faults = [fault for tab in tabs[1:] for fault in tab.faults]
    print(f"{len(found) - len(moved)} headlines compared, {len(moved)} transfers moved each time")
    assert faults == []
    assert len(moved) <= len(found) / 2  # most of those that may change don't


def moved_meanwhile(root: str, tabs: list[Visit], found: list[Copy]) -> Iterator[Copy]:
    """Compare the headlines of transfers, and yield those that moved meanwhile. On a busy machine these are many."""
    changed = []
    for batch in batched(found, len(tabs)):
        before = [state(root, copy) for copy in batch]
        first = [first_response(tab, copy) for tab, copy in zip(tabs, batch, strict=False)]
        tabs[0].page.wait_for_timeout(SETTLED_MS)
        for tab, copy, html, then in zip(tabs, batch, first, before, strict=False):
            loaded(tab.page)
            settled = headline(tab.page.content())
            if state(root, copy) != then:
                yield copy
            elif settled != headline(html):
                changed.append(f"{copy.name}: {headline(html)!r} became {settled!r}")
    assert changed == []


def test_without_scripts_a_phone_shows_headline_place_amount_and_next_step_on_its_first_screen(
    browser: Browser, patient: str
) -> None:
    wide, high = PHONE
    worst = [copy for copy in copies(patient) if copy.is_worst]
    assert len(worst) == SCENARIOS
    amounts = 0
    with visiting(browser, patient, theme="light", width=wide, scripts=False) as visit:
        for copy in worst:
            visit.open(copy.path)
            answers = visit.page.locator(".answer h1, .answer-point").evaluate_all(WORDS_AND_BOTTOMS)
            assert len(answers) == 3, copy
            assert all(words.strip() and bottom <= high for words, bottom in answers), (copy.name, answers)
            findings = visit.page.locator(".answer-finding").evaluate_all(WORDS_AND_BOTTOMS)
            [held] = [HELD.match(words) for words, _ in findings]
            if held:
                amounts += 1
                seen = " ".join(words for words, bottom in answers + findings if bottom <= high)
                assert held[1] in seen, (copy.name, answers, findings)
    assert amounts >= 5
