"""Decodes untrusted images in a subprocess with limited CPU time, memory and output.

The subprocess inherits no environment, so it has no access to settings or secrets.
"""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

SECONDS: Final = 5.0  # of wall-clock time, including the start of the subprocess on a busy machine
MOST_WRITTEN: Final = 64 * 1024
DECODER: Final = str(Path(__file__).with_name("image_reencode.py"))


class NotDrawn(Exception):
    """The decoder rejected the image or was killed."""


def drawn_anew(body: bytes) -> bytes:
    """Return the image as re-encoded by `image_reencode.drawn_anew` in a subprocess. Raises NotDrawn."""
    return run([DECODER], body)


def run(arguments: Sequence[str], body: bytes) -> bytes:
    """Run Python with these arguments and `body` as standard input, and return its standard output. Raises NotDrawn."""
    command = [sys.executable, "-I", *arguments]
    with subprocess.Popen(  # noqa: S603 - our own code, without untrusted arguments
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}, cwd="/"
    ) as process:
        end = threading.Timer(SECONDS, process.kill)
        end.start()
        try:
            written = _communicate(process, body)
        finally:
            end.cancel()
            process.kill()
    if process.returncode == 1:
        raise NotDrawn(written.decode(errors="replace")[:200])
    if process.returncode or not _is_webp(written):
        raise NotDrawn(f"the decoder ended with {process.returncode}")
    return written


def _communicate(process: "subprocess.Popen[bytes]", body: bytes) -> bytes:
    """Write all input, then read the output.

    The subprocess reads everything before it writes, so this can't deadlock.
    """
    if process.stdin is None or process.stdout is None:  # pragma: no cover - for the type checker: both are pipes
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
