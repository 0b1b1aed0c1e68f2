"""`/mcp`: read-only tools for assistants, by the Model Context Protocol."""
