"""`/search` and `/tx/…`: find the transfers of any pasted identifier.

A single hit redirects to the transfer, and hits for one address redirect to its page. Several hits are listed with the
field that matched, and no hits show possible reasons. A shortened ID always shows a list of possible matches. Of text
that describes a transfer in words, the page says what was understood.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import hashes, text
from intents_ui.http import marks
from intents_ui.http.secret_text import HELD_BACK
from intents_ui.search import empty_results, identifiers, input_errors
from intents_ui.search import form as search_form
from intents_ui.search.facts import chains_by_name
from intents_ui.search.form import KEYS_AFTER_A_MISS, KEYS_OF_KIND, SearchKey
from intents_ui.search.identifiers import ADDRESSES, HASHES, Finding, Kind, ParsedText, explorers_of
from intents_ui.service import lookup, results
from intents_ui.tokens import names
from intents_ui.transfers import summary
from intents_ui.web import candidates, mirror, reading
from intents_ui.web.candidates import Candidates
from intents_ui.web.frame import render
from intents_ui.web.links import intent_url

MAX_AT_ONCE = 4  # findings of one text
MAX_ADDRESSES = 8  # of one text, compared with the tokens
PAGE_SIZE = 20  # hits. Each takes a request, for its receipt
NOTHING_FOUND = results.LookupResult()
LONGEST_ECHO, LONGEST_NAME = 200, 40  # characters


@marks.Marks(costly="with query")
@require_safe
def view(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "")
    if "held-back" in request.GET:
        return form(request, search_form.read({}), problem=f"{HELD_BACK.what} {HELD_BACK.todo}")
    if not query.strip():
        return by_keys(request)
    if path := page_named(query):
        return redirect(path)
    read = identifiers.read(query)
    if read.shortened and not read.lookups:
        return of_shortened(request, read, query=query)
    if not read.lookups:
        return form(request, search_form.read({}), query=query, problem=read.problem)
    return answer(request, of_text(read), read, query=query)


def of_text(read: ParsedText) -> results.LookupResult:
    """Look up what tells a transfer best, and what is less specific only after a miss."""
    most_specific = read.most_specific[:MAX_AT_ONCE]
    return lookup.in_turn(
        app.current().service,
        lambda: questions(most_specific),
        lambda: questions(most_specific, KEYS_AFTER_A_MISS),
        lambda: questions(accounts(read)[:MAX_AT_ONCE]),
    )


def questions(
    findings: Sequence[Finding], keys: Mapping[Kind, Sequence[str]] = KEYS_OF_KIND
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


def of_shortened(request: HttpRequest, read: ParsedText, *, query: str) -> HttpResponse:
    """List the transfers that match a shortened ID, of those in the mirror."""
    asked, others = read.shortened[:MAX_AT_ONCE], read.shortened[MAX_AT_ONCE:]
    found = possible_transfers(request, query, replace(read, findings=asked))
    context = {"search_input": asked, "others": others, "unclear": read.unclear, "pasted": query, "found": found}
    status = HTTPStatus.OK if found and found.count else HTTPStatus.NOT_FOUND
    return render(request, "search/shortened.html", context, status=status)


def possible_transfers(
    request: HttpRequest, query: str, read: ParsedText, found: results.LookupResult = NOTHING_FOUND
) -> Candidates | None:
    """Return the transfers that the text may be about, which doesn't name any. None if it says too little."""
    return candidates.of_search(request, query, read, found, page=request.GET.get("candidates"))


def by_keys(request: HttpRequest) -> HttpResponse:
    """The advanced search: all filled-in fields must match."""
    parsed = search_form.read(dict(request.GET.lists()))
    keys = search_form.used(parsed)
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
        return form(request, search_form.read({}), query=transaction_hash, problem=problem)
    finding = replace(named[0], host="", chain="", chain_id=None if chain_id is None else int(chain_id))
    args = [finding.value] if finding.chain_id is None else [finding.chain_id, finding.value]
    url = reverse("transaction" if finding.chain_id is None else "transaction-on", args=args)
    if request.path != url:
        return redirect(url, permanent=True)
    if problem := unknown_chain(finding.chain_id):
        return form(request, search_form.read({}), query=transaction_hash, problem=problem)
    service = app.current().service
    found = lookup.in_turn(
        service,
        lambda: lookup.as_any([results.TRANSACTION_HASH], finding.value),
        lambda: questions([finding], KEYS_AFTER_A_MISS),
    )
    return answer(request, found, ParsedText((finding,)), query=finding.value)


def unknown_chain(chain_id: int | None) -> str:
    """Return a message for an unknown chain; "" for a known one or while the chain list is unavailable."""
    known = names.by_id(app.current().catalog.chains())
    if chain_id is None or chain_id in known or chain_id in names.WELL_KNOWN or not known:
        return ""
    chains = ", ".join(f"{name} ({number})" for number, name in known.items())
    return f"Unknown chain ID {chain_id}. Known chains: {chains}."


def answer(
    request: HttpRequest,
    found: results.LookupResult,
    read: ParsedText,
    *,
    keys: Sequence[SearchKey] = (),
    query: str = "",
) -> HttpResponse:
    """Respond to a lookup of a pasted text, or of the fields of the form."""
    if found.only:
        # Its page says so if this link was to the explorer of another chain.
        hosts = {each.value: each.host for each in read.lookups if each.kind in HASHES}
        link = next((hosts[each] for each in found.only.transaction_hashes if hosts.get(each)), None)
        return redirect(intent_url(found.only, **({"link": link} if link else {})))
    possible = possible_transfers(request, query, read, found) if query else None
    account = account_in(read)
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
        return redirect(f"{reverse('address', args=[account])}#{paid.lists[0].key}")
    chains = app.current().catalog.chains()
    elsewhere = [(finding, explorers_of(finding, chains=chains)) for finding in findings]
    context |= {
        "was_asked": empty_results.was_asked(found),
        "elsewhere": [(finding, links) for finding, links in elsewhere if links],
        "told": candidates.facts_of(findings[0].value) if [each.kind for each in findings] == [Kind.WORDS] else None,
        "paid": paid,
    }
    # 404 only if every lookup completed and nothing may be meant, else the failure's status.
    status = HTTPStatus.OK if possible and possible.count else HTTPStatus.NOT_FOUND
    return render(request, "search/search_empty.html", context, status=status, error=found.error)


def account_in(read: ParsedText) -> str:
    """Return the address if the text has nothing else; "" if a warning must be shown first."""
    match read.findings:
        case (Finding(warning="") as only,) if only.kind in ADDRESSES:
            return only.value
    return ""


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


def form(request: HttpRequest, parsed: search_form.Criteria, *, query: str = "", problem: str = "") -> HttpResponse:
    """Render the search page; 400 if the input is invalid."""
    without_identifier = problem.endswith(input_errors.WITHOUT_IDENTIFIER)
    possible = possible_transfers(request, query, identifiers.read(query)) if without_identifier else None
    context = {
        "possible": possible,
        "parsed": parsed,
        "criteria": search_form.KEYS,
        "pasted": query[: identifiers.LONGEST],
        "echo": text.visible(query)[:LONGEST_ECHO],
        "problem": problem,
        "told": candidates.facts_of(query) if without_identifier else None,
    }
    is_answered = possible and possible.count
    status = HTTPStatus.BAD_REQUEST if (problem and not is_answered) or parsed.problems else HTTPStatus.OK
    return render(request, "search/search.html", context, status=status)
