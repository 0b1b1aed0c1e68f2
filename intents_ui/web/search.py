"""`/search` and `/tx/…`: find the transfers of any pasted identifier.

A single hit redirects to the transfer, and hits for one address redirect to its page. Several hits are listed with the
field that matched, and no hits show possible reasons. A shortened ID always shows a list of possible matches. Of text
that describes a transfer in words, the page says what was understood.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

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
from intents_ui.search.explorers import explorers_of, other_explorer
from intents_ui.search.facts import chains_by_name
from intents_ui.search.form import SearchKey
from intents_ui.search.identifiers import ADDRESSES, HASHES, Finding, Kind, ParsedText
from intents_ui.service import lookup, operations, results
from intents_ui.service.errors import ServiceError
from intents_ui.tokens import names
from intents_ui.transfers import summary
from intents_ui.web import candidates, mirror, reading
from intents_ui.web.candidates import Candidates
from intents_ui.web.frame import render
from intents_ui.web.links import intent_url

PAGE_SIZE = 20  # hits. Each takes a request, for its receipt
NOTHING_FOUND = results.LookupResult()
LONGEST_ECHO, LONGEST_NAME = 200, 40  # characters


@dataclass(frozen=True)
class SearchInput:
    """The search input: pasted text or the fields of the form."""

    read: ParsedText
    keys: Sequence[SearchKey] = ()
    query: str = ""

    def findings(self, found: results.LookupResult) -> list[Finding]:
        """The identifiers that were looked up."""
        return [finding for finding in self.read.lookups if finding.value in found.values]

    def others(self, found: results.LookupResult) -> list[Finding]:
        """Other identifiers in the text."""
        others = (*self.read.lookups, *self.read.shortened)
        return [finding for finding in others if finding.value not in found.values]


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
    return answer(request, candidates.of_text(read), SearchInput(read, query=query))


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
    search_input, others = read.shortened[: candidates.MAX_AT_ONCE], read.shortened[candidates.MAX_AT_ONCE :]
    context: dict[str, object] = {
        "search_input": search_input,
        "others": others,
        "unclear": [finding for finding in read.findings if finding.problem],
        "pasted": query,
        "found": (found := possible_transfers(request, query, replace(read, findings=search_input))),
    }
    status = HTTPStatus.OK if found and found.count else HTTPStatus.NOT_FOUND
    return render(request, "search/shortened.html", context, status=status)


def possible_transfers(
    request: HttpRequest, query: str, read: ParsedText, found: results.LookupResult = NOTHING_FOUND
) -> Candidates | None:
    """Return the transfers that the text may be about, which doesn't name any. None if it says too little."""
    written = request.GET.get("candidates", "")
    page = int(written) if written.isascii() and written.isdigit() and len(written) < 4 else 1
    return candidates.of_search(request, query, read, found, page=max(page, 1))


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
    return answer(request, found, SearchInput(ParsedText(), keys=keys))


@marks.Marks(costly="always")
@require_safe
def transaction(request: HttpRequest, transaction_hash: str, chain_id: str | None = None) -> HttpResponse:
    """Redirect to the transfer of a transaction, whose page marks the step."""
    finding = transaction_in(transaction_hash)
    if finding is None:
        problem = identifiers.read(transaction_hash).refusal or input_errors.of_hash(transaction_hash)
        return form(request, search_form.read({}), query=transaction_hash, problem=problem)
    known = None if chain_id is None else int(chain_id)
    args = [finding.value] if known is None else [known, finding.value]
    url = reverse("transaction" if known is None else "transaction-on", args=args)
    if (transaction_hash, chain_id) != (finding.value, None if known is None else str(known)):
        return redirect(url, permanent=True)
    if problem := unknown_chain(known):
        return form(request, search_form.read({}), query=transaction_hash, problem=problem)
    found = lookup.in_turn(
        app.current().service,
        lambda: lookup.as_any([results.TRANSACTION_HASH], finding.value),
        lambda: candidates.questions([finding], search_form.KEYS_AFTER_A_MISS),
    )
    named = Finding(finding.kind, finding.value, chain_id=known, warning=finding.warning)
    return answer(request, found, SearchInput(ParsedText((named,)), query=finding.value))


def transaction_in(written: str) -> Finding | None:
    """Return the one hash in a part of a URL, also with surrounding punctuation."""
    read = identifiers.read(f"/tx/{hashes.canonical_hash(written) or written}")
    found = [each for each in read.lookups if each.kind in HASHES]
    return found[0] if len(found) == 1 else None


