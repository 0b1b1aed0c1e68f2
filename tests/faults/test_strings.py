"""Untrusted strings in any field are shown as text everywhere and never become markup, formulas or log lines.

Each crawl visits every page twice: once as strangers wrote it and once with harmless letters instead of the six that
mean something in HTML. Both have the same elements, so none of theirs became one. `tests/browser/test_corpus.py` reads
the texts.
"""

import asyncio
import html
import json
import logging
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui import app, asgi
from intents_ui.formatting.text import END_OF_ISOLATE, ISOLATE
from intents_ui.ops.logs import JsonLines, TextLines
from intents_ui.settings import ENV
from intents_ui.triage import lookup
from intents_ui.web import frame
from tests.emulator.driving import request
from tests.faults import corpus
from tests.faults.hostile import (
    HARMLESS,
    Hostile,
    answering,
    differences,
    is_anything,
    is_word,
    skeleton,
    texts,
    visible,
)
from tests.faults.odd_pages import CATALOGUE, LISTS, LIVE, OF_AN_INTENT, OF_AN_OWNER, Sample, read
from tests.pages import asgi as front_door
from tests.pages.reading import content

FAKE: Final = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
SCENARIOS: Final = (3, 11, 18, 20)
STREAMED: Final = (3, 11, 18, 20)
MORE: Final = (
    "/demo", "/saved", "/address/OWNER/share", "/console", "/console/GetIntent", "/intent/ID/qr.svg",
    f"/token/8453/{FAKE}", f"POST /triage ID {FAKE} OWNER",
)  # fmt: skip
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")  # noqa: RUF001
EVENT: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ [\w.]+: ")


def pages(service: Hostile) -> list[str]:
    """Return pages, files and forms about transfers that exist by then."""
    intent, ended = service.finished(11), [service.finished(scenario) for scenario in SCENARIOS]
    receipt = request(service.emulator, "GetIntentReceipt", {"intentId": intent["intentId"]}).document["intentReceipt"]
    sample = Sample(intent["intentId"], intent["ownerAddress"], receipt["originTransaction"]["txnHash"])
    forms = (*OF_AN_INTENT, *OF_AN_OWNER, *LISTS, *CATALOGUE, *MORE)
    others = [
        sample.page(form) for form in forms if not form.startswith((LIVE, "/export/history", "/export/attention"))
    ]
    return [
        *others,
        *(f"/intent/{each['intentId']}" for each in ended),
        f"/intent/{service.play(3)['intentId']}/commit",
    ]


@dataclass
class Answer:
    kind: str
    text: str


@dataclass
class Crawl:
    service: Hostile
    answers: dict[str, Answer]

    def of(self, *kinds: str) -> dict[str, Answer]:
        return {path: each for path, each in self.answers.items() if each.kind in kinds}


def crawl(service: Hostile, *, every: int = 1) -> Crawl:
    """`every`: visit every other page only (2)."""
    site = Client(headers={"User-Agent": "x\x1b[31m\u202e"})
    answers = {}
    with answering(service), pytest.MonkeyPatch.context() as patch:
        patch.setattr(ENV, "intents_max_export_rows", 60)
        # The navigation shows the count of /attention on all pages, from the moment when it is known.
        patch.setattr(frame, "COUNTED_FOR", timedelta())
        for chain in app.current().catalog.chains():
            app.current().catalog.tokens(chain.id)
        for path in pages(service)[::every]:
            answer = read(site, path)
            assert answer.status_code < 500, path
            answers[path] = Answer(answer.headers["Content-Type"].partition(";")[0], content(answer))
    return Crawl(service, answers)


