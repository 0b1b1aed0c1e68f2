"""`/address/<address>`: roles, recoverable balances, open transfers and history of an address.

Roles and totals are based on searches, which return intents without receipts, and possibly only the newest ten
(docs/contract.md#search). Totals are in base units per token, with the number of intents that they cover.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import amounts, hashes, text
from intents_ui.http import cursors
from intents_ui.http.marks import is_partial
from intents_ui.search import empty_results, filters, identifiers, input_errors
from intents_ui.search.explorers import Explorer, explorers_of
from intents_ui.search.filters import IN_FLIGHT, Filters, ListQuery
from intents_ui.search.identifiers import ADDRESSES, Finding, Kind
from intents_ui.service import lookup, results
from intents_ui.service.errors import ServiceError
from intents_ui.service.lookup import ListPage, Position
from intents_ui.service.models import EARLIEST, End, Intent, IntentHistory, IntentStatus, SearchAnswer, TokenInfo
from intents_ui.service.results import CAPPED_FROM, DELIVERY_ADDRESS, DEPOSIT_ADDRESS, OWNER
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import Names, chains_of
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers import balances, statuses, summary
from intents_ui.transfers.balances import Value, Worklist
from intents_ui.transfers.statuses import Share, mix
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import mirror, reading
from intents_ui.web.frame import render
from intents_ui.web.mirror import Mirrored
from intents_ui.web.reading import BEGINNING, Part, read_parts

ROLES = {
    OWNER: "Owner",
    DEPOSIT_ADDRESS: "Deposit address",
    DELIVERY_ADDRESS: "Destination intent address",
}
ENDS = (
    IntentStatus.SUCCEEDED,
    IntentStatus.FAILED,
    IntentStatus.REFUNDED,
    IntentStatus.ABORTED,
    IntentStatus.INVALID,
)
# Filters of an owner's transfers, by their words.
CHOICES = {"All": (), "Open": IN_FLIGHT, **{statuses.INTENTS[each].word: (each,) for each in ENDS}}


@dataclass(frozen=True)
class Role:
    """A role and its number of transfers: None if the lookup failed, a minimum if `may_be_more`."""

    key: str
    intents: int | None
    may_be_more: bool = False

    @property
    def name(self) -> str:
        return ROLES[self.key]

    @property
    def shown(self) -> str:
        """Return `Owner of 37 transfers` or `Owner of at least 10 transfers`."""
        least = "at least " if self.may_be_more else ""
        return f"{self.name} of {least}{text.counted(self.intents or 0, 'transfer')}"


def role(key: str, found: Sequence[Intent] | None, *, beyond: int = 0, listed: Iterable[IntentHistory] = ()) -> Role:
    """`listed`: entries of the owner's history. A search without one of them is incomplete.

    `beyond`: number of matches of the search that were not read.
    """
    elsewhere = {entry.intent_id.lower() for entry in listed}
    if found is None:
        return Role(key, len(elsewhere) or None, may_be_more=True)
    given = {intent.intent_id.lower() for intent in found}
    may_be_more = len(found) == CAPPED_FROM or beyond > 0 or not elsewhere <= given
    # Those of the history may be among the matches that were not read.
    return Role(key, max(len(given | elsewhere), len(given) + beyond), may_be_more=may_be_more)


def token_names(listed: Sequence[TokenInfo], *, using: Names) -> tuple[str, ...]:
    """Return `USDC on Ethereum` for each token whose contract has this address."""
    return tuple(
        f"{token_amounts.of_token(token, using=using).named} on {names.of_chain(token.chain_id, using=using)}"
        for token in listed
    )


def used_on(*, owned: Sequence[Intent], deposits: Sequence[Intent], deliveries: Sequence[Intent]) -> tuple[int, ...]:
    """Return the chains an address is active on, most frequent first. An owner is active on the origin chain."""
    used = Counter(intent.origin_chain_id for intent in (*owned, *deposits))
    used.update(intent.destination_chain_id for intent in deliveries)
    return tuple(chain for chain, _ in used.most_common() if chain is not None)


@dataclass(frozen=True)
class Sum:
    """The amount of one token on one chain, its number of transfers, and its value according to their quotes."""

    side: summary.Side
    value: Value
    intents: int


@dataclass(frozen=True)
class Sums:
    """Totals per token, most valuable first. `untold`: the number of transfers without a token or an amount."""

    tokens: tuple[Sum, ...]
    untold: int


@dataclass(frozen=True)
class Totals:
    """The totals of an owner's transfers. Amounts include succeeded transfers only.

    `sent` and `received` are the quoted amounts, because a search returns no receipts, and `usd` the quoted value.
    """

    intents: int
    succeeded: int
    mix: tuple[Share, ...]
    usd: Value
    sent: Sums
    received: Sums
    first: datetime | None
    latest: datetime | None


def totals(found: Sequence[Intent], *, using: Names, now: datetime) -> Totals:
    transfers = [Transfer.of(each, None, now=now, names=using, unread=True) for each in found]
    shown = [transfer.shown_status for transfer in transfers]
    succeeded = [transfer for transfer in transfers if transfer.status == IntentStatus.SUCCEEDED]
    created = [intent.created_at for intent in found if intent.created_at]
    return Totals(
        intents=len(found),
        succeeded=len(succeeded),
        mix=mix(shown),
        usd=_value([transfer.quote.from_amount_usd for transfer in succeeded]),
        sent=_sums([(transfer.requested, transfer.quote.from_amount_usd) for transfer in succeeded]),
        received=_sums([(transfer.expected, transfer.quote.to_amount_usd) for transfer in succeeded]),
        first=min(created, default=None),
        latest=max(created, default=None),
    )


def _value(quoted: Sequence[Decimal | None]) -> Value:
    priced = [usd for usd in quoted if usd is not None]
    return Value(amounts.total(priced), len(priced), len(quoted))


def _sums(moneys: Sequence[tuple[Money, Decimal | None]]) -> Sums:
    groups: dict[tuple[int, str, int | None], list[tuple[Money, Decimal | None]]] = {}
    for money, usd in moneys:
        if money.value is not None and money.chain_id is not None and money.token_address:
            token = (money.chain_id, token_amounts.key(money.token_address), money.token.decimals)
            groups.setdefault(token, []).append((money, usd))
    sums = []
    for (chain_id, address, decimals), group in groups.items():
        units = sum(money.value or 0 for money, _ in group)
        money = Money(units, chain_id, address, own_decimals=decimals, names=group[0][0].names)
        value = _value([usd for _, usd in group])
        side = summary.Side(money, value.usd if value.priced else None)
        sums.append(Sum(side, value, len(group)))
    ordered = sorted(sums, key=lambda each: (each.value.priced == 0, -each.value.usd, each.side.token.symbol))
    return Sums(tuple(ordered), len(moneys) - sum(each.intents for each in sums))


def standing(owner: Role | None, *, in_flight: int, more_in_flight: bool, recoverable: int) -> str:
    """Return `12 transfers, 1 open, 2 recoverable` for an owner, "" for other addresses or if the lookup failed."""
    if owner is None or not owner.intents:
        return ""
    parts = [f"{'at least ' if owner.may_be_more else ''}{text.counted(owner.intents, 'transfer')}"]
    if in_flight:
        parts.append(f"{'at least ' if more_in_flight else ''}{in_flight} open")
    if recoverable:
        parts.append(f"{recoverable} recoverable")
    return ", ".join(parts)


def read(written: str) -> Finding:
    """Return the address in a part of the URL. Raises Http404 for anything else, before any request."""
    read = identifiers.read(written)
    match read.lookups:
        case (Finding() as found,) if found.kind in ADDRESSES:
            return found
        case (Finding(kind=kind) as found,) if kind is not Kind.WORDS:
            raise Http404(f"This isn't an address. It looks like this type: {empty_results.looks_like(found)}.")
    raise Http404(read.refusal or input_errors.of_address(written))


class AddressLookup:
    """All requests about an address, sent concurrently. `listed`: which of its transfers the history shows.

    Raises the first error if every request failed.
    """

    def __init__(self, finding: Finding, *, listed: Filters) -> None:
        value, owner = finding.value, Filters(owner=finding.value)
        self.questions = {
            question: Part(question.ask) for question in lookup.as_any(app.current().service, results.ADDRESS, value)
        }
        self.recoverable = Part(lambda: reading.list_page(owner.with_(recoverable=True)))
        self.open_list = Part(lambda: reading.list_page(owner.with_(status=filters.IN_FLIGHT)))
        self.listed = Part(lambda: reading.list_page(listed))
        self.tokens = Part(lambda: tokens_at(value))
        read_parts(*self.questions.values(), *self.lists, self.tokens)
        errors = [error for error in self.errors if error]
        if len(errors) == len(self.errors):
            raise errors[0]

    @cached_property
    def owner(self) -> Role:
        """The role as owner. Its number of transfers is None if that lookup failed."""
        return self._role(OWNER, listed=self.entries)

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """All roles, the owner first."""
        return self.owner, self._role(DEPOSIT_ADDRESS), self._role(DELIVERY_ADDRESS)

    @cached_property
    def open_transfers(self) -> list[Transfer]:
        """The owner's open transfers. An expired quote keeps its status but isn't open."""
        return [each for each in reading.of_entries(entries(self.open_list)) if not each.is_expired]

    @cached_property
    def work(self) -> Worklist:
        """The owner's transfers with recoverable balances."""
        return balances.worklist(reading.of_entries(entries(self.recoverable)))

    @property
    def lists(self) -> tuple[Part[ListPage], ...]:
        return self.recoverable, self.open_list, self.listed

    @property
    def entries(self) -> list[IntentHistory]:
        """The owner's entries from all lists."""
        return [entry for part in self.lists for entry in entries(part)]

    def searched(self, *keys: str) -> Sequence[Intent] | None:
        """Return the unique results of the searches by these keys, newest first; None if all failed."""
        found = self._found(*keys)
        given = (intent for answer in found for intent in answer.intents)
        newest = sorted(given, key=lambda intent: intent.created_at or EARLIEST, reverse=True)
        return list({intent.intent_id.lower(): intent for intent in newest}.values()) if found else None

    def _found(self, *keys: str) -> list[SearchAnswer]:
        return [part.found for question, part in self.questions.items() if question.key in keys and part.found]

    def _role(self, key: str, *, listed: Sequence[IntentHistory] = ()) -> Role:
        beyond = max((answer.beyond for answer in self._found(key)), default=0)
        return role(key, self.searched(key), beyond=beyond, listed=listed)

    @property
    def errors(self) -> list[ServiceError | None]:
        return [*(part.error for part in self.questions.values()), *(part.error for part in self.lists)]

    @property
    def is_nothing(self) -> bool:
        return not (self.entries or self.searched(*ROLES) or self.tokens.found or self.break_off)

    @property
    def break_off(self) -> bool:
        """Return whether a list has an empty page although the service reports more."""
        return any(part.found is not None and part.found.end is End.EMPTY_PAGE for part in self.lists)


