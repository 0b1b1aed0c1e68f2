"""Memory that a large answer took goes back, whichever thread read it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving import ROOT

PROGRAM = """
import ctypes, sys, threading
from intents_ui import lifecycle
if sys.argv[1] == "told":
    lifecycle.give_memory_back()
together = threading.Barrier(12)
def read():
    pieces = [bytearray(2000) for _ in range(500)]
    together.wait()
threads = [threading.Thread(target=read) for _ in range(12)]
for each in threads: each.start()
for each in threads: each.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is glibc's")
@pytest.mark.parametrize(("is_told", "heaps"), [("told", {1}), ("not told", set(range(2, 40)))])
def test_all_threads_share_one_heap(tmp_path: Path, is_told: str, heaps: set[int]) -> None:
    told = tmp_path / "malloc.xml"
    subprocess.run([sys.executable, "-c", PROGRAM, is_told, told], cwd=ROOT, check=True, timeout=30)
    assert told.read_text().count("<heap nr=") in heaps
