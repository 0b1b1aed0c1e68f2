"""Names of the chains and tokens in a request, and its amounts in their units.

Each meaning repeats its value, so that it stays true when the user edits the field.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from intents_ui.display.formatting import text
from intents_ui.display.tokens import names, token_amounts
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.service.fields import CHAIN_ID_LIMIT

SIDES: Final = ("origin", "destination")
MOST_DIGITS: Final = 78  # of a 256-bit integer


def chain_ids(values: Mapping[str, str]) -> list[int]:
    """Return the chain IDs in the fields of a request."""
    found = (_whole(values.get(f"{side}ChainId")) for side in SIDES)
    return [each for each in found if each and each < CHAIN_ID_LIMIT]


def of_fields(values: Mapping[str, str], *, using: Names) -> dict[str, str]:
    """Return `8453: Base`, `0x8335…: USDC on Base` and `40000000: 40 USDC` by field, where known."""
    return dict(meaning for side in SIDES for meaning in _of_side(side, values, using))


def _of_side(side: str, values: Mapping[str, str], using: Names) -> Iterator[tuple[str, str]]:
    chain_id, address = _whole(values.get(f"{side}ChainId")), values.get(f"{side}TokenAddress", "").strip()
    info = using.chain(chain_id)
    if info is None:
        return
    chain = names.chain(chain_id, info=info)
    yield f"{side}ChainId", f"{chain_id}: {chain}"
    if not address:
        return
    token = Money(_whole(values.get(f"{side}TokenAmount")), chain_id, token_amounts.key(address))
    if called := token_amounts.called(token, using=using):
        yield f"{side}TokenAddress", f"{text.visible(address)}: {called} on {chain}"
    if token.value is not None and token_amounts.decimals(token, using=using) is not None:
        amount = token_amounts.amount(token, using=using)
        yield f"{side}TokenAmount", f"{token.value}: {amount.with_warning(f'{amount.full} {amount.unit}'.rstrip())}"


def _whole(written: str | None) -> int | None:
    digits = (written or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS else None
