"""A recovery phrase or a private key ends where it arrives: it reaches no service, page, URL or log."""

import json
import logging
from pathlib import Path
from urllib.parse import quote

import pytest

from intents_ui.http import secret_text
from intents_ui.http.secret_text import HELD_BACK
from tests.pages.recorded import recorded

TEXTS = json.loads(Path(__file__).with_name("secret_texts.json").read_text())
SECRETS, HARMLESS = TEXTS["secrets"], TEXTS["harmless"]
WIF = SECRETS["WIF"].split()[-1]
DIGITS = HARMLESS["bare digits"]


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_secrets_are_recognized(secret):
    assert secret_text.is_in(secret)


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_what_people_paste_otherwise_is_no_secret(text):
    assert not secret_text.is_in(text)


def rpc(text: str) -> str:
    params = {"name": "look_up", "arguments": {"text": text}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


SURFACES = {
    "search": lambda site, text: site.get("/search", {"q": text}, headers={"Accept": "text/html"}),
    "advanced search": lambda site, text: site.get("/search", {"intent": text}, headers={"Accept": "text/html"}),
    "suggestions": lambda site, text: site.get("/suggest", {"q": text}),
    "a path": lambda site, text: site.get(f"/intent/{quote(text, safe='')}", headers={"Accept": "text/html"}),
    "history": lambda site, text: site.get("/history", {"owner": text}, headers={"Accept": "text/html"}),
    "triage": lambda site, text: site.post("/triage", {"q": text}, headers={"Sec-Fetch-Site": "same-origin"}),
    "API lookup": lambda site, text: site.get("/api/v1/lookup", {"q": text}),
    "API triage": lambda site, text: site.post("/api/v1/triage", {"text": text}, content_type="application/json"),
    "MCP": lambda site, text: site.post("/mcp", rpc(text), content_type="application/json"),
}


@pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)
@pytest.mark.parametrize("secret", ["numbered lines", "WIF", "named digits"])
def test_no_surface_passes_a_secret_on(site, emulator, caplog, surface, secret):
    caplog.set_level(logging.DEBUG)
    with recorded(emulator) as transport:
        answer = surface(site, SECRETS[secret])
        assert transport.sent == []
    found = answer.headers.get("Location", "") + answer.content.decode()
    for part in ("abandon", WIF, DIGITS):
        assert part not in found
        assert part not in caplog.text
    if answer.status_code == 302:
        answer = site.get(answer.headers["Location"])
    assert answer.status_code == 400
    assert HELD_BACK.what.split(".")[0] in answer.content.decode()


@pytest.mark.parametrize("field", ["csrfmiddlewaretoken", "form", "seen"])
def test_a_token_of_our_own_form_is_never_taken_for_a_secret(site, emulator, field):
    path = f"/intent/{emulator.play('expired-quote')['intentId']}/commit"
    answer = site.post(path, {field: WIF}, headers={"Sec-Fetch-Site": "same-origin"})
    assert HELD_BACK.what not in answer.content.decode()


def test_a_cursor_is_never_taken_for_a_secret(site):
    assert HELD_BACK.what not in site.get("/history", {"cursor": WIF}).content.decode()
