"""The API for programs, `/api/v1`: the answers of the pages as JSON."""

from typing import Final

PATHS: Final = "/api/"  # with which its paths begin
OPERATIONS: Final = "/api/v1/"  # with which the paths of its operations begin
