"""Untrusted strings in any field are shown as text everywhere and never become markup, formulas or log lines.

Each crawl visits every page twice: once as strangers wrote it and once with harmless letters instead of the six that
mean something in HTML. Only those letters may differ. So no word of theirs became an element or an attribute, none was
cut where another one is not, and `&lt;b&gt;` is read as it was typed.
"""

import asyncio
import html
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, get_args
from urllib.parse import unquote
from xml.etree import ElementTree

import httpx
import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui import wiring
from intents_ui.display.console import request_form
from intents_ui.display.formatting import csv_text, markdown
from intents_ui.display.formatting.text import END_OF_ISOLATE, ISOLATE
from intents_ui.display.formatting.text import visible as visible_text
from intents_ui.ops.logs import JsonLines, TextLines
from intents_ui.server.live import streams
from intents_ui.service.wire import models
from intents_ui.service.wire.lenient_models import Wire
from intents_ui.service.wire.scalars import Text, TextInList
from intents_ui.service.wire.schemas import JsonFieldKind, Member
from tests.exported import KINDS
from tests.faults import corpus
from tests.faults.hostile import (
    HARMLESS,
    OF_ITS_OWN,
    STATES,
    Hostile,
    answering,
    ask,
    differences,
    harmless,
    is_anything,
    is_word,
    text,
    visible,
)
from tests.pages.conftest import renew
from tests.pages.test_live import get
from tests.service.scripted_server import Visit, response, serving
from tests.serving import ROOT, free_port, wait_for
from tests.waiting import PATIENCE

USDC: Final = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
FAKE: Final = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
NATIVE: Final = "0x" + "0" * 40
SCENARIOS: Final = (3, 4, 8, 11, 17, 18, 20, 28, 30)
STREAMED: Final = (3, 4, 8, 11, 17, 18, 20, 28)
# What becomes of one intent, and in which forms it is told.
OF_AN_INTENT: Final = ("receipt", "reply", "balances", "route-stats", "share")
FILES: Final = ("raw/intent.json", "raw/receipt.json", "badge.svg", "qr.svg", "card.png", "feed.atom", "feed.json")
TURNS: Final = [(is_word, 0), (is_word, 104), (is_anything, 26)]
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")  # noqa: RUF001
EVENT: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ [\w.]+: ")


def pages(service: Hostile) -> Iterator[str]:
    owner = service.finished(11)["ownerAddress"]
    for scenario in SCENARIOS:
        path = f"/intent/{service.finished(scenario)['intentId']}"
        yield from (path, f"{path}/proof")
    result = f"/intent/{service.finished(11)['intentId']}"
    yield from (f"{result}/{part}" for part in (*OF_AN_INTENT, *FILES))
    yield from (f"{result}.json", f"/embed{result}", f"/intent/{service.play(3)['intentId']}/commit")
    yield from (f"/oembed?format={kind}&url=http://testserver{result}" for kind in ("json", "xml"))
    yield from ("/", "/newest", "/history", f"/history?owner={owner}&recoverable=1", "/demo", "/saved")
    yield from (f"/address/{owner}", f"/address/{owner}/share", f"/address/{owner}/feed.atom", f"/address/{USDC}")
    yield from (f"/address/{owner}/feed.json", f"/search?owner={owner}", f"/search?q={result[8:]}")
    yield from ("/chains", "/chain/1", "/chain/8453", "/provider/RELAY", "/tokens?chain=1", "/tokens?q=usd")
    yield "/tokens/rows?chain=1"
    yield from (f"/token/1/{USDC}", f"/token/1/{USDC}/routes", f"/token/1/{USDC}/intents", f"/token/1/{NATIVE}")
    yield from (f"/token/8453/{FAKE}", "/routes", f"/routes?from=1&token={USDC}", f"/routes/tokens?from=1&token={USDC}")
    yield from (f"/routes?from=1&token={USDC}&to=8453&for={NATIVE}", "/routes/matrix", "/console")
    yield from ("/console/GetIntent", "/console/GetTokenList", "/console/QuoteIntent")


