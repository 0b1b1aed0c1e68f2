"""Run programs as a user without write access, even if the tests run as root."""

import os
import shutil
from pathlib import Path

from tests.serving import needs

UID = 10001


def unprivileged() -> list[str]:
    """Return the command prefix to run a program without write access here, but with read access to root's files."""
    if os.geteuid() != 0:
        return []
    setpriv = needs("setpriv", "apt-get install util-linux")
    may_read = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    return [str(setpriv), f"--reuid={UID}", f"--regid={UID}", "--clear-groups", *may_read, "--"]


def give_to_unprivileged(place: Path) -> None:
    """Give a folder and its contents to the unprivileged user."""
    if os.geteuid() == 0:
        for path in [place, *place.rglob("*")]:
            shutil.chown(path, UID, UID)
