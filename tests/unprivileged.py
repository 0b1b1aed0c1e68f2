"""Programs that a test runs as a user who may write what was given to him alone, also where the tests are root's."""

import os
import shutil
from pathlib import Path

from tests.conftest import needs

UID = 10001


def as_nobody() -> list[str]:
    """In front of a command: it may write nothing here, and read even what is root's alone."""
    if os.geteuid() != 0:
        return []
    setpriv = needs("setpriv", "apt-get install util-linux")
    may_read = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    return [str(setpriv), f"--reuid={UID}", f"--regid={UID}", "--clear-groups", *may_read, "--"]


def give_to_nobody(place: Path) -> None:
    """A folder with all that is in it."""
    if os.geteuid() == 0:
        for path in [place, *place.rglob("*")]:
            shutil.chown(path, UID, UID)
