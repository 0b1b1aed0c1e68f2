"""`/search` and `/tx/…`: find the transfers of any pasted identifier.

A single hit redirects to the transfer, and hits for one address redirect to its page. Several hits are listed with the
field that matched, and no hits show possible reasons. A shortened ID always shows a list of possible matches. Of text
that describes a transfer in words, the page says what was understood.

Candidates are transfers of the mirror that a customer may mean. They are for agents: no reply is about one of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import hashes, text, times
from intents_ui.http import marks, operator_auth
from intents_ui.http.secret_text import HELD_BACK
from intents_ui.search import empty_results, facts, filters, identifiers, input_errors
from intents_ui.search.facts import TicketFacts, chains_by_name
from intents_ui.search.identifiers import ADDRESSES, HASHES, Finding, Kind, ParsedText, explorers_of
from intents_ui.service import lookup, results
from intents_ui.service.errors import ServiceError
from intents_ui.settings import ENV
from intents_ui.tokens import names
from intents_ui.transfers import summary
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import mirror, reading
from intents_ui.web.frame import render
from intents_ui.web.links import intent_url

if TYPE_CHECKING:
    from intents_ui.mirror.coverage import Coverage

MAX_AT_ONCE = 4  # findings of one text
MAX_ADDRESSES = 8  # of one text, compared with the tokens
PAGE_SIZE = 20  # hits. Each takes a request, for its receipt
NOTHING_FOUND = results.LookupResult()
LONGEST_ECHO, LONGEST_NAME = 200, 40  # characters
PER_PAGE = 10
NO_PAGE: "Page[Any]" = Paginator([], PER_PAGE).get_page(1)

CHECK = "Candidates, not answers. Check with the customer before you reply about one."
NO_MIRROR = "This dashboard has no local copy of the history, which would find shortened values and transfers in words."
NOT_ALLOWED = "Only staff can search the local copy of the history."
UNREADABLE = "The local copy can't be read. Other data is not affected."
SEARCHED = "Searched the local copy of the history."
NOTHING = "Nothing in the local copy of the history matches."
# The mirror's facts and columns that aren't called so.
NAMES = {
    "origin": "origin chain",
    "destination": "destination chain",
    "intent_id": "intent ID",
    "refund": "refund address",
    "delivery_address": "destination intent address",
}


@marks.Marks(costly="with query")
@require_safe
def view(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "")
    if "held-back" in request.GET:
        return form(request, filters.read_criteria({}), problem=f"{HELD_BACK.what} {HELD_BACK.todo}")
    if not query.strip():
        return by_keys(request)
    if path := page_named(query):
        return redirect(path)
    read = identifiers.read(query)
    if read.shortened and not read.lookups:  # list the transfers of the mirror that match
        asked, others = read.shortened[:MAX_AT_ONCE], read.shortened[MAX_AT_ONCE:]
        page = request.GET.get("candidates")
        found = possible_transfers(request, query, replace(read, findings=asked), page=page)
        context = {"search_input": asked, "others": others, "unclear": read.unclear, "pasted": query, "found": found}
        status = HTTPStatus.OK if found and found.count else HTTPStatus.NOT_FOUND
        return render(request, "search/shortened.html", context, status=status)
    if not read.lookups:
        return form(request, filters.read_criteria({}), query=query, problem=read.problem)
    return answer(request, of_text(read), read, query=query)


def of_text(read: ParsedText) -> results.LookupResult:
    """Look up what tells a transfer best, and what is less specific only after a miss."""
    most_specific = read.most_specific[:MAX_AT_ONCE]
    return lookup.in_turn(
        app.current().service,
        lambda: questions(most_specific),
        lambda: questions(most_specific, filters.KEYS_AFTER_A_MISS),
        lambda: questions(accounts(read)[:MAX_AT_ONCE]),
    )


def questions(
    findings: Sequence[Finding], keys: Mapping[Kind, Sequence[str]] = filters.KEYS_OF_KIND
) -> list[results.LookupQuestion]:
    """Return the lookups of the identifiers by their kinds, or those after a miss with KEYS_AFTER_A_MISS."""
    return [question for finding in findings for question in lookup.as_any(keys.get(finding.kind, ()), finding.value)]


def accounts(read: ParsedText) -> Sequence[Finding]:
    """Return the addresses that can be accounts; tokens only if the text has nothing else."""
    if len(read.lookups) == 1:
        return read.addresses
    chains = [chain.id for chain in app.current().catalog.chains()]
    given = [finding for finding in read.addresses if not hashes.is_native(finding.value)][:MAX_ADDRESSES]
    tokens = lookup.tokens_among(app.current().service, chains, [finding.value for finding in given])
    kept = [finding for finding in given if finding.value not in tokens]
    return kept if kept or read.most_specific else read.addresses


def page_named(query: str) -> str:
    """Return the page of the chain or the route provider with this name, or ""."""
    name = " ".join(query.split())
    if len(name) > LONGEST_NAME:
        return ""
    if provider := names.provider_named(name):
        return reverse("provider", args=[provider]) if provider in names.KNOWN_PROVIDERS else ""
    chain = chains_by_name(app.current().catalog.chains()).get(name.casefold())
    return reverse("chain", args=[chain.id]) if chain else ""


def possible_transfers(
    request: HttpRequest,
    query: str,
    read: ParsedText,
    found: results.LookupResult = NOTHING_FOUND,
    *,
    page: str | None = None,
) -> "Candidates | None":
    """Return a page of the transfers that the text may be about, or None if it says too little, or has a hit's ID."""
    if found.hits and read.most_specific:
        return None
    return candidates(request, facts_of(query, read), page=page)