def entries(part: Part[ListPage]) -> Sequence[IntentHistory]:
    return part.found.entries if part.found else ()


def tokens_at(value: str) -> tuple[TokenInfo, ...]:
    return lookup.tokens_at(app.current().service, [chain.id for chain in app.current().catalog.chains()], value)


def failed_calls(parts: AddressLookup, *lists: Part[ListPage]) -> results.LookupResult:
    """Return the failed requests as a search without hits. The lists count as the lookup by owner, the first key."""
    failed = {question: part.error for question, part in parts.questions.items() if part.error}
    if error := next((part.error for part in lists if part.error), None):
        failed.setdefault(next(iter(parts.questions)), error)
    answered = tuple(question for question in parts.questions if question not in failed)
    unreadable = sum(part.found.unreadable_entries for part in parts.questions.values() if part.found)
    return results.LookupResult((), answered, tuple(failed.items()), may_be_capped=False, unreadable=unreadable)


MAX_NEAR = 3
MAX_VIA_ADDRESS = 50  # of the transfers with this intent address: usually one


@require_safe
def view(request: HttpRequest, address: str) -> HttpResponse:
    finding = read(address)
    # Keep an address with a wrong checksum in the URL, so that the user can see it.
    if finding.value != address and finding.warning != input_errors.CHECKSUM:
        return redirect(reverse("address", args=[finding.value], query=request.GET), permanent=True)
    if hashes.is_native(finding.value):
        return render(request, "lists/address.html", head(finding))
    parsed = filters.read({"status": request.GET.getlist("status")})
    if parsed.problems:
        return page(request, head(finding) | history(None, finding, parsed), status=HTTPStatus.BAD_REQUEST)
    at = cursors.read(request.GET.get(cursors.NAME, ""), query=of_owner(finding, parsed).query)
    if at == BEGINNING and not is_partial(request):
        return everything(request, finding, parsed)
    found = reading.list_page(of_owner(finding, parsed), at=at)
    return page(request, head(finding) | history(found, finding, parsed, at=at))


