"""What a transfer costs in USD: the total, its parts with their shares for a bar, and whether they add up."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from intents_ui.display import amounts, names, providers
from intents_ui.display.names import NO_NAMES, Names
from intents_ui.service.wire import GasFee, IntentFees

# Each part is rounded by the service; five parts may differ from their sum by a few cents.
TOLERANCE = Decimal("0.02")


class Source(StrEnum):
    ORIGIN_GAS = "origin-gas"
    DESTINATION_GAS = "destination-gas"
    GAS = "gas"
    PROVIDER = "provider"
    SERVICE = "service"
    COLLECTOR = "collector"


@dataclass(frozen=True)
class Part:
    """`share` is the part's percentage of all parts, for the width in a bar; 0 for all where one is negative."""

    source: Source
    label: str
    usd: Decimal
    share: Decimal

    @property
    def shown(self) -> str:
        return amounts.usd(self.usd)


@dataclass(frozen=True)
class Fees:
    """`adds_up` is None when the service gave no total or no parts."""

    total: Decimal | None
    parts: tuple[Part, ...]
    adds_up: bool | None

    @property
    def shown(self) -> str:
        return amounts.usd(self.total)


def fees(received: IntentFees | None, *, using: Names = NO_NAMES) -> Fees:
    """The total as the service states it; only without one, the sum of the parts."""
    if received is None:
        return Fees(None, (), None)
    known = [(source, label, usd) for source, label, usd in _sources(received, using=using) if usd]
    total = sum((usd for _, _, usd in known), Decimal())
    whole = total if all(usd > 0 for _, _, usd in known) else Decimal(0)
    parts = tuple(Part(source, label, usd, _share(usd, whole)) for source, label, usd in known)
    if received.total_fee_usd is None:
        return Fees(total if known else None, parts, None)
    adds_up = abs(total - received.total_fee_usd) <= TOLERANCE if known else None
    return Fees(received.total_fee_usd, parts, adds_up)


def _sources(received: IntentFees, *, using: Names) -> Iterable[tuple[Source, str, Decimal | None]]:
    provider = received.provider
    yield from _gas(received, using=using)
    yield (
        Source.PROVIDER,
        providers.label(provider.quote_provider) if provider and provider.quote_provider else "Provider",
        _first(received.provider_fee_usd, provider.quote_provider_fee_usd if provider else None),
    )
    yield (
        Source.SERVICE,
        "Service",
        _first(received.service_fee_usd, provider.service_fee_usd if provider else None),
    )
    yield Source.COLLECTOR, "Collector", received.collector_fee_usd


def _gas(received: IntentFees, *, using: Names) -> Iterable[tuple[Source, str, Decimal | None]]:
    """By chain where the service says so, else in one sum."""
    sides = ((Source.ORIGIN_GAS, received.origin_gas), (Source.DESTINATION_GAS, received.destination_gas))
    by_chain = [(source, gas) for source, gas in sides if gas and gas.total_fee_usd is not None]
    if not by_chain:
        yield Source.GAS, "Gas", received.gas_fee_usd
    for source, gas in by_chain:
        yield source, _gas_label(source, gas, using=using), gas.total_fee_usd


def _gas_label(source: Source, gas: GasFee, *, using: Names) -> str:
    side = "the origin chain" if source == Source.ORIGIN_GAS else "the destination chain"
    return f"Gas on {names.chain(gas.chain_id, info=using.chain(gas.chain_id), unknown=side)}"


def _share(usd: Decimal, whole: Decimal) -> Decimal:
    return (usd / whole * 100).quantize(Decimal("0.1")) if whole else Decimal(0)


def _first(*values: Decimal | None) -> Decimal | None:
    return next((value for value in values if value is not None), None)
