"""`/insight/incidents` and `/insight/incident/<number>`: what is worse than usual now, and what was."""

from datetime import UTC, datetime

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse

from intents_ui import wiring
from intents_ui.display.formatting import times
from intents_ui.display.sharing.feeds import Entry, Feed
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.queries import Course
from intents_ui.mirror.incidents import queries as incident_queries
from intents_ui.mirror.incidents.queries import Incident
from intents_ui.mirror.readonly import reading
from intents_ui.service.wire.outcome import Outcome
from intents_ui.web.feeds import ATOM, JSON, Format, respond
from intents_ui.web.insight import access, data, incidents, tables
from intents_ui.web.insight.incidents import ListedIncident

LONGEST_NUMBER = 15  # digits


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
    return feed(request, ATOM)


@access.insight
def json_feed(request: HttpRequest) -> HttpResponseBase:
    return feed(request, JSON)


def feed(request: HttpRequest, how: Format) -> HttpResponseBase:
    """Return an entry for each of the newest incidents, updated when its state changes."""
    entries = map(entry, incidents.read().incidents)
    newest = tuple(sorted(entries, key=lambda each: each.updated, reverse=True))
    told = Feed("incidents", "Incidents", "Routes, providers and chains that are worse than usual", newest)
    return respond(
        request,
        told,
        how,
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
    )


@access.insight
def incident(request: HttpRequest, number: str) -> HttpResponse:
    found, course = read(number)
    sees_all = access.sees_transfers(request)
    [listed] = incidents.listed([found])
    context = {
        "mirror": wiring.mirror_coverage(),
        "incident": listed,
        "opened": found.opened,
        "course": course,
        "ended": sum(course.counts.values()),
        "failed": failed(course),
        "refunded": course.counts[Outcome.REFUNDED],
        "reasons": tables.of_causes(course.reasons, failed=failed(course), sees_all=sees_all),
        "text": listed.facts.for_customers(request.build_absolute_uri(reverse("home"))),
    }
    return render(request, "insight/incident.html", context)


@access.insight
def incident_json(request: HttpRequest, number: str) -> HttpResponse:
    found, course = read(number)
    [listed] = incidents.listed([found])
    return JsonResponse(
        {
            **data.of_incident(listed),
            "level": found.level,
            "opened": times.iso(found.opened),
            "ended": sum(course.counts.values()),
            "notDelivered": failed(course),
            "refunded": course.counts[Outcome.REFUNDED],
            "lastDelivery": times.iso(course.last_delivery) or None,
        }
    )


def read(number: str) -> tuple[Incident, Course]:
    """Return an incident and what ended since it began. Raises Http404 for an unknown number."""
    with reading():
        found = incident_queries.incident(int(number)) if len(number) <= LONGEST_NUMBER else None
        if found is None:
            raise Http404("There is no incident with this number.")
        until = found.closed or datetime.now(UTC)
        return found, queries.course(incidents.scope(found), since=found.since, until=until)


def failed(course: Course) -> int:
    return sum(count for outcome, count in course.counts.items() if outcome is not Outcome.DELIVERED)
