"""Catalog names saved by one process and loaded by the next while the service is down."""

from pathlib import Path

import pytest

from intents_ui.service.cache import disk_cache
from intents_ui.service.cache.disk_cache import NAME, DiskCache
from intents_ui.service.cache.seal import LENGTH, Seal
from intents_ui.service.catalog.catalog import Catalog
from intents_ui.service.client import ServiceClient
from intents_ui.service.context.request_context import collecting_stale
from intents_ui.service.counters import Event
from intents_ui.service.errors import Unreachable
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


def names(directory: Path, does: Script, time: Time) -> tuple[str | None, str | None]:
    """Of the chain and of the token, to a process that starts now and ends."""
    with serving(does) as server:
        kept = DiskCache(directory, seal=SEAL, now=time)
        with ServiceClient(config(server.url, total=5.0), saved=kept) as service:
            catalog = Catalog(service)
            chain, token = catalog.chain(1), catalog.token(1, TOKEN)
    return chain.name if chain else None, token.symbol if token else None


def test_the_next_process_knows_saved_names_while_the_service_is_down(tmp_path: Path) -> None:
    time = Time()
    assert names(tmp_path, lists, time) == ("First", "ONE")
    time.now += 3 * 24 * HOUR
    assert names(tmp_path, BAD, time) == ("First", "ONE")
    time.now += 5 * 24 * HOUR
    assert names(tmp_path, BAD, time) == (None, None)


def test_saved_names_do_not_replace_requests_to_an_available_service(tmp_path: Path) -> None:
    time = Time()
    names(tmp_path, lists, time)
    time.now += 30 * HOUR
    newer = answering({"chains": [{"id": 1, "name": "Second"}], "tokens": []})
    assert names(tmp_path, newer, time) == ("Second", None)


def test_a_page_about_saved_lists_shows_their_age(tmp_path: Path) -> None:
    time = Time()
    names(tmp_path, lists, time)
    time.now += 30 * HOUR
    with serving(BAD) as server, collecting_stale() as result:
        kept = DiskCache(tmp_path, seal=SEAL, now=time)
        with ServiceClient(config(server.url, total=5.0), saved=kept) as service:
            listed = Catalog(service).listed_chains()
    assert listed.age.total_seconds() == pytest.approx(30 * HOUR, abs=60)
    assert isinstance(listed.error, Unreachable)
    assert result == []  # the page says it itself


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda content: content[:-5], id="cut off"),
        pytest.param(lambda content: content.replace(b"First", b"Worst"), id="changed"),
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: b"\xff\n\n[", id="rubbish"),
        pytest.param(lambda content: content * 9000, id="too large"),
    ],
)
def test_a_modified_file_is_ignored(tmp_path: Path, spoil: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_cache, "MOST_BYTES", 2**16)
    names(tmp_path, lists, Time())
    file = tmp_path / NAME
    file.write_bytes(spoil(file.read_bytes()))  # type: ignore[operator]
    assert names(tmp_path, BAD, Time()) == (None, None)
    assert names(tmp_path, lists, Time()) == ("First", "ONE")
    assert names(tmp_path, BAD, Time()) == ("First", "ONE")


def test_a_response_of_another_format_is_ignored(tmp_path: Path) -> None:
    kept = DiskCache(tmp_path, seal=SEAL, now=Time())
    kept.keep(("GetChains", b"{}"), '{"chains": 7}')
    kept.write()
    assert names(tmp_path, BAD, Time())[0] is None


def test_an_unwritable_directory_breaks_nothing(tmp_path: Path) -> None:
    assert names(tmp_path / "nowhere", lists, Time()) == ("First", "ONE")


def test_the_file_is_bounded_private_and_holds_the_latest_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "MOST_BYTES", 1000)
    kept = DiskCache(tmp_path, seal=SEAL, now=Time())
    for number in range(20):
        kept.keep(("GetTokenList", b"%d" % number), "x" * 200)
    kept.write()
    again = DiskCache(tmp_path, seal=SEAL, now=Time())
    assert [number for number in range(20) if again.find(("GetTokenList", b"%d" % number))] == [16, 17, 18, 19]
    assert (tmp_path / NAME).stat().st_mode & 0o007 == 0
    assert [file.name for file in tmp_path.iterdir()] == [NAME]


def written(directory: Path, content: bytes, seal: Seal = SEAL) -> None:
    (directory / NAME).write_bytes(seal.close(content, place=NAME)[:LENGTH].hex().encode() + b"\n" + content)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"7", id="a number"),
        pytest.param(b"null", id="nothing"),
        pytest.param(b"[" * 100_000, id="deeper than any parser follows"),
        pytest.param(b'["GetChains","{}","yesterday","{}"]', id="a time that is text"),
        pytest.param(b'["GetChains","{}",NaN,"{}"]', id="a time that is no number"),
        pytest.param(b'["GetChains",{},1.5,"{}"]', id="a request that is no text"),
        pytest.param(b'["GetChains","{}",1.5,{"chains":[]}]', id="an answer that is no text"),
        pytest.param(b'["GetChains","{}",1.5]', id="too few"),
        pytest.param(b'["GetChains","\\ud800",1.5,"{}"]', id="half a character"),
    ],
)
def test_signed_lists_of_another_format_are_ignored_with_a_log_line(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    written(tmp_path, content)
    kept = DiskCache(tmp_path, seal=SEAL)
    assert kept.find(("GetChains", b"{}")) is None
    assert "Can't read the chain and token lists" in caplog.text
    assert names(tmp_path, lists, Time()) == ("First", "ONE")


def test_lists_with_a_foreign_signature_are_ignored_and_counted(tmp_path: Path) -> None:
    entry = b'["GetChains","{}",1.5,"{}"]'
    written(tmp_path, entry)
    assert DiskCache(tmp_path, seal=SEAL).find(("GetChains", b"{}"))
    for seal in (Seal(b"another key"), Seal(b"")):
        written(tmp_path, entry, seal)
        mine = Seal(b"a key of the test")
        assert DiskCache(tmp_path, seal=mine).find(("GetChains", b"{}")) is None
        assert mine.tally[Event.UNSIGNED] == 1