def by_keys(request: HttpRequest) -> HttpResponse:
    """The advanced search: all filled-in fields must match."""
    parsed = filters.read_criteria(dict(request.GET.lists()))
    keys = [key for key in filters.KEYS if key.name in parsed.filters]
    if parsed.problems or not keys:
        return form(request, parsed)
    service, label = app.current().service, keys[0].label
    called = "all fields together" if len(keys) > 1 else label[0].lower() + label[1:]
    criteria: Any = {key.criterion: parsed.filters[key.name] for key in keys}
    found = lookup.in_turn(service, lambda: lookup.by_criteria(called, **criteria))
    return answer(request, found, ParsedText(), keys=keys)


@marks.Marks(costly="always")
@require_safe
def transaction(request: HttpRequest, transaction_hash: str, chain_id: str | None = None) -> HttpResponse:
    """Redirect to the transfer of a transaction, whose page marks the step."""
    # The one hash in this part of the URL, also with surrounding punctuation.
    read = identifiers.read(f"/tx/{hashes.canonical_hash(transaction_hash) or transaction_hash}")
    named = [each for each in read.lookups if each.kind in HASHES]
    if len(named) != 1:
        problem = identifiers.read(transaction_hash).refusal or input_errors.of_hash(transaction_hash)
        return form(request, filters.read_criteria({}), query=transaction_hash, problem=problem)
    finding = replace(named[0], host="", chain="", chain_id=None if chain_id is None else int(chain_id))
    args = [finding.value] if finding.chain_id is None else [finding.chain_id, finding.value]
    url = reverse("transaction" if finding.chain_id is None else "transaction-on", args=args)
    if request.path != url:
        return redirect(url, permanent=True)
    known = names.by_id(app.current().catalog.chains())
    if known and finding.chain_id not in (None, *known, *names.WELL_KNOWN):
        chains = ", ".join(f"{name} ({number})" for number, name in known.items())
        problem = f"Unknown chain ID {finding.chain_id}. Known chains: {chains}."
        return form(request, filters.read_criteria({}), query=transaction_hash, problem=problem)
    service = app.current().service
    found = lookup.in_turn(
        service,
        lambda: lookup.as_any([results.TRANSACTION_HASH], finding.value),
        lambda: questions([finding], filters.KEYS_AFTER_A_MISS),
    )
    return answer(request, found, ParsedText((finding,)), query=finding.value)


