"""Quoted fees of a transfer: the total, each fee as an amount and a share of a bar, and whether they add up.

The service reports the fees of the quote only, never those actually charged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from intents_ui.display.formatting import amounts, hashes, text
from intents_ui.display.formatting.amounts import EXACT, Amount
from intents_ui.display.formatting.text import Figure, Sentence, joined
from intents_ui.display.tokens import providers, token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.transfer import Transfer, derived, first
from intents_ui.service.models import GasFee, IntentFees

# The service rounds each part, so five parts can differ from their sum by a few cents.
TOLERANCE = Decimal("0.02")
TENTHS_OF_A_PERCENT = Decimal(1000)


class Source(StrEnum):
    ORIGIN_GAS = "origin-gas"
    DESTINATION_GAS = "destination-gas"
    GAS = "gas"
    PROVIDER = "provider"
    SERVICE = "service"
    COLLECTOR = "collector"


@dataclass(frozen=True)
class FeePart:
    """A fee. `amount` is in its own token: the native token for a network fee, otherwise the fee token.

    Only the total shows a warning about the fee token. `start` and `share` are percent of the bar, 0 for all fees if
    one is negative or unknown.
    """

    source: Source
    label: str
    usd: Decimal | None
    amount: Amount | None = None
    start: Decimal = Decimal(0)
    share: Decimal = Decimal(0)

    @property
    def shown(self) -> Figure:
        return amounts.fee(self.usd)

    @property
    def in_token(self) -> str:
        return replace(self.amount, warning="").in_words if self.amount else ""


@dataclass(frozen=True)
class Fees:
    """All fees. `total` and `amount` as reported. Without a total, the sum of the parts (`is_stated` False).

    `gap` is the total minus the sum of the parts in USD, None if any of them is missing. `sentence` is "" if the
    parts add up in USD and in the fee token.
    """

    total: Decimal | None = None
    parts: tuple[FeePart, ...] = ()
    amount: Amount | None = None
    is_stated: bool = False
    gap: Decimal | None = None
    sentence: str = ""

    @property
    def shown(self) -> Figure:
        return amounts.fee(self.total)

    @property
    def in_token(self) -> str:
        return self.amount.in_words if self.amount else ""

    @property
    def adds_up(self) -> bool | None:
        """Return whether the fees add up to the total, apart from rounding."""
        return None if self.gap is None else self.gap.copy_abs() <= TOLERANCE


@derived
def of(transfer: Transfer) -> Fees:
    received = transfer.intent.fees
    if received is None:
        return Fees()
    known = [part for part in _parts(received, transfer) if part.usd is not None or part.amount]
    values = [part.usd for part in known if part.usd is not None]
    total, listed = received.total_fee_usd, amounts.total(values)
    is_complete = bool(values) and len(values) == len(known)
    gap = EXACT.subtract(total, listed) if total is not None and is_complete else None
    return Fees(
        total=total if total is not None else (listed if is_complete else None),
        parts=tuple(_on_a_bar(known)),
        amount=_in_fee_token(received.total_fee_amount, received, transfer),
        is_stated=total is not None,
        gap=gap,
        sentence=_sentence(received, transfer, listed, is_complete=is_complete) if known else "",
    )


def _parts(received: IntentFees, transfer: Transfer) -> Iterator[FeePart]:
    provider = received.provider
    provider_usd = first(received.provider_fee_usd, provider.quote_provider_fee_usd if provider else None)
    service_usd = first(received.service_fee_usd, provider.service_fee_usd if provider else None)
    named = provider.quote_provider if provider else None
    kind = "Swap fee" if transfer.is_same_chain else "Bridge fee"
    yield from _gas(received, transfer)
    for source, label, usd, units in (
        (
            Source.PROVIDER,
            f"{kind} ({providers.label(named)})" if named else kind,
            provider_usd,
            received.provider_fee_total,
        ),
        (Source.SERVICE, "Service fee", service_usd, received.service_fee_total),
        (Source.COLLECTOR, "Collector fee", received.collector_fee_usd, received.collector_fee_total),
    ):
        yield FeePart(source, label, usd, _in_fee_token(units, received, transfer))


def _gas(received: IntentFees, transfer: Transfer) -> Iterator[FeePart]:
    """Return network fees by chain if each is reported in USD, otherwise their sum."""
    sides = ((Source.ORIGIN_GAS, received.origin_gas), (Source.DESTINATION_GAS, received.destination_gas))
    by_chain = [(source, gas) for source, gas in sides if gas]
    if not by_chain or any(gas.total_fee_usd is None for _, gas in by_chain):
        units = _in_fee_token(received.gas_fee_total, received, transfer)
        yield FeePart(Source.GAS, "Network fees", received.gas_fee_usd, units)
    else:
        for source, gas in by_chain:
            side = "origin chain" if source == Source.ORIGIN_GAS else "destination chain"
            chain = transfer.chain_name(gas.chain_id, unknown=side)
            yield FeePart(source, f"Network fee ({chain})", gas.total_fee_usd, _in_coin(gas, transfer))


def _in_coin(gas: GasFee, transfer: Transfer) -> Amount | None:
    """Return the network fee in the chain's native token."""
    if gas.total_fee_amount is None:
        return None
    coin = Money(gas.total_fee_amount, gas.chain_id, hashes.ZERO_ADDRESS, names=transfer.names)
    found = coin.amount
    if found.unit not in ("", amounts.BASE_UNITS) or not gas.native_token_symbol:
        return found
    return amounts.amount(coin.value, decimals=coin.decimals, symbol=gas.native_token_symbol)


