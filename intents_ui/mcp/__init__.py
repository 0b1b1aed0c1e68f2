"""`/mcp`: read-only tools for assistants, by the Model Context Protocol."""

from typing import Final

PATH: Final = "/mcp"
