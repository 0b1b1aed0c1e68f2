"""Process lifecycle: memory of large responses is returned, and a disconnect is not an error."""

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

import pytest

from intents_ui.server import lifespan
from tests.serving import ROOT

PROGRAM = """
import ctypes, sys, threading
from intents_ui.ops import lifecycle
if sys.argv[1] == "told":
    lifecycle.trim_memory()
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
    result = tmp_path / "malloc.xml"
    subprocess.run([sys.executable, "-c", PROGRAM, is_told, result], cwd=ROOT, check=True, timeout=30)
    assert result.read_text().count("<heap nr=") in heaps


BLOCKS = """
import resource
from intents_ui.ops import lifecycle
lifecycle.trim_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
bodies = [b"x" * 300_000 for _ in range(3)]
before = faults()
for _ in range(100):
    bodies = [b"x" * 300_000 for _ in range(3)]
print(faults() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is glibc's")
def test_the_memory_of_a_list_is_not_taken_from_the_system_for_each_page() -> None:
    ran = subprocess.run([sys.executable, "-c", BLOCKS], cwd=ROOT, check=True, timeout=30, capture_output=True)
    assert int(ran.stdout) < 1000  # 22,000 if each block had pages of its own


@pytest.mark.parametrize(("error", "reports"), [(asyncio.CancelledError(), 0), (ValueError("lost"), 1)])
def test_only_cancellations_are_left_out_of_never_retrieved_exception_logs(
    caplog: pytest.LogCaptureFixture, error: BaseException, reports: int
) -> None:
    def fail() -> None:
        raise error

    async def lose() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lifespan.report_unless_cancelled)
        future = loop.run_in_executor(None, fail)
        await asyncio.wait([future])
        del future
        gc.collect()

    asyncio.run(lose())
    assert len([record for record in caplog.records if "never retrieved" in record.message]) == reports