def _in_fee_token(units: int | None, received: IntentFees, transfer: Transfer) -> Amount | None:
    """Return an amount of the fee token, which is on the origin chain."""
    if units is None:
        return None
    if received.fee_token_address is None:
        return amounts.amount(units, decimals=None)
    money = transfer.money(units, transfer.origin_chain_id, received.fee_token_address)
    # Most fees are in the deposited token.
    asked = transfer.money(None, transfer.asked.chain_id, transfer.asked.token_address)
    if token_amounts.is_same_token(money, asked):
        money = replace(money, own_decimals=transfer.asked.decimals)
    return money.amount


def _on_a_bar(parts: Sequence[FeePart]) -> Iterator[FeePart]:
    """Return the shares of the bar. Ends are rounded rather than widths, so the bar has no gaps or overlaps."""
    values = [part.usd for part in parts if part.usd is not None and part.usd >= 0]
    whole = amounts.total(values)
    if len(values) < len(parts) or not whole:
        yield from parts
        return
    until, start = Decimal(0), Decimal(0)
    for part, value in zip(parts, values, strict=True):
        until = EXACT.add(until, value)
        end = EXACT.divide(EXACT.multiply(until, TENTHS_OF_A_PERCENT), whole).to_integral_value() / 10
        yield replace(part, start=start, share=end - start)
        start = end


def _sentence(received: IntentFees, transfer: Transfer, listed: Decimal, *, is_complete: bool) -> str:
    rest = _rest(received)
    if is_complete:
        in_usd = _in_usd(received.total_fee_usd, listed)
    elif received.total_fee_usd is None:
        in_usd = "Some fees have no USD value, so no total is shown."
    else:
        in_usd = "" if rest == 0 else "Some fees have no USD value, so the total can't be checked."
    return joined(" ", filter(None, (in_usd, _in_token(rest, received, transfer))))


def _in_usd(total: Decimal | None, listed: Decimal) -> str:
    if total is None:
        return "The service reported no total. This is the sum of the fees listed."
    gap = EXACT.subtract(total, listed)
    if not gap:
        return ""
    more = "less" if gap > 0 else "more"
    apart = amounts.fee(gap.copy_abs())
    return Sentence("Fees add up to ", amounts.fee(listed), ", ", apart, f" {more} than the quoted total.")


def _in_token(rest: int | None, received: IntentFees, transfer: Transfer) -> str:
    if not rest or received.total_fee_amount is None:
        return ""
    listed, apart = (
        replace(amount, warning="").in_words
        for units in (received.total_fee_amount - rest, abs(rest))
        if (amount := _in_fee_token(units, received, transfer))
    )
    symbol = transfer.money(None, transfer.origin_chain_id, received.fee_token_address).symbol
    token = text.symbol(symbol).shown if symbol else "the fee token"
    more = "less" if rest > 0 else "more"
    return Sentence(f"In {token}, fees add up to ", listed, ", ", apart, f" {more} than the quoted total.")


def _rest(received: IntentFees) -> int | None:
    """Return the total minus the sum of the fees in base units, which can differ even if the USD values add up."""
    units = (
        received.gas_fee_total,
        received.provider_fee_total,
        received.service_fee_total,
        received.collector_fee_total,
    )
    known = [value for value in units if value is not None]
    return received.total_fee_amount - sum(known) if received.total_fee_amount is not None and known else None
