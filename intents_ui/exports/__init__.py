"""Lists as files: read page by page, written row by row, stopped by whoever asked for them."""
