"""What Django's debug pages tell (DEBUG): code and values, but no settings."""

from typing import Any

from django.views.debug import SafeExceptionReporterFilter


class NoSettings(SafeExceptionReporterFilter):
    """What it takes for secret goes by names, and an address with a password is called like any other."""

    def get_safe_settings(self) -> dict[str, Any]:
        return {}
