"""Style sheets and scripts. In a checkout each file has one purpose. `collectstatic` bundles those of every page.

A bundle is one request instead of up to 28, and compresses better than its parts.
"""

from collections.abc import Iterator
from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

# In cascade order. Sheets for a single kind of page are linked by that page.
FRAME: tuple[str, ...] = ("theme", "base", "layout", "controls", "keys", "parts", "rows", "lists", "filters", "exports")
FRAME += ("address", "summary", "route_diagram", "timeline", "fields", "calls", "help", "quotes", "balances", "triage")
FRAME += ("pages", "saved", "actions", "navigation", "palette", "commit", "sharing", "utilities")
# Before the first paint.
HEAD: tuple[str, ...] = ("js/storage", "js/theme")
# In execution order, after the page is parsed.
SCRIPTS: tuple[str, ...] = (
    "js/trusted_types",
    "js/clock",
    "js/secrets",
    "js/page",
    "js/actions",
    "js/keys",
    "js/times",
    "js/tooltips",
    "js/live",
)
SCRIPTS += ("js/lists", "js/saved_items", "js/neighbors", "js/palette", "js/share", "js/fields")
# After the other scripts: a deferred htmx can start before the next script runs, which would miss its first events.
HTMX: tuple[str, ...] = ("vendor/htmx.min", "vendor/hx-sse.min")
JOINED, JOINED_HEAD, JOINED_HTMX = "frame", "head", "htmx"


class BundlingStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped base class
    """Storage that bundles, hashes and compresses the files during `collectstatic`."""

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Iterator[Any]:
        if options.get("dry_run"):
            return
        bundles = {
            f"css/{JOINED}.css": "\n".join(self._read(f"css/{name}.css") for name in FRAME),
            f"js/{JOINED}.js": "\n;".join(self._read(f"{name}.js") for name in SCRIPTS),
            f"js/{JOINED_HEAD}.js": "\n;".join(self._read(f"{name}.js") for name in HEAD),
            f"js/{JOINED_HTMX}.js": "\n;".join(self._read(f"{name}.js") for name in HTMX),
        }
        for name, text in bundles.items():
            self.delete(name)
            self._save(name, ContentFile(text.encode()))
            paths[name] = (self, name)
        yield from super().post_process(paths, *args, **options)

    def _read(self, name: str) -> str:
        with self.open(name) as file:
            return bytes(file.read()).decode()


def frame_sheets() -> tuple[str, ...]:
    """Return the names of the style sheets that every page links."""
    return (JOINED,) if are_joined() else FRAME


def head_scripts() -> tuple[str, ...]:
    """Return the paths of the scripts that every page runs before its first paint."""
    return (f"js/{JOINED_HEAD}",) if are_joined() else HEAD


def frame_scripts() -> tuple[str, ...]:
    """Return the paths of the scripts that every page runs after parsing, before its own scripts."""
    return (f"js/{JOINED}",) if are_joined() else SCRIPTS


def htmx_scripts() -> tuple[str, ...]:
    """Return the paths of htmx and its extension. The bundle is deferred, the separate files run during parsing."""
    return (f"js/{JOINED_HTMX}",) if are_joined() else HTMX


def are_joined() -> bool:
    return isinstance(staticfiles_storage, BundlingStorage)
