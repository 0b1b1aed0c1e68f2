"""ABI-encoded calldata for the transactions of a transfer."""

from typing import Final

from intents_ui.emulator import names
from intents_ui.emulator.transfers import Terms, Transfer

_TRANSFER: Final = "a9059cbb"
_APPROVE: Final = "095ea7b3"
_WRAP: Final = "d0e30db0"
_UNWRAP: Final = "2e1a7d4d"
_DEPOSIT_FOR_BURN: Final = "8e0250ee"
_SWAP: Final = "d5bcb9b5"
_BRIDGE: Final = "5e583a5a"
_REFUND_AND_SWEEP: Final = "1c6dd88c"
_EXECUTE: Final = "1f6a1eb9"
_CCTP_DOMAINS: Final = {1: 0, 43114: 1, 10: 2, 42161: 3, 8453: 6, 137: 7}
_FAST_FINALITY: Final = 1000

type Call = tuple[str, str, int]  # contract, data and value


def deposit_call(terms: Terms) -> Call:
    """Return contract, data and value of the owner's deposit to the intent address."""
    transfer = terms.transfer
    if transfer.origin.native:
        return transfer.origin_address, "0x", terms.from_amount
    return transfer.origin.address, _encoded(_TRANSFER, transfer.origin_address, terms.from_amount), 0


def calls(terms: Terms, side: str) -> list[Call]:
    """Return the calls on a chain.

    On the origin chain: an allowance if needed, then a swap, wrap or bridge call per provider. On the destination
    chain: a payment to the recipient, or an allowance and a contract call.
    """
    transfer = terms.transfer
    if side == "destination":
        token, recipient = transfer.destination, transfer.recipient
        if transfer.deal.calls:
            allowance = (token.address, _encoded(_APPROVE, recipient, terms.to_amount), 0)
            return [allowance, (recipient, transfer.call_data, transfer.call_value)]
        if token.native:
            return [(recipient, "0x", terms.to_amount)]
        return [(token.address, _encoded(_TRANSFER, recipient, terms.to_amount), 0)]
    token, value = transfer.origin, terms.from_amount if transfer.origin.native else 0
    first, last = transfer.deal.providers[0], transfer.deal.providers[-1]
    spender = provider_contract(first)
    found = [] if token.native else [(token.address, _encoded(_APPROVE, spender, terms.from_amount), 0)]
    if transfer.same_chain or len(transfer.deal.providers) > 1:
        found.append((spender, _swap_call(terms, first), value))
    if not transfer.same_chain:
        found.append((provider_contract(last), _bridge_call(terms, last), value))
    return found


def fallback_call(transfer: Transfer, token: str, amount: int) -> Call:
    """Return the call that refunds the owner if the previous calls fail."""
    return names.stranger("utils"), _encoded(_REFUND_AND_SWEEP, token, transfer.owner, amount), 0


def meta_input(calls: list[Call], signature: bytes) -> str:
    """Return `execute(bytes,bytes)` around all calls, as the relayer sends it."""
    packed = b"".join(_packed(*call) for call in calls)
    return "0x" + _EXECUTE + _word(64) + _word(96 + _padded_size(packed)) + _bytes(packed) + _bytes(signature)


def provider_contract(provider: str) -> str:
    return names.stranger(f"provider {provider}")


def _swap_call(terms: Terms, provider: str) -> str:
    transfer = terms.transfer
    if provider == "WETH":
        return f"0x{_WRAP}" if transfer.origin.native else _encoded(_UNWRAP, terms.from_amount)
    target = transfer.destination.address
    return _encoded(
        _SWAP, transfer.origin.address, target, terms.from_amount, terms.to_minimum, transfer.destination_address
    )


def _bridge_call(terms: Terms, provider: str) -> str:
    transfer = terms.transfer
    amount, chain_id = terms.from_amount, transfer.destination.chain_id
    if provider == "CCTP" and chain_id in _CCTP_DOMAINS:
        burnt = transfer.origin.address
        words = (amount, _CCTP_DOMAINS[chain_id], transfer.destination_address, burnt, 0, 0, _FAST_FINALITY)
        return _encoded(_DEPOSIT_FOR_BURN, *words)
    return _encoded(_BRIDGE, transfer.origin.address, amount, chain_id, transfer.destination_address)


def _encoded(selector: str, *words: int | str) -> str:
    return "0x" + selector + "".join(_word(word) for word in words)


def _word(value: int | str) -> str:
    if isinstance(value, int):
        return f"{value:064x}"
    # Calldata has no room for addresses of other kinds, so their raw bytes are used.
    digits = value[2:] if value.startswith("0x") else value.encode().hex()[:64]
    return digits.rjust(64, "0")


def _packed(to: str, data: str, value: int) -> bytes:
    target = bytes.fromhex(to[2:]) if to.startswith("0x") else to.encode()[:20]
    payload = bytes.fromhex(data[2:])
    return target + value.to_bytes(32) + len(payload).to_bytes(32) + payload


def _padded_size(data: bytes) -> int:
    return -(-len(data) // 32) * 32


def _bytes(data: bytes) -> str:
    return _word(len(data)) + data.hex().ljust(2 * _padded_size(data), "0")
