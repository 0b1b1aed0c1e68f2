"""Catalog names saved by one process and loaded by the next while the service is down."""

from collections.abc import Callable
from pathlib import Path

import pytest

from intents_ui.service.cache.disk_cache import NAME, DiskCache
from intents_ui.service.cache.seal import Seal
from intents_ui.service.catalog.catalog import Catalog
from intents_ui.service.client import ServiceClient
from tests.service.clients import config
from tests.service.scripted_server import Script, Visit, answering, response, serving
from tests.service.upstream import BAD

TOKEN = "0x" + "1" * 40
HOUR = 3600.0
SEAL = Seal(b"a key of the test")


def lists(visit: Visit) -> None:
    tokens = [{"chainId": 1, "address": TOKEN, "symbol": "ONE"}]
    visit.send(response({"chains": [{"id": 1, "name": "First"}], "tokens": tokens}))


class Time:
    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def names(directory: Path, does: Script, time: Time, seal: Seal = SEAL) -> tuple[str | None, str | None]:
    """Of the chain and of the token, to a process that starts now and ends."""
    with serving(does) as server:
        kept = DiskCache(directory, seal=seal, now=time)
        with ServiceClient(config(server.url, total=5.0), saved=kept) as service:
            catalog = Catalog(service)
            chain, token = catalog.chain(1), catalog.token(1, TOKEN)
    return chain.name if chain else None, token.symbol if token else None


def test_the_next_process_knows_saved_names_while_the_service_is_down(tmp_path: Path) -> None:
    time = Time()
    assert names(tmp_path, lists, time) == ("First", "ONE")
    time.now += 3 * 24 * HOUR
    assert names(tmp_path, BAD, time) == ("First", "ONE")
    assert names(tmp_path, answering({"chains": [{"id": 1, "name": "Second"}], "tokens": []}), time) == ("Second", None)
    time.now += 8 * 24 * HOUR
    assert names(tmp_path, BAD, time) == (None, None)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda content: content[:-5], id="cut off"),
        pytest.param(lambda content: content.replace(b"First", b"Worst"), id="changed"),
        pytest.param(lambda content: b"\xff\n\n[", id="rubbish"),
    ],
)
def test_a_modified_file_is_ignored(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    names(tmp_path, lists, Time())
    file = tmp_path / NAME
    file.write_bytes(spoil(file.read_bytes()))
    assert names(tmp_path, BAD, Time()) == (None, None)
    assert names(tmp_path, lists, Time()) == ("First", "ONE")


def test_lists_with_a_foreign_signature_are_ignored(tmp_path: Path) -> None:
    names(tmp_path, lists, Time(), Seal(b"another key"))
    assert names(tmp_path, BAD, Time()) == (None, None)
