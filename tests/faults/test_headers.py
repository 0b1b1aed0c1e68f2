"""Security headers on every response, forms that only this site can submit, and pages free of inline code."""

import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest
from django.conf import settings
from django.test import Client, override_settings
from pydantic import SecretStr

from intents_ui.emulator.app import Emulator
from intents_ui.http import headers
from intents_ui.settings import ENV
from tests.browser import kinds
from tests.pages.reading import PARTIAL
from tests.pages.recorded import Recorded, recorded
from tests.serving import ROOT, dashboard, free_port
from tests.tables import toml
from tests.url_patterns import url_patterns
from tests.waiting import PATIENCE

TOKEN: Final = "canary-token-of-the-operator"
KEY: Final = "".join(chr(33 + number % 90) for number in range(60)).replace('"', "x")
UNKNOWN: Final = "0x" + "ab" * 32
ONCE: Final = {
    "permissions-policy": headers.EVERYWHERE["Permissions-Policy"],
    "referrer-policy": "strict-origin-when-cross-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self';"
    " manifest-src 'self'; form-action 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types default"
)
FILE_POLICY: Final = "default-src 'none'; frame-ancestors 'none'; sandbox"
RESPONSES: Final = toml(__file__, "requests")["responses"]


@pytest.fixture(scope="module")
def known(server: str) -> dict[str, str]:
    running = kinds.transfer(server, commit=True, execute=True).rpartition("/")[2]
    return {"intent": kinds.finished_transfers(server)[3].rpartition("/")[2], "running": running}


def ask(root: str, path: str, *, method: str = "GET", **how: Any) -> httpx.Response:
    """Its head alone, since a stream has no end."""
    with httpx.stream(method, root + path, trust_env=False, timeout=30, **how) as answer:
        return answer


def is_page(answer: httpx.Response) -> bool:
    return answer.headers.get("content-type", "").startswith("text/html") and "/live/" not in str(answer.url)


def wrong(answer: httpx.Response) -> Iterator[str]:
    """Yield what is missing, or sent twice. A static file can't use browser features, so it has no list of them."""
    is_static = answer.url.path.startswith("/static/")
    for name, value in ONCE.items():
        wanted = [] if is_static and name == "permissions-policy" else [value]
        if answer.headers.get_list(name) != wanted:
            yield f"{name}: {answer.headers.get_list(name)}"
    policy = PAGE_POLICY if is_page(answer) else FILE_POLICY
    if answer.headers.get_list("content-security-policy") != [policy]:
        yield f"content-security-policy: {answer.headers.get_list('content-security-policy')}"
    policy = "cross-origin" if answer.url.path.endswith("card.png") else "same-origin"
    if answer.headers.get_list("cross-origin-resource-policy") != [policy]:
        yield f"cross-origin-resource-policy: {answer.headers.get_list('cross-origin-resource-policy')}"
    yield from (f"{name} is told" for name in ("x-powered-by", "set-cookie") if name in answer.headers)
    kind = answer.headers.get("content-type", "")
    if kind.startswith("text/") and "charset" not in kind:
        yield f"no charset: {kind}"
    if "cache-control" not in answer.headers and "/rpc/" not in str(answer.url):
        yield "nobody knows whether it may be kept"


@pytest.mark.parametrize("row", RESPONSES.values(), ids=RESPONSES)
def test_every_response_has_the_security_headers(server, known, row):
    how = {name: row[name] for name in ("method", "headers", "data", "json") if name in row}
    if "size" in row:
        how["content"] = b"x" * row["size"]
    answer = ask(server, row["path"].format(**known), **how)
    assert answer.status_code == row["status"]
    assert list(wrong(answer)) == []


def test_a_304_response_does_not_change_the_cached_policy(server, known):
    """With 304 it takes over the headers that come: a page's policy is not a picture's."""
    for path in ("/intent/{intent}/qr.svg", "/intent/{intent}/feed.atom", "/static/css/theme.css"):
        first = httpx.get(server + path.format(**known), trust_env=False, timeout=PATIENCE)
        again = httpx.get(
            first.url, headers={"If-None-Match": first.headers["etag"]}, trust_env=False, timeout=PATIENCE
        )
        assert again.status_code == 304
        assert "content-security-policy" not in again.headers
        assert again.headers["x-content-type-options"] == "nosniff"


# As it is deployed: by https alone, through a proxy, with a real service.

