"""`/insight/incidents` and `/insight/incident/<number>`: what is worse than usual now, and what was."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse

from intents_ui.display.sharing.feeds import Entry, Feed
from intents_ui.web.feeds import respond
from intents_ui.web.insight import access, data, figures, incidents
from intents_ui.web.insight.incidents import ListedIncident


@access.insight
def view(request: HttpRequest) -> HttpResponse:
    return access.page(request, "insight/incidents_page.html", recent=incidents.read())


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


def entry(incident: ListedIncident) -> Entry:
    return Entry(
        about=str(incident.number),
        key="incident",
        title=f"{incident.status.word}: {incident.title}",
        paragraphs=(incident.sentence,),
        published=incident.since,
        updated=incident.closed or incident.recovered or incident.since,
        categories=("alert",) if incident.is_alert else (),
    )


@access.insight
def incident(request: HttpRequest, number: str) -> HttpResponse:
    found, course = incidents.report(number)
    return access.page(
        request,
        "insight/incident.html",
        incident=found,
        course=course,
        reasons=figures.of_reasons(course.reasons, failed=course.failed),
        text=found.for_customers(request.build_absolute_uri(reverse("home"))),
    )


@access.insight
def incident_json(request: HttpRequest, number: str) -> HttpResponse:
    return JsonResponse(data.of_report(*incidents.report(number)))