def answer(
    request: HttpRequest,
    found: results.LookupResult,
    read: ParsedText,
    *,
    keys: Sequence[filters.SearchKey] = (),
    query: str = "",
) -> HttpResponse:
    if found.only:
        # Its page says so if this link was to the explorer of another chain.
        hosts = {each.value: each.host for each in read.lookups if each.kind in HASHES}
        link = next((hosts[each] for each in found.only.transaction_hashes if hosts.get(each)), None)
        return redirect(intent_url(found.only, **({"link": link} if link else {})))
    possible = possible_transfers(request, query, read, found, page=request.GET.get("candidates")) if query else None
    only = read.findings[0] if len(read.findings) == 1 else None
    # An address, if the text has nothing else, and no warning that must be shown first.
    account = only.value if only and only.kind in ADDRESSES and not only.warning else ""
    if found.hits and not possible and account:
        return redirect("address", account)
    # Of the identifiers in the text, those that were looked up.
    findings = [each for each in read.lookups if each.value in found.values]
    context: dict[str, object] = {
        "found": found,
        "findings": findings,
        "others": [each for each in (*read.lookups, *read.shortened) if each.value not in found.values],
        "unclear": read.unclear,
        # What a browser may remember of a search: identifiers, without the text around them.
        "asked": " ".join(each.value for each in findings if each.kind is not Kind.WORDS),
        "pasted": query,
        "criteria": keys,
        "not_asked": empty_results.not_asked(found),
        "possible": possible,
    }
    if found.hits:
        return render(request, "search/search_results.html", context | listed(request, found))
    paid = mirror.that_paid(request, account) if account else None
    if paid and paid.lists and not found.error and not possible:
        return redirect(f"{reverse('address', args=[account])}#{paid.lists[0].role}")
    chains = app.current().catalog.chains()
    elsewhere = [(finding, explorers_of(finding, chains=chains)) for finding in findings]
    context |= {
        "was_asked": empty_results.was_asked(found),
        "elsewhere": [(finding, links) for finding, links in elsewhere if links],
        "told": facts_of(findings[0].value) if [each.kind for each in findings] == [Kind.WORDS] else None,
        "paid": paid,
    }
    # 404 only if every lookup completed and nothing may be meant, else the failure's status.
    status = HTTPStatus.OK if possible and possible.count else HTTPStatus.NOT_FOUND
    return render(request, "search/search_empty.html", context, status=status, error=found.error)


def listed(request: HttpRequest, found: results.LookupResult) -> dict[str, object]:
    """A page of the hits, for `search/search_results.html`."""
    page = Paginator(found.hits, PAGE_SIZE).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    intents = [hit.intent for hit in page]
    return {
        "now": datetime.now(UTC),
        "page": page,
        "pages": f"{request.path}?{query.urlencode()}&page=",
        "is_cut": found.count > len(found.hits),
        "transfers": [summary.of(each) for each in reading.from_search(intents, most=PAGE_SIZE)],
        "reasons": {
            hit.intent.intent_id: [empty_results.reason(question, found=found) for question in hit.reasons]
            for hit in page
        },
        "warnings": [empty_results.warning(doubt) for hit in page for doubt in hit.doubts],
    }


def form(request: HttpRequest, parsed: filters.Criteria, *, query: str = "", problem: str = "") -> HttpResponse:
    """Render the search page; 400 if the input is invalid."""
    without_identifier = problem.endswith(input_errors.WITHOUT_IDENTIFIER)
    possible = None
    if without_identifier:
        possible = possible_transfers(request, query, identifiers.read(query), page=request.GET.get("candidates"))
    context = {
        "possible": possible,
        "parsed": parsed,
        "criteria": filters.KEYS,
        "pasted": query[: identifiers.LONGEST],
        "echo": text.visible(query)[:LONGEST_ECHO],
        "problem": problem,
        "told": facts_of(query) if without_identifier else None,
    }
    is_answered = possible and possible.count
    status = HTTPStatus.BAD_REQUEST if (problem and not is_answered) or parsed.problems else HTTPStatus.OK
    return render(request, "search/search.html", context, status=status)


# Candidates


def facts_of(written: str, read: ParsedText | None = None) -> TicketFacts:
    """Return what a text says about a transfer. Without the lists of chains and tokens, their names say nothing."""
    try:
        chains = app.current().catalog.listed_chains().entries
        tokens = app.current().catalog.listed_featured([chain.id for chain in chains]).entries
    except ServiceError:
        chains, tokens = (), ()
    symbols = (*(token.symbol for token in tokens), *(chain.native_symbol for chain in chains))
    return facts.read(written, chains=chains, symbols=symbols, now=datetime.now(UTC), pasted=read)


