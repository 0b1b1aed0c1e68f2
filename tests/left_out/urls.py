"""URL routes without those of the app."""

import os
from types import ModuleType

from intents_ui import urls
from intents_ui.urls import handler400, handler404, handler500

LEFT_OUT = f"intents_ui.{os.environ['LEFT_OUT']}.urls"


def is_left_out(found: object) -> bool:
    included = getattr(found, "urlconf_name", None)
    return isinstance(included, ModuleType) and included.__name__ == LEFT_OUT


urlpatterns = [each for each in urls.urlpatterns if not is_left_out(each)]
assert len(urlpatterns) == len(urls.urlpatterns) - 1
__all__ = ["handler400", "handler404", "handler500", "urlpatterns"]
