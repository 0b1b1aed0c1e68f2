"""Tables of requests and what their responses say: a TOML file beside the tests, with one or several steps a name.

A step gets or posts a path (with `data`), after `faults` of operations (or their `reset`), fixed `answers` of them,
`fails` of those requests that have a field, changed `chains` and `settings`. `part`: as htmx asks for a part of a page.
Then `status`, `location`, headers that it `sets`, number of `rows` and `sent` requests are as given, the visible text
has all of `says` and matches `matches`, the markup has `has` and matches `finds`, and neither has any of `lacks`.
"""

import html
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.emulator.names import Role, address_of
from intents_ui.settings import ENV
from tests.emulator.driving import request
from tests.pages.reading import PARTIAL, content, rows, visible_text
from tests.pages.recorded import Recorded, refusal
from tests.tables import toml

KNOWN = {
    "USDC": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    "SPOOF": "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f",
    "NATIVE": "0x" + "0" * 40,
    "ALIAS": "0x" + "Ee" * 20,
    "UNKNOWN": "0x" + "12" * 20,
    "NOTHING": "0x" + "12" * 32,
    "OWNER": "0x" + "1" * 40,
    "UNUSED": "0x" + "77" * 20,
    "BUSY": address_of(Role.OWNER, 6),  # the owner of about 70 intents of all kinds
    "SOLANA": "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU",
    "SIGNATURE": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
    "BITCOIN": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
    "TRON": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    "STARKNET": "0x5" + "1" * 62,
    "LONG": "x" * 20_000,
    "NOW": str(1_795_262_400),  # 2026-11-21T12:00:00Z
}
DOWN = refusal(9001, "Unavailable", 503)
STEP = {
    "each", "get", "post", "data", "headers", "part", "faults", "reset", "answers", "fails", "chains", "settings",
    "status", "location", "sets", "rows", "sent", "says", "matches", "has", "finds", "lacks",
}  # fmt: skip
# {NAME}, or {finished(8)} and {play(expired-quote, 60).ownerAddress}: a field of a transfer, by default its ID.
# Also `deposit`, the hash of its deposit, `short`, its shortened ID, and `window`, the query of a list with few others.
PLACEHOLDER = re.compile(r"\{(\w+)(?:\(([\w-]+)(?:, (\d+))?\)(?:\.(\w+))?)?\}")


def cases(table: str) -> list[Any]:
    """Return a table's cases. One whose first step has `each` runs once for each value, which replaces {each}."""
    found = toml(__file__, table)
    every = ((name, steps if isinstance(steps, list) else [steps]) for name, steps in found.items())
    return [
        pytest.param(
            mapped(steps, lambda text, value=value: text.replace("{each}", value)), id=f"{name} {value}".strip()
        )
        for name, steps in every
        for value in steps[0].get("each", [""])
    ]


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Return a document with each text changed."""
    if isinstance(value, dict):
        return {change(key): mapped(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [mapped(each, change) for each in value]
    return change(value) if isinstance(value, str) else value


class Transfers:
    """Transfers by the placeholders that name them. Each is created once."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.known: dict[tuple[str | None, ...], dict[str, Any]] = {}

    def filled(self, text: str) -> str:
        return PLACEHOLDER.sub(self.named, text)

    def named(self, found: re.Match[str]) -> str:
        copy, which, age, field = found.groups()
        if which is None:
            return KNOWN.get(copy, found[0])
        if (copy, which, age) not in self.known:
            how = {"age": float(age)} if age else {}
            made = getattr(self.emulator, copy)(int(which) if which.isdigit() else which, **how)
            answer = request(self.emulator, "GetIntentReceipt", {"intentId": made["intentId"]}).document
            deposit = (answer.get("intentReceipt") or {}).get("depositTransaction") or {}
            at = int(datetime.fromisoformat(made["createdAt"]).timestamp())
            window = f"owner={made['ownerAddress']}&from={at}&to={at + 1}"
            short = f"{made['intentId'][:6]}…{made['intentId'][-4:]}"
            self.known[copy, which, age] = made | {"deposit": deposit.get("txnHash"), "short": short, "window": window}
        return str(self.known[copy, which, age][field or "intentId"])


class Pages:
    """Requests pages of one service, and compares them with the steps of a table."""

    def __init__(self, transport: Recorded, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
        self.site = Client()
        self.transport = transport
        self.emulator = emulator
        self.patch = monkeypatch
        self.transfers = Transfers(emulator)

    def check(self, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            filled = mapped(step, self.transfers.filled)
            found = list(self.problems(filled, self.answer(filled)))
            assert not found, "\n".join(found)

    def answer(self, step: dict[str, Any]) -> Any:
        if step.get("reset"):
            self.emulator.reset()
        for operation, fault in step.get("faults", {}).items():
            self.emulator.inject(operation, fault)
        for operation, given in step.get("answers", {}).items():
            self.transport.scripts[operation] = lambda _, given=given: DOWN if given == "down" else given
        for operation, field in step.get("fails", {}).items():
            self.transport.scripts[operation] = lambda body, field=field: DOWN if field in body else None
        for chain, fields in step.get("chains", {}).items():
            self.emulator.catalogue.change_chain(int(chain), **fields)
        for name, value in step.get("settings", {}).items():
            self.patch.setattr(ENV, name, value)
        self.transport.sent.clear()
        headers = (PARTIAL if step.get("part") else {}) | step.get("headers", {})
        if "post" in step:
            return self.site.post(step["post"], step.get("data"), headers=headers)
        return self.site.get(step["get"], step.get("data"), headers=headers)

    def problems(self, step: dict[str, Any], answer: Any) -> Iterator[str]:
        markup = content(answer)
        text = visible_text(markup)
        if unknown := step.keys() - STEP:
            yield f"unknown: {unknown}"
        if answer.status_code != step.get("status", 302 if "location" in step else 200):
            yield f"status {answer.status_code}"
        for name, value in ({"Location": step["location"]} if "location" in step else step.get("sets", {})).items():
            if answer.headers.get(name) != value:
                yield f"{name}: {answer.headers.get(name)}"
        if "rows" in step and len(rows(markup)) != step["rows"]:
            yield f"{len(rows(markup))} rows"
        for operation, bodies in step.get("sent", {}).items():
            if (sent := self.transport.requests(operation)) != bodies:
                yield f"sent: {operation} {sent}"
        plain = html.unescape(markup)
        found = {
            "says": lambda words: words in text,
            "matches": lambda pattern: re.search(pattern, text),
            "has": lambda part: part in markup or part in plain,
            "finds": lambda pattern: re.search(pattern, markup, re.DOTALL),
            "lacks": lambda words: words not in plain and words not in text,
        }
        yield from (
            f"{key}: {each}\n{text[:20_000]}" for key in found for each in step.get(key, ()) if not found[key](each)
        )
