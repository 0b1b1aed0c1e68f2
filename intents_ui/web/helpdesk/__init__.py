"""Requests of helpdesks and of Slack: their signatures, and the lookups that they start."""
