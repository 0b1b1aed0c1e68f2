"""Figures of many transfers: counted from the rows of the mirror, and read by pages."""