def piecewise(service: Hostile) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What comes through the front door alone."""
    intent = service.finished(11)
    yield from (("GET", f"/export/address/{intent['ownerAddress']}.{kind}", {}) for kind in KINDS)
    yield "GET", "/console/GetTokenList", {"params": {"ask": "json", "json": '{"chainIds": [1]}'}}
    yield "GET", "/console/GetIntent", {"params": {"ask": "json", "json": json.dumps({"intentId": intent["intentId"]})}}
    yield "POST", "/triage", {"data": {"q": f"{intent['intentId']} {USDC} {FAKE} {intent['ownerAddress']}"}}


@dataclass
class Answer:
    kind: str
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Crawl:
    """`answers` by their paths; `lines`: what was logged meanwhile, in both formats."""

    service: Hostile
    answers: dict[str, Answer]
    logged: dict[str, list[str]]

    def of(self, *kinds: str) -> dict[str, Answer]:
        return {path: each for path, each in self.answers.items() if each.kind in kinds}


def crawl(service: Hostile) -> Crawl:
    site = Client(headers={"User-Agent": "x\x1b[31m\u202e"})
    answers = {}
    with answering(service), Logged() as logged:
        for chain in wiring.catalog().chains():
            wiring.catalog().tokens(chain.id)
        for path in [*pages(service)]:  # all transfers are there before the first page
            answer = site.get(path)
            assert answer.status_code < 500, path
            answers[path] = Answer(kind_of(answer.headers["Content-Type"]), b"".join(answer))
        for method, path, how in piecewise(service):
            result = ask(method, path, **how)
            assert result.status_code < 500, path
            answers[path] = Answer(kind_of(result.headers["Content-Type"]), result.content)
    return Crawl(service, answers, logged.lines)


def kind_of(content_type: str) -> str:
    return content_type.partition(";")[0]


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


@pytest.fixture(scope="module")
def crawls(draw: Callable[[list, int], list]) -> list[tuple[Crawl, Crawl]]:
    """Each with its harmless twin."""
    found = []
    for wants, turn in draw(TURNS, 1):
        one, twin = (
            crawl(Hostile(corpus.XSS, corpus.URLS, wants=wants, turn=turn, is_harmless=is_harmless))
            for is_harmless in (False, True)
        )
        found.append((one, twin))
    return found


# Pages


def test_no_untrusted_string_becomes_an_element_or_an_attribute(crawls: list[tuple[Crawl, Crawl]]) -> None:
    wrong: list[str] = []
    for one, twin in crawls:
        for (path, answer), other in zip(one.answers.items(), twin.answers.values(), strict=True):
            assert answer.kind == other.kind, path
            if answer.kind == "text/html":
                wrong += [f"{path}: {each}" for each in differences(answer.text, other.text)]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.slow
def test_every_payload_is_readable_as_typed(crawls: list[tuple[Crawl, Crawl]]) -> None:
    read = "\n".join(text(answer.text) for one, _ in crawls for answer in one.of("text/html").values())
    assert [each for each in corpus.XSS if visible(each) not in read and visible(each, lines=True) not in read] == []


@pytest.mark.slow
def test_every_text_field_of_every_object_held_a_payload(crawls: list[tuple[Crawl, Crawl]]) -> None:
    given = {field.rpartition(".")[2] for one, _ in crawls for field in one.service.fields}
    # Ids of intents are addresses of pages; pages of a list and the offers of a quote are shown nowhere.
    assert sorted(texts() - given - {"intentId", "column", "order", "feeCollectorAddress"}) == []


def texts() -> set[str]:
    """The names of all fields that hold text."""
    objects = [each for each in vars(models).values() if isinstance(each, type) and issubclass(each, Wire)]
    fields = [field for model in objects for field in model.fields.values()]
    return {str(field.alias) for field in fields if is_text(field.annotation)}


def is_text(annotation: Any) -> bool:
    return annotation in (Text, TextInList) or any(map(is_text, get_args(annotation)))


# S-UNI: what is written from the right


FROM_THE_RIGHT: Final = [f"שלום {number}" for number in range(7)]
ISOLATED: Final = re.compile(f"{ISOLATE}[^{ISOLATE}{END_OF_ISOLATE}]*{END_OF_ISOLATE}")
# What shows no other words beside it, or takes no marks.
# Attributes that readers get to see or to hear; others are for programs.
SHOWN: Final = {"title", "aria-label", "alt", "content", "data-name", "data-state", "data-words", "data-said"}
BY_ITSELF: Final = {"bdi", "title", "textarea", "script", "style"}


@pytest.mark.parametrize("wants", [is_word, is_anything])
def test_right_to_left_text_does_not_reorder_its_surroundings(wants: Callable[[str, str], bool]) -> None:
    one = crawl(Hostile(FROM_THE_RIGHT, wants=wants))
    found = {path: set(turned_round(answer)) for path, answer in one.answers.items() if answer.kind != "image/png"}
    assert sum(FROM_THE_RIGHT[0][:4] in answer.text for answer in one.of("text/html").values()) > 20
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
        while words != before:
            words, before = ISOLATED.sub("", words), words
        if FROM_THE_RIGHT[0][:4] in words and not is_by_itself(each.parent):
            yield f"<{each.parent.tag} {dict(each.parent.attributes)}> {' '.join(words.split())[:90]}"


def is_by_itself(node: Any) -> bool:
    return node is not None and (
        node.tag in BY_ITSELF or node.attributes.get("dir") == "auto" or is_by_itself(node.parent)
    )


# What is no whole page
@pytest.mark.parametrize("wants", [is_word, is_anything])
def test_no_line_break_starts_another_event_of_a_stream(wants: Callable[[str, str], bool]) -> None:
    for turn, scenario in enumerate(STREAMED):
        # Among them all that would end a line of a stream. The states are the service's own: only they end one.
        payloads = [*corpus.LINES, *corpus.POLYGLOTS, *corpus.TAGS[:12]]
        body, twin = (
            stream(
                Hostile(
                    payloads, wants=lambda *field: field[1] not in STATES and wants(*field), turn=turn, is_harmless=each
                ),
                scenario,
            )
            for each in (False, True)
        )
        assert [name for name, _ in events(body)] in (["message", "done"], ["message", "bye"])
        for (_, fragment), (_, other) in zip(events(body), events(twin), strict=True):
            assert differences(fragment, other) == []


def stream(service: Hostile, scenario: int) -> bytes:
    """With its first picture we send the reader away: a transfer that failed is watched for a refund, without end."""

    def stop(piece: bytes) -> None:
        if piece.endswith(b"\n\n"):
            streams().stop()

    async def read() -> bytes:
        status, _, body = await get(f"/live/{service.finished(scenario)['intentId']}", received=stop)
        await streams().aclose()
        await wiring.close_live()
        assert status == 200
        return body

    with answering(service, tick=True):
        renew("hub")
        wiring.current().forget(streams)
        try:
            return asyncio.run(read())
        finally:
            wiring.current().forget(streams)


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
def test_error_messages_of_the_service_are_shown_as_text(code: int, status: int) -> None:
    """On a page, in its parts, in a frame and in JSON."""
    for turn in range(12 * REFUSALS.index((code, status)), len(corpus.XSS), 12 * len(REFUSALS)):
        found = [refused(code, status, turn, is_harmless=is_harmless) for is_harmless in (False, True)]
        assert found[0].keys() == found[1].keys()
        for path, answer in found[0].items():
            other = found[1][path]
            if answer.kind == "text/html":
                assert differences(answer.text, other.text) == [], path
            else:
                assert as_harmless(json.loads(answer.text)) == as_harmless(json.loads(other.text)), path


def refused(code: int, status: int, turn: int, *, is_harmless: bool) -> dict[str, Answer]:
    words = [corpus.XSS[(turn + offset) % len(corpus.XSS)] for offset in range(3)]
    name, message, cause = (each.translate(HARMLESS) if is_harmless else each for each in words)
    said = {"error": name, "code": code, "msg": message, "cause": cause, "status": status}
    site, found = Client(), {}
    with answering(Hostile(corpus.XSS, refusal=said)):
        for path in (INTENT, f"{INTENT}.json", f"{INTENT}/receipt", f"/embed{INTENT}", "/history", "/chains", "/"):
            answer = site.get(path)
            assert answer.status_code < 500 or answer.status_code == 503
            found[path] = Answer(kind_of(answer.headers["Content-Type"]), answer.content)
    return found


INTENT: Final = f"/intent/0x{'ab' * 32}"


def test_json_is_shown_as_received(crawls: list[tuple[Crawl, Crawl]]) -> None:
    kinds = ("application/json", "application/feed+json", "application/json+oembed")
    for one, twin in crawls:
        assert len(one.of(*kinds)) > 4
        for (path, answer), other in zip(one.of(*kinds).items(), twin.of(*kinds).values(), strict=True):
            assert as_harmless(json.loads(answer.text)) == as_harmless(json.loads(other.text)), path


def as_harmless(value: Any) -> Any:
    """With the texts of a harmless run. What holds HTML is taken apart as HTML is."""
    match value:
        case dict():
            return {key: as_harmless(each) for key, each in value.items()}
        case list():
            return [as_harmless(each) for each in value]
        case str():
            return OF_ITS_OWN.sub("…", value.translate(HARMLESS))
        case _:
            return value


def test_feeds_and_images_are_well_formed_and_contain_no_injected_element(crawls: list[tuple[Crawl, Crawl]]) -> None:
    kinds = ("application/atom+xml", "text/xml", "image/svg+xml")
    for one, twin in crawls:
        assert len(one.of(*kinds)) > 4
        for (path, answer), other in zip(one.of(*kinds).items(), twin.of(*kinds).values(), strict=True):
            assert elements(answer.text) == elements(other.text), path


def elements(document: str) -> list[tuple[str, list[str], Any]]:
    found = []
    for each in ElementTree.fromstring(document.encode()).iter():  # noqa: S314 - our own
        words = (each.text or "").strip()
        is_html = each.get("type") == "html" or each.tag == "html"
        found.append((each.tag, sorted(each.attrib), harmless(words) if is_html else as_harmless(words)))
    return found


def test_a_rendered_preview_is_a_valid_image(crawls: list[tuple[Crawl, Crawl]]) -> None:
    for one, _ in crawls:
        for answer in one.of("image/png").values():
            assert answer.body.startswith(b"\x89PNG")


def test_no_cell_of_an_export_is_a_formula(crawls: list[tuple[Crawl, Crawl]]) -> None:
    found = [cell for one, _ in crawls for file in one.of("text/csv").values() for cell in cells(file.text)]
    assert [cell for cell in found if cell.startswith(FORMULA)] == []
    assert any(cell.startswith("'") and cell.startswith(FORMULA, 1) for cell in found), "no payload came to be a cell"


def cells(csv: str) -> Iterator[str]:
    """RFC 4180, read by its grammar and not by the module that wrote it."""
    for quoted, bare, end in re.findall(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)', csv):
        yield quoted.replace('""', '"') if quoted else bare
        assert end or not bare or csv.endswith(bare)


@pytest.mark.parametrize("written", corpus.FORMULAS)
def test_a_formula_is_text_in_a_spreadsheet(written: str) -> None:
    assert not csv_text.cell(written).startswith(FORMULA)
    shown = visible_text(written, lines=True)
    assert csv_text.cell(written) in (shown, f"'{shown}")


@pytest.mark.parametrize("written", [*corpus.TAGS, *corpus.ENTITIES, *corpus.ADDRESSES])
def test_markdown_shows_what_was_typed(written: str) -> None:
    made = markdown.literal(written)
    assert not re.search(r"[<>]|(?<!\\)[\[\]`*_~|!@]|(?<!\\)://|&(?!amp;|lt;|gt;)", made)
    assert re.sub(r"\\([^0-9A-Za-z\s])", r"\1", html.unescape(made)).replace("\\", "") == written.replace("\\", "")


# What is logged


def test_each_log_event_is_one_line(crawls: list[tuple[Crawl, Crawl]]) -> None:
    for one, _ in crawls:
        assert one.logged["json"]
        for line in one.logged["json"]:
            assert line.isascii()
            assert len(line.splitlines()) == 1
            assert {"time", "level", "logger", "message"} <= json.loads(line).keys()
        for event in one.logged["text"]:
            first, *more = event.splitlines()
            assert EVENT.match(first)
            assert all(line.startswith("  ") for line in more), "only a traceback has more lines, and they are set in"


HOSTILE_LINES: Final = [*corpus.LINES, "\u202egol", "\u2028x", "\x85x", "\x9b31m", "\x0bx", "x\x1cy"]


@pytest.mark.parametrize("written", HOSTILE_LINES)
@pytest.mark.parametrize("form", ["text", "json"])
def test_untrusted_text_never_starts_a_log_line(form: str, written: str) -> None:
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


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_log_of_a_dashboard_process_has_one_event_per_line(form: str) -> None:
    """A request with everything hostile that HTTP lets through, to a dashboard whose service says hostile things."""
    paths = ("/intent/0x%0d%0a2026-01-01 ERROR x: forged", "/chains?a=%0aforged", "/search?q=%1b[31m%0aforged")
    with (
        serving(refusing_in_many_lines) as service,
        logging_dashboard(form, service.url) as (root, result),
        httpx.Client(base_url=root, trust_env=False, timeout=PATIENCE) as visitor,
    ):
        for path in paths:
            visitor.get(path, headers={"User-Agent": "x\x1b[31m", "Referer": "http://x/%0aforged"})
        lines = result()
    assert len(lines) > 2
    assert [
        line for line in lines if not (is_event(line, form) or line.startswith(("intents-ui is ready", "  ")))
    ] == []
    assert [line for line in lines if line.startswith("forged") or "\x1b" in line] == []


def is_event(line: str, form: str) -> bool:
    return bool(EVENT.match(line)) if form == "text" else json.loads(line)["level"] in logging.getLevelNamesMapping()


def refusing_in_many_lines(visit: Visit) -> None:
    said = {"error": "x\nforged", "code": 2001, "msg": "x\r\nforged \x1b[31m", "cause": "x\u2028forged", "status": 500}
    visit.send(response(said, status=500))


@contextmanager
def logging_dashboard(form: str, service: str) -> Iterator[tuple[str, Callable[[], list[str]]]]:
    """A dashboard, and what it has written when it is asked for that; then it is over."""
    port = free_port()
    env = {"PORT": str(port), "LOG_FORMAT": form, "INTENTS_SERVICE_URL": service, "SECRET_KEY": "a key of the test"}
    command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    root = f"http://127.0.0.1:{port}"

    def written() -> list[str]:
        process.terminate()
        return process.communicate(timeout=PATIENCE)[0].decode().splitlines()

    try:
        wait_for(f"{root}/healthz", process)
        yield root, written
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize(
    "call",
    [
        "hashes.shortened(odd, 'short', none, 'hash')",
        "hashes.shortened(odd, 'short', 'https://explorer.example', 'hash')",
        "hashes.transaction_hash(odd)",
        "hashes.intent_id(odd)",
        "hashes.linked_id(odd)",
        "hashes.address(odd)",
        "hashes.account(odd)",
        "hashes.named_address(odd)",
        "hashes.copy(odd, 'hash')",
    ],
)
def test_hidden_characters_are_visible_in_attributes(call: str) -> None:
    from django.template import engines

    environment = engines.all()[0].env
    source = "{% import 'parts/hash.html' as hashes %}{{ " + call + " }}"
    html = environment.from_string(source).render(odd="0x\u202e\u200b\0" + "a" * 80)
    for name, value in re.findall(r'(title|aria-label)="([^"]*)"', html):
        assert not {"\u202e", "\u200b", "\0"} & set(value), name


def test_hidden_characters_are_visible_in_console_suggestions() -> None:
    from django.template import engines

    member = Member("tokenAddress", JsonFieldKind.TEXT, "")
    field = request_form.FormField(member, "tokenAddress", value="", example="a\u202e\u200b\0b")
    source = "{% import 'console/form.html' as form %}{{ form.control(field) }}"
    html = engines.all()[0].env.from_string(source).render(field=field)
    assert re.findall(r'<option value="([^"]*)">', html) == ["a⟨U+202E⟩⟨U+200B⟩⟨U+0000⟩b"]
