"""Candidates for what a ticket tells of a transfer: found in the mirror, with what matches and what contradicts."""

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from intents_ui.demo import Past
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.intents import Entry
from intents_ui.emulator.population import Reach
from intents_ui.mirror.candidates import candidates
from intents_ui.mirror.reader import Reading, Task
from intents_ui.mirror.windows import HOUR
from intents_ui.search import facts, identifiers
from intents_ui.service.models import ChainInfo
from tests.mirror import past
from tests.mirror.conftest import on_each_engine
from tests.mirror.past import NOW
from tests.tables import rows

AT = int(NOW.timestamp())
START, END = AT - 30 * HOUR, AT - 3 * HOUR


def short(value: str, head: int = 6, tail: int = 6) -> str:
    return f"{value[: head + 2]}…{value[-tail:]}"


def said(listed: Entry, emulator: Emulator) -> dict[str, Any]:
    """Return what customers may say of a transfer."""
    transfer, terms, hashes = listed.transfer, listed.terms, listed.hashes()
    chains = [emulator.catalogue.chains[each.chain_id]["name"] for each in (transfer.origin, transfer.destination)]
    created = datetime.fromtimestamp(transfer.born / 1_000_000, UTC)
    amount = Decimal(terms.from_amount).scaleb(-(transfer.origin.decimals or 0))
    received = Decimal(terms.to_amount).scaleb(-(transfer.destination.decimals or 0))
    return {
        "id": transfer.intent_id,
        "amount": f"{amount:.6g}",
        "received": f"{received:.6g}",
        "triple": f"{Decimal(f'{amount:.6g}') * 3:.6g}",
        "symbol": transfer.origin.symbol,
        "origin": chains[0],
        "destination": chains[1],
        "other": next(name for name in ("Gnosis", "Polygon", "Base") if name not in chains),
        "day": f"{created:%B} {created.day}",
        "hours": round((NOW - created).total_seconds() / HOUR),
        "owner": transfer.owner,
        "wallet": short(transfer.owner),
        "deposit_address": short(transfer.origin_address),
        "tx": short(hashes.get("deposit", "")),
        "origin_tx": short(hashes.get("origin", ""), 8, 5),
        "arrival": short(hashes.get("destination", ""), 4, 4),
        "intent": short(transfer.intent_id, 4, 4),
    }


@pytest.fixture
def known(copy: None, still: None, emulator: Emulator) -> list[dict[str, Any]]:
    """Write the emulator's past to the mirror. Return delivered ones, whose amounts are seen once on a chain."""
    entries = tuple(Past(emulator).entries(START, END))
    past.lead(AT).commit(Reading(task=Task(START, END), at=AT * 1000, entries=entries), now=AT)
    reach = Reach(START * 1_000_000, latest=END * 1_000_000 - 1)
    found = []
    for listed in emulator.ledger.entries(AT * 1_000_000, descending=False, reach=reach):
        transfer = listed.transfer
        is_usual = not (transfer.deal.edge or transfer.same_chain)
        if listed.scene.status == "SUCCEEDED" and is_usual and transfer.origin.symbol == transfer.destination.symbol:
            found.append(said(listed, emulator))
    seen = Counter((each["amount"], each["symbol"], each["origin"]) for each in found)
    return [each for each in found if seen[each["amount"], each["symbol"], each["origin"]] == 1]


@on_each_engine
def test_fifteen_tickets_find_their_transfer_and_show_what_contradicts_it(
    known: list[dict[str, Any]], emulator: Emulator
) -> None:
    chains = [ChainInfo(id=number, name=each["name"]) for number, each in emulator.catalogue.chains.items()]
    symbols = [each.symbol for each in emulator.catalogue.tokens]
    missed = []
    for (form, contradicts), meant in zip(rows(__file__, "tickets"), known[7 :: len(known) // 20], strict=False):
        written = form.format(**meant)
        read = facts.read(written, chains=chains, symbols=symbols, now=NOW, pasted=identifiers.read(written))
        found = {each.intent_id: each for each in candidates(read, now=NOW)[:3]}
        if meant["id"] not in found:
            missed.append(written)
            continue
        assert not contradicts or contradicts in found[meant["id"]].contradicts, written
        assert found[meant["id"]].matches, written
    assert len(missed) <= 2, missed
