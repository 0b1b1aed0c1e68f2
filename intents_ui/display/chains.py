"""A chain for a reader, whichever form the service gave it in (interface.md 2.15)."""

from dataclasses import dataclass

from intents_ui.display import coins, names, text
from intents_ui.display.coins import Coin
from intents_ui.service.wire import ChainInfo


@dataclass(frozen=True)
class Chain:
    """Names are safe to read."""

    id: int
    name: str
    coin: Coin
    native_symbol: str


def of(info: ChainInfo) -> Chain:
    name = names.chain(info.id, info=info)
    return Chain(info.id, name, coins.of_chain(info.id, name), text.symbol(info.native_symbol).shown)
