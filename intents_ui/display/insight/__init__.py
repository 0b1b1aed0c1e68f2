"""Figures of many transfers, in words and charts."""
