"""A ticket without identifiers that describes a transfer has guesses, and nothing counts them as found."""

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui import wiring
from intents_ui.display.formatting import amounts
from intents_ui.display.search import input_errors
from intents_ui.display.triage import guesses
from intents_ui.emulator.app import Emulator
from intents_ui.service.wire.models import IntentHistory, Page
from tests.pages.test_triage import NOTHING, Answer, send, visible_text

ROUTE = "100 USDC from Arbitrum to Base"
CHAINS = {42161: "Arbitrum", 8453: "base", 137: "Polygon", 10: "OPTIMISM", 1: "Ethereum"}


def main(answer: Answer) -> str:
    return visible_text(answer.page.partition("<main")[2].partition("</main>")[0])


def rows(answer: Answer) -> list[tuple[str, str]]:
    """Return the link and what matches of each guess."""
    table = LexborHTMLParser(answer.page).css("table.intents tbody tr")
    return [
        (
            row.css_first("a.row-link").attributes["href"] or "",
            " ".join(row.css_first('td[data-label="Matched by"]').text().split()),
        )
        for row in table
    ]


def newest(symbol: str) -> list[IntentHistory]:
    """Return the newest transfers of a token between two of the chains, which have a known amount."""
    found = wiring.service().get_intent_history(page=Page.first(size=100)).intents
    return [
        each
        for each in found
        if each.receipt
        and (summary := each.receipt.summary)
        and summary.origin_token_amount
        and summary.origin_token_metadata
        and summary.origin_token_metadata.symbol == symbol
        and {each.receipt.origin_chain_id, each.receipt.destination_chain_id} <= CHAINS.keys()
    ]


def amount_of(entry: IntentHistory) -> str:
    assert entry.receipt
    assert entry.receipt.summary
    summary = entry.receipt.summary
    assert summary.origin_token_amount
    assert summary.origin_token_metadata
    return amounts.plain(summary.origin_token_amount, decimals=summary.origin_token_metadata.decimals or 0)


@pytest.mark.parametrize("symbol", ["USDC", "ETH"])
def test_every_new_transfer_is_the_first_guess_for_its_description(
    site: Client, emulator: Emulator, symbol: str
) -> None:
    for entry in newest(symbol)[:4]:
        assert entry.receipt
        assert entry.created_at
        origin, destination = (
            CHAINS[each or 0] for each in (entry.receipt.origin_chain_id, entry.receipt.destination_chain_id)
        )
        answer = send(
            f"I sent {amount_of(entry)} {symbol.lower()} from {origin} to {destination} on {entry.created_at:%b %d}!"
        )
        assert answer.status == 200
        best = [link for link, matched in rows(answer) if matched == "amount, token, both chains, date"]
        assert f"/intent/{entry.intent_id}" in best
        assert len(rows(answer)) <= guesses.MOST


def test_guesses_are_apart_from_what_is_identified(site: Client, emulator: Emulator) -> None:
    answer = send(f"{ROUTE} yesterday")
    page = main(answer)
    assert LexborHTMLParser(answer.page).css_first("h2#guesses").text() == "Guesses"
    assert "Read as: 100 USDC, Arbitrum One to Base, Nov 20" in page
    assert "Searched the 100 newest transfers. These are guesses. Confirm the intent ID" in page
    assert rows(answer)
    assert (answer.rows, answer.replies, answer.total, answer.groups[1:]) == ([], {}, "", [])
    assert 'class="counts"' not in answer.page
    assert answer.headers["cache-control"] == "no-store"
    field = LexborHTMLParser(answer.page).css_first("textarea")
    assert field.text().strip() == f"{ROUTE} yesterday"
    assert "autofocus" not in field.attributes


def test_a_rounded_amount_is_marked(site: Client, emulator: Emulator) -> None:
    matched = {words for _, words in rows(send("100.2 USDC from Arbitrum to Base"))}
    assert "about the amount, token, both chains" in matched
    assert not any(words.startswith("amount") for words in matched)


def test_an_amount_that_differs_by_two_percent_is_no_guess(site: Client, emulator: Emulator) -> None:
    found, others = ({link for link, _ in rows(send(f"{each} USDC from Arbitrum to Base"))} for each in (100, 102))
    assert found
    assert found.isdisjoint(others)


def test_dollars_are_guessed_at_the_current_price(site: Client, emulator: Emulator) -> None:
    answer = send("$100 from Arbitrum to Base")
    assert "Read as: $100, Arbitrum One to Base" in main(answer)
    assert {words for _, words in rows(answer)} >= {"about the amount, both chains"}


def test_tokens_without_a_price_are_mentioned(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetTokenPrices", "failing-500")
    answer = send("$100 from Arbitrum to Base")
    assert "Some tokens have no price. Transfers of them were not compared." in main(answer)
    assert rows(answer) == []


def test_no_match_is_said_and_is_no_error(site: Client, emulator: Emulator) -> None:
    answer = send("123456.78 USDC from Arbitrum")
    assert answer.status == 200
    assert "Searched the 100 newest transfers. None of them matches." in main(answer)
    assert "<title>No matches" in answer.page
    assert rows(answer) == []


@pytest.mark.parametrize("operation", ["GetIntentHistory", "GetChains", "GetTokenList", "*"])
def test_a_failure_is_not_a_miss(site: Client, emulator: Emulator, operation: str) -> None:
    emulator.inject(operation, "failing-500")
    answer = send(ROUTE)
    assert answer.status == 503
    assert answer.headers["retry-after"]
    assert "Couldn't search the newest transfers: Service error. Try again." in main(answer)
    assert "None of them" not in answer.page
    assert "<title>Search incomplete" in answer.page
    assert f"{ROUTE}</textarea>" in answer.page


@pytest.mark.parametrize("text", ["my order 4711 is gone", "please help with 100 of them", "$100 yesterday"])
def test_an_amount_without_a_token_or_chain_stays_an_error(site: Client, emulator: Emulator, text: str) -> None:
    answer = send(text)
    assert answer.status == 400
    assert input_errors.NOTHING in answer.page
    assert "Guesses" not in answer.page


@pytest.mark.parametrize("beside", [NOTHING, "0x1234…abcd", "0xabcdef0123456789", "vitalik.eth"])
def test_next_to_an_identifier_nothing_is_guessed(site: Client, emulator: Emulator, beside: str) -> None:
    assert 'id="guesses"' not in send(f"{ROUTE}, {beside}").page


@pytest.mark.parametrize("words", [ROUTE, f"{ROUTE} {'and more of it ' * 10}"])
def test_a_search_for_a_description_leads_to_its_guesses(site: Client, emulator: Emulator, words: str) -> None:
    response = site.get("/search", {"q": words})
    page = LexborHTMLParser(response.content.decode())
    form = page.css_first('main form[action="/triage"]')
    assert form.css_first('input[name="q"]').attributes["value"] == words
    assert "Read as: 100 USDC, Arbitrum One to Base" in visible_text(form.html or "")
    assert response.status_code in (400, 404)
    assert rows(send(words))


@pytest.mark.parametrize("words", ["Order #4711 of Base", "my transfer from Arbitrum to Base", "help " * 40 + "100"])
def test_a_search_for_other_words_does_not(site: Client, emulator: Emulator, words: str) -> None:
    assert 'action="/triage"' not in site.get("/search", {"q": words}).content.decode().partition("<main")[2]
