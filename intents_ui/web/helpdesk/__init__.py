"""Requests of Slack: their signatures, and calls to Slack."""
