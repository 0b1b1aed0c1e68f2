"""Exports of lists as files: read page by page, written row by row, and cancelable by the client."""
