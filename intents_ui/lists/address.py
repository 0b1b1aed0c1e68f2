"""`/address/<address>`: roles, recoverable balances, open transfers and history of an address.

Roles and totals are based on searches, which return intents without receipts, and possibly only the newest ten
(docs/contract.md#search). Totals are in base units per token, with the number of intents that they cover.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property, partial
from http import HTTPStatus
from types import SimpleNamespace

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import amounts, hashes, text
from intents_ui.http import cursors
from intents_ui.http.marks import is_partial
from intents_ui.lists import attention
from intents_ui.search import empty_results, filters, identifiers, input_errors
from intents_ui.search.identifiers import ADDRESSES, Explorer, Finding, Kind, explorers_of
from intents_ui.service import lookup, results
from intents_ui.service.errors import ServiceError
from intents_ui.service.lookup import ListPage, Position
from intents_ui.service.models import EARLIEST, End, Intent, IntentHistory, IntentStatus, SearchAnswer
from intents_ui.service.results import CAPPED_FROM, DELIVERY_ADDRESS, DEPOSIT_ADDRESS, OWNER
from intents_ui.tokens import names, token_amounts
from intents_ui.transfers import balances, statuses, summary
from intents_ui.transfers.statuses import StatusLabel, Tone
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import mirror, reading
from intents_ui.web.frame import render
from intents_ui.web.reading import BEGINNING, Part, read_parts

ROLES = {
    OWNER: "Owner",
    DEPOSIT_ADDRESS: "Deposit address",
    DELIVERY_ADDRESS: "Destination intent address",
}
ENDS = (IntentStatus.SUCCEEDED, IntentStatus.FAILED, IntentStatus.REFUNDED, IntentStatus.ABORTED, IntentStatus.INVALID)
# Filters of an owner's transfers, by their words.
CHOICES = {"All": (), "Open": filters.IN_FLIGHT, **{statuses.INTENTS[each].word: (each,) for each in ENDS}}
MAX_NEAR = 3  # explorers beside the address
MAX_VIA_ADDRESS = 50  # of the transfers with this intent address: usually one


@dataclass(frozen=True)
class Role:
    """A role and its number of transfers: None if the lookup failed, a minimum if `may_be_more`."""

    key: str
    intents: int | None
    may_be_more: bool = False

    @property
    def count(self) -> str:
        """Return `37 transfers` or `at least 10 transfers`."""
        return f"{'at least ' if self.may_be_more else ''}{text.counted(self.intents or 0, 'transfer')}"

    @property
    def shown(self) -> str:
        return f"{ROLES[self.key]} of {self.count}"


def role(key: str, found: SearchAnswer | None, *, listed: Iterable[IntentHistory] = ()) -> Role:
    """`listed`: the history. A search that lacks some of it is incomplete."""
    elsewhere = {entry.intent_id.lower() for entry in listed}
    if found is None:
        return Role(key, len(elsewhere) or None, may_be_more=True)
    given = {intent.intent_id.lower() for intent in found.intents}
    may_be_more = len(given) == CAPPED_FROM or found.beyond > 0 or not elsewhere <= given
    # Those of the history may be among the matches that were not read.
    return Role(key, max(len(given | elsewhere), len(given) + found.beyond), may_be_more=may_be_more)


@dataclass(frozen=True)
class Sum:
    """The amount of one token on one chain, its number of transfers, and its value according to their quotes."""

    side: summary.Side
    value: balances.Value
    intents: int


# Delivered first, then open, then not delivered.
ORDER = (Tone.GOOD, Tone.PROGRESS, Tone.ATTENTION, Tone.BAD, Tone.NEUTRAL)


def mix(labels: Iterable[StatusLabel]) -> Iterator[tuple[Tone, str, int]]:
    """Yield tone, word and number of each status, by tone, then most frequent first."""
    counted = Counter((label.tone, label.word) for label in labels)
    for (tone, word), count in sorted(
        counted.items(), key=lambda each: (ORDER.index(each[0][0]), -each[1], each[0][1])
    ):
        yield tone, word, count


def totals(found: Sequence[Intent], *, using: names.Names, now: datetime) -> SimpleNamespace:
    """Return the totals of an owner's transfers. Amounts include succeeded transfers only, the most valuable first.

    `sent` and `received` are the quoted amounts, because a search returns no receipts, and `usd` the quoted value.
    """
    transfers = [Transfer(each, None, now=now, names=using, is_unread=True) for each in found]
    succeeded = [each for each in transfers if each.status == IntentStatus.SUCCEEDED]
    created = [intent.created_at for intent in found if intent.created_at]
    return SimpleNamespace(
        intents=len(found),
        succeeded=len(succeeded),
        mix=tuple(mix(each.shown_status for each in transfers)),
        usd=_value([each.quote.from_amount_usd for each in succeeded]),
        sent=_sums([(each.requested, each.quote.from_amount_usd) for each in succeeded]),
        received=_sums([(each.expected, each.quote.to_amount_usd) for each in succeeded]),
        first=min(created, default=None),
        latest=max(created, default=None),
    )


def _value(quoted: Sequence[Decimal | None]) -> balances.Value:
    priced = [usd for usd in quoted if usd is not None]
    return balances.Value(amounts.total(priced), len(priced), len(quoted))


def _sums(moneys: Sequence[tuple[token_amounts.Money, Decimal | None]]) -> list[Sum]:
    """Return the totals of the amounts whose token is known."""
    groups: dict[tuple[int, str, int | None], list[tuple[token_amounts.Money, Decimal | None]]] = {}
    for money, usd in moneys:
        if money.value is not None and money.chain_id is not None and money.token_address:
            token = (money.chain_id, token_amounts.key(money.token_address), money.token.decimals)
            groups.setdefault(token, []).append((money, usd))
    sums = []
    for (chain_id, address, decimals), group in groups.items():
        units = sum(money.value or 0 for money, _ in group)
        money = token_amounts.Money(units, chain_id, address, own_decimals=decimals, names=group[0][0].names)
        value = _value([usd for _, usd in group])
        sums.append(Sum(summary.Side(money, value.usd if value.priced else None), value, len(group)))
    return sorted(sums, key=lambda each: (each.value.priced == 0, -each.value.usd, each.side.token.symbol))


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
    """All requests about an address, sent together. `listed`: the filters of its history. Raises if all failed."""

    def __init__(self, finding: Finding, *, listed: filters.Filters) -> None:
        service, value, owner = app.current().service, finding.value, filters.Filters(owner=finding.value)
        chains = [chain.id for chain in app.current().catalog.chains()]
        self.finding = finding
        self.questions = {each.key: each for each in lookup.as_any(results.ADDRESS, value)}
        self.searches = {
            key: Part(partial(lookup.answer_to, each, service=service)) for key, each in self.questions.items()
        }
        self.recoverable = Part(lambda: reading.list_page(owner.with_(recoverable=True)))
        self.open_list = Part(lambda: reading.list_page(owner.with_(status=filters.IN_FLIGHT)))
        self.listed = Part(lambda: reading.list_page(listed))
        self.lists = self.recoverable, self.open_list, self.listed
        self.tokens = Part(lambda: lookup.tokens_at(service, chains, value))
        read_parts(*self.searches.values(), *self.lists, self.tokens)
        errors = [*(part.error for part in self.searches.values()), *(part.error for part in self.lists)]
        self.errors = [error for error in errors if error]
        if len(self.errors) == len(errors):
            raise self.errors[0]

    @property
    def is_nothing(self) -> bool:
        return not (self.entries or self.searched(*ROLES) or self.tokens.found or self.break_off)

    @property
    def break_off(self) -> bool:
        """Return whether a list has an empty page although the service reports more."""
        return any(part.found is not None and part.found.end is End.EMPTY_PAGE for part in self.lists)

    @property
    def entries(self) -> list[IntentHistory]:
        """The owner's entries from all lists."""
        return [entry for part in self.lists if part.found for entry in part.found.entries]

    def searched(self, *keys: str) -> Sequence[Intent]:
        """Return the unique results of the searches by these keys, newest first."""
        answers = [answer for key in keys if (answer := self.searches[key].found)]
        given = (intent for answer in answers for intent in answer.intents)
        newest = sorted(given, key=lambda intent: intent.created_at or EARLIEST, reverse=True)
        return list({intent.intent_id.lower(): intent for intent in newest}.values())

    @property
    def owner(self) -> Role:
        """The role as owner. Its number of transfers is None if that lookup failed."""
        return self.roles[0]

    @cached_property
    def roles(self) -> list[Role]:
        """All roles, the owner first."""
        listed = {OWNER: self.entries}
        return [role(key, part.found, listed=listed.get(key, ())) for key, part in self.searches.items()]

    @property
    def may_be_capped(self) -> bool:
        return any(role.may_be_more and not self.searches[role.key].error for role in self.roles)

    @cached_property
    def open_transfers(self) -> list[summary.Summary]:
        """The owner's open transfers. An expired quote keeps its status but isn't open."""
        found = reading.of_entries(self.open_list.found.entries if self.open_list.found else ())
        return [summary.of(each) for each in found if not each.is_expired]

    @cached_property
    def work(self) -> attention.ProblemRows:
        """The owner's transfers with recoverable balances."""
        found = self.recoverable.found
        return attention.worklist(reading.of_entries(found.entries if found else ()))

    @property
    def activity(self) -> str:
        """Return `12 transfers, 1 open, 2 recoverable` for an owner, "" for other addresses or if the lookup failed."""
        if not self.owner.intents:
            return ""
        at_least = "at least " if self.open_list.found and self.open_list.found.following else ""
        found = [self.owner.count]
        if self.open_transfers:
            found.append(f"{at_least}{len(self.open_transfers)} open")
        if self.work.rows:
            found.append(f"{len(self.work.rows)} recoverable")
        return ", ".join(found)

    @property
    def contracts(self) -> list[str]:
        """Return `USDC on Ethereum` for each token whose contract has this address."""
        using = app.current().catalog
        return [
            f"{token_amounts.of_token(token, using=using).named} on {names.of_chain(token.chain_id, using=using)}"
            for token in self.tokens.found or ()
        ]

    @property
    def totals(self) -> SimpleNamespace | None:
        owned = self.searched(OWNER)
        return totals(owned, using=app.current().catalog, now=datetime.now(UTC)) if owned else None

    @cached_property
    def nearest(self) -> Sequence[Explorer]:
        """Return block explorers of the chains it is most active on. An owner is active on the origin chain."""
        used = Counter(intent.origin_chain_id for key in (OWNER, DEPOSIT_ADDRESS) for intent in self.searched(key))
        used.update(intent.destination_chain_id for intent in self.searched(DELIVERY_ADDRESS))
        known = [app.current().catalog.chain(chain_id) for chain_id, _ in used.most_common()]
        return explorers_of(self.finding, chains=[chain for chain in known if chain])[:MAX_NEAR]

    @cached_property
    def passing(self) -> Sequence[Intent]:
        """The transfers through this intent address."""
        return self.searched(DEPOSIT_ADDRESS, DELIVERY_ADDRESS)

    @property
    def passing_roles(self) -> Mapping[str, Sequence[str]]:
        """Return its roles in each of the transfers through it, by intent ID."""
        by_key = {key: {each.intent_id.lower() for each in self.searched(key)} for key in ROLES if key != OWNER}
        return {
            each.intent_id: [key for key, ids in by_key.items() if each.intent_id.lower() in ids]
            for each in self.passing
        }

    def result(self, *lists: Part[ListPage]) -> results.LookupResult:
        """Return the requests as a search without hits. These lists count as the lookup by owner, the first key."""
        failed = {self.questions[key]: part.error for key, part in self.searches.items() if part.error}
        if error := next((part.error for part in lists if part.error), None):
            failed.setdefault(self.questions[OWNER], error)
        answered = tuple(each for each in self.questions.values() if each not in failed)
        unreadable = sum(part.found.unreadable_entries for part in self.searches.values() if part.found)
        return results.LookupResult((), answered, tuple(failed.items()), may_be_capped=False, unreadable=unreadable)

    @property
    def not_asked(self) -> Sequence[str]:
        found = self.result()
        return empty_results.not_asked(found) if found.failed or found.unreadable else ()


