"""Baseline for the history page: fetches, parses and renders the same bytes, and does nothing else.

KEEP THIS UNCHANGED, with its template `reference.html`, so that ratios to it stay comparable over the years. It has no
server, framework, models, labels, limits or retries: one httpx client, the JSON parser with exact numbers, and a Jinja2
template with output as long as the page. With `--connections 16`, sixteen threads run the loop and share the client, as
in the dashboard.

    .venv/bin/python -m bench.reference --service http://127.0.0.1:8801 --connections 16 --seconds 3

It repeats the history requests that the stub (`bench.stub_service`) has seen, in turn, and prints one line of JSON. Its
start isn't measured.
"""

import argparse
import itertools
import json
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
from jinja2 import Environment, FileSystemLoader, select_autoescape

HEADERS = {"Content-Type": "application/json"}


class Reference:
    def __init__(self, service: str) -> None:
        environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=select_autoescape())
        self.template = environment.get_template("reference.html")
        self.http = httpx.Client(base_url=service, trust_env=False)

    def questions(self) -> list[str]:
        seen = self.http.get("/counters").json()["distinct"]
        return [request for operation, request in seen if operation == "GetIntentHistory"]

    def page(self, question: str) -> str:
        answer = self.http.post("/rpc/Service/GetIntentHistory", content=question, headers=HEADERS)
        return self.template.render(json.loads(answer.content, parse_float=Decimal))


def run(reference: Reference, questions: list[str], connections: int, seconds: float) -> dict[str, Any]:
    turns, milliseconds = itertools.cycle(questions), list[float]()
    reference.page(questions[0])

    def loop() -> None:
        while time.perf_counter() < until:
            began = time.perf_counter()
            reference.page(next(turns))
            milliseconds.append((time.perf_counter() - began) * 1000)

    began, processor = time.perf_counter(), time.process_time()
    until = began + seconds
    threads = [threading.Thread(target=loop) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {
        "seconds": time.perf_counter() - began,
        "milliseconds": sorted(milliseconds),
        "processor": time.process_time() - processor,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.reference", description="What a history page costs at least."
    )
    parser.add_argument("--service", required=True)
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    reference = Reference(options.service)
    print(json.dumps(run(reference, reference.questions(), options.connections, options.seconds)))


if __name__ == "__main__":
    main()
