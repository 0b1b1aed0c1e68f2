"""Route providers: their names, and how long the slow ones may take (docs/contract.md#durations)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from intents_ui.formatting import text

AUTOMATIC = "AUTO"
LABELS = {
    "AUTO": "Automatic",
    "CCTP": "CCTP",
    "EVERLONG": "Everlong",
    "GASZIP": "Gas.zip",
    "HYPERLANE": "Hyperlane",
    "LIFI": "LI.FI",
    "LZ_OFT": "LayerZero OFT",
    "LZ_TRANSFER": "LayerZero Transfer",
    "OIF": "Open Intents Framework",
    "RELAY": "Relay",
    "SOMNIA_EXCHANGE": "Somnia Exchange",
    "SOMNIA_SWAP": "Somnia Swap",
    "SUSHI": "Sushi",
    "WETH": "Wrapped Ether",
    "ZEROX": "0x",
}

# Without "automatic", which lets the service choose a provider.
KNOWN = tuple(word for word in LABELS if word != AUTOMATIC)

# They swap or wrap on one chain, so two chains with them aren't connected.
ON_ONE_CHAIN = frozenset({"SOMNIA_EXCHANGE", "SOMNIA_SWAP", "SUSHI", "WETH", "ZEROX"})

# Bridges that wait for finality, and their usual maximum.
SLOW = {"CCTP": timedelta(minutes=30), "LZ_OFT": timedelta(minutes=90), "LZ_TRANSFER": timedelta(minutes=90)}


@dataclass(frozen=True, slots=True)
class Provider:
    """A route provider. `word`: its name in the API."""

    word: str
    label: str

    @property
    def is_known(self) -> bool:
        """Return whether it's one of KNOWN, and so has a page."""
        return self.word in KNOWN


def of(word: str) -> Provider:
    return Provider(word.upper() if word.upper() in LABELS else word, label(word))


def named(written: str) -> str | None:
    """Return the API name of the provider with this name or label, in any letter case."""
    by_label = {label.casefold(): word for word, label in LABELS.items()}
    return written.upper() if written.upper() in LABELS else by_label.get(written.casefold())


def label(provider: str) -> str:
    """Return the provider's name. Unknown providers keep their text, because the list keeps growing."""
    return LABELS.get(provider.upper()) or text.name(provider).shown


def labels(providers: Iterable[str]) -> tuple[str, ...]:
    return tuple(label(provider) for provider in providers if provider)


def slow_range(providers: Iterable[str]) -> timedelta | None:
    known = [SLOW[provider.upper()] for provider in providers if provider.upper() in SLOW]
    return max(known, default=None)
