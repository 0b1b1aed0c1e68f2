"""Checks of a deployment: whether its service, Redis and database answer, and how
the service differs from its contract.

    manage.py doctor [--quick] [--url https://intents.example]

Each check yields findings: what was found, what it means, and what to do.
"""
