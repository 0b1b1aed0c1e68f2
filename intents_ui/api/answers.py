"""Transfers as answers of the API. Each text is that of the transfer's page."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from pydantic import BaseModel

from intents_ui.api import models
from intents_ui.formatting import amounts, hashes, text, times
from intents_ui.http import failures
from intents_ui.search import identifiers
from intents_ui.search.filters import Parsed, UrlFilters
from intents_ui.service import request_context
from intents_ui.tokens.token_amounts import Identity
from intents_ui.transfers import comparison, summary, timeline
from intents_ui.transfers.summary import Side, Summary
from intents_ui.transfers.timeline import Step
from intents_ui.transfers.transfer import Transfer
from intents_ui.web.search import Candidates


def answered(model: BaseModel) -> HttpResponse:
    body = model.model_dump_json(by_alias=True)
    return HttpResponse(body, content_type="application/json", headers={"Cache-Control": "private, no-cache"})


def invalid(request: HttpRequest, parsed: Parsed[UrlFilters]) -> HttpResponse:
    """Reject filters by the names of their parameters."""
    names = parsed.filters.PARAMETERS
    return failures.invalid_fields(request, {names.get(name, name): why for name, why in parsed.problems.items()})


def transfer(transfer: Transfer, *, root: str) -> models.ApiTransfer:
    """Return a transfer. `root` is the absolute URL of the dashboard."""
    return models.ApiTransfer(
        **dict(listed(transfer, root=root)),
        comparison=models.ApiComparison.model_validate(comparison.of(transfer)),
        steps=tuple(_step(each, transfer) for each in timeline.of(transfer).steps),
    )


def listed(transfer: Transfer, *, root: str) -> models.ApiListedTransfer:
    shown, intent_id = summary.of(transfer), transfer.intent.intent_id
    return models.ApiListedTransfer(
        intent_id=intent_id,
        url=root + reverse("intent", args=[intent_id]),
        as_of=request_context.current().as_of if request_context.current().stale else None,
        outcome=None if transfer.is_unread else transfer.outcome.value,
        summary=summarized(shown),
        sent=_amount(shown.sent),
        received=_amount(shown.received),
        refunded=_amount(shown.returned) if shown.returned else None,
        owner=transfer.owner,
        recipient=transfer.recipient,
        providers=transfer.providers,
        created_at=transfer.quoted_at,
        started_at=transfer.started_at,
        finished_at=transfer.finished_at,
        expires_at=transfer.expires_at,
    )


def summarized(told: Summary) -> models.ApiSummary:
    transfer = told.transfer
    return models.ApiSummary(
        status=told.status.word,
        headline=told.headline,
        sentence=told.sentence,
        location=told.location,
        location_amount=told.amount or None,
        address=hashes.checksum(told.address) if told.address else None,
        next_step=told.next_step,
        who=told.who.value,
        deadline=times.iso(told.deadline) or None,
        certainty=told.certainty.value,
        attention=told.attention.value,
        cause=told.cause.value or None,
        warn_second_deposit=told.row.warn_second_deposit,
        balances=transfer.balances.check.value,
        balances_checked_at=times.iso(transfer.balances.checked_at) or None,
        on_chain=told.finding or None,
        incident=transfer.incident.sentence if transfer.incident else None,
    )


def candidates(found: Candidates | None, *, root: str) -> models.ApiCandidates | None:
    """Return the transfers that a text may be about, without those that the service didn't return."""
    if found is None:
        return None
    transfers = (listed(each.transfer, root=root) for each in found.transfers)
    shown = tuple(models.ApiCandidate(why=found.reasons[each.intent_id][0], transfer=each) for each in transfers)
    return models.ApiCandidates(searched=found.searched, count=found.count, shown=shown)


def _amount(side: Side) -> models.ApiAmount:
    units, decimals = side.amount.base_units, side.token.decimals
    return models.ApiAmount(
        base_units=units or None,
        amount=amounts.plain(int(units), decimals=decimals) if units and decimals is not None else None,
        token=token(side.token),
        note=side.note or None,
        usd=None if side.usd is None else f"{side.usd:f}",
    )


def token(token: Identity) -> models.ApiToken:
    return models.ApiToken(
        chain_id=token.chain_id,
        chain=token.chain,
        address=token.address,
        symbol=None if token.symbol == text.UNKNOWN else token.symbol,
        decimals=token.decimals,
        warnings=tuple(map(models.TokenWarning.model_validate, token.marks)),
    )


def _step(step: Step, transfer: Transfer) -> models.ApiStep:
    sent = step.transaction
    chain = transfer.names.chain(sent.chain_id) if sent else None
    return models.ApiStep(
        name=step.name.value,
        state=step.state.value,
        sentence=step.sentence,
        at=step.at,
        expected_at=step.expected_at,
        reason=step.reason.shown if step.reason else None,
        transaction=sent
        and models.ApiTransaction(
            chain_id=sent.chain_id,
            hash=sent.txn_hash,
            status=sent.status,
            link=identifiers.transaction_link(sent.txn_hash, chain_id=sent.chain_id, info=chain),
        ),
    )
