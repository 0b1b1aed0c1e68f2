"""Pricing of transfers. Amounts are in base units, and USD amounts in millionths, so that sums are exact."""

from dataclasses import dataclass
from typing import Final

from intents_ui.emulator.catalog import PRICE_SCALE, Catalogue, Token
from intents_ui.emulator.names import noise
from intents_ui.emulator.transfers import Transfer, units_of

_FINE: Final = 10**12
_BASIS_POINTS: Final = 10_000

PROVIDER_FEES: Final = {
    "RELAY": 4,
    "CCTP": 1,
    "LIFI": 10,
    "SUSHI": 25,
    "ZEROX": 15,
    "WETH": 0,
    "LZ_OFT": 6,
    "HYPERLANE": 5,
}
OTHER_PROVIDER_FEE: Final = 8
SERVICE_FEE: Final = 5
COLLECTOR_FEE: Final = 2
SWAP_IMPACT: Final = 12

# Wei per unit of gas. Ethereum's makes small transfers from there uneconomical.
GAS_PRICES: Final = {1: 1_400_000_000, 137: 32_000_000_000, 56: 1_000_000_000, 43114: 2_000_000_000, 100: 1_500_000_000}
OTHER_GAS_PRICE: Final = 25_000_000
ORIGIN_GAS: Final = 310_000
DESTINATION_GAS: Final = 180_000
GAS_USAGE: Final = ("NORMAL", "NORMAL", "NORMAL", "BUSY", "VERY_BUSY")


@dataclass(frozen=True, slots=True)
class Fee:
    """An amount in the origin token, with its value."""

    amount: int
    micro_usd: int

    @property
    def usd(self) -> float:
        return self.micro_usd / PRICE_SCALE

    def __add__(self, other: "Fee") -> "Fee":
        return Fee(self.amount + other.amount, self.micro_usd + other.micro_usd)


NO_FEE: Final = Fee(0, 0)


@dataclass(frozen=True, slots=True)
class Gas:
    """Network fee on one chain. `cost` is in wei, `fee` is the same amount in the origin token."""

    chain_id: int
    limit: int
    price: int
    native_symbol: str
    native_price: int
    usage: str
    fee: Fee

    @property
    def cost(self) -> int:
        return self.limit * self.price


@dataclass(frozen=True, slots=True)
class Terms:
    """Price of a transfer: input, output and fees, which add up exactly."""

    origin: Token
    destination: Token
    from_amount: int
    to_amount: int
    to_minimum: int
    origin_gas: Gas
    destination_gas: Gas | None
    providers: tuple[Fee, ...]
    service: Fee
    collector: Fee

    @property
    def from_usd(self) -> float:
        return usd(self.from_amount, self.origin)

    @property
    def to_usd(self) -> float:
        return usd(self.to_amount, self.destination)

    @property
    def to_minimum_usd(self) -> float:
        return usd(self.to_minimum, self.destination)

    @property
    def gas(self) -> Fee:
        return self.origin_gas.fee + (self.destination_gas.fee if self.destination_gas else NO_FEE)

    @property
    def provider(self) -> Fee:
        return sum(self.providers, NO_FEE)

    @property
    def total(self) -> Fee:
        return self.gas + self.provider + self.service + self.collector

    @property
    def loss_usd(self) -> float:
        """USD value of the input minus that of the output."""
        return round(self.from_usd - self.to_usd, 6)

    @property
    def market_loss_usd(self) -> float:
        """Loss that no fee explains: the price impact."""
        return round(self.loss_usd - self.total.usd, 6)


class FeesExceedAmountError(ValueError):
    """The fees exceed the amount."""