@require_safe
def view(request: HttpRequest, address: str) -> HttpResponse:
    """Return the page of the address, or only its history for another page of it and for htmx."""
    finding = read(address)
    # Keep an address with a wrong checksum in the URL, so that the user can see it.
    if finding.value != address and finding.warning != input_errors.CHECKSUM:
        return redirect(reverse("address", args=[finding.value], query=request.GET), permanent=True)
    catalog = app.current().catalog
    explorers = explorers_of(finding, chains=catalog.chains())
    context: dict[str, object] = {"finding": finding, "found": None, "is_owner": False, "names": catalog}
    context["explorers"] = explorers
    if hashes.is_native(finding.value):
        return render(request, "lists/address.html", context)
    parsed = filters.read({"status": request.GET.getlist("status")})
    wanted = parsed.filters.with_(owner=finding.value)
    if parsed.problems:
        context |= history(None, wanted, parsed)
        return render(request, "lists/address.html", context, block="list", status=HTTPStatus.BAD_REQUEST)
    at = cursors.read(request.GET.get(cursors.NAME, ""), query=wanted.query)
    if at != BEGINNING or is_partial(request):
        context |= history(reading.list_page(wanted, at=at), wanted, parsed, at=at)
        return render(request, "lists/address.html", context, block="list")
    found, paid = AddressLookup(finding, listed=wanted), mirror.that_paid(request, finding.value)
    if found.is_nothing and not (paid and paid.lists):
        return miss(request, found, paid, explorers)
    sides = [(each.origin_chain_id, each.destination_chain_id) for each in found.searched(*ROLES)]
    catalog.learn({*names.chains_of(found.entries), *(chain for side in sides for chain in side)})
    passing = [summary.of(each) for each in reading.from_search(found.passing[:MAX_VIA_ADDRESS])]
    context |= {"found": found, "paid": paid, "passing": passing}
    if found.owner.intents != 0 or found.break_off:  # also if the lookup of an owner failed
        context |= history(found.listed.found, wanted, parsed, error=found.listed.error)
    return render(request, "lists/address.html", context)


