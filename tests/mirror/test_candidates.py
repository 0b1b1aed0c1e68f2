"""Candidates for what a ticket tells of a transfer: found in the mirror, with what matches and what contradicts."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

import pytest

from intents_ui.demo import Past
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.intents import transaction_hash
from intents_ui.emulator.population import Entry as Listed
from intents_ui.emulator.population import Reach
from intents_ui.emulator.scenario_engine import LEGS
from intents_ui.emulator.transfers import terms_of
from intents_ui.mirror.candidates import Candidate, candidates
from intents_ui.mirror.reader import Reading, Task
from intents_ui.mirror.windows import HOUR
from intents_ui.search import facts, identifiers
from intents_ui.service.models import ChainInfo
from intents_ui.web.search import wanted
from tests.mirror import past
from tests.mirror.conftest import on_each_engine
from tests.mirror.past import NOW

pytestmark = pytest.mark.usefixtures("still")

HOURS = 30
AT = int(NOW.timestamp())


class Known(NamedTuple):
    """A transfer of the emulator's past, and what a customer may say of it."""

    listed: Listed
    amount: str
    received: str
    symbol: str
    origin: str
    destination: str
    created: datetime

    @property
    def intent_id(self) -> str:
        return self.listed.transfer.intent_id

    def hash_of(self, step: str) -> str:
        place = LEGS.index(step)
        return str(transaction_hash(self.listed.transfer, step, self.listed.scene.legs[place]))


def short(value: str, head: int = 6, tail: int = 6) -> str:
    return f"{value[: head + 2]}…{value[-tail:]}"


@pytest.fixture
def known(copy: None, emulator: Emulator) -> list[Known]:
    """Write the emulator's past to the mirror. Return delivered ones, whose amounts are seen once on a chain."""
    start, end = AT - HOURS * HOUR, AT - 3 * HOUR
    leader = past.lead(AT)
    entries = tuple(Past(emulator).entries(start, end))
    leader.commit(Reading(task=Task(start, end), at=AT * 1000, entries=entries), now=AT)
    reach = Reach(start * 1_000_000, latest=end * 1_000_000 - 1)
    found = []
    for listed in emulator.ledger.entries(AT * 1_000_000, descending=False, reach=reach):
        transfer, catalogue = listed.transfer, emulator.catalogue
        is_usual = (
            not (transfer.deal.edge or transfer.same_chain) and transfer.origin.symbol == transfer.destination.symbol
        )
        if listed.scene.status != "SUCCEEDED" or not is_usual:
            continue
        terms = terms_of(transfer, catalogue)
        chains = [str(catalogue.chains[each.chain_id]["name"]) for each in (transfer.origin, transfer.destination)]
        amount = f"{Decimal(terms.from_amount).scaleb(-(transfer.origin.decimals or 0)):.6g}"
        arrived = f"{Decimal(terms.to_amount).scaleb(-(transfer.destination.decimals or 0)):.6g}"
        created = datetime.fromtimestamp(transfer.born / 1_000_000, UTC)
        found.append(Known(listed, amount, arrived, transfer.origin.symbol, *chains, created))
    seen = Counter((each.amount, each.symbol, each.origin) for each in found)
    return [each for each in found if seen[each.amount, each.symbol, each.origin] == 1]


def ask(written: str, emulator: Emulator) -> Sequence[Candidate]:
    chains = [ChainInfo(id=number, name=each["name"]) for number, each in emulator.catalogue.chains.items()]
    symbols = [each.symbol for each in emulator.catalogue.tokens]
    read = facts.read(written, chains=chains, symbols=symbols, now=NOW, pasted=identifiers.read(written))
    return candidates(wanted(read), now=NOW)


def tickets(known: Sequence[Known]) -> list[tuple[str, Known, set[str]]]:
    """Return what customers write, the transfer that each means, and what contradicts it: a fact that isn't right."""
    each = iter(known[7 :: len(known) // 20])
    found: list[tuple[str, Known, set[str]]] = []

    def ticket(form: str, *contradicts: str) -> None:
        one = next(each)
        other = next(name for name in ("Gnosis", "Polygon", "Base") if name not in (one.origin, one.destination))
        owner, deposit_address = one.listed.transfer.owner, one.listed.transfer.origin_address
        values = {
            "amount": one.amount,
            "received": one.received,
            "triple": f"{Decimal(one.amount) * 3:.6g}",
            "symbol": one.symbol,
            "origin": one.origin,
            "destination": one.destination,
            "other": other,
            "day": f"{one.created:%B} {one.created.day}",
            "hours": round((NOW - one.created).total_seconds() / HOUR),
            "owner": owner,
            "wallet": short(owner),
            "deposit_address": short(deposit_address),
            "tx": short(one.hash_of("deposit")),
            "origin_tx": short(one.hash_of("origin"), 8, 5),
            "arrival": short(one.hash_of("destination"), 4, 4),
            "intent": short(one.intent_id, 4, 4),
        }
        found.append((form.format(**values), one, set(contradicts)))

    ticket("my tx {tx} from {origin} never arrived")
    ticket("sent {amount} {symbol} {origin} to {destination} on {day}, got nothing")
    ticket("wallet {owner} sent {amount} {symbol} {origin} to {destination}")
    ticket("wallet {wallet} sent {amount} {symbol}")
    ticket("vitalik.eth, sent {amount} {symbol} from {origin} to {destination} on {day}")
    ticket("the arrival {arrival} is missing")
    ticket("Hi, transfer {intent} is stuck")
    ticket("I paid into {deposit_address} on {day}")
    ticket("where is {origin_tx}? {amount} {symbol}")
    ticket("{amount} {symbol} from {origin} {hours} hours ago")
    ticket("{received} should arrive, {origin} to {destination} on {day}")
    ticket("sent {amount} {symbol} from {origin} to {other} on {day}", "destination")
    ticket("wallet {owner} sent {triple} {symbol} {origin} to {destination} on {day}", "amount")
    ticket("my tx {tx} with {triple} {symbol} from {origin}", "amount")
    ticket("{tx} from {other}, {amount} {symbol}", "origin")
    return found


@on_each_engine
def test_fifteen_tickets_find_their_transfer_and_show_what_contradicts_it(
    known: list[Known], emulator: Emulator
) -> None:
    first, missed = 0, []
    for written, meant, contradicts in tickets(known):
        found = ask(written, emulator)
        ids = [each.intent_id for each in found[:3]]
        if meant.intent_id not in ids:
            missed.append(written)
            continue
        first += 1
        candidate = found[ids.index(meant.intent_id)]
        assert contradicts <= set(candidate.contradicts), written
        assert candidate.matches, written
    assert first >= 13, missed
