"""Where this installation's files are, and its version: in a checkout, or installed from a wheel.

A wheel has the checkout's `templates`, `static` and `gunicorn.conf.py` inside the package (`pyproject.toml`).
"""

import hashlib
import os
import re
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

NAME: Final = "intents-ui"
PACKAGE: Final = Path(__file__).resolve().parent
IS_WHEEL: Final = (PACKAGE / "templates").is_dir()
# Parent of the files that both have.
ROOT: Final = PACKAGE if IS_WHEEL else PACKAGE.parent


@cache
def version() -> str:
    if IS_WHEEL:
        return metadata.version(NAME)
    # Much faster than reading it as TOML.
    (found,) = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    return str(found)


@cache
def generated() -> Path:
    """Return the parent of what is generated: collected static files, compiled templates and the demo's database.

    It is the checkout, or a cache folder of this very wheel, because the folder of packages may be read-only.
    """
    if not IS_WHEEL:
        return ROOT
    cache_folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    hashes = metadata.distribution(NAME).read_text("RECORD") or version()
    return Path(cache_folder, NAME, hashlib.sha256(hashes.encode()).hexdigest()[:16])
