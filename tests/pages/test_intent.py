"""Transfer page: the summary, and every field that the service returned."""

import itertools
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal, localcontext
from typing import Any
from unittest.mock import patch

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.formatting.hashes import ShortForms
from intents_ui.live.snapshot import Snapshot
from intents_ui.service import operations
from intents_ui.transfers.rules import SECOND_DEPOSIT
from tests.emulator.driving import call, request
from tests.pages.kinds import EVERY_SCENARIO
from tests.pages.reading import PARTIAL, visible_text
from tests.spec import SPEC

UNLIMITED = 2**256 - 1
CENT = Decimal("0.01")
SOLANA = {792703809: "Solana"}  # listed by no service


def rows_of(markup: str) -> dict[str, list[str]]:
    """Return the texts and the relevant attributes of each field's row, without its name."""
    found: dict[str, list[str]] = {}
    for row in LexborHTMLParser(markup).css("div[data-field]"):
        said = found.setdefault(row.attributes["data-field"] or "", [])
        for node in itertools.chain.from_iterable(value.traverse(include_text=True) for value in row.css("dd")):
            shown = [node.attributes.get(name) for name in ("title", "datetime", "data-copy")]
            words = [node.text_content] if node.tag == "-text" else shown
            said += [each.strip() for each in words if each and each.strip()]
    return found


def leaves(kind: str, document: dict[str, Any], path: str) -> Iterator[tuple[str, str, Any]]:
    """Yield each field of the response: its place on the page, its name and its value."""
    for name, of_kind in SPEC[kind]:
        value, inner = document.get(name), of_kind.removesuffix("!").removesuffix("[]")
        if value in (None, "", []):
            continue
        inside = f"{path}.{re.sub('([A-Z])', lambda found: '_' + found[1].lower(), name)}"
        if inner not in SPEC:
            yield f"{path}.{name}", name, value
        elif isinstance(value, list):
            for number, entry in enumerate(value, start=1):
                yield from leaves(inner, entry, f"{inside}.{number}")
        else:
            yield from leaves(inner, value, inside)


class Names:
    """Chain names and token decimals as returned by the service."""

    def __init__(self, emulator: Emulator) -> None:
        chains = call(emulator, "GetChains", {})["chains"]
        listed = {"chainIds": [each["id"] for each in chains], "includeExternal": True, "includeAllListed": True}
        tokens = call(emulator, "GetTokenList", listed)["tokens"]
        self.chains = {each["id"]: each["name"] for each in chains} | SOLANA
        self.decimals: dict[str, set[int]] = {}
        for token in (*tokens, *(chain["nativeCurrency"] for chain in chains)):
            self.decimals.setdefault(token["symbol"], set()).add(token.get("decimals", 0))


UNITS = {"d": 86_400, "h": 3600, "min": 60, "s": 1}


def is_said(name: str, value: Any, said: list[str], names: Names) -> bool:
    """Return whether the row shows exactly this value. Words of providers: `tests/formatting`."""
    if isinstance(value, bool):
        return said == ["yes" if value else "no"]
    if isinstance(value, list):
        return len(said[0].split(", ")) == len(value)
    if name == "chainId" or name.endswith("ChainId"):
        return said == [names.chains.get(value, f"Chain {value}"), str(value)]
    if isinstance(value, str) and not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value):
        return is_text_said(value, said)
    if name.lower().endswith("deadline") and float(value) < UNLIMITED:
        return is_text_said(datetime.fromtimestamp(int(value), UTC).isoformat(), said)
    if name == "estimatedDuration":
        return sum(int(count) * UNITS[unit] for count, unit in re.findall(r"(\d+) (\w+)", said[0])) == value
    with localcontext(prec=100):
        return is_number_said(name, Decimal(str(value)), said, names)


def is_number_said(name: str, value: Decimal, said: list[str], names: Names) -> bool:
    """Return whether the row shows this number in the form and scale of its field, with all of its digits."""
    shown, *rest = said
    if value == UNLIMITED:
        return said == ["unlimited"]
    if name in ("slippageTolerance", "maxSlippage", "priceImpact"):
        percent = round(value, 4) if name == "priceImpact" else value * 100
        return not rest and shown.endswith("%") and Decimal(shown[:-1]) == percent
    exact = Decimal(shown.replace("$", "").replace(",", ""))
    if name.endswith("Usd"):
        cents = rest[0].replace("$", "").replace(",", "")
        is_rounded = 0 < abs(value) < CENT if "<" in cents else abs(Decimal(cents) - value) <= CENT / 2
        return "$" in shown and exact == value and is_rounded
    if not rest or rest[0].startswith("base units"):
        return exact == value
    # The amount in its token, and its base units if they differ.
    in_units = next((Decimal(each) for each in rest[1:] if each.isdigit()), exact)
    return in_units == value and exact in {value.scaleb(-each) for each in names.decimals.get(rest[0], {18})}


def is_text_said(value: str, said: list[str]) -> bool:
    if re.match(r"\d{4}-\d\d-\d\dT", value):
        return any(moment(each) == moment(value) for each in said if re.match(r"\d{4}-", each))
    if len(value) > 100 and not value.startswith("0x"):
        return said[0].startswith(value.split("<img")[0].strip()) or said[0] == value
    return value.lower() in [each.lower() for each in said]


