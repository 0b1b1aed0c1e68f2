"""What people paste and type, read by every field that takes it: the table is `pasted.toml`."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from intents_ui.console import views as console
from intents_ui.search import facts, identifiers
from intents_ui.search import filters as parameters
from intents_ui.search.facts import TicketFacts
from intents_ui.search.filters import InvalidParameter
from intents_ui.search.identifiers import ADDRESSES, HASHES, Finding, Kind
from intents_ui.service.models import ChainInfo
from intents_ui.service.outcome import Outcome
from intents_ui.triage import lookup
from tests.tables import toml

TABLE: dict[str, Any] = toml(__file__, "pasted")
NOW = datetime(2026, 11, 25, 9, tzinfo=UTC)
CHAINS = {1: "Ethereum", 8453: "Base", 42161: "Arbitrum One", 42170: "Arbitrum Nova", 10: "Optimism", 137: "Polygon",
          56: "BNB Smart Chain", 747474: "Katana"}  # fmt: skip
LISTED = [ChainInfo(id=number, name=name) for number, name in CHAINS.items()]
SYMBOLS = ["USDC", "USDT", "ETH", "WETH", "BNB", "USDC.e", "USD₮0", "$WIF", "1INCH", "OP"]


def filled(written: str) -> str:
    for name, value in TABLE["values"].items():
        written = written.replace(f"{{{name}}}", value)
    return written


def rows(table: str) -> list[Any]:
    return [
        pytest.param(
            filled(written),
            [filled(each) for each in ([reading] if isinstance(reading, str) else reading)],
            id=f"{group}: {written!a}",
        )
        for group, texts in TABLE[table].items()
        for written, reading in texts.items()
    ]


def said(findings: Iterable[Finding]) -> list[str]:
    return [f"{each.kind.value} {each.value} {each.chain}".rstrip() for each in findings]


@pytest.mark.parametrize(("written", "readings"), rows("identifiers"))
def test_the_search_box_and_the_triage_of_a_ticket_have_one_reading(written, readings):
    found = identifiers.read(written)
    if readings[0].startswith("! "):
        assert found.problem.startswith(readings[0][2:])
        assert not found.lookups
    else:
        assert said(found.findings) == readings
    in_ticket = lookup.read(written).findings
    assert not in_ticket or said(in_ticket) == said(found.findings)


@pytest.mark.parametrize(("written", "reading"), list(TABLE["hints"].items()))
def test_an_identifier_has_its_host_its_chain_or_a_warning(written, reading):
    found = identifiers.read(filled(written))
    [only] = found.findings
    assert f"{only.value} | {only.host or only.chain_id or only.warning or ''}".startswith(filled(reading))
    assert only.host or only.chain_id or only.warning or reading.endswith(" | ")
    assert (found.problem, only in found.lookups) == ("", True)


def value_of(readings: list[str], kinds: tuple[Kind, ...]) -> str | None:
    """Return the value that a field of these kinds takes from the text."""
    parts = [each.split(" ") for each in readings]
    values = [each[1] for each in parts if each[0] in [kind.value for kind in kinds]]
    return values[0] if len(values) == 1 else None


def of_form(name: str) -> Callable[[str], object]:
    return lambda written: parameters.read_criteria({name: [written]}).filters.get(name)


def of_parameter(written: str) -> object:
    try:
        return parameters.address(written)
    except InvalidParameter:
        return None


FIELDS: list[tuple[str, tuple[Kind, ...], Callable[[str], object]]] = [
    ("owner filter of lists", ADDRESSES, lambda written: parameters.read({"owner": [written]}).filters.owner),
    ("paths of addresses, tokens and exports", ADDRESSES, of_parameter),
    ("advanced search, owner", ADDRESSES, of_form("owner")),
    ("advanced search, deposit address", ADDRESSES, of_form("origin")),
    ("advanced search, delivery address", ADDRESSES, of_form("destination")),
    ("advanced search, transaction", HASHES, of_form("transaction")),
    ("advanced search, deposit", HASHES, of_form("deposit")),
]


@pytest.mark.parametrize(("name", "kinds", "read"), FIELDS, ids=[name for name, *_ in FIELDS])
def test_every_field_takes_the_value_that_the_box_reads(name, kinds, read):
    given = [row.values for row in rows("identifiers")]
    expected = {written: value_of(readings, kinds) for written, readings in given}
    assert {written: read(written) for written, _ in given} == expected


def test_a_field_of_the_console_takes_the_value_and_leaves_all_else_as_typed():
    for written, readings in (row.values for row in rows("identifiers")):
        taken = console.without_context("ownerAddress", written)
        assert taken.strip().lower() in (written.strip().lower(), (value_of(readings, ADDRESSES) or "").lower())


@pytest.mark.parametrize(("written", "amount"), list(TABLE["amounts"].items()))
def test_an_amount_is_read_as_any_country_writes_it(written, amount):
    found = facts_of(f"{written} USDC")
    assert found.description == (f"{amount} USDC" if amount else "USDC")
    assert bool(found.notes) == (" or " in amount)


@pytest.mark.parametrize(("written", "readings"), rows("facts"))
def test_a_text_in_words_has_its_facts(written, readings):
    found = facts_of(written)
    memo = f"memo {found.memo}" if found.memo else ""
    states = {Outcome.OPEN: "stuck", Outcome.REFUNDED: "refunded", Outcome.FAILED: "failed"}
    state = next((word for outcome, word in states.items() if outcome in found.statuses), "")
    assert " | ".join([found.description, *filter(None, (memo, state))]) == readings[0]


def facts_of(written: str) -> TicketFacts:
    return facts.read(written, chains=LISTED, symbols=SYMBOLS, now=NOW)


def test_the_table_is_large_enough():
    texts = [
        *TABLE["amounts"],
        *TABLE["hints"],
        *(each for table in ("identifiers", "facts") for group in TABLE[table].values() for each in group),
    ]
    assert len(texts) >= 300
