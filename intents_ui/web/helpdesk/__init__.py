"""Requests of helpdesks and of Slack: their signatures, and calls to Slack."""
