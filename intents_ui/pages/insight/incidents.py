"""`/insight/incidents` and `/insight/incident/<number>`: what is worse than usual now, and what was."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse

from intents_ui import wiring
from intents_ui.display.sharing.feeds import Entry, Feed
from intents_ui.web.feeds import respond
from intents_ui.web.insight import access, data, figures, incidents
from intents_ui.web.insight.incidents import ListedIncident


@access.insight
def view(request: HttpRequest) -> HttpResponse:
    found = incidents.read()
    context = {
        "mirror": wiring.mirror_coverage(),
        "judgment": found.judgment,
        "open_now": found.open_now,
        "over": found.over,
    }
    return render(request, "insight/incidents_page.html", context)


@access.insight
def atom(request: HttpRequest) -> HttpResponseBase:
    """Return an entry for each of the newest incidents, updated when its state changes. Alerts have that category."""
    entries = map(entry, incidents.read().incidents)
    newest = tuple(sorted(entries, key=lambda each: each.updated, reverse=True))
    told = Feed("incidents", "Incidents", "Routes, tokens, providers and chains that are worse than usual", newest)
    return respond(
        request,
        told,
        page=reverse("insight-incidents"),
        page_of=lambda each: reverse("insight-incident", args=[each.about]),
    )


def entry(listed: ListedIncident) -> Entry:
    facts = listed.facts
    return Entry(
        about=str(facts.number),
        key="incident",
        title=f"{facts.status.word}: {facts.title}",
        paragraphs=(facts.sentence,),
        published=facts.since,
        updated=facts.closed or facts.recovered or facts.since,
        categories=("alert",) if facts.is_alert else (),
    )


@access.insight
def incident(request: HttpRequest, number: str) -> HttpResponse:
    found = incidents.report(number)
    context = {
        "mirror": wiring.mirror_coverage(),
        "report": found,
        "incident": found.listed,
        "course": found.course,
        "reasons": figures.of_reasons(found.course.reasons, failed=found.failed),
        "text": found.listed.facts.for_customers(request.build_absolute_uri(reverse("home"))),
    }
    return render(request, "insight/incident.html", context)


@access.insight
def incident_json(request: HttpRequest, number: str) -> HttpResponse:
    return JsonResponse(data.of_report(incidents.report(number)))
