"""Words for operations that somebody calls by hand: what each is for, what a write does, what came of a call."""

from collections.abc import Mapping

ABOUT: Mapping[str, str] = {
    "SearchIntents": "Finds intents by an id, a hash or an address.",
    "GetIntentHistory": "Lists intents page by page, with their receipts.",
    "GetIntent": "Gives one intent: what was quoted, and its state.",
    "GetIntentReceipt": "Gives what has happened to an intent so far, transaction by transaction.",
    "WaitIntentReceipt": "Waits, up to about half a minute, until something happens to an intent.",
    "CommitIntent": "Accepts a quote. From then on there are 10 minutes to execute it.",
    "GetTokenList": "Lists the tokens of chains: the featured ones, or all that are listed.",
    "GetChains": "Lists the chains that the service moves money between.",
    "GetExactInputRoutes": "Lists what can be had for a token.",
    "GetExactOutputRoutes": "Lists what a token can be paid with.",
    "QuoteIntent": "Makes an intent: what would be paid, what would arrive, and the fees.",
    "ExecuteIntent": "Sets a committed intent going.",
    "GetTokenPrices": "Gives prices of tokens in US dollars.",
}
