"""Incidents: routes, providers and chains that fail, are slow or are silent more than usual."""
