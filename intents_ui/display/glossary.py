"""The technical words of the pages, each explained in a sentence or two: all of them in `/help`, its own on each page.

Each entry says what the word means for the user's funds. Where the service's API uses another word, both are given.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Word:
    """`word` as it stands in a sentence; its `anchor` in the help is its address."""

    word: str
    meaning: str

    @property
    def anchor(self) -> str:
        return self.word.replace(" ", "-")

    @property
    def heading(self) -> str:
        return self.word[:1].upper() + self.word[1:]


_MEANINGS = {
    "base units": "The smallest parts of a token, as a cent is of a euro. A token's decimals say how many make one; "
    "without them an amount can only be given in base units.",
    "calldata": "What a transaction tells a contract to do, as bytes. The pages say it in words where they know the "
    "function.",
    "commit": "To accept a quote as it came. From then on its price is held for some minutes and its deposit "
    "address is watched. No money moves by this.",
    "delivery address": "Where the money comes out of the bridge, on the destination chain, before the last step. The "
    "service calls it the destination intent address.",
    "deposit address": "Where the payment goes, on the origin chain. It belongs to this transfer and its owner alone. "
    "The service calls it the origin intent address.",
    "destination": "The side on which the money arrives: its chain, its token, its address.",
    "execute": "To begin a committed transfer: the payment has been seen, and its steps are sent to the chains.",
    "featured token": "A token that the service puts first on its lists. That is its choice, not a promise that the "
    "token is good.",
    "gas": "The fee of a chain for each transaction. It is paid in the chain's own coin, also for one that fails.",
    "intent": "One transfer as it was asked for: from which token and chain to which, and for whom.",
    "listed token": "A token that the service has on one of its lists. Of one that is not listed, neither name nor "
    "decimals are vouched for.",
    "native currency": "A chain's own coin, in which its fees are paid. It has no contract, so an address of zeros "
    "stands in its place.",
    "open until": "When the quote expires. After that it cannot be committed, and a payment is not carried on by it: "
    "ask for a new quote.",
    "origin": "The side from which the money is sent: its chain, its token, its address.",
    "owner": "The wallet that asked for the transfer. It alone can take money back from the addresses of the transfer.",
    "quote": "What the service offers for a transfer: what is to be paid, what arrives, and until when that holds.",
    "receipt": "What the service has recorded of a transfer: each step, its transaction and its state.",
    "recipient": "Who gets the money in the end: the owner, or somebody who is paid.",
    "recoverable balance": "Money that was left at an address of a transfer that is over. The owner wallet can take it "
    "back.",
    "refund": "The service sends the money back to the owner, on the chain where it then is. The pages also call it "
    "the return.",
    "route": "The way from the one token to the other: the chains, the exchanges and the bridge that carries it.",
    "route provider": "Who carries money from chain to chain, or exchanges tokens, for the service: a bridge or an "
    "exchange.",
    "slippage": "How far the price may move, or has moved, between the quote and the exchange. What was agreed as the "
    "most protects what arrives.",
    "testnet": "A chain for trying things out. Its coins are worth nothing.",
    "trade": "Which amount is fixed. Exact input: what is paid, and what arrives may vary. Exact output: what arrives, "
    "and what is paid may vary.",
}
GLOSSARY: Mapping[str, Word] = MappingProxyType({word: Word(word, said) for word, said in sorted(_MEANINGS.items())})
_USED = re.compile(r'interestfor="term-([a-z-]+)"')


def used_in(page: str) -> tuple[Word, ...]:
    """The words that a rendered page explains, each once."""
    anchors = set(_USED.findall(page))
    return tuple(each for each in GLOSSARY.values() if each.anchor in anchors)
