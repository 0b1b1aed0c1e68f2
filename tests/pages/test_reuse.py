"""A page shows what the service and the clock say now, although the dashboard reuses parts of earlier responses."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.service import operations
from tests.pages.conftest import renew
from tests.pages.reading import read, visible_text
from tests.pages.recorded import Recorded, changed, recorded
from tests.policies import NOT_CACHED, policies

REFUNDED = 8
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"


@pytest.fixture
def service(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    """The service without a cache of its responses, so that each page gets all of them again."""
    monkeypatch.setattr(operations, "POLICIES", policies(**NOT_CACHED))
    with recorded(emulator) as service:
        yield service


@pytest.mark.parametrize(
    "path", ["/intent/{intentId}", "/embed/intent/{intentId}", "/intent/{intentId}/reply", "/history?owner={owner}"]
)
@pytest.mark.parametrize(
    ("field", "value", "shown"), [("status", "FROZEN", "FROZEN"), ("tokenAmount", "123450000", "123.45")]
)
def test_a_changed_transfer_is_shown_at_once(site, emulator, service, path, field, value, shown):
    intent = emulator.finished(REFUNDED)
    url = path.format(intentId=intent["intentId"], owner=intent["ownerAddress"])
    assert shown not in visible_text(read(site, url))
    service.changes = dict.fromkeys(
        ("GetIntent", "GetIntentReceipt", "GetIntentHistory"), lambda document: changed(document, value, field)
    )
    assert shown in visible_text(read(site, url))
    service.changes.clear()
    assert shown not in visible_text(read(site, url))


OF_A_TRANSFER, OF_ITS_OWNER, OF_A_TOKEN = "/intent/{intentId}", "/history?owner={owner}", f"/token/8453/{USDC}"


@pytest.mark.parametrize(
    ("operation", "old", "new", "path"),
    [
        ("GetTokenList", "USDC", "USDX", OF_A_TRANSFER),
        ("GetTokenList", "USDC", "USDX", OF_A_TOKEN),
        ("GetChains", "Base", "Basis", OF_A_TRANSFER),
        ("GetChains", "Base", "Basis", OF_ITS_OWNER),
        ("GetChains", "Base", "Basis", OF_A_TOKEN),
    ],
)
def test_a_transfer_with_the_same_bytes_has_the_current_names(site, emulator, service, operation, old, new, path):
    def renamed(document: Any) -> Any:
        key, field = ("tokens", "symbol") if operation == "GetTokenList" else ("chains", "name")
        return {key: [each | {field: each[field].replace(old, new)} for each in document[key]]}

    intent = emulator.finished(REFUNDED)
    url = path.format(intentId=intent["intentId"], owner=intent["ownerAddress"])
    for _ in range(2):  # what is read twice is reused
        assert new not in visible_text(read(site, url))
    service.changes[operation] = renamed
    renew("catalog", "prices")
    assert new in visible_text(read(site, url))


def test_a_changed_price_is_shown(site, emulator, service):
    assert "$1.00" in visible_text(read(site, f"/token/8453/{USDC}"))
    price = {"token": {"chainId": 8453, "tokenAddress": USDC}, "priceUsd": 0.87}
    service.scripts["GetTokenPrices"] = lambda _: {"tokenPrices": [price]}
    renew("prices")
    assert "$0.87" in visible_text(read(site, f"/token/8453/{USDC}"))


@pytest.mark.parametrize(
    ("path", "moments"),
    [
        ("/intent/{}", [(0, "Quoted"), (300, "Quote expired"), (30, "Quoted")]),
        ("/history?status=QUOTED", [(0, "just now"), (3599, "59 min ago"), (3600, "1 h ago")]),
    ],
    ids=["expiry, and back", "age"],
)
def test_a_transfer_with_the_same_bytes_is_shown_as_of_now(site, emulator, service, clock, path, moments):
    intent_id = emulator.play("expired-quote", age=0)["intentId"]
    kept: dict[str, Any] = {}
    for operation in ("GetIntent", "GetIntentReceipt", "GetIntentHistory"):
        service.changes[operation] = same_each_time(kept, operation)
    for seconds, shown in moments:
        clock.move_to(NOON + timedelta(seconds=seconds))
        for _ in range(2):  # what is read twice is reused
            assert shown in visible_text(read(site, path.format(intent_id))), seconds


def same_each_time(kept: dict[str, Any], operation: str) -> Callable[[Any], Any]:
    return lambda document: kept.setdefault(operation, document)


@pytest.mark.usefixtures("response_cache")
def test_balances_are_shown_in_a_list_as_soon_as_they_are_known(site, emulator, clock):
    intent = emulator.finished(13)
    path = f"/history?owner={intent['ownerAddress']}"
    assert "recoverable" not in row(site, path, intent)
    site.get(f"/intent/{intent['intentId']}/balances")
    assert "recoverable" in row(site, path, intent)


def row(site: Client, path: str, intent: dict[str, Any]) -> str:
    found = re.search(rf'<tr id="row-{intent["intentId"]}">.*?</tr>', site.get(path).content.decode(), re.DOTALL)
    assert found
    return found[0]


def test_a_later_check_of_the_same_balances_changes_their_time(site, emulator, service, clock):
    path = f"/intent/{emulator.finished(13)['intentId']}/balances"
    assert "Checked 12:00:00 UTC" in visible_text(read(site, path))
    clock.shift(timedelta(seconds=7))
    assert "Checked 12:00:07 UTC" in visible_text(read(site, path))
