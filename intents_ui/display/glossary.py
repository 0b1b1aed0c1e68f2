"""Glossary: all terms are in `/help`, and each page has tooltips for the terms it uses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Word:
    """`word` as in a sentence, and its `anchor` in the help page."""

    word: str
    meaning: str

    @property
    def anchor(self) -> str:
        return self.word.replace(" ", "-")

    @property
    def heading(self) -> str:
        return self.word[:1].upper() + self.word[1:]


_MEANINGS = {
    "base units": "An integer amount without decimals. 1 USDC with 6 decimals is 1,000,000 base units. Amounts of a "
    "token with unknown decimals are shown in base units.",
    "calldata": "The encoded function call in a transaction. Pages decode it where the function is known.",
    "commit": "To accept a quote. The price is locked for up to 10 minutes and the deposit address is watched. No "
    "funds move.",
    "deposit address": "The address on the origin chain to send the deposit to. It is unique to this transfer. The "
    "service calls it the origin intent address.",
    "destination": "The receiving side of a transfer: chain, token and recipient.",
    "destination intent address": "The address on the destination chain that receives bridged funds before the last "
    "step.",
    "execute": "To start a committed transfer once its deposit is confirmed.",
    "featured token": "A token that the service ranks first. Featured does not mean verified.",
    "gas": "The network fee for a transaction, paid in the chain's native token even if it fails.",
    "intent": "The service's record of one transfer: tokens, chains, amounts and recipient.",
    "listed token": "A token on the service's list. Other tokens have unverified names and decimals.",
    "native token": "A chain's base asset, used to pay its network fees. It has no contract, so the zero address "
    "represents it.",
    "open until": "When the quote expires. An expired quote can't be committed or executed. Request a new one.",
    "origin": "The sending side of a transfer: chain, token and owner.",
    "owner": "The wallet that requested the transfer. Only the owner can recover funds from its intent addresses.",
    "quote": "The service's price for a transfer: what is sent, what is received, and when the quote expires.",
    "receipt": "The service's record of a transfer's progress: each step, its transaction and its status.",
    "recipient": "The wallet that receives the funds: the owner's or another one.",
    "recoverable balance": "Funds left at an intent address of a closed transfer. The owner's wallet can recover them.",
    "refund": "The automatic return of funds to the owner after a transfer fails.",
    "route": "The chains, swaps and bridges a transfer uses.",
    "route provider": "A bridge or DEX that executes part of the route.",
    "slippage": "The difference between the quoted and executed price. The slippage tolerance sets the minimum "
    "received.",
    "testnet": "A chain for testing. Its tokens have no value.",
    "trade": "Which amount is fixed. Exact input fixes the amount sent, exact output the amount received.",
}
GLOSSARY: Mapping[str, Word] = MappingProxyType({word: Word(word, said) for word, said in sorted(_MEANINGS.items())})
_USED = re.compile(r'interestfor="term-([a-z-]+)"')


def used_in(page: str) -> tuple[Word, ...]:
    """Return the glossary terms that a rendered page has tooltips for, each once."""
    anchors = set(_USED.findall(page))
    return tuple(each for each in GLOSSARY.values() if each.anchor in anchors)
