"""One lying service, one question, all surfaces: each says what the table has about it, or doesn't say it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from pydantic import SecretStr

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import SCENARIOS
from intents_ui.emulator.transfers import OWNERS
from intents_ui.tokens.token_amounts import DECIMALS, UNLISTED
from intents_ui.transfers import summary as summaries
from intents_ui.transfers.summary import Summary
from intents_ui.web import reading
from tests import surfaces
from tests.corpus import picked
from tests.helpdesk import signing
from tests.pages.recorded import recorded
from tests.surfaces import Amount, Said
from tests.tables import toml

pytestmark = pytest.mark.usefixtures("still")

SCENARIO = SCENARIOS[1]  # 100 USDC from Arbitrum One to Base, bridged by Relay
LEFT_OVER = SCENARIOS[10]  # 79.7123 USDC.e at the destination intent address
MOMENTS = {moment.name: moment for moment in surfaces.moments(SCENARIO)}
RECEIPTS = ("GetIntentReceipt", "WaitIntentReceipt", "GetIntentHistory")
ALL = (*RECEIPTS, "GetIntent", "SearchIntents")
USDC = "0xaf88d065e77c8cc2239327c5edb3a432268e5831"
SLASHED = "ibc/27394FB092D2ECCD56123C74F36E4C1F926001CEADA9CA97EA622B25F41E5EB2"
FUTURE = "2027-11-21T12:00:00Z"
OTHER_HASH = "0x" + "c4" * 32
# Without two that are read from objects, not from answers.
SURFACES = {
    name: surface
    for name, surface in (surfaces.SURFACES | surfaces.OTHERS).items()
    if name not in ("triage row", "card")
}

type Document = dict[str, Any]


def deposit(amount: str | None) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        sent = document.get("depositTransaction")
        if isinstance(sent, dict) and "tokenAmount" in sent:
            sent["tokenAmount"] = amount

    return change


def described(decimals: int, *, of_balances: bool = False) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        if "decimals" in document and ("balance" in document) == of_balances:
            document["decimals"] = decimals

    return change


def timed(at: str, *names: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document |= {name: at for name in names if name in document}

    return change


def failed(document: Document) -> None:
    """Let the intent, the entry of a list and a receipt's summary contradict the receipt."""
    if document.keys() & {"quoteRequest", "receipt", "originTokenMetadata"}:
        document["status"] = "FAILED"


def slashed(document: Document) -> None:
    document |= {name: SLASHED for name, value in document.items() if str(value).lower() == USDC}


@dataclass(frozen=True)
class Expected:
    """What every surface that speaks of it has to say. What is None may be said in several ways."""

    status: str
    headline: str
    sent: Amount
    received: Amount
    changed: str | None
    started: str
    warns: bool = False


@dataclass(frozen=True)
class Lie:
    """How the service's answers change, and what of what is expected does.

    `silent`: what a surface need not say then. `given`: the hash that is looked up instead of the intent ID.
    """

    change: Callable[[Document], object] = dict
    operations: tuple[str, ...] = ()
    expected: Callable[[Expected], Expected] = lambda honest: honest
    silent: frozenset[str] = frozenset()
    given: str = ""


def marked(amount: Amount, *marks: str) -> Amount:
    return replace(amount, marks=frozenset(marks))


LIES = {
    "nothing": Lie(),
    "another amount was deposited": Lie(
        deposit("97654321"), RECEIPTS, lambda honest: replace(honest, sent=Amount("97.654321", "USDC"))
    ),
    "no amount was deposited": Lie(
        deposit("?"),
        RECEIPTS,
        lambda honest: replace(honest, sent=replace(honest.sent, note="quoted")),
        silent=frozenset(["sent"]),
    ),
    "decimals contradict the token list": Lie(
        described(8),
        (*RECEIPTS, "GetIntent"),
        lambda honest: replace(
            honest,
            sent=marked(honest.sent, DECIMALS),
            received=honest.received if honest.received.note else marked(honest.received, DECIMALS),
        ),
    ),
    "no transaction has the hash": Lie(expected=lambda honest: replace(honest, warns=True), given=OTHER_HASH),
    "only the receipt says that it succeeded": Lie(failed, ALL),
    "updated in the future": Lie(timed(FUTURE, "updatedAt"), ALL, silent=frozenset(["changed"])),
    "times of the year 9999": Lie(
        timed("9999-12-31T23:59:59Z", "updatedAt", "startedAt", "finishedAt", "txnMinedAt"),
        ALL,
        lambda honest: replace(honest, changed=honest.started),
        silent=frozenset(["changed"]),
    ),
    "started in the year 9999": Lie(timed("9999-12-31T23:59:59Z", "startedAt"), ALL),
    "a listed token's address has a slash": Lie(slashed, (*ALL, "GetTokenList")),
    "an unlisted token's address has a slash": Lie(
        slashed, ALL, lambda honest: replace(honest, sent=marked(honest.sent, UNLISTED, "looks like USDC"))
    ),
}