def unknown_chain(chain_id: int | None) -> str:
    """Return a message for an unknown chain; "" for a known one or while the chain list is unavailable."""
    known = names.by_id(app.current().catalog.chains())
    if chain_id is None or chain_id in known or chain_id in names.WELL_KNOWN or not known:
        return ""
    chains = ", ".join(f"{name} ({number})" for number, name in known.items())
    return f"Unknown chain ID {chain_id}. Known chains: {chains}."


def answer(request: HttpRequest, found: results.LookupResult, search_input: SearchInput) -> HttpResponse:
    if found.only:
        return redirect(intent_url(found.only, **linked_elsewhere(found.only, search_input)))
    possible = possible_transfers(request, search_input.query, search_input.read, found) if search_input.query else None
    if found.hits and not possible and (account := account_in(search_input)):
        return redirect("address", account)
    context: dict[str, object] = {
        "found": found,
        "findings": search_input.findings(found),
        "others": search_input.others(found),
        "unclear": [finding for finding in search_input.read.findings if finding.problem],
        # What a browser may remember of a search: identifiers, without the text around them.
        "asked": " ".join(each.value for each in search_input.findings(found) if each.kind is not Kind.WORDS),
        "pasted": search_input.query,
        "criteria": search_input.keys,
        "not_asked": empty_results.not_asked(found),
        "possible": possible,
    }
    if found.hits:
        return render(request, "search/search_results.html", context | listed(request, found))
    paid = mirror.that_paid(request, account) if (account := account_in(search_input)) else None
    if paid and paid.lists and not found.error and not possible:
        return redirect(f"{reverse('address', args=[account])}#{paid.lists[0].key}")
    return miss(request, found, possible, context | unlisted(found, search_input.findings(found)) | {"paid": paid})


def linked_elsewhere(hit: results.Hit, search_input: SearchInput) -> dict[str, str]:
    """Return the host of a link to the transaction if it's the explorer of another chain, for the transfer's page."""
    hosts = {each.value: each.host for each in search_input.read.lookups if each.host}
    linked = next((each for each in hit.transaction_hashes if each in hosts), None)
    if linked is None:
        return {}
    try:
        receipt = app.current().service.ask(operations.get_intent_receipt(hit.intent.intent_id))
    except ServiceError:
        return {}
    chains = app.current().catalog.chains()
    is_other = other_explorer(hosts[linked], chain_id=receipt.chain_of(linked), chains=chains)
    return {"link": hosts[linked]} if is_other else {}


def account_in(search_input: SearchInput) -> str:
    """Return the address if the text has nothing else; "" if a warning must be shown first."""
    match search_input.read.findings:
        case (Finding(warning="") as only,) if only.kind in ADDRESSES:
            return only.value
    return ""


def listed(request: HttpRequest, found: results.LookupResult) -> dict[str, object]:
    """A page of the hits, for `search/search_results.html`."""
    asked, last = request.GET.get("page", ""), -(-len(found.hits) // PAGE_SIZE)
    number = min(max(int(asked), 1), last) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 1
    begin = (number - 1) * PAGE_SIZE
    shown = found.hits[begin : begin + PAGE_SIZE]

    def page(which: int) -> str:
        query = {name: value for name, value in request.GET.items() if name != "page"} | {"page": str(which)}
        return f"{request.path}?{urlencode(query)}" if 1 <= which <= last else ""

    return {
        "now": datetime.now(UTC),
        "first": begin + 1,
        "last": begin + len(shown),
        "is_cut": found.count > len(found.hits),
        "previous": page(number - 1),
        "following": page(number + 1),
        "transfers": [summary.of(each) for each in reading.from_search([hit.intent for hit in shown], most=PAGE_SIZE)],
        "reasons": {
            hit.intent.intent_id: [empty_results.reason(question, found=found) for question in hit.reasons]
            for hit in shown
        },
        "warnings": [empty_results.warning(doubt) for hit in shown for doubt in hit.doubts],
    }


def unlisted(found: results.LookupResult, findings: Sequence[Finding]) -> dict[str, object]:
    """Completed lookups and explorer links, for `search/search_empty.html`."""
    chains = app.current().catalog.chains()
    elsewhere = [(finding, explorers_of(finding, chains=chains)) for finding in findings]
    return {
        "was_asked": empty_results.was_asked(found),
        "elsewhere": [(finding, links) for finding, links in elsewhere if links],
        "told": candidates.facts_of(findings[0].value) if [each.kind for each in findings] == [Kind.WORDS] else None,
    }


def miss(
    request: HttpRequest, found: results.LookupResult, possible: Candidates | None, context: dict[str, object]
) -> HttpResponse:
    """Respond 404 only if every lookup completed and nothing may be meant, else with the failure's status."""
    status = HTTPStatus.OK if possible and possible.count else HTTPStatus.NOT_FOUND
    return render(request, "search/search_empty.html", context, status=status, error=found.error)


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
