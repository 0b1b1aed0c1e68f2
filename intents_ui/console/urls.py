"""URL routes of the operator's console, of committing a quote and of the demo's transfers."""

from django.urls import path

from intents_ui.console import commit, demo, views
from intents_ui.settings import ENV

urlpatterns = [
    path("console", views.view, name="console"),
    path("console/<identifier:operation>", views.operation, name="console-operation"),
    path("intent/<identifier:intent_id>/commit", commit.view, name="commit"),
]
if ENV.embedded:
    urlpatterns += [path("demo", demo.view, name="demo"), path("demo/new", demo.create, name="demo-create")]