DEPLOYED: Final = {
    "INTENTS_HTTPS": "on",
    "SECRET_KEY": KEY,
    "ALLOWED_HOSTS": "intents.example,127.0.0.1",
    "INTENTS_CONSOLE": "write",
    "INTENTS_CONSOLE_TOKEN": TOKEN,
}
BY_HTTPS: Final = {"X-Forwarded-Proto": "https"}
STRICT: Final = "max-age=63072000; includeSubDomains; preload"


@pytest.fixture(scope="module")
def deployed() -> Iterator[str]:
    """Its service cannot be reached, which what is looked at here does not need."""
    with dashboard(**DEPLOYED, INTENTS_SERVICE_URL=f"http://127.0.0.1:{free_port()}") as root:
        yield root


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/help", 200),
        ("/nowhere", 404),
        (f"/intent/{UNKNOWN}", 503),
        ("/static/css/theme.css", 200),
        ("/favicon.ico", 302),
        ("/healthz", 200),
        ("/live/0x12/x", 404),
    ],
)
def test_https_responses_set_hsts(deployed, path, status):
    answer = ask(deployed, path, headers=BY_HTTPS)
    assert answer.status_code == status
    assert answer.headers.get_list("strict-transport-security") == [STRICT]
    assert list(wrong(answer)) == []


def test_http_requests_are_redirected_to_https(deployed):
    answer = ask(deployed, "/history?status=FAILED", headers={"Host": "intents.example"})
    assert (answer.status_code, answer.headers["location"]) == (301, "https://intents.example/history?status=FAILED")
    assert "strict-transport-security" not in answer.headers
    assert list(wrong(answer)) == []


def test_links_have_the_scheme_and_host_that_the_proxy_passes_on(deployed):
    headers = BY_HTTPS | {"Host": "intents.example"}
    page = httpx.get(f"{deployed}/opensearch.xml", headers=headers, trust_env=False, timeout=PATIENCE)
    assert "https://intents.example/search?q=" in page.text


def test_cookies_are_set_only_with_forms_and_only_for_this_host(deployed):
    with httpx.Client(base_url=deployed, headers=BY_HTTPS, trust_env=False, timeout=PATIENCE) as browser:
        for path in ("/", "/help", "/history", "/search?q=0x12", "/triage", "/console", "/nowhere", "/saved"):
            assert "set-cookie" not in browser.get(path).headers, path
        form = browser.get("/console/QuoteIntent")
        proof = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form.text)
        assert proof
        (cookie,) = form.headers.get_list("set-cookie")
        named, *said = cookie.split("; ")
        assert named.startswith("__Host-csrftoken=")
        assert {"HttpOnly", "Path=/", "SameSite=Lax", "Secure"} == set(said)
        held = {"Cookie": named, "Origin": deployed.replace("http:", "https:")}
        sent = {"csrfmiddlewaretoken": proof[1], "operator-token": TOKEN, "remember": "on", "ask": "json", "json": "{}"}
        shown = browser.post("/console/QuoteIntent", data=sent, headers=held)
        confirmed = re.search(r'name="confirmed" value="([^"]+)"', shown.text)
        assert confirmed
        answer = browser.post("/console/QuoteIntent", data={**sent, "confirmed": confirmed[1]}, headers=held)
        (remembered,) = [each for each in answer.headers.get_list("set-cookie") if "operator" in each]
        named, *said = remembered.split("; ")
        assert named.startswith("__Host-operator=")
        assert {"HttpOnly", "Path=/", "SameSite=Strict", "Secure"} <= set(said)


def check(**env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    clean = {"PATH": os.environ["PATH"]}
    return subprocess.run(command, cwd=ROOT, env=clean | env, capture_output=True, text=True, check=False)


@pytest.mark.programs
def test_djangos_deployment_check_finds_nothing():
    found = check(**DEPLOYED, INTENTS_SERVICE_URL="https://service.example")
    assert found.returncode == 0, found.stderr
    assert "no issues" in found.stdout
    assert settings.SILENCED_SYSTEM_CHECKS == ["security.W003"]  # forms that write: the tests of forms below


PASSWORD: Final = secrets.token_hex()  # not written in the source, which the page shows


def test_even_a_debug_page_shows_no_settings(monkeypatch):
    """Django hides what it takes for secret by its name, such as SECRET_KEY, but not the URL of a database."""
    monkeypatch.setattr("intents_ui.web.help.render", lambda *_, **__: 1 / 0)
    with override_settings(DEBUG=True, REDIS_ADDRESS=f"redis://:{PASSWORD}@127.0.0.1:1/0"):
        answer = Client(raise_request_exception=False).get("/help")
    assert answer.status_code == 500
    assert "ZeroDivisionError" in answer.text
    assert PASSWORD not in answer.text


# Forms that write.


@pytest.fixture(scope="module")
def way(emulator: Emulator) -> Iterator[Recorded]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ENV, "intents_console_token", SecretStr(TOKEN))
        patch.setattr(ENV, "intents_rate_pages", 1000)
        with recorded(emulator) as recording:
            yield recording