def page(request: HttpRequest, context: dict[str, object], *, status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    return render(request, "lists/address.html", context, block="list", status=status)


def of_owner(finding: Finding, parsed: ListQuery) -> Filters:
    return parsed.filters.with_(owner=finding.value)


def head(finding: Finding) -> dict[str, object]:
    """Return the context of every address page, without roles and lists, which need requests."""
    names = app.current().catalog
    return {
        "finding": finding,
        "owner": None,
        "is_owner": False,
        "are_open_below": False,
        "roles": (),
        "tokens": (),
        "nearest": (),
        "list_page": None,
        "names": names,
        "standing": "",
        "explorers": () if hashes.is_native(finding.value) else explorers_of(finding, chains=names.chains()),
    }


def everything(request: HttpRequest, finding: Finding, parsed: ListQuery) -> HttpResponse:
    """Render the full page. Raises the first error if every request failed."""
    parts = AddressLookup(finding, listed=of_owner(finding, parsed))
    paid = mirror.that_paid(request, finding.value)
    if parts.is_nothing and not (paid and paid.lists):
        return miss(request, finding, parts, paid)
    context = head(finding) | cards(parts, finding) | {"paid": paid}
    if context["is_owner"]:
        context |= history(parts.listed.found, finding, parsed, error=parts.listed.error)
        context["are_open_below"] = parsed.filters.status == filters.IN_FLIGHT
    return page(request, context)


def miss(request: HttpRequest, finding: Finding, parts: AddressLookup, paid: Mirrored | None) -> HttpResponse:
    """Render "no matches", or "search incomplete" if a request failed."""
    found, links = failed_calls(parts, *parts.lists), head(finding)["explorers"]
    context = {
        "found": found,
        "findings": [finding],
        "asked": "",  # the page is in the list of recent addresses by itself
        "paid": paid,
        "possible": None,
        "told": None,
        "others": [],
        "unclear": [],
        "criteria": (),
        "pasted": finding.value,
        "not_asked": empty_results.not_asked(found),
        "was_asked": empty_results.was_asked(found),
        "elsewhere": [(finding, links)] if links else [],
    }
    return render(request, "search/search_empty.html", context, status=HTTPStatus.NOT_FOUND, error=found.error)


def cards(parts: AddressLookup, finding: Finding) -> dict[str, object]:
    """Return the context of the cards above the history."""
    now, names = datetime.now(UTC), app.current().catalog
    names.learn(named_in(parts))
    owner, owned = parts.owner, parts.searched(OWNER)
    open_transfers = [summary.of(each) for each in parts.open_transfers]
    return {
        "owner": owner,
        # If the lookup failed, it may be an owner.
        "is_owner": owner.intents != 0 or parts.break_off,
        "roles": [role for role in parts.roles if role.intents],
        "may_be_capped": any(role.may_be_more and parts.searched(role.key) is not None for role in parts.roles),
        "tokens": token_names(parts.tokens.found or (), using=names),
        "not_asked": empty_results.not_asked(failed_calls(parts)),
        "nearest": nearest(parts, finding),
        "recoverable": parts.recoverable,
        "work": parts.work,
        "open_list": parts.open_list,
        "open_transfers": open_transfers,
        "standing": standing(
            owner,
            in_flight=len(open_transfers),
            more_in_flight=bool(parts.open_list.found and parts.open_list.found.following),
            recoverable=len(parts.work.rows),
        ),
        "totals": totals(owned, using=names, now=now) if owned else None,
    } | via_intent_address(parts)


def nearest(parts: AddressLookup, finding: Finding) -> Sequence[Explorer]:
    """Return block explorers of the chains the address is most active on."""
    found = {key: parts.searched(key) or () for key in ROLES}
    used = used_on(owned=found[OWNER], deposits=found[DEPOSIT_ADDRESS], deliveries=found[DELIVERY_ADDRESS])
    known = [chain for chain in (app.current().catalog.chain(chain_id) for chain_id in used) if chain]
    return explorers_of(finding, chains=known)[:MAX_NEAR]


def via_intent_address(parts: AddressLookup) -> dict[str, object]:
    """Return the transfers through this intent address: how many, those shown, and its role in each by intent ID."""
    keys = (DEPOSIT_ADDRESS, DELIVERY_ADDRESS)
    found = parts.searched(*keys) or ()
    by_key = {key: {intent.intent_id.lower() for intent in parts.searched(key) or ()} for key in keys}
    shown = found[:MAX_VIA_ADDRESS]
    return {
        "passing_count": len(found),
        "via_intent_address": [summary.of(each) for each in reading.from_search(shown)],
        "reasons": {each.intent_id: [key for key in keys if each.intent_id.lower() in by_key[key]] for each in shown},
    }


def named_in(parts: AddressLookup) -> set[int]:
    """Return the chains that the page shows."""
    chains: list[int | None] = list(chains_of(parts.entries))
    for intent in parts.searched(*ROLES) or ():
        chains += (intent.origin_chain_id, intent.destination_chain_id)
    return {chain for chain in chains if chain}


def history(
    found: ListPage | None,
    finding: Finding,
    parsed: ListQuery,
    *,
    at: Position = BEGINNING,
    error: ServiceError | None = None,
) -> dict[str, object]:
    """Return the context of the owner's history, for the block `list` of `lists/address.html`."""
    now, listed = datetime.now(UTC), found.entries if found else ()
    return {
        "now": now,
        "is_owner": True,
        "list_page": found,
        "list_error": error,
        "transfers": [summary.of(each) for each in reading.of_entries(listed)],
        "choices": CHOICES,
        "problem": parsed.problems.get("status", ""),
        "wanted": of_owner(finding, parsed),
        "export_list": f"address/{finding.value}",
        "export_query": parsed.filters.query,
        "first": url(finding, parsed) if at != BEGINNING else None,
        "previous": url(finding, parsed, at=found.previous) if found and found.previous else None,
        "following": url(finding, parsed, at=found.following) if found and found.following else None,
    }


def url(finding: Finding, parsed: ListQuery, *, at: Position = BEGINNING) -> str:
    """Return the canonical URL of a page of the owner's list."""
    path, of = reverse("address", args=[finding.value]), of_owner(finding, parsed).query
    return cursors.address(path, query=of, written=parsed.filters.query, at=at)
