"""Lookups of the identifiers in a ticket, for the triage page and other surfaces."""
