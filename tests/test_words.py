"""The lint of words (tests/words.py, part of `make lint`): what pages once said, and what they say today."""

from tests.words import LONGEST, PATTERNS, findings, markup

# By pattern: a sentence that a page or a document once said, and what it says today.
OLD_AND_NEW = {
    "nobody in particular": ("Whoever pays has to sign.", "The owner must sign."),
    "anew": ("Ask for a price anew.", "Request a new quote."),
    "mend": ("Mend what is marked, or take all filters off.", "Fix the marked fields, or clear all filters."),
    "had": ("It can be had just now.", "It is available."),
    "by itself": ("The page looks again by itself.", "The page updates automatically."),
    "stands": ("The answer will stand here.", "The response appears here."),
    "says nothing": ("The service says nothing about the amount.", "The service didn't report the amount."),
    "asked": ("The service was not asked again.", "No request was sent to the service."),
    "money": ("The money is on Base. Native coin: ETH.", "The funds are on Base. Native token: ETH."),
    "offer": ("The offer ended before it was accepted.", "The quote expired before it was accepted."),
    "promise": ("It came later than promised.", "It took longer than estimated."),
    "take back": ("Take it back with the owner wallet.", "Recover the funds with the owner's wallet."),
    "came back": ("Everything came back on Base.", "Refunded on Base."),
    "return of funds": ("99 USDC returned to the owner.", "99 USDC refunded to the owner."),
    "exchange": ("USDC was exchanged for ETH.", "USDC was swapped for ETH."),
    "way": ("Others on this way have trouble too.", "Other transfers on this route fail too."),
    "carrier": ("The carrier is Relay.", "The provider is Relay."),
    "percent": ("28 s for 95 % of 14.", "95% within 28 s (14 transfers)."),
    "ID": ("Copy the intent id.", "Copy the intent ID."),
    "URL and CSV": ("Open the url, or export a csv.", "Open the URL, or export a CSV."),
    "payment": ("Do not pay again.", "Do not deposit again."),
    "smallest unit": ("In the token's smallest unit.", "In base units."),
    "chain number": ("Type a chain's number.", "Enter a chain ID."),
    "look-alike": ("It has a look-alike letter.", "It has a lookalike letter."),
    "delivery address": ("At the delivery address.", "At the destination intent address."),
    "what it holds": ("What the addresses hold", "Intent address balances"),
    "in flight": ("Not taken up. 3 are in flight.", "Not accepted. 3 are open."),
    "crossing": ("It crossed to Base.", "It was bridged to Base."),
    "gas": ("Gas on Base", "Network fee (Base)"),
    "reader": ("Many readers see the same list.", "All users see the same list."),
    "kept": ("Kept in this browser", "Saved in this browser"),
    "slow down": ("The service asked us to slow down.", "The service is rate limiting requests."),
    "as good as new": ("An old copy is as good as new.", "A cached response is fresh."),
    "invented": ("All of it is invented.", "Demo data."),
    "member": ("A member of the request is missing.", "A field is missing."),
    "filter words": ("Take a filter off. Wipe everything.", "Remove a filter. Clear everything."),
    "for half": ("18 s for half of them.", "Median 18 s."),
    "as far as": ("Nothing has arrived, as far as we can see.", "No deposit has been seen."),
    "told": ("It is told of an owner's alone.", "Only an owner's list includes it."),
    "administrator": ("Ask who runs this dashboard.", "Contact your administrator."),
    "British spelling": ("Cancelled, of a grey colour.", "Canceled, in gray."),
}


def test_every_pattern_finds_the_old_words_and_none_finds_the_new_ones() -> None:
    assert OLD_AND_NEW.keys() == {pattern.name for pattern in PATTERNS}
    for name, (old, new) in OLD_AND_NEW.items():
        assert name in {finding.pattern for finding in findings(old, "an example")}, old
        assert findings(new, "an example", is_message=True) == [], new


def test_a_sentence_of_a_message_has_at_most_22_words() -> None:
    sentence = " ".join(["Word"] * LONGEST)
    assert findings(f"{sentence}. {sentence}.", "an example", is_message=True) == []
    [found] = findings(f"{sentence} more.", "an example", is_message=True)
    assert found.pattern == "long sentence"


def test_a_label_a_heading_and_a_placeholder_of_a_page_are_read() -> None:
    page = """<title>One</title><main><h2>Two</h2><input placeholder="Three" aria-label="Four"><pre>raw</pre></main>"""
    assert set(markup(page).splitlines()) == {"One", "Two", "Three", "Four"}
