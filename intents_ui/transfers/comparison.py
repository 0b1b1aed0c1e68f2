"""Quote vs. actual: amounts, time and slippage as quoted and as delivered, with the differences.

An exact-input quote has a minimum received. An exact-output quote fixes the amount received and quotes the deposit.
Figures that the service doesn't report stay unknown, and rows that say nothing are left out. The delivered amount
counts only once the delivery is confirmed. The service doesn't report the fees that were charged.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import Any

from intents_ui.formatting import amounts, hashes, text, times
from intents_ui.formatting.amounts import EXACT, Amount
from intents_ui.formatting.text import UNKNOWN, Figure, Sentence, joined
from intents_ui.service.models import IntentFees, IntentStatus, ProviderFee
from intents_ui.service.outcome import RUNNING, StepStatus
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.token_amounts import Money, compared
from intents_ui.transfers import statuses, summary
from intents_ui.transfers.rules import Certainty, Delivery
from intents_ui.transfers.statuses import StatusLabel
from intents_ui.transfers.transfer import Transfer, derived, first

EXACT_OUTPUT = "EXACT_OUTPUT"
NO_FEES, NO_PROVIDER = IntentFees(), ProviderFee()


class Result(StrEnum):
    AS_QUOTED = "as-quoted"
    WITHIN_LIMIT = "within-limit"
    BELOW_MINIMUM = "below-minimum"
    OVER_LIMIT = "over-limit"
    MISMATCH = "mismatch"
    WITHIN_ESTIMATE = "within-estimate"
    OVER_ESTIMATE = "over-estimate"
    LATE = "late"
    ON_TRACK = "on-track"
    DELAYED = "delayed"
    PENDING = "pending"
    UNKNOWN = "unknown"
    NO_DEPOSIT = "no-deposit"
    NOT_DELIVERED = "not-delivered"
    REFUNDED = "refunded"
    REFUNDING = "refunding"
    REFUND_UNCONFIRMED = "refund-unconfirmed"
    REFUND_FAILED = "refund-failed"


LABELS = {Result(name): label for name, label in statuses.labels("comparison").items()}


@dataclass(frozen=True)
class ComparisonRow:
    """A quoted figure and its actual value.

    `since`: the actual value is the time elapsed since then, still counting. `term`: what the glossary explains.
    """

    label: str
    result: Result
    quoted: str = UNKNOWN
    limit: str = ""
    actual: str = UNKNOWN
    difference: str = ""
    since: datetime | None = None
    term: str = ""

    @property
    def shown(self) -> StatusLabel:
        return LABELS[self.result]


@dataclass(frozen=True)
class Comparison:
    """`text` is the one line in the answer, `result` sums up the rows."""

    result: Result
    text: str
    rows: tuple[ComparisonRow, ...]

    @property
    def shown(self) -> StatusLabel:
        return LABELS[self.result]


ENOUGH = frozenset({Result.AS_QUOTED, Result.WITHIN_LIMIT})
LATE_SO_FAR = frozenset({Result.OVER_ESTIMATE, Result.DELAYED})


@derived
def of(transfer: Transfer) -> Comparison:
    """Return the comparison for any combination of states, with either object missing."""
    quote = _Quote(transfer)
    match summary.of(transfer).row.comparison:
        case Delivery.OPEN:
            return quote.so_far()
        case Delivery.DELIVERED:
            return quote.delivered()
        case Delivery.NOT_DELIVERED:
            return quote.not_delivered()
        case Delivery.NO_DEPOSIT:
            received = quote.received(Result.NO_DEPOSIT, actual="nothing")
            return _comparison(Result.NO_DEPOSIT, "Nothing to compare.", received)
        case Delivery.UNCONFIRMED:
            return quote.unconfirmed()
        case Delivery.UNKNOWN:
            received = quote.received(Result.UNKNOWN, difference="no receipt, or it couldn't be loaded")
            return _comparison(Result.UNKNOWN, quote.in_words, received)


class _Quote:
    """The quote of a transfer, and what became of it.

    `_quoted` and `_least` are destination amounts, `_least` the minimum received. They are equal for exact output.
    """

    def __init__(self, transfer: Transfer) -> None:
        self._transfer = transfer
        request, quote = transfer.request, transfer.quote
        self._is_exact_output = first(transfer.summary.trade_type, request.trade_type) == EXACT_OUTPUT
        # A request names the amount that it fixes. The other one is 0 or missing.
        quoted = (request.destination_token_amount if self._is_exact_output else None) or quote.to_amount
        self._quoted = replace(transfer.expected, value=quoted)
        self._least = replace(transfer.expected, value=quoted if self._is_exact_output else quote.to_amount_min)
        self._estimate = transfer.given_estimate
        # Whether the received amount is known, and in the quoted token.
        asked = transfer.money(None, request.destination_chain_id, request.destination_token_address)
        is_another = token_amounts.is_another_token(asked, transfer.received)
        self._is_comparable = transfer.received.value is not None and not is_another
        # The confirmed deposit if it is in the requested token.
        arrived = transfer.arrived
        is_another = arrived is None or token_amounts.is_another_token(arrived, transfer.requested)
        self._deposited = None if arrived is None or is_another else arrived.value

    # What became of it

    def so_far(self) -> Comparison:
        transfer, time = self._transfer, self._time_so_far()
        result, text = Result.PENDING, self.in_words
        if time.result in LATE_SO_FAR:
            result, text = time.result, Sentence("Expected by ", times.utc_minute(transfer.due_at, now=transfer.now))
        elif transfer.steps.has_dead_step:
            text = "A step failed, outcome pending"
        else:
            # On track requires an estimate, and each step confirmed.
            is_confirmed = summary.of(transfer).certainty is Certainty.CONFIRMED
            result = time.result if time.result is Result.ON_TRACK and is_confirmed else result
            text = Sentence(text, f" · estimate {times.duration(self._estimate)}" if self._estimate else "")
        received = self.received(Result.PENDING)
        return _comparison(result, text, received, time, self._deposit(is_open=True), self._slippage(None))

    def delivered(self) -> Comparison:
        """Compare a confirmed delivery. The amount decides the result, then a delay beyond the grace period."""
        (received, text), time = self._received(), self._time_taken()
        deposit, slippage = self._deposit(is_open=False), self._slippage(self._transfer.received)
        over = [row for row in (deposit, slippage) if row and row.result is Result.OVER_LIMIT]
        result = received.result
        if result in ENOUGH and over:
            result = Result.OVER_LIMIT
        elif result in ENOUGH and time.result is Result.LATE:
            result = Result.LATE
        words = [text]
        if self._is_comparable:
            words += [Sentence(row.label, ": ", row.difference) for row in over]
            estimate = f" (estimate {times.duration(self._estimate)})" if self._estimate else ""
            words += [time.actual + estimate] if time.actual != UNKNOWN else []
        return _comparison(result, joined(" · ", words), received, time, deposit, slippage)

    def not_delivered(self) -> Comparison:
        received, (refund, text) = self.received(Result.NOT_DELIVERED, actual="nothing"), self._refund()
        if refund is None:
            is_reported = self._transfer.status == IntentStatus.REFUNDED
            text = "Reported as refunded" if is_reported else self.in_words
        is_refunded = refund is not None and refund.result is Result.REFUNDED
        return _comparison(Result.REFUNDED if is_refunded else Result.NOT_DELIVERED, text, received, refund)

    def unconfirmed(self) -> Comparison:
        transfer, doubt = self._transfer, "Delivery not confirmed"
        if summary.of(transfer).certainty is Certainty.CONFLICTING:
            without = summary.of(transfer.without_balances()).certainty
            source = "status" if without is Certainty.CONFLICTING else "balances"
            doubt = f"Conflicting data: {source} and steps disagree"
        return _comparison(Result.UNKNOWN, doubt, self.received(Result.UNKNOWN, difference=doubt), self._refund()[0])

    @property
    def in_words(self) -> str:
        """Return `Quoted at least 4,973.37 USDC`."""
        if self._least.value is not None:
            return Sentence(f"Quoted {'exactly' if self._is_exact_output else 'at least'} ", self._least.in_words())
        return "No amount quoted" if self._quoted.value is None else Sentence("Quoted about ", self._quoted.in_words())

    # The received amount

    def received(self, result: Result, *, actual: str = UNKNOWN, difference: str = "") -> ComparisonRow:
        chain = self._transfer.chain_name(self._transfer.destination_chain_id, unknown="the destination chain")
        least = "" if self._least.value is None else Sentence("min. ", self._least.in_words())
        limit, quoted = "quoted amount" if self._is_exact_output else least, self._quoted.in_words()
        return ComparisonRow(f"Received on {chain}", result, quoted, limit, actual, difference)

    def _received(self) -> tuple[ComparisonRow, str]:
        """Return the row of the delivered amount, and in words what it is below the minimum or off the quote."""
        arrived, quoted, least = self._transfer.received.value, self._quoted.value, self._least.value
        if arrived is None:
            difference = "delivered amount not reported"
            return self.received(Result.UNKNOWN, difference=difference), "Delivered amount not reported"
        actual = self._transfer.received.in_words()
        words = Sentence("Received ", actual)
        if not self._is_comparable:
            another = "different token from the quote"
            row = self.received(Result.MISMATCH, actual=actual, difference=f"{another}, not comparable")
            return row, Sentence(words, f", {another}")
        if quoted is None and least is None:
            return self.received(Result.UNKNOWN, actual=actual, difference="no amount quoted"), words
        apart = compared(arrived, self._quoted, "quoted")
        differences: list[str] = [] if quoted is None else [apart or "as quoted"]
        if least is None:
            differences.append("no minimum reported")
        elif not self._is_exact_output:
            rest = replace(self._least, value=abs(arrived - least)).in_words()
            beyond = Sentence(rest, f" {'above' if arrived > least else 'below'} the minimum")
            differences.append("exactly the minimum" if arrived == least else beyond)
        result = Result.UNKNOWN if least is None else Result.WITHIN_LIMIT
        if least is not None and arrived < least:
            result = Result.BELOW_MINIMUM
            apart = apart if self._is_exact_output else compared(arrived, self._least, "the minimum")
        elif quoted is not None and arrived >= quoted:
            result = Result.AS_QUOTED
        row = self.received(result, actual=actual, difference=joined(", ", differences))
        return row, Sentence(words, " (", apart, ")") if apart else words

    # Time

    def _time_so_far(self) -> ComparisonRow:
        transfer, due_at = self._transfer, self._transfer.due_at
        if self._estimate is None:
            return self._time(Result.UNKNOWN)
        if not transfer.has_arrived or due_at is None:
            missing = "start time not reported" if transfer.has_arrived else "deposit not confirmed yet"
            return self._time(Result.PENDING, difference=missing)
        if transfer.has_come(due_at):
            result = Result.DELAYED if transfer.has_come(transfer.late_at) else Result.OVER_ESTIMATE
        else:
            result = Result.PENDING if transfer.steps.has_dead_step else Result.ON_TRACK
        due = Sentence("expected by ", times.utc(due_at, now=transfer.now))
        return self._time(result, since=transfer.started_at, difference=due)

    def _time_taken(self) -> ComparisonRow:
        taken, result, difference = self._transfer.taken, Result.UNKNOWN, "no estimate"
        if taken is None:
            return self._time(result)
        if self._estimate:
            over = taken - self._estimate
            result = Result.LATE if over >= self._transfer.grace else Result.OVER_ESTIMATE
            difference = f"{times.duration(over)} over estimate"
            if over <= timedelta():
                result = Result.WITHIN_ESTIMATE
                difference = f"{times.duration(-over)} under estimate" if over else "as estimated"
        return self._time(result, actual=times.duration(taken), difference=difference)

    def _time(self, result: Result, **figures: Any) -> ComparisonRow:
        quoted = f"est. {times.duration(self._estimate)}" if self._estimate else UNKNOWN
        return ComparisonRow("Time", result, quoted, **figures)

    # Limits of the quote

    def _deposit(self, *, is_open: bool) -> ComparisonRow | None:
        """Return the row of the deposit, which only an exact-output quote limits."""
        transfer, arrived = self._transfer, self._transfer.arrived
        if not self._is_exact_output:
            return None
        quoted = replace(transfer.requested, value=transfer.quote.from_amount)
        chain = transfer.chain_name(transfer.origin_chain_id, unknown="the origin chain")
        row = ComparisonRow(f"Deposited on {chain}", Result.PENDING, quoted.in_words(), "quoted amount")
        if arrived is None:
            return replace(row, difference="deposit not confirmed") if is_open else None
        if self._deposited is None or quoted.value is None:
            return None
        result = Result.AS_QUOTED if self._deposited <= quoted.value else Result.OVER_LIMIT
        actual, difference = arrived.in_words(), compared(self._deposited, quoted, "quoted") or "as quoted"
        return replace(row, result=result, actual=actual, difference=difference)

    def _slippage(self, arrived: Money | None) -> ComparisonRow | None:
        """Return the slippage from the quoted to the received amount. Its tolerance is a fraction of one."""
        quoted, options = self._quoted.value, self._transfer.request.options
        tolerance = first(self._transfer.quote.max_slippage, options.slippage_tolerance if options else None)
        if tolerance is None:
            return None
        limit = f"max {amounts.fraction(tolerance)}"
        row = ComparisonRow("Slippage", Result.PENDING, quoted="", limit=limit, term="slippage")
        if arrived is None:
            return row
        if arrived.value is None or not quoted or not self._is_comparable:
            return None
        slipped = EXACT.divide(Decimal(quoted - arrived.value), Decimal(quoted))
        came = amounts.fraction(slipped) if slipped >= 0 else f"{amounts.fraction(slipped.copy_abs())} better"
        # A product is exact, a quotient is rounded.
        if EXACT.multiply(Decimal(quoted), tolerance) >= quoted - arrived.value:
            return replace(row, result=Result.WITHIN_LIMIT, actual=came)
        points = amounts.points(EXACT.subtract(slipped, tolerance).scaleb(2, EXACT))
        difference = f"{points} percentage points over the limit"
        return replace(row, result=Result.OVER_LIMIT, actual=came, difference=difference)

    # The refund

    def _refund(self) -> tuple[ComparisonRow | None, str]:
        """Return the row of a refund, None without one, and the same in words."""
        transfer, money = self._transfer, self._transfer.refunded
        if transfer.refund is None or transfer.returning is StepStatus.ABSENT:
            return None, ""
        amount, is_known = money.in_words(), money.value is not None
        result, actual, difference = Result.REFUNDED, amount, ""
        if transfer.returning in RUNNING:
            result, actual, text = Result.REFUNDING, "nothing yet", "Refund in progress"
            difference = Sentence(amount, " to be refunded") if is_known else ""
        elif transfer.returning is not StepStatus.DONE:
            result, actual, text = Result.REFUND_FAILED, "nothing", "Refund failed"
            difference = Sentence(amount, " not refunded") if is_known else ""
        elif not transfer.refund_reached_the_owner:
            result, text = Result.REFUND_UNCONFIRMED, "Refund to the owner not confirmed"
            difference = "not to the owner, or on a chain outside the route"
        elif less := self._less_than_sent():
            difference = text = less
        else:
            text = Sentence("The owner got ", amount, " back") if is_known else "The refunded amount isn't reported"
            difference = "not comparable: different token, or amount not reported"
        chain = transfer.chain_name(transfer.refund.chain_id, unknown="")
        label = f"Refunded on {chain}" if chain else "Refunded"
        return ComparisonRow(label, result, "", actual=actual, difference=difference, term="refund"), text

    def _less_than_sent(self) -> str:
        """Return `0.50 USDC less than sent`, or "" if the refund can't be compared with the deposit."""
        refunded, arrived = self._transfer.refunded, self._transfer.arrived
        if arrived is None or refunded.value is None or self._deposited is None:
            return ""
        if not token_amounts.is_same_asset(refunded, arrived):
            return ""
        return compared(refunded.value, replace(refunded, value=self._deposited), "sent") or "as much as sent"