def miss(
    request: HttpRequest, lookup: AddressLookup, paid: mirror.Paid | None, explorers: Sequence[Explorer]
) -> HttpResponse:
    """Render "no matches", or "search incomplete" if a request failed."""
    found = lookup.result(*lookup.lists)
    context = {
        "found": found,
        "findings": [lookup.finding],
        "asked": "",  # the page is in the list of recent addresses by itself
        "paid": paid,
        **dict.fromkeys(("possible", "told")),
        **dict.fromkeys(("others", "unclear", "criteria"), ()),
        "pasted": lookup.finding.value,
        "not_asked": empty_results.not_asked(found),
        "was_asked": empty_results.was_asked(found),
        "elsewhere": [(lookup.finding, explorers)] if explorers else [],
    }
    return render(request, "search/search_empty.html", context, status=HTTPStatus.NOT_FOUND, error=found.error)


def history(
    found: ListPage | None,
    wanted: filters.Filters,
    parsed: filters.ListQuery,
    *,
    at: Position = BEGINNING,
    error: ServiceError | None = None,
) -> dict[str, object]:
    """Return the context of the owner's history, for the block `list` of `lists/address.html`."""
    path = reverse("address", args=[wanted.owner])

    def url(position: Position | None) -> str | None:
        """Return the canonical URL of a page of the owner's list."""
        query = parsed.filters.query
        return cursors.address(path, query=wanted.query, written=query, at=position) if position else None

    return {
        "now": datetime.now(UTC),
        "is_owner": True,
        "list_page": found,
        "list_error": error,
        "transfers": [summary.of(each) for each in reading.of_entries(found.entries if found else ())],
        "choices": CHOICES,
        "problem": parsed.problems.get("status", ""),
        "wanted": wanted,
        "export_list": f"address/{wanted.owner}",
        "export_query": parsed.filters.query,
        "first": url(BEGINNING) if at != BEGINNING else None,
        "previous": url(at.previous) if found else None,
        "following": url(found.following) if found else None,
    }
