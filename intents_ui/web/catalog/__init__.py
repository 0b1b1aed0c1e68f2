"""Lists of the service for several surfaces: tokens and routes."""