def terms_of(transfer: Transfer, catalogue: Catalogue) -> Terms:
    """Return the price of a transfer. Raises FeesExceedAmountError."""
    origin, destination = transfer.origin, transfer.destination
    from_amount = transfer.from_amount
    if from_amount is None:
        from_amount = _input_for_output(transfer, catalogue)
    in_micro = from_amount * origin.price // origin.scale
    origin_gas = _gas(transfer, origin.chain_id, ORIGIN_GAS, catalogue)
    crossing = not transfer.same_chain
    destination_gas = _gas(transfer, destination.chain_id, DESTINATION_GAS, catalogue) if crossing else None
    providers = tuple(_fee(in_micro * points // _BASIS_POINTS, origin) for points in _provider_points(transfer))
    service = _fee(in_micro * _points(transfer, SERVICE_FEE) // _BASIS_POINTS, origin)
    collector = _fee(in_micro * _points(transfer, COLLECTOR_FEE) // _BASIS_POINTS, origin)
    fees = [*providers, service, collector, origin_gas.fee, *([destination_gas.fee] if destination_gas else ())]
    to_amount = transfer.to_amount
    if to_amount is None:
        market = in_micro * _points(transfer, _impact(transfer)) // _BASIS_POINTS
        fine = (
            from_amount * origin.price * _FINE // origin.scale - (sum(fee.micro_usd for fee in fees) + market) * _FINE
        )
        to_amount = fine * destination.scale // (destination.price * _FINE) if destination.price else 0
    if to_amount <= 0:
        raise FeesExceedAmountError(
            f"insufficient origin amount: estimated provider + service + gas fees exceed the provided amount"
            f" (origin={from_amount}, fees={sum(fee.amount for fee in fees)})"
        )
    return Terms(
        origin=origin,
        destination=destination,
        from_amount=from_amount,
        to_amount=to_amount,
        to_minimum=_minimum(transfer, to_amount),
        origin_gas=origin_gas,
        destination_gas=destination_gas,
        providers=providers,
        service=service,
        collector=collector,
    )


def usd(units: int, token: Token) -> float:
    """Return an amount's USD value to twelve significant digits, so that dust isn't rounded to zero."""
    return float(f"{units * token.price / (token.scale * PRICE_SCALE):.12g}")


def _input_for_output(transfer: Transfer, catalogue: Catalogue) -> int:
    """Return the input needed for an output of `to_amount`."""
    origin, destination = transfer.origin, transfer.destination
    out_micro = -(-(transfer.to_amount or 0) * destination.price // destination.scale)
    gas = _gas(transfer, origin.chain_id, ORIGIN_GAS, catalogue).fee.micro_usd
    if not transfer.same_chain:
        gas += _gas(transfer, destination.chain_id, DESTINATION_GAS, catalogue).fee.micro_usd
    points = sum(_provider_points(transfer)) + _points(transfer, SERVICE_FEE + COLLECTOR_FEE + _impact(transfer))
    in_micro = -(-(out_micro + gas) * _BASIS_POINTS // (_BASIS_POINTS - points))
    return -(-in_micro * origin.scale // origin.price)


def _minimum(transfer: Transfer, to_amount: int) -> int:
    if minimum := units_of(transfer.deal.minimum, transfer.destination):
        return minimum
    if transfer.deal.exact_output:
        return to_amount
    return to_amount * (_BASIS_POINTS - round(transfer.slippage * _BASIS_POINTS)) // _BASIS_POINTS


def _points(transfer: Transfer, points: int) -> int:
    return 0 if transfer.deal.free else points


def _impact(transfer: Transfer) -> int:
    return 0 if transfer.origin.symbol == transfer.destination.symbol else SWAP_IMPACT


def _provider_points(transfer: Transfer) -> list[int]:
    return [_points(transfer, PROVIDER_FEES.get(provider, OTHER_PROVIDER_FEE)) for provider in transfer.deal.providers]


def _gas(transfer: Transfer, chain_id: int, base_limit: int, catalogue: Catalogue) -> Gas:
    native = catalogue.native(chain_id)
    chance = noise(transfer.number, f"gas {chain_id}", 2)
    limit = base_limit + chance[0] * 137
    price = GAS_PRICES.get(chain_id, OTHER_GAS_PRICE) * (224 + chance[1] // 4) // 256
    native_price = native.price if native else 140 * PRICE_SCALE
    micro = 0 if transfer.deal.free else limit * price * native_price // 10**18
    return Gas(
        chain_id=chain_id,
        limit=limit,
        price=price,
        native_symbol=native.symbol if native else "SOL",
        native_price=native_price,
        usage=GAS_USAGE[chance[0] % len(GAS_USAGE)],
        fee=_fee(micro, transfer.origin),
    )


def _fee(micro_usd: int, origin: Token) -> Fee:
    return Fee(-(-micro_usd * origin.scale // origin.price) if origin.price else 0, micro_usd)
