"""Filter for Django's debug pages: code and variables, but no settings."""

from typing import Any

from django.views.debug import SafeExceptionReporterFilter


class NoSettings(SafeExceptionReporterFilter):
    """Hides all settings. Django's own filter goes by names and would show a URL that contains a password."""

    def get_safe_settings(self) -> dict[str, Any]:
        return {}
