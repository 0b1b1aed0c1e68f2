"""Exact differences between two amounts, in words. Amounts of different tokens are never compared."""

from dataclasses import replace

from intents_ui.display.formatting import amounts, hashes
from intents_ui.display.formatting.amounts import Amount
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.token_amounts import Money


def exact(amount: Amount) -> str:
    """Return every digit, grouped, with the unit: `4,994.422345 USDC`, or the short form if it is exact: `5,000.00`."""
    number = amount.short if amount.exact else _grouped(amount.full)
    return amount.with_warning(f"{number} {amount.unit}".rstrip())


def exactly(money: Money, *, using: Names) -> str:
    return exact(token_amounts.amount(money, using=using))


def compared(value: int, other: int, *, of: Money, than: str, using: Names) -> str:
    """Return `0.09 USDC less than quoted`, or "" if equal. Both are in base units of the token in `of`."""
    if value == other:
        return ""
    more = "more" if value > other else "less"
    return f"{exactly(replace(of, value=abs(value - other)), using=using)} {more} than {than}"


def compared_shortly(money: Money, other: Money, *, than: str, using: Names) -> str:
    """Return `299.96 USDC (0.04 USDC less than deposited)` with the same number of decimal places in both.

    The difference is that of the amounts as shown, so that it matches the user's own subtraction.
    """
    amount = token_amounts.amount(money, using=using)
    decimals = token_amounts.decimals(money, using=using)
    if money.value is None or other.value is None or money.value == other.value:
        return f"{amount} (as much as {than})"
    more = "more" if money.value > other.value else "less"
    places = len(amount.short.partition(".")[2])
    step = 10 ** (decimals - places) if decimals is not None and places else 1
    apart = abs(money.value // step - other.value // step) * step
    if decimals is None or not places or not apart:
        return f"{exact(amount)} ({compared(money.value, other.value, of=money, than=than, using=using)})"
    return f"{amount} ({amounts.fixed(apart, decimals=decimals, places=places)} {amount.unit} {more} than {than})"


def is_another_token(one: Money, other: Money) -> bool:
    """Return whether both tokens are known and differ. The native token has two addresses, which are equal."""
    if _differ(one.chain_id, other.chain_id):
        return True
    if hashes.is_native(one.token_address) and hashes.is_native(other.token_address):
        return False
    return _differ(_folded(one.token_address), _folded(other.token_address))


def is_same_token(one: Money, other: Money) -> bool:
    """Return whether both tokens are known and equal, including their chain."""
    named = all((one.token_address, other.token_address, one.chain_id is not None, other.chain_id is not None))
    return named and not is_another_token(one, other)


def is_other_address(one: str | None, other: str | None) -> bool:
    return _differ(_folded(one), _folded(other))


def _differ[T](one: T | None, other: T | None) -> bool:
    return one is not None and other is not None and one != other


def _folded(address: str | None) -> str | None:
    """Fold the case of hex addresses. Other kinds of addresses are case-sensitive."""
    return (hashes.canonical_address(address) or address) if address else None


def _grouped(full: str) -> str:
    sign = "-" if full.startswith("-") else ""
    whole, dot, fraction = full.removeprefix("-").partition(".")
    return f"{sign}{int(whole):,}{dot}{fraction}"