def moment(value: str) -> datetime:
    return datetime.fromisoformat(value).replace(microsecond=0)


def answer_of(site: Client, intent_id: str) -> tuple[str, dict[str, Any], dict[str, Any] | None]:
    """Return the page with all fields, and the service's response."""
    page, fields = site.get(f"/intent/{intent_id}"), site.get(f"/intent/{intent_id}/proof", headers=PARTIAL)
    assert (page.status_code, fields.status_code) == (200, 200)
    both = site.get(f"/intent/{intent_id}.json").json()
    return page.content.decode() + fields.content.decode(), both["intent"], both["intentReceipt"]


@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_every_field_that_the_service_returned_is_on_the_page(site, emulator, scenario):
    html, intent, receipt = answer_of(site, emulator.finished(scenario.slug)["intentId"])
    rows = rows_of(html)
    expected = [*leaves("Intent", intent, "intent")]
    if receipt:
        expected += leaves("IntentReceipt", receipt, "receipt")
    assert len(expected) > 80
    missing = [path for path, _, _ in expected if path not in rows]
    assert not missing
    names = Names(emulator)
    unsaid = [each for each in expected if not is_said(*each[1:], rows[each[0]], names)]
    assert [(path, value, rows[path]) for path, _, value in unsaid] == []


def test_a_page_that_is_drawn_again_has_all_fields(site, emulator):
    """As when two of its addresses look alike when they are shortened."""
    intent_id = emulator.finished("cross-chain-fast")["intentId"]
    usual, _, _ = answer_of(site, intent_id)

    def draw_again(_: ShortForms, page: Callable[[], str]) -> str:
        page()
        return page()

    with patch.object(ShortForms, "draw", draw_again):
        again, _, _ = answer_of(site, intent_id)
    assert len(rows_of(again)) == len(rows_of(usual)) > 80


@pytest.mark.parametrize(
    ("number", "copy", "times"),
    [
        pytest.param(3, "newest", 1, id="in transit"),
        pytest.param(27, "newest", 1, id="an underpaid deposit, with its deposit check"),
        pytest.param(7, "newest", 0, id="expired without a deposit, so that none is to be sent"),
        pytest.param(13, "finished", 1, id="aborted"),
        pytest.param(2, "finished", 0, id="delivered"),
        pytest.param(8, "finished", 0, id="refunded"),
    ],
)
def test_the_second_deposit_warning_appears_once_where_it_matters(site, emulator, number, copy, times):
    html, _, _ = answer_of(site, getattr(emulator, copy)(number)["intentId"])
    page = re.sub(r"<textarea.*?</textarea>", "", html, flags=re.DOTALL)  # the texts to copy repeat the page
    assert visible_text(page).count(SECOND_DEPOSIT) == times


REWRITES = ["numbers", "exponents", "mixed-case", "extra-fields", "no-ids", "sparse", "second-names", "both-names"]
REWRITES += ["fraction-0", "fraction-9", "offset-times", "chains-flat", "chains-nested", "clock-ahead", "clock-behind"]


# Older than the 90 s by which a clock may be behind.
@pytest.mark.parametrize("scenario", [pytest.param(3, marks=pytest.mark.slow), 11])
@pytest.mark.parametrize("behaviour", REWRITES)
def test_unusual_json_renders_a_normal_page(site, emulator, behaviour, scenario):
    emulator.inject("*", behaviour)
    path = f"/intent/{emulator.finished(scenario)['intentId']}"
    for page in (site.get(path), site.get(f"{path}/proof")):
        assert page.status_code == 200
        assert "unreadable" not in page.content.decode()


def test_raw_json_is_what_the_service_sent_byte_for_byte(site, emulator):
    emulator.inject("*", "exponents", "extra-fields")
    intent_id = emulator.finished(19)["intentId"]
    sent = {
        name: request(emulator, operation, {"intentId": intent_id}).body.decode()
        for name, operation in (("intent", "GetIntent"), ("receipt", "GetIntentReceipt"))
    }
    for name, answer in sent.items():
        raw = site.get(f"/intent/{intent_id}/raw/{name}.json").content.decode()
        assert raw in answer
        assert json.loads(raw) == json.loads(answer)["intentReceipt" if name == "receipt" else name]


def test_a_page_of_a_watched_transfer_costs_the_service_no_request(site, emulator, monkeypatch):
    intent_id = emulator.play(3, age=300)["intentId"]
    site.get(f"/intent/{intent_id}")  # caches the names of its chains and tokens
    receipt = app.current().service.ask(operations.get_intent_receipt(intent_id))
    app.current().plan(intent_id)
    newest = Snapshot(intent_id, receipt, learned_at=datetime(2026, 11, 21, 8, 9, 10, tzinfo=UTC))
    monkeypatch.setattr(app.current().hub, "newest", lambda requested: newest if requested == intent_id else None)
    emulator.inject("*", "failing-500")  # any request would fail
    page = site.get(f"/intent/{intent_id}")
    assert page.status_code == 200
    assert "could not be read" not in page.content.decode()
    assert re.findall(r"Updated <time datetime=\"([^\"]+)", page.content.decode()) == ["2026-11-21T08:09:10Z"]
