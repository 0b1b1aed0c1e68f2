"""The API for programs, `/api/v1`: the answers of the pages as JSON."""
