"""Style sheets and scripts, each with one subject. `collectstatic` removes comments, and bundles what every page has.

A bundle is one request instead of several, and compresses better than its parts.
"""

import re
from collections.abc import Iterator
from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

# In cascade order. Sheets for a single kind of page are linked by that page.
SHEETS = ("theme", "parts", "tables", "layout", "utilities")
# In execution order, after the page is parsed.
SCRIPTS = ("page", "live", "saved", "search")
BUNDLES = {
    "css/frame.css": tuple(f"css/{name}.css" for name in SHEETS),
    "js/frame.js": tuple(f"js/{name}.js" for name in SCRIPTS),
}


class BundlingStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped base class
    """Storage that bundles, hashes and compresses the files during `collectstatic`, without comments."""

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Iterator[Any]:
        if options.get("dry_run"):
            return
        written = {name: bare(name, self._read(name)) for name in paths if name.startswith(("css/", "js/"))}
        for bundle, names in BUNDLES.items():
            joined = "\n;" if bundle.endswith(".js") else "\n"
            written[bundle] = joined.join(written.get(name) or self._read(name) for name in names)
        for name, text in written.items():
            self.delete(name)
            self._save(name, ContentFile(text.encode()))
            paths[name] = (self, name)
        yield from super().post_process(paths, *args, **options)

    def file_hash(self, name: str, content: Any = None) -> str | None:
        """Return six of Django's twelve digits. A list of transfers has more than a hundred of these names."""
        hashed = super().file_hash(name, content)
        return hashed and str(hashed)[:6]

    def _read(self, name: str) -> str:
        with self.open(name) as file:
            return bytes(file.read()).decode()


def bare(name: str, text: str) -> str:
    """Return a script or a style sheet without comments and indents, which are a fifth of what a browser would load."""
    is_script = name.endswith(".js")
    return re.sub(r"(?m)^ *//.*\n|^ +| +// .*$" if is_script else r"(?s)/\*.*?\*/|(?<=[\n{};,])\s+", "", text)


def bundled(bundle: str) -> tuple[str, ...]:
    """Return the bundle, or the files in it in a checkout."""
    return (bundle,) if isinstance(staticfiles_storage, BundlingStorage) else BUNDLES[bundle]
