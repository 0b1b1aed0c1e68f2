"""Incidents: routes, tokens, providers and chains that deliver fewer transfers in time than usual, or get none."""
