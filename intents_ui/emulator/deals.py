"""What somebody wants moved, before it is priced."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deal:
    """A transfer as a person would put it: tokens as (chain id, symbol or address), amounts in whole tokens.

    `amount` None follows from `receive`; both given: the difference is market impact. `minimum`: the least that may
    arrive. `deposit`: `wallet` pays by itself, `gasless` is relayed with the owner's signature, `watched` is waited for
    at the address. `payee`: who is paid instead of the owner. `calls`: the payee is a contract and is called. `free`:
    there are no fees. `edge`: the funds come from a non-EVM chain, and the objects have fields beyond docs/contract.md.
    """

    origin: tuple[int, str]
    destination: tuple[int, str]
    providers: tuple[str, ...]
    amount: str | None = None
    receive: str | None = None
    minimum: str | None = None
    exact_output: bool = False
    deposit: str = "wallet"
    fund_method: str = "WALLET"
    payee: str | None = None
    calls: bool = False
    memo: str | None = None
    duration: int | None = None
    protocol: str = "v1"
    free: bool = False
    edge: bool = False

    @property
    def same_chain(self) -> bool:
        return self.origin[0] == self.destination[0]