WRITING: Final = ("QuoteIntent", "CommitIntent", "ExecuteIntent")


def addresses(emulator: Emulator) -> list[str]:
    """One of each in the site map, of something that is there."""
    intent = emulator.play("expired-quote")
    names = {"intent_id": intent["intentId"], "address": intent["ownerAddress"].lower(), "operation": "QuoteIntent"}
    return [route.path(**names) for route in url_patterns()]


FOREIGN: Final = {
    "no proof": {},
    "a wrong proof": {"X-CSRFToken": "a" * 64, "Cookie": "csrftoken=" + "b" * 32},
    "no origin": {"Origin": "null"},
    "another site": {"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.test"},
    "a neighbour": {"Sec-Fetch-Site": "same-site", "Origin": "http://evil.testserver"},
}
READING: Final = {"/triage", "/console/GetIntent", "/mcp"}  # change nothing: from our own pages they need no proof


@pytest.mark.parametrize("sender", FOREIGN)
def test_a_cross_site_form_has_no_effect(emulator, way, sender):
    browser = Client(enforce_csrf_checks=True)
    taken = []
    for path in [*addresses(emulator), "/console/CommitIntent", "/console/ExecuteIntent", "/console/GetIntent"]:
        answer = browser.post(path, {"ask": "json", "json": "{}", "confirmed": "yes"}, headers=FOREIGN[sender])
        if answer.status_code not in (403, 404, 405, 415):
            taken.append(path)
        is_foreign = "proof" not in sender and not path.startswith("/api/")
        assert answer.status_code == 403 or not is_foreign, path
    by_reading = READING | {"/export/progress/" + "a" * 22}
    allowed = by_reading if sender in ("no proof", "a wrong proof") else set()
    assert set(taken) <= allowed
    assert [each for each in WRITING if way.requests(each)] == []


def test_get_requests_change_nothing(emulator, way):
    browser = Client()
    for path in addresses(emulator):
        if path.startswith("/export/"):
            continue  # long, and without forms
        browser.get(f"{path}?json={{}}&ask=json&confirmed=yes&operator-token={TOKEN}").close()
    assert [each for each in WRITING if way.requests(each)] == []


# What no template may contain


TEMPLATES: Final = sorted((ROOT / "templates").rglob("*.*"))
UNESCAPED: Final = re.compile(
    r"\|\s*(safe|urlize|striptags|forceescape|truncate\w*_html|tojson)\b|autoescape|Markup|hx-on|"
    r"hx-vals=.js:|\bon\w+=|\bstyle="
)


def test_templates_escape_everything():
    """Autoescape is on for all of them (jinja.py), and none turns it off."""
    assert len(TEMPLATES) > 80
    found = {
        f"{each.name}: {hit[0]}"
        for each in TEMPLATES
        for hit in UNESCAPED.finditer(re.sub(r"\{#.*?#\}", "", each.read_text(), flags=re.DOTALL))
    }
    assert found == set()


# Mistakes of our own.


@pytest.mark.parametrize("how", [{}, PARTIAL], ids=["a page", "a fragment"])
def test_an_internal_error_page_has_every_header_and_a_reference_that_is_logged(monkeypatch, caplog, how):
    monkeypatch.setattr("intents_ui.web.help.render", lambda *_, **__: 1 / 0)
    answer = Client(raise_request_exception=False).get("/help", headers=how)
    assert answer.status_code == 500
    assert answer["Content-Security-Policy"] == PAGE_POLICY
    assert {name: answer[name] for name in ONCE} == ONCE
    assert ("<html" in answer.text) is (how == {})
    (reference,) = re.findall(r"\b[0-9a-f]{12}\b", answer.text)
    assert [record for record in caplog.records if reference in record.getMessage()]
    for hidden in ("Traceback", "ZeroDivisionError", str(ROOT), settings.SECRET_KEY):
        assert hidden not in answer.text
