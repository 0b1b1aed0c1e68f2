"""Pages and endpoints for helpdesks and for Slack."""