class PossibleTransfer(NamedTuple):
    """A transfer that may be meant: what became of it, what matches and what differs, and its path."""

    brief: str
    why: str
    path: str


@dataclass(frozen=True)
class Candidates:
    """A page of the transfers that may be meant, the likeliest first, with what matches and what differs by intent ID.

    `searched`: what was searched, and why not more. `unread`: IDs of those of the page that the service didn't return.
    """

    searched: str = NO_MIRROR
    mirror: "Coverage | None" = None
    transfers: Sequence[summary.Summary] = ()
    reasons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    page: "Page[Any]" = NO_PAGE
    unread: Sequence[str] = ()

    @property
    def count(self) -> int:
        return self.page.paginator.count

    @property
    def is_for_staff(self) -> bool:
        return self.searched == NOT_ALLOWED

    @property
    def listed(self) -> list[PossibleTransfer]:
        """Those of the page in short, with the ones that the service didn't return as the last."""
        told = {each.transfer.intent.intent_id: brief(each, now=datetime.now(UTC)) for each in self.transfers}
        told |= {each: hashes.short_id(each) for each in self.unread}
        return [
            PossibleTransfer(line, self.reasons[intent_id][0], reverse("intent", args=[intent_id]))
            for intent_id, line in told.items()
        ]


def brief(shown: summary.Summary, *, now: datetime) -> str:
    """Return `Delivered: 100 USDC → 99.5 USDC, created 14:01:11 UTC`."""
    at = shown.transfer.quoted_at
    created = f", created {times.utc(at, now=now)}" if at else ""
    return f"{shown.headline}: {shown.sent} → {shown.returned or shown.received}{created}"


def candidates(request: HttpRequest, facts: TicketFacts, *, page: str | None = None) -> Candidates | None:
    """Return a page of the transfers that may be meant, or None if the text doesn't say enough."""
    has_fact = facts.amounts or facts.symbols or facts.since or facts.memo or facts.origin or facts.destination
    if not (facts.pasted.shortened or facts.describes_transfer or (facts.pasted.addresses and has_fact)):
        return None
    if settings.MIRROR_DATABASE is None or ENV.insight == "off":
        return Candidates()
    coverage = mirror.mirror_coverage()
    if not operator_auth.may_see_insight(request):
        return Candidates(NOT_ALLOWED, coverage)
    if coverage is None:
        return Candidates(UNREADABLE)
    from intents_ui.mirror import candidates as mirrored  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable
    from intents_ui.mirror.readonly import reading as reading_copy

    try:
        with reading_copy():
            found = mirrored.candidates(facts, now=datetime.now(UTC))
    except CopyUnreadable:
        return Candidates(UNREADABLE)
    found = [each for each in found if hashes.canonical_hash(each.intent_id)]  # others can't be part of a URL
    shown = Paginator(found, PER_PAGE).get_page(page)
    read = dict(
        zip([each.intent_id for each in shown], reading.load_many([each.intent_id for each in shown]), strict=True)
    )
    return Candidates(
        SEARCHED if found else NOTHING,
        coverage,
        transfers=[summary.of(each) for each in read.values() if isinstance(each, Transfer)],
        reasons={each.intent_id: [reason(each.matches, each.contradicts)] for each in shown},
        page=shown,
        unread=[intent_id for intent_id, each in read.items() if isinstance(each, ServiceError)],
    )


def reason(matches: Sequence[str], contradicts: Sequence[str]) -> str:
    """Return `Amount and token match. Destination chain differs.`"""
    said = []
    for found, verb, plural in ((matches, "matches", "match"), (contradicts, "differs", "differ")):
        facts = text.listed(
            [NAMES.get(each) or each.replace("_hash", " transaction").replace("_", " ") for each in found]
        )
        said += [f"{facts[0].upper()}{facts[1:]} {verb if len(found) == 1 else plural}."] if found else []
    return " ".join(said)
