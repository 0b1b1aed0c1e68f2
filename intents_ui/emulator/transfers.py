"""The parts of a transfer that never change, and its price: base units, and millionths of a USD, so sums are exact."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from intents_ui.emulator import names
from intents_ui.emulator.catalog import NATIVES, PRICE_SCALE, PROVIDERS, Token, known
from intents_ui.emulator.names import Role, noise
from intents_ui.emulator.scenario_engine import Deal, Scenario, Scene

OWNERS = 200
PROJECTS = (1041, 1042, 1077)
EXPIRY_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer. `born` is the quote time in microseconds, and also the intent's `id`.

    Amounts are in base units, None if they follow from the other one. `scenario` is None for a caller's own quote.
    `stretch` is how many times slower than its scenario it runs.
    """

    number: int
    born: int
    owner: str
    deal: Deal
    origin: Token
    destination: Token
    project: int
    from_amount: int | None
    to_amount: int | None
    slippage: float
    recipient: str
    call_data: str = "0x"
    call_value: int = 0
    scenario: Scenario | None = None
    variant: str = "A"
    stretch: float = 1.0

    @property
    def intent_id(self) -> str:
        return names.hash_of(Role.INTENT, self.number)

    @property
    def origin_address(self) -> str:
        return names.address_of(Role.ORIGIN_ADDRESS, self.number)

    @property
    def destination_address(self) -> str:
        """The destination intent address. A same-chain transfer has one intent address."""
        role = Role.ORIGIN_ADDRESS if self.same_chain else Role.DESTINATION_ADDRESS
        return names.address_of(role, self.number)

    @property
    def same_chain(self) -> bool:
        return self.origin.chain_id == self.destination.chain_id

    @property
    def expires(self) -> int:
        return self.born + EXPIRY_SECONDS * 1_000_000

    def age(self, now: int) -> float:
        """Return how many of its scenario's seconds have passed since the quote."""
        return (now - self.born) / 1_000_000 / self.stretch

    def moment(self, seconds: float) -> int:
        """Return the time, in microseconds, of the scenario's moment `seconds` after the quote."""
        return self.born + round(seconds * self.stretch * 1_000_000)


@dataclass(frozen=True, slots=True)
class Course:
    """A transfer and its scenes, past and future, as changed by callers. Only its owner lists one not `listed`."""

    transfer: Transfer
    scenes: tuple[Scene, ...]
    listed: bool = True


def course_of(
    scenario: Scenario,
    variant: str,
    deal: Deal | None = None,
    *,
    number: int,
    born: int,
    owner: int,
    stretch: float = 1.0,
) -> Course:
    """Return the course of an owner's transfer in a scenario, by default with the scenario's own deal."""
    deal = deal or scenario.deal_of(variant)
    origin, destination = known(*deal.origin), known(*deal.destination)
    address = names.owner_address(owner)
    recipient = names.stranger(deal.payee) if deal.payee else address
    transfer = Transfer(
        number=number,
        born=born,
        owner=address,
        deal=deal,
        origin=origin,
        destination=destination,
        project=PROJECTS[owner % len(PROJECTS)],
        from_amount=units_of(deal.amount, origin),
        to_amount=units_of(deal.receive, destination),
        slippage=0.005,
        recipient=recipient,
        call_data=_call_data(deal, number, recipient) if deal.calls else "0x",
        scenario=scenario,
        variant=variant,
        stretch=stretch,
    )
    return Course(transfer, scenario.scenes[variant])


def units_of(text: str | None, token: Token) -> int | None:
    """Return an amount in whole tokens as base units, exactly."""
    if text is None:
        return None
    whole, _, fraction = text.partition(".")
    decimals = token.decimals or 0
    return int(whole + fraction[:decimals].ljust(decimals, "0"))


def _call_data(deal: Deal, number: int, payee: str) -> str:
    """Return `pay(bytes32,address,uint256)` for a shop, `deposit(uint256,address)` for a vault."""
    order = names.noise(number, "order").hex()
    payee_word = payee[2:].rjust(64, "0")
    if deal.payee == "vault":
        return f"0x6e553f65{'f' * 64}{payee_word}"
    return f"0x97d4df67{order}{payee_word}{'0' * 64}"


_FINE: Final = 10**12
_BASIS_POINTS: Final = 10_000

