"""A stranger's picture decoded in a process of its own, so that no decoder takes more than that process's share.

The process may take so much processor time and memory, writes next to nothing, and knows no setting and no secret.
"""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

SECONDS: Final = 5.0  # on the wall, with the start of the process on a busy machine
MOST_WRITTEN: Final = 64 * 1024
RASTER: Final = str(Path(__file__).with_name("raster.py"))


class NotDrawn(Exception):
    """There is no picture: the decoder refused it, or was ended."""


def drawn_anew(body: bytes) -> bytes:
    """`raster.drawn_anew` in a process of its own. Raises NotDrawn."""
    return run([RASTER], body)


def run(arguments: Sequence[str], body: bytes) -> bytes:
    """Python with these arguments, what stands on its standard input, and what it gives back. Raises NotDrawn."""
    command = [sys.executable, "-I", *arguments]
    with subprocess.Popen(  # noqa: S603 - our own code, with nothing of a stranger in its arguments
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}, cwd="/"
    ) as process:
        end = threading.Timer(SECONDS, process.kill)
        end.start()
        try:
            written = _exchanged(process, body)
        finally:
            end.cancel()
            process.kill()
    if process.returncode == 1:
        raise NotDrawn(written.decode(errors="replace")[:200])
    if process.returncode or not _is_webp(written):
        raise NotDrawn(f"the decoder ended with {process.returncode}")
    return written


def _exchanged(process: "subprocess.Popen[bytes]", body: bytes) -> bytes:
    """It reads all before it writes, so one after the other does not block."""
    if process.stdin is None or process.stdout is None:  # they are pipes, by the call
        raise NotDrawn("the decoder cannot be spoken to")
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(body)
    written = process.stdout.read(MOST_WRITTEN + 1)
    if len(written) > MOST_WRITTEN:
        raise NotDrawn("the decoder wrote too much")
    process.wait()
    return written


def _is_webp(written: bytes) -> bool:
    return written[:4] == b"RIFF" and written[8:12] == b"WEBP"
