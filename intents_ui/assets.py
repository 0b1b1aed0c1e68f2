"""Style sheets and scripts, each with one purpose in the checkout; collected: all slim, the frame's joined.

One file is one request, and half of what its parts come to when they are compressed one by one.
"""

import re
from collections.abc import Iterator
from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

# In the order of the cascade. What one kind of page needs alone it links itself.
FRAME: tuple[str, ...] = ("theme", "base", "layout", "controls", "keys", "words", "lists", "filters", "export")
FRAME += ("address", "answer", "route", "timeline", "proof", "calls", "help", "promise", "balances", "triage", "pages")
FRAME += ("kept", "utilities")
# In the order in which they run, once the page is parsed.
SCRIPTS: tuple[str, ...] = ("js/trusted", "js/page", "js/keys", "js/times", "js/terms", "js/live", "js/lists")
SCRIPTS += ("js/book",)
# After the others: a deferred htmx may start before the next script, which would miss its first events.
HTMX: tuple[str, ...] = ("vendor/htmx.min", "vendor/hx-sse.min")
JOINED, JOINED_HTMX = "frame", "htmx"

# Strings and addresses stay as they are. Of white space and comments there stays what keeps two words apart.
GAP = r"(?:\s|/\*(?:[^*]|\*(?!/))*\*/)"
STRING = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|url\([^)]*\)"""
PIECES = re.compile(rf"({STRING})|{GAP}*([{{}};,]){GAP}*|{GAP}+", re.DOTALL)
# What begins a line of a script and says nothing to a browser; no text of ours goes over several lines.
IDLE = re.compile(r"^[ \t]*(?://.*)?\n|^[ \t]+", re.MULTILINE)


class SlimStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # it says nothing of its types
    """What `collectstatic` writes: slim, the frame's sheets and scripts joined, named by content, compressed."""

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Iterator[Any]:
        if options.get("dry_run"):
            return
        made = {name: slim_sheet(self._read(name)) for name in paths if name.endswith(".css")}
        made[f"css/{JOINED}.css"] = "\n".join(made[f"css/{name}.css"] for name in FRAME)
        made |= {name: slim_script(self._read(name)) for name in paths if name.startswith("js/")}
        made[f"js/{JOINED}.js"] = "\n;".join(made[f"{name}.js"] for name in SCRIPTS)
        made[f"js/{JOINED_HTMX}.js"] = "\n;".join(self._read(f"{name}.js") for name in HTMX)
        for name, text in made.items():
            self.delete(name)
            self._save(name, ContentFile(text.encode()))
            paths[name] = (self, name)
        yield from super().post_process(paths, *args, **options)

    def _read(self, name: str) -> str:
        with self.open(name) as file:
            return bytes(file.read()).decode()


def slim_sheet(sheet: str) -> str:
    return PIECES.sub(lambda piece: piece[1] or piece[2] or " ", sheet).strip()


def slim_script(script: str) -> str:
    return IDLE.sub("", script)


def frame_sheets() -> tuple[str, ...]:
    """The names of the sheets that every page links."""
    return (JOINED,) if are_joined() else FRAME


def frame_scripts() -> tuple[str, ...]:
    """The paths of the scripts that every page runs once it is parsed, before its own."""
    return (f"js/{JOINED}",) if are_joined() else SCRIPTS


def htmx_scripts() -> tuple[str, ...]:
    """The paths of htmx and its extension: deferred if they are one file, otherwise run while the page is parsed."""
    return (f"js/{JOINED_HTMX}",) if are_joined() else HTMX


def are_joined() -> bool:
    return isinstance(staticfiles_storage, SlimStorage)