OTHER_PROVIDER_FEE: Final = 8
SERVICE_FEE: Final = 5
COLLECTOR_FEE: Final = 2
SWAP_IMPACT: Final = 12

# Wei per unit of gas. Ethereum's makes small transfers from there uneconomical.
GAS_PRICES: Final = {1: 1_400_000_000, 137: 32_000_000_000, 56: 1_000_000_000, 43114: 2_000_000_000, 100: 1_500_000_000}
OTHER_GAS_PRICE: Final = 25_000_000
OTHER_NATIVE_PRICE: Final = 140 * PRICE_SCALE
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


class Gas(NamedTuple):
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


class Terms:
    """Price of a transfer: input, output and fees, which add up exactly.

    If the fees exceed the input, the output isn't positive.
    """

    def __init__(self, transfer: Transfer) -> None:
        self.transfer = transfer
        deal, origin, destination = transfer.deal, transfer.origin, transfer.destination
        self.origin_gas = _gas(transfer, origin.chain_id, ORIGIN_GAS)
        self.destination_gas = None if transfer.same_chain else _gas(transfer, destination.chain_id, DESTINATION_GAS)
        self.gas = self.origin_gas.fee + (self.destination_gas.fee if self.destination_gas else NO_FEE)
        # In basis points. The impact of a swap isn't a fee.
        providers = [PROVIDERS.get(each, {}).get("fee", OTHER_PROVIDER_FEE) for each in deal.providers]
        rates = [0 if deal.free else each for each in (*providers, SERVICE_FEE, COLLECTOR_FEE)]
        costs = [*rates, 0 if deal.free or origin.symbol == destination.symbol else SWAP_IMPACT]
        from_amount, to_amount = transfer.from_amount, transfer.to_amount
        if from_amount is None:
            out_micro = -(-(to_amount or 0) * destination.price // destination.scale)
            in_micro = -(-(out_micro + self.gas.micro_usd) * _BASIS_POINTS // (_BASIS_POINTS - sum(costs)))
            from_amount = -(-in_micro * origin.scale // origin.price)
        in_micro = from_amount * origin.price // origin.scale
        if to_amount is None:
            lost = self.gas.micro_usd + sum(in_micro * each // _BASIS_POINTS for each in costs)
            fine = from_amount * origin.price * _FINE // origin.scale - lost * _FINE
            to_amount = fine * destination.scale // (destination.price * _FINE) if destination.price else 0
        self.from_amount, self.to_amount = from_amount, to_amount
        kept = 0 if deal.exact_output else round(transfer.slippage * _BASIS_POINTS)
        least = to_amount * (_BASIS_POINTS - kept) // _BASIS_POINTS
        self.to_minimum = units_of(deal.minimum, destination) or least
        fees = [_fee(in_micro * each // _BASIS_POINTS, origin) for each in rates]
        self.providers, (self.service, self.collector) = fees[:-2], fees[-2:]
        self.provider = sum(self.providers, NO_FEE)
        self.total = sum(fees, self.gas)
        self.from_usd, self.to_usd = usd(from_amount, origin), usd(to_amount, destination)
        # The USD value of the input minus that of the output.
        self.loss_usd = round(self.from_usd - self.to_usd, 6)


def usd(units: int, token: Token) -> float:
    """Return an amount's USD value to twelve significant digits, so that dust isn't rounded to zero."""
    return float(f"{units * token.price / (token.scale * PRICE_SCALE):.12g}")


def _gas(transfer: Transfer, chain_id: int, base_limit: int) -> Gas:
    native = NATIVES.get(chain_id)
    native_price = native.price if native else OTHER_NATIVE_PRICE
    random, fraction = noise(transfer.number, f"gas {chain_id}", 2)
    limit = base_limit + random * 137
    price = GAS_PRICES.get(chain_id, OTHER_GAS_PRICE) * (224 + fraction // 4) // 256
    return Gas(
        chain_id=chain_id,
        limit=limit,
        price=price,
        native_symbol=native.symbol if native else "SOL",
        native_price=native_price,
        usage=GAS_USAGE[random % len(GAS_USAGE)],
        fee=_fee(0 if transfer.deal.free else limit * price * native_price // 10**18, transfer.origin),
    )


def _fee(micro_usd: int, origin: Token) -> Fee:
    return Fee(-(-micro_usd * origin.scale // origin.price) if origin.price else 0, micro_usd)
