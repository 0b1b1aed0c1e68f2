"""What the API can do: its description as OpenAPI, and the documentation made of it."""
