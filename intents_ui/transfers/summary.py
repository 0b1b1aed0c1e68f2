"""The answer about a transfer: what happened, where the funds are, what to do next, and how certain that is.

Every surface shows a `Summary`, or the beginning of one. No other module words a transfer's state. The messages come
from messages.toml.
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from intents_ui.formatting import amounts, hashes, text, times
from intents_ui.formatting.text import UNKNOWN, Address, Name, Sentence, capitalized, fill, parts_of
from intents_ui.service.models import STOPPED, IntentStatus
from intents_ui.service.outcome import RUNNING, StepStatus
from intents_ui.tokens import names
from intents_ui.tokens.names import Provider
from intents_ui.tokens.token_amounts import Identity, Money, TokenStanding
from intents_ui.transfers import placeholders, rules
from intents_ui.transfers.deposits import DepositCheck
from intents_ui.transfers.placeholders import ADDRESSES, Placeholders
from intents_ui.transfers.rules import (
    MESSAGES,
    SECOND_DEPOSIT,
    Actor,
    Attention,
    Cause,
    Certainty,
    Help,
    HelpKind,
    Message,
)
from intents_ui.transfers.statuses import StatusLabel, Tone
from intents_ui.transfers.transfer import Check, Place, Transfer, derived, derived_property

STATUS = "{status_word}"
CHECKING = "Checking on-chain balances…"
NOT_CHECKED = "On-chain balances were not checked."
CHECKING_PLACE = "The intent addresses are being checked."
CHECKING_NEXT = "Wait a moment while the balances are checked."

# Limits of what chats and search engines show.
LONGEST_TITLE = 120
LONGEST_DESCRIPTION = 300

# Labels of amounts that haven't been seen to move.
EXPECTED, QUOTED, TO_SEND, UNCONFIRMED = "expected", "quoted", "to send", "unconfirmed"
REFUNDED = "refunded"  # label of a refunded amount


@dataclass(frozen=True, slots=True)
class Side:
    """One end of a transfer. `usd`: its value from any source. `note` labels an amount that wasn't seen to move, such
    as expected or quoted.
    """

    money: Money
    usd: Decimal | None = None
    note: str = ""

    def __str__(self) -> str:
        """Return `99.85 USDC on Base (expected)`."""
        return f"{self.amount} on {self.chain}{f' ({self.note})' if self.note else ''}"

    @property
    def label(self) -> str:
        """Return the prefix of an unconfirmed amount, such as `Quoted:`, or ""."""
        return f"{self.note.capitalize()}:" if self.note else ""

    @property
    def has_any_step(self) -> bool:
        """Return whether the amount was seen to move: sent, delivered or refunded."""
        return self.note in ("", REFUNDED)

    @property
    def amount(self) -> amounts.Amount:
        return self.money.amount

    @property
    def token(self) -> Identity:
        return self.money.token

    @property
    def chain(self) -> str:
        return self.token.chain


@dataclass(frozen=True, eq=False, slots=True)
class Summary:
    """The summary of a transfer. `key` names the row of messages.

    Without balances, a row that they could change is provisional: its headline is the part that can't change, and
    while a lookup is pending there is no location or next step.
    """

    transfer: Transfer

    @property
    def key(self) -> str:
        return rules.key(self.transfer)

    @property
    def row(self) -> Message:
        return MESSAGES[self.key]

    @property
    def words(self) -> Placeholders:
        return Placeholders(self.transfer)

    # What happened

    @derived_property
    def status(self) -> StatusLabel:
        """Return the status, green only if the delivery is confirmed."""
        shown = self.transfer.shown_status
        tone = self.unless_confirmed(shown.tone)
        return shown if tone is shown.tone else replace(shown, tone=tone, icon="triangle-alert")

    @derived_property
    def tone(self) -> Tone:
        return self.unless_confirmed(self.row.tone)

    @derived_property
    def headline(self) -> str:
        return self._stem if self.is_provisional else self._headline

    @property
    def _template(self) -> str:
        return self.row.stem if self.is_provisional else self.row.headline

    @property
    def says_the_status(self) -> bool:
        """Return whether the headline contains the status."""
        return STATUS in self._template or self.row.says == self.status.word

    @property
    def shows_the_status(self) -> bool:
        """Return whether the status stands beside the headline. A calm headline that contains it is enough."""
        is_calm = self.tone not in (Tone.ATTENTION, Tone.BAD)
        return not (self._template == STATUS or (is_calm and self.says_the_status))

    @derived_property
    def headline_with_status(self) -> str:
        """Return `Succeeded · Delivered`, or only the headline if it says the status."""
        return self.headline if self.says_the_status else f"{self.status.word} · {self.headline}"

    @property
    def row_headline(self) -> str:
        """Return the headline for a row that also shows the status; "" if it repeats the status."""
        return "" if self._template == STATUS else self.headline

    @derived_property
    def sentence(self) -> str:
        return fill(self.row.sentence, self.words)

    # Where the funds are

    @derived_property
    def place(self) -> Place:
        transfer, place = self.transfer, self.row.place
        match place:
            case "last-confirmed":
                return transfer.reached
            case "balance":
                return transfer.held_at if transfer.has_balance else Place.DEPOSIT_ADDRESS
            case "refund":
                return transfer.place_after_a_failed_refund
            case Place.RETURNED:
                refund = transfer.refund
                is_named = refund and refund.to_address and refund.chain_id and transfer.owner
                return Place.RETURNED if is_named else Place.UNKNOWN
            case Place.DEPOSIT_ADDRESS:
                # A reported but unconfirmed deposit can still be anywhere.
                arrived = transfer.has_arrived or transfer.has_balance
                return Place.DEPOSIT_ADDRESS if arrived else Place.UNKNOWN
            case _:
                return Place(place)

    @derived_property
    def location(self) -> str:
        """Return where the funds are, with the amount if they are at one address."""
        if self.is_pending:
            return CHECKING_PLACE
        if self._has_left:
            return self.words.left(self.place)
        return fill(self.row.where, self.words)

    @derived_property
    def amount(self) -> str:
        """Return the amount at the location, or "" if unknown."""
        return "" if self.is_pending else self.words.amount_at(self.place)

    @derived_property
    def finding(self) -> str:
        """Return the balances of the intent addresses, and what they mean; "" if they weren't checked."""
        return self.words.finding(self.place)

    @property
    def is_confirmed_by_balance(self) -> bool:
        """Return whether the balances are the amount at the location and nothing else, so the finding says no more."""
        is_all_there = [each.at for each in self.transfer.holdings] == [self.place]
        return is_all_there and self.place in ADDRESSES and bool(self.words.amount_at(self.place))

    @property
    def address(self) -> str | None:
        """Return the location's address, None while the funds are being refunded."""
        return None if self.place is Place.RETURNING else self.transfer.address_of(self.place)

    @property
    def names_address(self) -> bool:
        """Return whether the location names its address."""
        return any(isinstance(part, Address) and part.whole == self.address for part in parts_of(self.location))

    @property
    def address_chain_id(self) -> int | None:
        return self.transfer.chain_of(self.place) if self.address else None

    @derived_property
    def certainty(self) -> Certainty:
        """Return how certain the location is, which the status label, the route and the comparison use, too."""
        found = self.row.certainty
        if self.is_pending:
            return Certainty.UNKNOWN
        is_doubtful = self.is_provisional or self._has_left
        return Certainty.LIKELY if is_doubtful and found is Certainty.CONFIRMED else found

    # What to do

    @derived_property
    def next_step(self) -> str:
        if self.is_pending:
            return CHECKING_NEXT
        if self._obstacle:
            return Sentence(Name(self._obstacle), " Contact support.")
        return fill(self.row.next, self.words)

    @property
    def instructions(self) -> str:
        """Return the next step, followed by the warning, for surfaces that show both as one text."""
        return Sentence(self.next_step, f" {SECOND_DEPOSIT}") if self.row.warn_second_deposit else self.next_step

    @derived_property
    def who(self) -> Actor:
        """Return who must act: support, once a wait without an actor has taken too long."""
        if self.is_pending:
            return Actor.NONE
        if self._obstacle:
            return Actor.SUPPORT
        return Actor.SUPPORT if self._is_overdue and self.row.who is Actor.NONE else self.row.who

    @derived_property
    def help(self) -> tuple[Help, ...]:
        """Return where to recover the funds and whom to contact, if the next step says to.

        Who recovers funds may also need support.
        """
        kinds = () if self.is_pending else (HelpKind.SUPPORT,) if self._obstacle else self.row.help
        url, support = self.transfer.contacts.recovery_url, self.transfer.contacts.support
        if {*HelpKind} <= {*kinds} and not (url or support):
            return (Help(rules.BOTH_IN_THE_APP),)
        found = []
        if HelpKind.RECOVERY in kinds:
            found.append(Help(rules.RECOVER, url) if url else Help(rules.RECOVER_IN_THE_APP))
        if support and kinds:
            found.append(Help(rules.SUPPORT, support if support.startswith("https://") else f"mailto:{support}"))
        elif HelpKind.SUPPORT in kinds:
            found.append(Help(rules.SUPPORT_OF_THE_APP))
        return tuple(found)

    @property
    def scam_warning(self) -> str:
        """Return the warning about fake support, if the page says whom to contact or to recover funds."""
        return rules.SCAM_WARNING if self.help else ""

    @property
    def deadline(self) -> datetime | None:
        if self.is_pending or not self.row.deadline:
            return None
        at: datetime | None = getattr(self.transfer, self.row.deadline)
        return at

    @property
    def attention(self) -> Attention:
        return Attention.WATCH if self._is_only_late else self.row.attention

    @property
    def cause(self) -> Cause:
        return Cause.LATE if self._is_only_late else self.row.cause

    # Balances

    @derived_property
    def is_provisional(self) -> bool:
        """Return whether unknown balances could change the headline."""
        return bool(self._stem) and self.transfer.has_balance is None and self._stem != self._headline

    @derived_property
    def is_pending(self) -> bool:
        return self.is_provisional and self.transfer.balances.check is Check.PENDING

    @property
    def balance_note(self) -> str:
        """Return the note about unknown balances that could matter."""
        if self.transfer.has_balance is not None or self.transfer.is_unread:
            return ""
        if self.transfer.balances.check is Check.PENDING:
            return CHECKING
        return NOT_CHECKED if self.is_provisional else ""

    # In the row of a list, and at the top of the page

    @derived_property
    def sent(self) -> Side:
        """Return the deposit, labeled if its amount isn't the confirmed deposit's own: it was only requested."""
        transfer, note = self.transfer, ""
        if transfer.sent.value is not None and not transfer.is_arrival_reported:
            # A deposit on its way isn't to be sent again, although its amount isn't known yet.
            is_started = transfer.is_unread or transfer.has_arrived or transfer.paid
            is_made = is_started or transfer.status == IntentStatus.SUCCEEDED
            note = QUOTED if is_made or transfer.is_over else TO_SEND
        return Side(transfer.sent, transfer.quote.from_amount_usd, note)

    @derived_property
    def received(self) -> Side:
        """Return the delivered amount if known, else the quoted one."""
        transfer, usd = self.transfer, self.transfer.quote.to_amount_usd
        if transfer.is_delivered and transfer.received.value is not None:
            return Side(transfer.received, usd, "" if self.certainty is Certainty.CONFIRMED else UNCONFIRMED)
        if transfer.expected.value is None:
            return Side(transfer.expected, usd)
        return Side(transfer.expected, usd, EXPECTED if transfer.is_open and not transfer.is_expired else QUOTED)

    @derived_property
    def returned(self) -> Side | None:
        """Return the refunded amount, if known."""
        transfer = self.transfer
        is_known = transfer.refunded.value is not None and transfer.returning is StepStatus.DONE
        return Side(transfer.refunded) if is_known and self.is_refunded else None

    @property
    def outcome(self) -> Side:
        """Return the refunded amount, else the delivered or quoted one."""
        return replace(self.returned, note=REFUNDED) if self.returned else self.received

    @property
    def has_arrived(self) -> bool:
        """Return whether something was delivered, even if unconfirmed."""
        is_delivery = self.received.note in ("", UNCONFIRMED) and bool(self.received.amount.full)
        return is_delivery and self.returned is None

    @property
    def is_zero_value(self) -> bool:
        """Return whether no funds move. Address poisoning uses such transfers to list a lookalike address."""
        return self.sent.amount.base_units == "0" and self.received.amount.base_units in ("0", "")

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Return the chains whose token list isn't there to check the transfer's tokens against."""
        tokens = (self.sent.token, self.received.token)
        unknown = [each for each in tokens if each.address and each.standing is TokenStanding.UNKNOWN]
        return tuple(dict.fromkeys(each.chain for each in unknown if each.chain_id is not None))

    @property
    def providers(self) -> tuple[Provider, ...]:
        return tuple(map(names.provider, self.transfer.providers))

    @derived_property
    def duration(self) -> str:
        """Return how long it took, or takes so far, for list rows; "" if unknown."""
        transfer = self.transfer
        if transfer.started_at is None:
            return "no deposit" if transfer.is_expired else ""
        return "" if transfer.elapsed is None else times.duration(transfer.elapsed)

    @property
    def recipient_label(self) -> str:
        """Return who received it, if not the recipient."""
        transfer = self.transfer
        if self.is_refunded:
            on = transfer.refunded.chain_id
            return f"refunded on {transfer.chain_name(on)}" if on else "refunded to the owner"
        return "to the owner" if transfer.owner and not transfer.pays_another_wallet else ""

    @property
    def recoverable(self) -> str:
        """Return `79.71 USDC recoverable`, `3 recoverable balances`, or `recoverable balance` of an unknown amount."""
        held, only = self._balances, self.recoverable_money
        if not self.transfer.has_balance:
            return ""
        if only:
            return f"{only.amount.figure} recoverable"
        is_known = any(money.value is not None for money in held)
        return f"{len(held)} recoverable balances" if is_known else "recoverable balance"

    @property
    def recoverable_money(self) -> Money | None:
        """Return the recoverable balance, if there is only one."""
        return self._balances[0] if len(self._balances) == 1 and self._balances[0].value is not None else None

    @derived_property
    def _balances(self) -> list[Money]:
        transfer = self.transfer
        groups = transfer.balances.groups if transfer.has_balance else ()
        return [
            transfer.balance_of(token, inside=group) for group in groups for token in group.tokens if token.balance != 0
        ]

    # In browser tabs, link previews and search results

    @derived_property
    def tab(self) -> str:
        """Return the status, and what was sent and received, short enough for a browser tab."""
        is_known = self.sent.amount.full or self.received.amount.full
        return f"{self.status.word} · {self._sides}" if is_known else self.headline_with_status

    @derived_property
    def title(self) -> str:
        """Return the status and where the funds are."""
        place = text.without_period(self.location) if self.amount else ""
        return text.fitting((self.headline_with_status, place), LONGEST_TITLE, between=" · ")

    @derived_property
    def description(self) -> str:
        parts = (f"{self.headline_with_status}.", self.location, self.balance_note, f"{self._sides}.")
        return text.fitting(parts, LONGEST_DESCRIPTION)

    @property
    def _sides(self) -> str:
        return f"{self.sent} → {self.returned or self.received}"

    # For help and pages

    @property
    def explained(self) -> IntentStatus | None:
        """Return the status whose help page has the row, None if none has."""
        return next((status for status in self.row.statuses if status == self.transfer.status), None)

    @property
    def is_refunded(self) -> bool:
        transfer = self.transfer
        is_sent_back = transfer.returning is StepStatus.DONE and transfer.status != IntentStatus.SUCCEEDED
        return is_sent_back or transfer.status == IntentStatus.REFUNDED

    @derived_property
    def _headline(self) -> str:
        return fill(self.row.headline, self.words)

    @derived_property
    def _stem(self) -> str:
        # Balances don't change what is said about a transfer in progress once its deposit has arrived.
        is_settled = self.key.startswith("executing.") and self.transfer.has_arrived
        return "" if is_settled else fill(self.row.stem, self.words)

    @derived_property
    def _obstacle(self) -> str:
        """Return why the funds can't be recovered, if the next step would say to recover them."""
        return placeholders.no_recovery(self.transfer) if HelpKind.RECOVERY in self.row.help else ""

    @derived_property
    def _has_left(self) -> bool:
        """Return whether the intent address that should hold the funds is empty on the chain."""
        return self.place in ADDRESSES and self.transfer.has_balance is False

    @property
    def _is_overdue(self) -> bool:
        """Return whether a wait without an actor has taken too long."""
        escalates_at = self.transfer.escalates_at(self.row.minutes)
        return self.transfer.has_come(escalates_at)

    @property
    def _is_only_late(self) -> bool:
        """Return whether nothing but the delay needs attention."""
        return self.row.attention is Attention.NONE and (self.transfer.is_late or self._is_overdue)

    def unless_confirmed(self, tone: Tone) -> Tone:
        if tone is not Tone.GOOD or self.certainty is Certainty.CONFIRMED:
            return tone
        return Tone.ATTENTION if self.certainty is Certainty.CONFLICTING else Tone.NEUTRAL