SAYS = dict.fromkeys(SURFACES, "status headline sent received") | toml(__file__, "surfaces")


@dataclass(frozen=True)
class World:
    """A transfer of a lying service, what the service tells of it, and what is to be said of it."""

    transfer: surfaces.Transfer
    told: Document
    expected: Expected
    silent: frozenset[str]


@contextmanager
def lied_to(name: str, moment: str, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(settings.ENV, "intents_slack_signing_secret", SecretStr(signing.SECRET))
    monkeypatch.setattr(settings.ENV, "intents_embed_hosts", ["https://other.example"])
    lie, site = LIES[name], Client(headers={"host": surfaces.HOST})
    surfaces.play(emulator, SCENARIO, MOMENTS["ended"])  # a search with one match shows no rows
    played = surfaces.play(emulator, SCENARIO, MOMENTS[moment])
    with recorded(emulator):
        told = site.get(f"/intent/{played['intentId']}.json").json()
        honest = expected_of(told, summaries.of(reading.read(played["intentId"])))
    with recorded(emulator) as service:
        # The clock is stopped, so responses don't age.
        monkeypatch.setattr(app.current().service.cache, "clock", lambda: 0.0)
        service.changes |= dict.fromkeys(lie.operations, partial(changed, lie.change))
        if lie.given:
            found = {"intents": [told["intent"]]}
            service.scripts["SearchIntents"] = lambda body: found if "byTransactionHash" in body else None
        transfer = surfaces.Transfer(played["intentId"], played["ownerAddress"], site, lie.given)
        for member, operation in (("intent", "GetIntent"), ("intentReceipt", "GetIntentReceipt")):
            if operation in lie.operations:
                changed(lie.change, told[member])
        # The first of an open transfer's sides may be all that a surface shows.
        silent = lie.silent if moment == "ended" else frozenset(["sent", "received", "changed"])
        yield World(transfer, told, lie.expected(honest), silent)


@pytest.fixture
def world(request: pytest.FixtureRequest, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with lied_to(*request.param, emulator, monkeypatch) as found:
        yield found


def expected_of(told: Document, summary: Summary) -> Expected:
    receipt, quote = told["intentReceipt"], told["intent"]["quote"]
    is_over = receipt["summary"]["finishedAt"] is not None
    arrived = receipt["destinationTransaction"]["tokenAmount"] if is_over else quote["toAmount"]
    return Expected(
        summary.status.word,
        summary.headline,
        Amount("100", "USDC"),
        Amount(str(Decimal(arrived).scaleb(-6)), "USDC", "" if is_over else "expected"),
        changed=receipt["updatedAt"][:19] if is_over else None,
        started=receipt["summary"]["startedAt"][:19],
    )


def changed(change: Callable[[Document], object], document: Any) -> Any:
    """Return a document after a change of each of its objects."""
    for each in document.values() if isinstance(document, dict) else document:
        if isinstance(each, dict | list):
            changed(change, each)
    if isinstance(document, dict):
        change(document)
    return document


def contradictions(name: str, world: World) -> Iterator[str]:
    """Yield what a surface says otherwise, doesn't say, or says although the table doesn't have it."""
    expected, says = world.expected, SAYS[name].split()
    try:
        said = SURFACES[name](world.transfer) or Said()
    except Exception as error:
        yield f"{name}: no answer: {error!r:.200}"
        return
    for field in ("status", "headline", "sent", "received", "changed", "warns"):
        shown, known = getattr(said, field), getattr(expected, field)
        if shown is None:
            if field in says and field not in world.silent:
                yield f"{name}: {field} isn't said"
        elif field not in says:
            yield f"{name}: {field} isn't in the table: {shown!r}"
        elif known is not None and not (shown.shows(known) if isinstance(shown, Amount) else shown == known):
            yield f"{name}: {field}: {shown!r} instead of {known!r}"
    # Where the funds are, what to do, and the reply.
    yield from (f"{name}: {each}" for each in surfaces.differences(name, said, world.transfer.summary))


OPEN = ("another amount was deposited", "decimals contradict the token list", "updated in the future")
CASES = [*((name, "ended") for name in LIES), *((name, "mid-way") for name in OPEN)]


@pytest.mark.parametrize(
    "world",
    picked(
        {", ".join(case): (case,) for case in CASES},
        "another amount was deposited, ended",
        "another amount was deposited, mid-way",
        "no amount was deposited, ended",
        "decimals contradict the token list, ended",
        "no transaction has the hash, ended",
        "updated in the future, ended",
        "updated in the future, mid-way",
        "times of the year 9999, ended",
        "an unlisted token's address has a slash, ended",
    ),
    indirect=True,
)
def test_every_surface_says_the_same_of_a_lying_service(world):
    found = [each for name in SURFACES for each in contradictions(name, world)]
    assert not found, "\n".join(found)
    assert json.loads(world.transfer.get(f"/intent/{world.transfer.intent_id}.json")) == world.told  # as received


@pytest.mark.parametrize("world", [("a listed token's address has a slash", "ended")], indirect=True)
def test_lists_have_a_token_whose_address_has_a_slash(world):
    for path in ("/tokens", "/tokens/rows", "/suggest?q=usdc", "/api/v1/tokens", "/routes"):
        assert world.transfer.get(path)


@pytest.mark.parametrize("world", [("another amount was deposited", "ended")], indirect=True)
def test_every_digit_of_a_rounded_amount_is_on_hover_in_exports_and_in_the_api(world):
    assert '<span title="97.654321 USDC">97.6543 USDC</span>' in world.transfer.page
    for name in ("export row", "export, NDJSON", "API, transfer", "API, triage", "MCP"):
        said = SURFACES[name](world.transfer)
        assert said
        assert said.sent == Amount("97.654321", "USDC"), name


@pytest.mark.parametrize("decimals", [0, 8, 18])
def test_a_balance_that_contradicts_the_listed_decimals_says_so(emulator, site, decimals):
    worst = next(each for each in surfaces.moments(LEFT_OVER) if each.name == "at its worst")
    played = surfaces.play(emulator, LEFT_OVER, worst)
    with recorded(emulator) as service:
        service.changes["GetIntentHistory"] = partial(changed, described(decimals, of_balances=True))
        transfer = surfaces.Transfer(played["intentId"], played["ownerAddress"], site)
        listed = f"{transfer.filters}&balances=1"
        page = surfaces.words(transfer.page)
        files = [transfer.get(f"/export/history.{kind}?{listed}") for kind in ("csv", "ndjson")]
        row = surfaces.words(transfer.get(f"/history?{listed}"))
    for text in (page, *files):
        assert f"79.7123 USDC.e ({DECIMALS}, 79," in text or f"79.712345 USDC.e ({DECIMALS}, 79," in text
    assert "79.7123 USDC.e recoverable" in row
    assert DECIMALS in row


@pytest.mark.parametrize("scenario", [21, 23])
def test_no_surface_says_that_something_happened_in_the_future_or_waits_for_what_follows(emulator, site, scenario):
    played = emulator.play(scenario, age=360, owner=OWNERS + scenario)
    intent_id = played["intentId"]
    with recorded(emulator) as service:
        transfer = surfaces.Transfer(intent_id, "", site)
        names = ("updatedAt", "createdAt", "startedAt", "finishedAt", "txnMinedAt")
        service.changes |= dict.fromkeys(ALL, partial(changed, timed(FUTURE, *names)))
        said = [transfer.page, *transfer.replies, transfer.tool("explain_transfer", intent_id=intent_id)]
        said += [transfer.post("/api/v1/triage", {"text": intent_id}), transfer.get(f"/embed/intent/{intent_id}")]
        said += [
            transfer.get(f"/history?owner={played['ownerAddress']}"),
            transfer.get(f"/intent/{intent_id}/feed.atom"),
        ]
        assert not [text for text in said if FUTURE[:4] in text]
