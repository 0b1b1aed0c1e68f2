"""The parts of a transfer that never change."""

from dataclasses import dataclass
from functools import cache

from intents_ui.emulator import names
from intents_ui.emulator.catalog import Catalogue, Token
from intents_ui.emulator.names import Role
from intents_ui.emulator.scenario_engine import Deal, Scenario

OWNERS = 200
PROJECTS = (1041, 1042, 1077)
EXPIRY_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer. `born` is the quote time in microseconds, and also the intent's `id`.

    Amounts are in base units, None if they follow from the other one. `scenario` is None for a caller's own quote.
    `stretch` is how many times slower than its scenario it runs. Its bridge hangs for `delay` seconds.
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
    delay: float = 0.0

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

    def moment(self, seconds: float) -> int:
        """Return the time, in microseconds, of the scenario's moment `seconds` after the quote."""
        return self.born + round(seconds * self.stretch * 1_000_000)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a transfer is, as in `Transfer`."""

    scenario: Scenario
    variant: str
    deal: Deal
    stretch: float = 1.0
    delay: float = 0.0


@cache
def owner_address(owner: int) -> str:
    return names.address_of(Role.OWNER, owner)


def transfer_of(plan: Plan, catalogue: Catalogue, *, number: int, born: int, owner: int) -> Transfer:
    """Return the transfer of `owner` by a plan."""
    deal = plan.deal
    origin, destination = (
        catalogue.token(*place) or catalogue.named(*place) for place in (deal.origin, deal.destination)
    )
    address = owner_address(owner)
    recipient = names.stranger(deal.payee) if deal.payee else address
    return Transfer(
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
        scenario=plan.scenario,
        variant=plan.variant,
        stretch=plan.stretch,
        delay=plan.delay,
    )


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
