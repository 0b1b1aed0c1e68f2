"""Figures of many transfers, incidents and late transfers, from the mirror."""
