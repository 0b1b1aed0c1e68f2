"""The memory that large MCP calls of one address leave in the worker: 16 at once, full of unknown arguments.

.venv/bin/python -m bench.mcp_memory

Prints statuses, and resident memory in megabytes after each round, with the highest so far. At most 100 may be added.
"""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import httpx

from bench.processes import ROOT, Dashboard, dashboard, stub_service

AT_ONCE: Final = 16
ROUNDS: Final = 5
# Unknown arguments, and what one has as value: a body far over the limit of MCP, and bodies just below it.
CASES: Final = {"630 KB": (70_000, 0), "64 KB": (7_750, 0), "64 KB, nested": (23, [[{"a": [0] * 10}] * 100])}
ADDRESS: Final = {"X-Forwarded-For": "203.0.113.7"}


def call(unknown: int, value: object) -> bytes:
    arguments = {"intentId": "0x12", **{f"{number:x}": value for number in range(unknown)}}
    params = {"name": "explain_transfer", "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(body, separators=(",", ":")).encode()


def megabytes(site: Dashboard) -> tuple[float, float]:
    """Return the worker's resident memory, now and at most."""
    lines = (line.split() for line in Path(f"/proc/{site.worker}/status").read_text().splitlines())
    found = {words[0]: int(words[1]) / 1024 for words in lines if words[0] in ("VmRSS:", "VmHWM:")}
    return found["VmRSS:"], found["VmHWM:"]


def main() -> None:
    with stub_service() as service, ThreadPoolExecutor(AT_ONCE) as threads, httpx.Client(trust_env=False) as client:
        for name, (unknown, value) in CASES.items():
            body = call(unknown, value)
            with dashboard(ROOT, service.url, {"TRUSTED_PROXIES": "127.0.0.1"}) as site:

                def send(_: object, url: str = f"{site.url}/mcp", body: bytes = body) -> int:
                    headers = {"Content-Type": "application/json", **ADDRESS}
                    return client.post(url, content=body, headers=headers, timeout=60).status_code

                send(None)
                print(f"{name}: {len(body):,} bytes. At first {megabytes(site)[0]:.0f}", flush=True)
                for _ in range(ROUNDS):
                    statuses = Counter(threads.map(send, range(AT_ONCE)))
                    print("  {:.0f}, at most {:.0f}".format(*megabytes(site)), dict(statuses), flush=True)


if __name__ == "__main__":
    main()
