"""URL routes for helpdesks and for Slack."""

from django.urls import path

from intents_ui.helpdesk import side_bar, slack

urlpatterns = [
    path("embed/ticket", side_bar.view, name="side-bar"),
    path("slack/command", slack.command, name="slack-command"),
    path("slack/events", slack.events, name="slack-events"),
]