def of(transfer: Transfer) -> Summary:
    """Return the summary for any combination of states, with either object or any of their fields missing."""
    return Summary(transfer)


@derived
def changes_at(transfer: Transfer) -> datetime | None:
    """Return the next time at which the clock alone may change the summary of the same receipt. None: never.

    Until then, the row and the shown status stay the same, and it isn't late or stalled if it isn't now.
    """
    deadlines = [transfer.escalates_at(of(transfer).row.minutes)]
    # Unknown balances could show a deposit that wasn't accepted.
    if transfer.is_open and (not transfer.has_arrived or DepositCheck(transfer).lacking):
        deadlines.append(transfer.escalates_at(MESSAGES["executing.uncounted"].minutes))
    if transfer.is_open:
        deadlines += (transfer.expires_at, transfer.execute_by, transfer.due_at, transfer.stalled_at, transfer.late_at)
    if transfer.returning in RUNNING or transfer.status in STOPPED:
        deadlines += (transfer.return_overdue_at, transfer.settled_at)
    return min((at for at in deadlines if at and at > transfer.now), default=None)


def waiting_on(summary: Summary) -> str:
    """Return `Waiting on: owner`, or "" if no one must act."""
    return "" if summary.who is Actor.NONE else f"Waiting on: {summary.who}"