def _comparison(result: Result, text: str, row: ComparisonRow, *others: ComparisonRow | None) -> Comparison:
    """Return a comparison without the rows that say nothing. The first one is always shown."""
    told = [each for each in others if each and (each.result is not Result.UNKNOWN or each.actual != UNKNOWN)]
    return Comparison(result, text, (row, *told))


# The service rounds each part, so five parts can differ from their sum by a few cents.
TOLERANCE = Decimal("0.02")


@dataclass(frozen=True)
class FeePart:
    """A fee. `amount` is in its own token: the native token for a network fee, otherwise the fee token.

    Only the total shows a warning about the fee token.
    """

    label: str
    usd: Decimal | None
    amount: Amount | None = None
    is_gas: bool = False

    @property
    def shown(self) -> Figure:
        return amounts.fee(self.usd)

    @property
    def in_token(self) -> str:
        return self.amount.without_warning if self.amount else ""


class Fees:
    """The quoted fees of a transfer. The service never reports those actually charged.

    `total` is the quoted one or, if there is none (`is_stated` is False), the sum of the parts.
    """

    def __init__(self, transfer: Transfer) -> None:
        self._transfer, self._received = transfer, transfer.intent.fees or NO_FEES
        # The fee token is on the origin chain. Most fees are in the deposited token.
        money = transfer.money(None, transfer.origin_chain_id, self._received.fee_token_address)
        asked = transfer.money(None, transfer.asked.chain_id, transfer.asked.token_address)
        is_deposited = token_amounts.is_same_token(money, asked)
        self._token = replace(money, own_decimals=transfer.asked.decimals) if is_deposited else money
        self.parts = tuple(part for part in self._reported_parts() if part.usd is not None or part.amount)
        self._values = [part.usd for part in self.parts if part.usd is not None]
        is_complete = bool(self._values) and len(self._values) == len(self.parts)
        self._sum = amounts.total(self._values) if is_complete else None
        stated, units = self._received.total_fee_usd, self._in_fee_token(self._received.total_fee_amount)
        self.is_stated = stated is not None
        self.total = first(stated, self._sum)
        self.shown = amounts.fee(self.total)
        self.in_token = units.in_words if units else ""
        # The total minus the sum of the parts in USD, 0 if either isn't known.
        self._gap = Decimal(0) if stated is None or self._sum is None else EXACT.subtract(stated, self._sum)
        # Whether the parts make the quoted total, apart from rounding, as far as that is known.
        self.adds_up = self._gap.copy_abs() <= TOLERANCE

    @property
    def bar(self) -> list[tuple[Decimal, Decimal]]:
        """Return start and width of each part in percent of the bar. No bar if a fee is negative or unknown."""
        if not self._sum or min(self._values) < 0:
            return []
        ends = [round(EXACT.divide(100 * end, self._sum), 1) for end in accumulate(self._values, EXACT.add)]
        return [(start, end - start) for start, end in pairwise((Decimal(0), *ends))]

    @property
    def sentence(self) -> str:
        """Return what the total is and what it differs by from its parts, "" if they add up in USD and in the token.

        The difference in the token can be known, and other than 0, even if the USD values add up.
        """
        fees, usd, in_token = self._received, "", ""
        parts = (fees.gas_fee_total, fees.provider_fee_total, fees.service_fee_total, fees.collector_fee_total)
        units, gap = [value for value in parts if value is not None], None
        if fees.total_fee_amount is not None and units:
            gap = fees.total_fee_amount - sum(units)
        if gap:
            listed, apart = (FeePart("", None, self._in_fee_token(each)).in_token for each in (sum(units), abs(gap)))
            token = text.symbol(self._token.symbol).shown if self._token.symbol else "the fee token"
            in_token = _difference(f"In {token}, fees", listed, apart, is_less=gap > 0)
        if self.total is None:
            usd = "Some fees have no USD value, so no total is shown."
        elif not self.is_stated:
            usd = "The service reported no total. This is the sum of the fees listed."
        elif self._sum is None and gap != 0:
            usd = "Some fees have no USD value, so the total can't be checked."
        elif self._sum is not None and self._gap:
            listed, apart = amounts.fee(self._sum), amounts.fee(self._gap.copy_abs())
            usd = _difference("Fees", listed, apart, is_less=self._gap > 0)
        return joined(" ", filter(None, (usd, in_token))) if self.parts else ""

    def _reported_parts(self) -> Iterator[FeePart]:
        fees, provider = self._received, self._received.provider or NO_PROVIDER
        provider_usd = first(fees.provider_fee_usd, provider.quote_provider_fee_usd)
        service_usd = first(fees.service_fee_usd, provider.service_fee_usd)
        kind = "Swap fee" if self._transfer.is_same_chain else "Bridge fee"
        if provider.quote_provider:
            kind = f"{kind} ({names.provider_label(provider.quote_provider)})"
        yield from self._gas()
        yield FeePart(kind, provider_usd, self._in_fee_token(fees.provider_fee_total))
        yield FeePart("Service fee", service_usd, self._in_fee_token(fees.service_fee_total))
        yield FeePart("Collector fee", fees.collector_fee_usd, self._in_fee_token(fees.collector_fee_total))

    def _gas(self) -> Iterator[FeePart]:
        """Return network fees by chain if each is reported in USD, otherwise their sum."""
        fees, transfer = self._received, self._transfer
        sides = ((fees.origin_gas, "origin chain"), (fees.destination_gas, "destination chain"))
        by_chain = [(gas, side) for gas, side in sides if gas]
        if not by_chain or any(gas.total_fee_usd is None for gas, _ in by_chain):
            yield FeePart("Network fees", fees.gas_fee_usd, self._in_fee_token(fees.gas_fee_total), is_gas=True)
            return
        for gas, side in by_chain:
            chain, amount = transfer.chain_name(gas.chain_id, unknown=side), None
            if gas.total_fee_amount is not None:
                coin = Money(gas.total_fee_amount, gas.chain_id, hashes.ZERO_ADDRESS, names=transfer.names)
                amount = coin.amount
                if amount.unit in ("", amounts.BASE_UNITS) and gas.native_token_symbol:
                    amount = amounts.amount(coin.value, decimals=coin.token.decimals, symbol=gas.native_token_symbol)
            yield FeePart(f"Network fee ({chain})", gas.total_fee_usd, amount, is_gas=True)

    def _in_fee_token(self, units: int | None) -> Amount | None:
        if units is None:
            return None
        if self._token.token_address is None:
            return amounts.amount(units, decimals=None)
        return replace(self._token, value=units).amount


def _difference(fees: str, listed: str, apart: str, *, is_less: bool) -> Sentence:
    more = "less" if is_less else "more"
    return Sentence(f"{fees} add up to ", listed, ", ", apart, f" {more} than the quoted total.")
