"""Every kind of page of the dashboard, and how a user reaches it. A new page gets a line in places.txt.

Three lists: pages with their own URL, pages that only a transfer in a certain state has, and pages for failures of
the service and invalid input.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx
from django.test import RequestFactory
from playwright.sync_api import Page, Route, expect

from intents_ui.emulator import errors, names
from intents_ui.emulator.names import Role
from intents_ui.http import failures
from tests.browser import looks
from tests.browser.conftest import Visit, finished_transfers
from tests.mirrored import PAID
from tests.service import scripted_server
from tests.service.scripted_server import response
from tests.tables import rows

OWNER: Final = f"/address/{names.address_of(Role.OWNER, 0)}"
RECIPIENT: Final = "0x" + "11" * 20
USDC: Final = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
USDC_ON_BASE: Final = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
USDC_ON_ARBITRUM: Final = "0xaf88d065e77c8cc2239327c5edb3a432268e5831"
NATIVE: Final = "0x" + "0" * 40
NOTHING: Final = "0x" + "12" * 32
SPOOF: Final = "/token/8453/0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
UNLISTED: Final = f"/token/1/0x{'12' * 20}"
FROM_USDC: Final = f"/routes?from=1&token={USDC}"
QUOTE: Final = {
    "ownerAddress": RECIPIENT,
    "originChainId": 8453,
    "originTokenAddress": USDC_ON_BASE,
    "originTokenAmount": "300000000",
    "destinationChainId": 42161,
    "destinationTokenAddress": USDC_ON_ARBITRUM,
    "destinationToAddress": RECIPIENT,
    "tradeType": "EXACT_INPUT",
}


UNFOLD: Final = looks.function("unfold")


@dataclass(frozen=True)
class Kind:
    """A kind of page. `status`: the response code of `path`. `then`: the steps from there to the page."""

    name: str
    path: str
    status: int = 200
    then: Callable[[Page], None] | None = None

    def open(self, visit: Visit) -> None:
        answer = visit.page.goto(visit.root + self.path)
        assert answer is not None
        assert answer.status == self.status, f"{self.name}: {answer.status}"
        if self.then:
            self.then(visit.page)
        for status in (400, 403, 404, 405, 409, 429, 500, 503):
            visit.forgive(status)


def every(root: str) -> list[Kind]:
    """Return the kinds of pages of the dashboard with the emulator at `root`."""
    return [*of_transfers(root), *PLACES, *AFTER_A_FORM, *REFUSED]


KNOWN: Final = {
    "OWNER": OWNER, "ADDRESS": OWNER.rpartition("/")[2], "PAID": PAID, "USDC": USDC, "NATIVE": NATIVE,
    "NOTHING": NOTHING, "SPOOF": SPOOF, "UNLISTED": UNLISTED, "FROM_USDC": FROM_USDC,
    **{f"INTENT_{number}": f"0x{number:064x}" for number in range(1, 8)},
}  # fmt: skip


def place(name: str, path: str, status: str) -> Kind:
    return Kind(name, re.sub(r"{([A-Z_0-9]+)}", lambda found: KNOWN[found[1]], path), int(status))


PLACES: Final = [place(*row) for row in rows(__file__, "places")]

# Scenarios with different results, with different messages, and with unusual data.
FINISHED: Final = {int(scenario): result for scenario, result in rows(__file__, "finished")}
OF_AN_INTENT: Final = ["balances", "route-stats", "proof", "reply", "share"]


def chosen(root: str) -> list[Kind]:
    """Return three pages that differ the most."""
    places = {kind.name: kind for kind in [*PLACES, *AFTER_A_FORM]}
    names = ("history",)
    running = Kind("transfer, running", transfer(root, commit=True, execute=True))
    return [
        running,
        Kind("transfer, failed, recoverable", finished_transfers(root)[11]),
        *(places[name] for name in names),
    ]


def of_transfers(root: str) -> list[Kind]:
    """Return pages of transfers that are created or looked up now, because open transfers change."""
    finished = finished_transfers(root)
    intents = [Kind(f"transfer, {result}", finished[scenario]) for scenario, result in FINISHED.items()]
    parts = [Kind(f"{part} of a transfer", f"{finished[11]}/{part}") for part in OF_AN_INTENT]
    embedded = [Kind(f"embedded, {FINISHED[scenario]}", f"/embed{finished[scenario]}") for scenario in (3, 11)]
    quoted, committed, running = transfer(root), transfer(root, commit=True), transfer(root, commit=True, execute=True)
    listed = quoted.rpartition("/")[2]
    shortened = f"{listed[:6]}…{listed[-4:]}"
    moving = [
        Kind("search for a shortened ID", f"/search?q={quote('0x000000…000001')}"),  # of a transfer in the mirror
        Kind("triage of shortened IDs", "/triage", then=triaged(f"{listed} {shortened} {NOTHING[:6]}…{NOTHING[-4:]}")),
        Kind("transfer, quoted", quoted),
        Kind("transfer, committed", committed),
        Kind("transfer, running", running),
        Kind("embedded, running", f"/embed{running}"),
        Kind("commit", f"{quoted}/commit"),
        Kind("commit of a committed transfer", f"{committed}/commit", 409),
        Kind("committed", f"{transfer(root)}/commit", then=press("Accept")),
    ]
    return [*moving, *intents, *parts, *embedded]  # a quote expires after minutes


def side_bar(root: str) -> list[Kind]:
    """Return the side bar of a dashboard that a helpdesk may frame, and with transfers."""
    finished = finished_transfers(root)
    ids = "+".join(finished[scenario].rpartition("/")[2] for scenario in (3, 8, 11, 18, 19, 28))
    return [Kind("side bar", "/embed/ticket"), Kind("side bar, transfers", f"/embed/ticket?q={ids}+{NOTHING}")]


def transfer(root: str, *, commit: bool = False, execute: bool = False) -> str:
    """Return the path of a new quote, optionally committed and executed. Once executed, it runs for minutes."""
    with httpx.Client(base_url=f"{root}/rpc/Service/", trust_env=False, timeout=30) as service:
        intent = service.post("QuoteIntent", json=QUOTE).json()["intent"]
        if commit:
            service.post("CommitIntent", json={"intent": intent})
        if execute:
            service.post("ExecuteIntent", json={"intentId": intent["intentId"], "scenario": 3})
    return f"/intent/{intent['intentId']}"


def unfold(page: Page) -> None:
    """Open all collapsed sections, including exclusive ones."""
    page.evaluate(UNFOLD)


def press(name: str) -> Callable[[Page], None]:
    def then(page: Page) -> None:
        page.get_by_role("button", name=name, exact=True).first.click()
        page.wait_for_load_state()

    return then


def triaged(pasted: str) -> Callable[[Page], None]:
    def then(page: Page) -> None:
        page.get_by_label("Text").fill(pasted)
        page.get_by_role("button", name="Triage").click()
        expect(page.locator("#total, [role=alert]").first).to_be_visible()

    return then


def sent(request: dict[str, Any]) -> Callable[[Page], None]:
    """Send a request as JSON through the console."""

    def then(page: Page) -> None:
        page.locator("summary", has_text="As JSON").click()
        page.get_by_label("The whole request as JSON").fill(json.dumps(request))
        page.get_by_role("button", name="Send this JSON").click()
        expect(page.locator("#answer")).to_be_visible()

    return then


def with_method(method: str) -> Callable[[Page], None]:
    """Reload the page with another method."""

    def then(page: Page) -> None:
        page.route(page.url, lambda route: route.continue_(method=method), times=1)
        page.reload()

    return then


def internal_error(page: Page) -> None:
    """Show the page of an internal error, which no request causes on purpose."""
    written = failures.internal_error(RequestFactory().get("/"))

    def fulfill(route: Route) -> None:
        route.fulfill(status=written.status_code, body=written.content, content_type="text/html")

    page.route(page.url, fulfill, times=1)
    page.reload()


PASTED: Final = f"{OWNER} 0x{'f' * 64} vitalik.eth {'intent_' + 'x1' * 50}, <b>of</b> {USDC} {NOTHING}"
DESCRIBED: Final = "100 USDC from Arbitrum to Base"
AFTER_A_FORM: Final = [
    Kind("triage, rows", "/triage", then=triaged(PASTED)),
    Kind("triage without identifiers", "/triage", then=triaged("0x12")),
    Kind("search for a description", f"/search?q={quote(DESCRIBED)}", 404),
    Kind("console, a history", "/console/GetIntentHistory", then=press("Send")),
    Kind("console, an error", "/console/GetIntent", then=sent({"intentId": NOTHING})),
    Kind("console, an invalid request", "/console/GetIntent", then=sent({"intentId": 5})),
    Kind("console, a confirmation", "/console/QuoteIntent", then=sent(QUOTE)),
]
REFUSED: Final = [
    Kind("method not allowed", "/chains", then=with_method("OPTIONS")),
    Kind("form without a token", "/console/QuoteIntent", then=with_method("POST")),
    Kind("internal error", "/nowhere", 404, then=internal_error),
]


# Responses of a failing service by the last digit of the intent ID: an error code, or another response.
ERRORS: Final = {1: 1201, 2: 2001, 3: 1006, 4: 9000, 5: 1001}
UNREADABLE, ODD = 6, 7
# Errors of the service are cached, so each list needs its own dashboard, in this order.
OF_A_FAILING_INTENT, BUSY, TROUBLED = (
    [place(*row) for dashboard, *row in rows(__file__, "failing_places") if dashboard == each]
    for each in ("rejected", "busy", "failing")
)


def failing(visit: scripted_server.Visit) -> None:
    """Fail every request."""
    refuse(visit, 2001)


def of_an_intent(visit: scripted_server.Visit) -> None:
    """Respond by the last digit of the intent ID. All other requests find nothing."""
    asked = json.loads(visit.body or "{}").get("intentId", "")
    digit = int(asked[-1:] or "0", 16)
    if visit.operation not in ("GetIntent", "GetIntentReceipt"):
        visit.send(response({}))
    elif digit == UNREADABLE:
        visit.send(response('{"intent":'))
    elif digit != ODD:
        refuse(visit, ERRORS[digit])
    elif visit.operation == "GetIntent":
        visit.send(response({"intent": {"intentId": asked, "status": "TELEPORTING", "ownerAddress": RECIPIENT}}))
    else:
        refuse(visit, 8000)


def refuse(visit: scripted_server.Visit, code: int) -> None:
    refused = errors.TABLE[code]
    said = {"error": refused["name"], "code": code, "msg": refused["msg"], "status": refused["status"]}
    visit.send(response(said, status=refused["status"], headers={"Retry-After": "60"}))
