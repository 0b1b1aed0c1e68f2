"""Plain-language explanations of the service's status reasons, worded in reasons.json.

What a reply calls differently is in reasons_in_replies.json.

Only known reasons are explained, each matched as a whole: a reason is free text, and nothing else in it is interpreted.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from intents_ui import tables
from intents_ui.formatting import times
from intents_ui.formatting.text import Sentence
from intents_ui.service.models import IntentTransaction
from intents_ui.service.outcome import DEAD, leg
from intents_ui.tokens import names
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers.transfer import Transfer

FIXED: Mapping[str, str] = tables.read(__package__, "reasons.json")
FIXED_IN_REPLIES: Mapping[str, str] = {**FIXED, **tables.read(__package__, "reasons_in_replies.json")}
# A uint256 has at most 78 digits.
UNDERFUNDED = re.compile(r"precondition not met: balance ([0-9]{1,78}) < ([0-9]{1,78})")
PAUSED = re.compile(r"(?:refund reverted: )?token paused")
NOT_SENT = re.compile(r"aborted: not sent within (?:([0-9]{1,4})h)?(?:([0-9]{1,4})m)?(?:([0-9]{1,4})s)?")
CALL_FAILED = re.compile(r"TargetCallFailed(?:: .*)?", re.DOTALL)


def of_step(transaction: IntentTransaction | None, transfer: Transfer, *, in_reply: bool = False) -> str:
    """Return why a step failed or waits, or "" for an unknown reason."""
    if transaction is None or not transaction.status_reason:
        return ""
    needed = _needed_by(transaction, transfer)
    return explain(transaction.status_reason, needed, in_reply=in_reply)


def of_failure(transfer: Transfer) -> str:
    """Return why the refund or else the first step failed, or "" for an unknown reason."""
    steps = (transfer.refund, transfer.deposit, transfer.origin, transfer.destination)
    failed = (step for step in steps if step and step.status_reason == transfer.failure_reason)
    return of_step(next(failed, None), transfer)


def of_failure_anywhere(transfer: Transfer) -> str:
    """Return the same without the token and its chain."""
    return explain(transfer.failure_reason or "", transfer.money(None, None, None))


def for_customer(transfer: Transfer) -> str:
    """Return why a transfer failed, in words for its owner, or "" if that is unknown."""
    steps = (transfer.deposit, transfer.origin, transfer.destination)
    failed = (each for each in steps if each and each.status_reason and leg(each) in DEAD)
    return of_step(next(failed, None), transfer, in_reply=True)


def explain(reason: str, needed: Money, *, in_reply: bool = False) -> str:
    """Return the explanation of a reason. `needed` is the token that the step works with, on the step's chain."""
    fixed = FIXED_IN_REPLIES if in_reply else FIXED
    if reason in fixed:
        return fixed[reason].format(chain=_chain(needed))
    if underfunded := UNDERFUNDED.fullmatch(reason):
        return _underfunded(int(underfunded[1]), int(underfunded[2]), needed)
    if PAUSED.fullmatch(reason):
        return f"No transfer of {needed.called or 'the token'} can go through while it is paused on {_chain(needed)}."
    if not_sent := NOT_SENT.fullmatch(reason):
        hours, minutes, seconds = (int(figure or 0) for figure in not_sent.groups())
        length = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        opening = "One of its steps wasn't submitted" if in_reply else "Not sent"
        return f"{opening} within {times.duration(length)}." if length else ""
    if CALL_FAILED.fullmatch(reason):
        chain = _chain(needed)
        if in_reply:
            return f"The last step, a call to a contract on {chain}, failed."
        return f"The call to the target contract on {chain} failed."
    return ""


def no_recovery(transfer: Transfer) -> str:
    """Return why the owner can't recover funds whose refund failed (their token is paused), otherwise ""."""
    refund = transfer.refund
    if refund is None or transfer.returning not in DEAD or not PAUSED.fullmatch(refund.status_reason or ""):
        return ""
    paused = _needed_by(refund, transfer)
    return f"Recovery isn't possible while {paused.called or 'the token'} is paused on {_chain(paused)}."


def _needed_by(transaction: IntentTransaction, transfer: Transfer) -> Money:
    condition = transaction.precondition
    if transaction is transfer.refund:
        return replace(transfer.refunded, value=None)
    if condition and condition.token_address and condition.chain_id is not None:
        return transfer.money(None, condition.chain_id, condition.token_address)
    return replace(transfer.expected if transaction is transfer.destination else transfer.requested, value=None)


def _underfunded(balance: int, least: int, needed: Money) -> str:
    if balance >= least:
        return ""
    missing, arrived, required = (replace(needed, value=units).amount for units in (least - balance, balance, least))
    less, whole = (replace(amount, warning="").in_words for amount in (missing, required))
    return Sentence(arrived.in_words, " arrived, ", less, " less than the ", whole, " that the step needs.")


def _chain(needed: Money) -> str:
    return names.of_chain(needed.chain_id, using=needed.names, unknown="its chain")
