"""Style sheets and scripts. Each file has one subject. `collectstatic` bundles those of every page.

A bundle is one request instead of seven, and compresses better than its parts.
"""

from collections.abc import Iterator
from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

# In cascade order. Sheets for a single kind of page are linked by that page.
SHEETS = ("theme", "parts", "tables", "transfer", "lists", "layout", "utilities")
# In execution order, after the page is parsed.
SCRIPTS = ("page", "live", "saved", "lists", "transfer", "search")
BUNDLES = {
    "css/frame.css": tuple(f"css/{name}.css" for name in SHEETS),
    "js/frame.js": tuple(f"js/{name}.js" for name in SCRIPTS),
    # After the other scripts: a deferred htmx can start before the next script runs, and miss its first events.
    "js/htmx.js": ("vendor/htmx.min.js", "vendor/hx-sse.min.js"),
}


class BundlingStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped base class
    """Storage that bundles, hashes and compresses the files during `collectstatic`."""

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Iterator[Any]:
        if options.get("dry_run"):
            return
        for bundle, names in BUNDLES.items():
            joined = ("\n;" if bundle.endswith(".js") else "\n").join(map(self._read, names))
            self.delete(bundle)
            self._save(bundle, ContentFile(joined.encode()))
            paths[bundle] = (self, bundle)
        yield from super().post_process(paths, *args, **options)

    def _read(self, name: str) -> str:
        with self.open(name) as file:
            return bytes(file.read()).decode()


def bundled(bundle: str) -> tuple[str, ...]:
    """Return the bundle, or the files in it in a checkout."""
    return (bundle,) if isinstance(staticfiles_storage, BundlingStorage) else BUNDLES[bundle]
