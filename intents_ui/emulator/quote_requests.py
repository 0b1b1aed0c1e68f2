"""What a user wants to transfer, before a quote."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deal:
    """Requested transfer: tokens as (chain ID, symbol or address), amounts in whole tokens.

    - `amount`: None if it follows from `receive`. If both are given, the difference is market impact.
    - `minimum`: the minimum received
    - `deposit`: `wallet` is sent by the owner, `gasless` is relayed with the owner's signature, `watched` is detected
      at the address
    - `payee`: recipient other than the owner
    - `calls`: the payee is a contract to call
    - `free`: without fees
    - `edge`: the origin chain isn't EVM, and the documents have fields outside of the schema
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
