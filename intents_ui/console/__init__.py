"""The operator's console, committing a quote, and the demo's transfers."""