class Logged(logging.Handler):
    """Everything that is logged, down to DEBUG, as each of the two formats writes it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.formats = {"text": TextLines("{asctime} {levelname} {name}: {message}", style="{"), "json": JsonLines()}
        self.lines: dict[str, list[str]] = {name: [] for name in self.formats}

    def emit(self, record: logging.LogRecord) -> None:
        for name, form in self.formats.items():
            self.lines[name].append(form.format(record))

    def __enter__(self) -> "Logged":
        root = logging.getLogger()
        self.before = root.level
        root.addHandler(self)
        root.setLevel(logging.DEBUG)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)
        logging.getLogger().setLevel(self.before)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((is_word, 0), id="words"),
        pytest.param((is_word, 40), id="other words", marks=pytest.mark.slow),
        pytest.param((is_anything, 26), id="anything", marks=pytest.mark.slow),
    ],
)
def logged_crawl(request: pytest.FixtureRequest) -> tuple[Crawl, dict[str, list[str]]]:
    """A crawl, and what was logged meanwhile, in both formats."""
    wants, turn = request.param
    with Logged() as logged:
        return crawl(Hostile(corpus.XSS, corpus.URLS, wants=wants, turn=turn)), logged.lines


@pytest.fixture(scope="module")
def crawls(logged_crawl: tuple[Crawl, Any]) -> tuple[Crawl, Crawl]:
    """A crawl and its harmless twin."""
    one = logged_crawl[0]
    return one, crawl(replace(one.service, is_harmless=True))


# Pages


def test_no_untrusted_string_becomes_an_element_or_an_attribute(crawls):
    one, twin = crawls
    wrong: list[str] = []
    for (path, answer), other in zip(one.answers.items(), twin.answers.values(), strict=True):
        assert answer.kind == other.kind, path
        if answer.kind == "text/html":
            wrong += [f"{path}: {each}" for each in differences(answer.text, other.text)]
    assert wrong == [], "\n".join(wrong)
    assert len(one.service.given) > len(corpus.XSS) / 2


def test_untrusted_strings_are_read_as_they_were_typed(crawls):
    """Some are shortened everywhere. None is escaped twice."""
    pages = (LexborHTMLParser(answer.text).root for answer in crawls[0].of("text/html").values())
    read = " ".join(" ".join(page.text() for page in pages if page).split())
    given = [" ".join(visible(each).split()) for each in crawls[0].service.given]
    assert sum(each in read for each in given) > len(given) * 0.7
    doubly = [html.escape(each, quote=False) for each in given if len(each) > 5 and "<" in each]
    assert [each for each in doubly if each in read and not any(each in typed for typed in given)] == []


# Right-to-left text


FROM_THE_RIGHT: Final = [f"שלום {number}" for number in range(7)]
ISOLATED: Final = re.compile(f"{ISOLATE}[^{ISOLATE}{END_OF_ISOLATE}]*{END_OF_ISOLATE}")
# What shows no other words beside it, or takes no marks.
# Attributes that readers get to see or to hear; others are for programs.
SHOWN: Final = {"title", "aria-label", "alt", "content", "data-name", "data-state", "data-words", "data-said"}
BY_ITSELF: Final = {"bdi", "title", "textarea", "script", "style"}


@pytest.mark.parametrize("wants", [is_word, pytest.param(is_anything, marks=pytest.mark.slow)])
def test_right_to_left_text_does_not_reorder_its_surroundings(wants):
    one = crawl(Hostile(FROM_THE_RIGHT, wants=wants), every=2)
    found = {path: set(turned_round(answer)) for path, answer in one.answers.items() if answer.kind != "image/png"}
    assert sum(FROM_THE_RIGHT[0][:4] in answer.text for answer in one.of("text/html").values()) > 10
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def turned_round(answer: Answer) -> Iterator[str]:
    if f"U+{ord(ISOLATE):04X}" in answer.text:
        yield "our own marks, taken for a stranger's"
    if answer.kind == "text/html":
        yield from beside_others(answer.text)
    elif ISOLATE in answer.text or r"\u2068" in answer.text:
        yield "marks where there is no page"


def beside_others(markup: str) -> Iterator[str]:
    root = LexborHTMLParser(markup).root
    assert root is not None
    for each in root.traverse(include_text=True):
        if each.tag != "-text":
            names = {name for name, value in each.attributes.items() if ISOLATE in unquote(value or "")}
            yield from (f"{each.tag} {name}" for name in names - SHOWN)
            continue
        words, before = each.text_content or "", ""
        while words != before and FROM_THE_RIGHT[0][:4] in words:
            words, before = ISOLATED.sub("", words), words
        if FROM_THE_RIGHT[0][:4] in words and not is_by_itself(each.parent):
            yield f"<{each.parent.tag} {dict(each.parent.attributes)}> {' '.join(words.split())[:90]}"


def is_by_itself(node: Any) -> bool:
    return node is not None and (
        node.tag in BY_ITSELF or node.attributes.get("dir") == "auto" or is_by_itself(node.parent)
    )


# What is no whole page
def test_no_line_break_starts_another_event_of_a_stream():
    for turn, scenario in enumerate(STREAMED):
        # Among them all that would end a line of a stream. The states are the service's own: only they end one.
        payloads = [*corpus.LINES, *corpus.POLYGLOTS, *corpus.TAGS[:12]]
        body, twin = (
            stream(Hostile(payloads, wants=is_word, turn=turn, is_harmless=each), scenario) for each in (False, True)
        )
        assert [name for name, _ in events(body)] in (["message", "done"], ["message", "bye"])
        for (_, fragment), (_, other) in zip(events(body), events(twin), strict=True):
            assert differences(fragment, other) == []


async def get(
    path: str, host: str = "localhost", *, received: Callable[[bytes], None] = lambda piece: None
) -> tuple[int, dict[str, str], bytes]:
    """Return the complete response. `received` is called with each chunk as it arrives."""
    result: list[Any] = []
    requested = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        return next(requested, None) or await asyncio.Event().wait()

    async def send(message: Any) -> None:
        result.append(message)
        received(message.get("body", b""))

    async with asyncio.timeout(60):
        await asgi.application(front_door.scope(path, host=host), receive, send)
    headers = {name.decode().lower(): value.decode() for name, value in result[0]["headers"]}
    return result[0]["status"], headers, b"".join(message.get("body", b"") for message in result[1:])


def stream(service: Hostile, scenario: int) -> bytes:
    """With its first picture we send the reader away: a transfer that failed is watched for a refund, without end."""

    def stop(piece: bytes) -> None:
        if piece.endswith(b"\n\n"):
            app.current().streams.stop()

    async def read() -> bytes:
        status, _, body = await get(f"/live/{service.finished(scenario)['intentId']}", received=stop)
        await app.current().aclose()
        assert status == 200
        return body

    with answering(service, tick=True):
        return asyncio.run(read())


def events(body: bytes) -> Iterator[tuple[str, str]]:
    """As the specification of server-sent events reads a stream: a line ends with CR LF, LF or CR."""
    for block in re.split(r"\n\n|\r\n\r\n|\r\r", body.decode()):
        fields = [line.partition(":") for line in re.split(r"\r\n|\r|\n", block) if line and not line.startswith(":")]
        assert {name for name, _, _ in fields} <= {"event", "id", "retry", "data"}, block
        data = [value.removeprefix(" ") for name, _, value in fields if name == "data"]
        named = [value.strip() for name, _, value in fields if name == "event"]
        assert len(named) < 2, block
        if data:
            yield (named or ["message"])[0], "\n".join(data)


REFUSALS: Final = [(2000, 400), (1004, 409), (31337, 418)]


@pytest.mark.parametrize(("code", "status"), REFUSALS)
def test_error_messages_of_the_service_are_shown_as_text(code, status):
    """On a page, in its parts, in a frame and in JSON."""
    for turn in range(12 * REFUSALS.index((code, status)), len(corpus.XSS), 12 * len(REFUSALS)):
        found = [refused(code, status, turn, is_harmless=is_harmless) for is_harmless in (False, True)]
        assert found[0].keys() == found[1].keys()
        for path, answer in found[0].items():
            other = found[1][path]
            if answer.kind == "text/html":
                assert differences(answer.text, other.text) == [], path
            else:
                assert json.loads(answer.text).keys() == json.loads(other.text).keys(), path


def refused(code: int, status: int, turn: int, *, is_harmless: bool) -> dict[str, Answer]:
    words = [corpus.XSS[(turn + offset) % len(corpus.XSS)] for offset in range(3)]
    name, message, cause = (each.translate(HARMLESS) if is_harmless else each for each in words)
    said = {"error": name, "code": code, "msg": message, "cause": cause, "status": status}
    site, found = Client(), {}
    with answering(Hostile(corpus.XSS, refusal=said)):
        for path in (INTENT, f"{INTENT}.json", f"{INTENT}/receipt", f"/embed{INTENT}", "/history", "/chains", "/"):
            answer = site.get(path)
            assert answer.status_code < 500 or answer.status_code == 503
            found[path] = Answer(answer.headers["Content-Type"].partition(";")[0], answer.content.decode())
    return found


INTENT: Final = f"/intent/0x{'ab' * 32}"


def test_json_has_the_texts_as_received(crawls):
    found = crawls[0].of("application/json")
    assert len(found) > 2
    received = {text for answer in found.values() for text in texts(json.loads(answer.text))}
    assert len(received & {each.lower() for each in corpus.XSS}) > 10


def test_feeds_and_images_are_well_formed_and_contain_no_injected_element(crawls):
    found, other = (each.of("application/atom+xml", "text/xml", "image/svg+xml") for each in crawls)
    assert len(found) > 2
    for path, answer in found.items():
        assert elements(answer.text) == elements(other[path].text), path
    assert all(answer.text[1:4] == "PNG" for answer in crawls[0].of("image/png").values())


def elements(document: str) -> list[tuple[str, list[str], Any]]:
    """Return the elements of XML, and in each that holds HTML the elements of that."""
    return [
        (each.tag, sorted(each.attrib), skeleton(each.text or "") if each.get("type") == "html" else None)
        for each in ElementTree.fromstring(document.encode()).iter()  # noqa: S314 - our own
    ]


def test_no_cell_of_an_export_is_a_formula(crawls):
    found = [cell for file in crawls[0].of("text/csv").values() for cell in cells(file.text)]
    assert [cell for cell in found if cell.startswith(FORMULA)] == []
    assert any(cell.startswith("'") and cell.startswith(FORMULA, 1) for cell in found), "no payload came to be a cell"


def cells(csv: str) -> Iterator[str]:
    """RFC 4180, read by its grammar and not by the module that wrote it."""
    for quoted, bare, end in re.findall(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)', csv):
        yield quoted.replace('""', '"') if quoted else bare
        assert end or not bare or csv.endswith(bare)


@pytest.mark.parametrize("written", [*corpus.TAGS, *corpus.ENTITIES, *corpus.ADDRESSES])
def test_markdown_shows_what_was_typed(written):
    made = lookup.literal(written)
    assert not re.search(r"[<>]|(?<!\\)[\[\]`*_~|!@]|(?<!\\)://|&(?!amp;|lt;|gt;)", made)
    assert re.sub(r"\\([^0-9A-Za-z\s])", r"\1", html.unescape(made)).replace("\\", "") == written.replace("\\", "")


# What is logged


def test_each_log_event_is_one_line(logged_crawl):
    logged = logged_crawl[1]
    assert logged["json"]
    for line in logged["json"]:
        assert line.isascii()
        assert len(line.splitlines()) == 1
        assert {"time", "level", "logger", "message"} <= json.loads(line).keys()
    for event in logged["text"]:
        first, *more = event.splitlines()
        assert EVENT.match(first)
        assert all(line.startswith("  ") for line in more), "only a traceback has more lines, and they are indented"


HOSTILE_LINES: Final = [*corpus.LINES, "\u202egol", "\u2028x", "\x85x", "\x9b31m", "\x0bx", "x\x1cy"]


@pytest.mark.parametrize("written", HOSTILE_LINES)
@pytest.mark.parametrize("form", ["text", "json"])
def test_untrusted_text_never_starts_a_log_line(form, written):
    try:
        raise ValueError(written)
    except ValueError:
        info = sys.exc_info()
    with Logged() as logged:
        logging.getLogger("x").error("%s", written)
        logging.getLogger("x").error(written)
        logging.getLogger("x").error("failed", exc_info=info)
    *plain, traceback = logged.lines[form]
    assert [len(each.splitlines()) for each in plain] == [1, 1]
    assert all(each.isprintable() for each in plain)
    if form == "json":
        assert traceback.isascii()
        assert traceback.isprintable()
    else:
        assert all(each.startswith("  ") and each.isprintable() for each in traceback.splitlines()[1:])
        assert len(traceback.splitlines()) == 1 + len(traceback.split("\n  ")) - 1
