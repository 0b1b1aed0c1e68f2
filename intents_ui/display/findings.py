"""Line by line: what a payment was to be, and what there is of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from intents_ui.display import differences, hashes, names, statuses, text, times, tokens, trust
from intents_ui.display.facts import Money, first
from intents_ui.display.legs import DEAD
from intents_ui.display.names import Names
from intents_ui.display.payments import Payment
from intents_ui.display.statuses import Shown, Tone
from intents_ui.display.text import UNKNOWN


class Kind(StrEnum):
    TEXT = "text"
    ADDRESS = "address"
    HASH = "hash"


@dataclass(frozen=True)
class Finding:
    """`kind` says how `expected` and `found` are written on the page; an address or hash may be "" for none."""

    label: str
    expected: str
    found: str
    shown: Shown
    kind: Kind = Kind.TEXT
    chain_id: int | None = None


AS_EXPECTED = Shown("As expected", Tone.GOOD, "check", "It is what was expected.")
ENOUGH = Shown("Enough", Tone.GOOD, "check", "It is less than was asked for, and as much as is needed.")
DIFFERENT = Shown("Different", Tone.BAD, "x", "It is not what was expected.")
ANOTHER = Shown("Another one", Tone.ATTENTION, "triangle-alert", "The transaction names another address.")
TOO_LITTLE = Shown("Too little", Tone.BAD, "x", "It is less than is needed.")
TOO_MUCH = Shown("Too much", Tone.ATTENTION, "triangle-alert", "It is more than was asked for.")
REPORTED = Shown("Reported", Tone.PROGRESS, "hourglass", "It was reported and is not confirmed.")
NOT_COUNTED = Shown("Not counted", Tone.NEUTRAL, "circle-dashed", "It was reported and did not count.")
NOT_CONFIRMED = Shown("Not confirmed", Tone.ATTENTION, "triangle-alert", "It was reported and not found confirmed.")
NOT_SEEN = Shown("Not seen", Tone.NEUTRAL, "circle-dashed", "Nothing of it has been seen.")
NOT_KNOWN = Shown("Not known", Tone.NEUTRAL, "circle-dashed", "The service does not say.")
PLACEHOLDER = Shown("Placeholder", Tone.NEUTRAL, "info", "No transaction stands behind this hash.")
CONFIRMED = Shown("Confirmed", Tone.GOOD, "check", "The chain has confirmed it.")
REJECTED = Shown("Rejected", Tone.BAD, "x", "The chain has rejected it.")
IN_TIME = Shown("In time", Tone.GOOD, "check", "It was confirmed before the deadline.")
LATE = Shown("Too late", Tone.BAD, "x", "It was confirmed after the deadline.")
TAKEN = Shown("Late, and taken", Tone.NEUTRAL, "info", "It was confirmed after the deadline, and the transfer went on.")
AHEAD = Shown("Still open", Tone.PROGRESS, "clock", "The deadline lies ahead.")
ENDED = Shown("Ended before", Tone.NEUTRAL, "info", "The transfer ended before the deadline.")
PAST = Shown("Passed", Tone.NEUTRAL, "clock", "The deadline has passed, and the transfer has ended.")
PASSED = Shown("Passed", Tone.ATTENTION, "clock", "The deadline has passed.")


def findings(payment: Payment, *, is_too_late: bool, now: datetime, using: Names) -> Iterator[Finding]:
    yield _chain(payment, using=using)
    yield _token(payment, using=using)
    yield _amount(payment, using=using)
    yield _address(payment)
    yield _deadline(payment, is_too_late=is_too_late, now=now)
    yield _transaction(payment)


def exactly(payment: Payment, value: int | None, *, using: Names) -> str:
    """So many of the expected token."""
    return UNKNOWN if value is None else differences.exactly(replace(payment.expected, value=value), using=using)


def listed(monies: Iterable[Money], *, using: Names) -> str:
    """`99.50 USDC and 1.00 DAI`, exactly."""
    known = [money for money in monies if money.value is not None]
    return " and ".join(differences.exact(tokens.amount(money, using=using)) for money in known) or UNKNOWN


def chain_name(chain_id: int | None, *, using: Names) -> str:
    return names.chain(chain_id, info=using.chain(chain_id), unknown="a chain that was not named")


def _chain(payment: Payment, *, using: Names) -> Finding:
    wanted, found = payment.expected.chain_id, payment.found_chain_id
    expected = UNKNOWN if wanted is None else chain_name(wanted, using=using)
    if found is None:
        return Finding("Chain", expected, UNKNOWN, NOT_SEEN)
    shown = NOT_KNOWN if wanted is None else _certainty(payment) if found == wanted else DIFFERENT
    return Finding("Chain", expected, chain_name(found, using=using), shown)


def _token(payment: Payment, *, using: Names) -> Finding:
    expected = _name_of(payment.expected, using=using)
    if not payment.found:
        return Finding("Token", expected, UNKNOWN, NOT_SEEN)
    # A chain of its own has its own line.
    on_chain = [replace(money, chain_id=payment.expected.chain_id) for money in payment.found]
    is_other = all(differences.is_another_token(money, payment.expected) for money in on_chain)
    words = " and ".join(dict.fromkeys(_name_of(money, using=using) for money in payment.found))
    return Finding("Token", expected, words, DIFFERENT if is_other else _certainty(payment))


def _name_of(money: Money, *, using: Names) -> str:
    """A symbol proves nothing: the address stands beside it, unless it is the chain's own coin."""
    known = tokens.symbol_of(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    symbol = text.symbol(known).shown if known else ""
    is_coin = money.token_address is None or hashes.is_native(money.token_address)
    warning = trust.words(tokens.marks(money, using=using))
    words = (symbol, "" if is_coin else hashes.short_address(money.token_address), f"({warning})" if warning else "")
    return " ".join(filter(None, words)) or UNKNOWN


def _amount(payment: Payment, *, using: Names) -> Finding:
    expected, words = exactly(payment, payment.expected.value, using=using), listed(payment.found, using=using)
    if not payment.found:
        return Finding("Amount", expected, "nothing" if payment.held is not None else UNKNOWN, NOT_SEEN)
    if payment.leftover:
        left = exactly(payment, payment.leftover, using=using)
        return Finding("Amount", expected, f"{left} left over", TOO_MUCH)
    if payment.there is None and not payment.is_confirmed and not payment.strays:
        return Finding("Amount", expected, words, _certainty(payment))
    if not payment.there:
        return Finding("Amount", expected, words, DIFFERENT if words != UNKNOWN else NOT_KNOWN)
    if payment.lacking:
        lacking = exactly(payment, payment.lacking, using=using)
        return Finding("Amount", expected, f"{words}: {lacking} too little", TOO_LITTLE)
    if payment.excess:
        return Finding("Amount", expected, f"{words}: {exactly(payment, payment.excess, using=using)} more", TOO_MUCH)
    if payment.expected.value is None:
        return Finding("Amount", expected, words, NOT_KNOWN)
    return Finding("Amount", expected, words, AS_EXPECTED if payment.there == payment.expected.value else ENOUGH)


def _address(payment: Payment) -> Finding:
    expected, chain_id = payment.address or "", payment.expected.chain_id
    if not payment.is_confirmed and (payment.held or payment.strays):
        return Finding("Deposit address", expected, expected, AS_EXPECTED, Kind.ADDRESS, chain_id)
    found = payment.deposit.to_address if payment.is_confirmed or payment.is_reported else None
    if found is None:
        return Finding("Deposit address", expected, "", NOT_SEEN, Kind.ADDRESS, chain_id)
    # A relayed payment is a call of the service's own contract.
    is_other = differences.is_other_address(found, expected or None) and not payment.deposit.meta_txn_id
    shown = ANOTHER if is_other else _certainty(payment)
    return Finding("Deposit address", expected, found, shown, Kind.ADDRESS, chain_id)


def _deadline(payment: Payment, *, is_too_late: bool, now: datetime) -> Finding:
    expected = times.utc(payment.deadline, now=now)
    if payment.deadline is None:
        return Finding("Deadline", expected, UNKNOWN, NOT_KNOWN)
    if payment.late_by is None:
        return Finding("Deadline", expected, UNKNOWN, _standing(payment, payment.deadline, now=now))
    late_by = payment.late_by
    if late_by <= timedelta():
        return Finding("Deadline", expected, f"confirmed {times.duration(-late_by)} before", IN_TIME)
    return Finding("Deadline", expected, f"confirmed {times.duration(late_by)} after", LATE if is_too_late else TAKEN)


def _standing(payment: Payment, deadline: datetime, *, now: datetime) -> Shown:
    """Of a deadline that no confirmed payment is measured against."""
    if payment.is_confirmed:
        return NOT_KNOWN
    if not payment.facts.is_over(now=now):
        return PASSED if now >= deadline else AHEAD
    # What has ended for good is measured by its end: the clock changes nothing of it any more.
    is_open = statuses.is_open(payment.facts.status)
    ended = now if is_open else first(payment.facts.finished_at, payment.facts.last_change)
    return ENDED if ended is not None and ended < deadline else PAST


def _transaction(payment: Payment) -> Finding:
    txn_hash = payment.deposit.txn_hash
    if payment.is_reported and txn_hash:
        return Finding("Transaction", "", txn_hash, _state(payment), Kind.HASH, payment.deposit.chain_id)
    if txn_hash and not payment.is_confirmed:
        return Finding("Transaction", "", "none; the balance is watched", PLACEHOLDER)
    return Finding("Transaction", "", UNKNOWN, CONFIRMED if payment.is_confirmed else NOT_SEEN)


def _state(payment: Payment) -> Shown:
    if payment.is_confirmed:
        return CONFIRMED
    if payment.leg in DEAD:
        return REJECTED if payment.deposit.txn_mined_at else NOT_CONFIRMED
    return REPORTED


def _certainty(payment: Payment) -> Shown:
    """Of what agrees with what was expected."""
    if payment.is_confirmed or payment.held or payment.strays:
        return AS_EXPECTED
    return NOT_COUNTED if payment.leg in DEAD else REPORTED