class PreviewEnd(NamedTuple):
    """One side of a transfer: the labeled amount, the chain, and the warning about the token."""

    amount: str
    chain: str
    warning: str = ""
    has_any_step: bool = True


@dataclass(frozen=True)
class Card:
    """All content of a preview image and its alternative text. Equal cards are the same image. Times are absolute.

    `has_arrived`: draw an arrow from the sent to the delivered amount.
    """

    intent: str
    status: StatusLabel
    tone: Tone
    headline: str
    sentence: str
    sent: PreviewEnd
    received: PreviewEnd
    when: str
    has_arrived: bool
    alt: str

    @property
    def version(self) -> str:
        """Return a hash of the content."""
        return hashlib.blake2b(repr(self).encode(), digest_size=9).hexdigest()


def card(transfer: Transfer, *, as_of: datetime | None = None) -> Card:
    """Return the card. `as_of`: the time of stale data, None for fresh data."""
    told, created_at, changed_at = of(transfer), transfer.quoted_at, transfer.last_change
    moments = {
        "last updated": as_of,
        "created": created_at,
        "last change": None if changed_at == created_at else changed_at,
    }
    words = [f"{word} {times.dated(at)}" for word, at in moments.items() if at]
    when = capitalized(" · ".join(words)) if words else UNKNOWN
    sent, received = (
        PreviewEnd(f"{side.label} {side.amount.figure}".lstrip(), side.chain, side.amount.warning, side.has_any_step)
        for side in (told.sent, told.outcome)
    )
    alt = (f"{told.headline_with_status}.", f"{told.sent} → {told.outcome}.", when)
    return Card(
        intent=hashes.short_id(transfer.intent.intent_id),
        status=told.status,
        tone=told.tone,
        headline=told.headline,
        sentence=told.location,
        sent=sent,
        received=received,
        has_arrived=told.has_arrived,
        when=when,
        alt=text.fitting(alt, LONGEST_DESCRIPTION),
    )
