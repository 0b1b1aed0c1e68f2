"""Console: every operation with its documented response, errors, and its protection."""

import html
import json
import re
from collections.abc import Iterator

import httpx
import pytest
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from pydantic import SecretStr
from selectolax.lexbor import LexborHTMLParser, LexborNode

from intents_ui import app, settings, startup
from intents_ui.console import views as console
from intents_ui.emulator import faults
from intents_ui.emulator.errors import TABLE
from intents_ui.formatting.failures import MEANINGS
from intents_ui.http import limits
from intents_ui.service.console import OPERATIONS
from intents_ui.settings import ENV
from tests.gunicorn_constants import PAGE_TIMEOUT, constants
from tests.pages.cases import cases
from tests.service.scripted_server import ScriptedServer, Visit, response, serving
from tests.serving import dashboard
from tests.waiting import PATIENCE

READING = [name for name, operation in OPERATIONS.items() if not operation.is_write]
WRITING = [name for name, operation in OPERATIONS.items() if operation.is_write]
CANARY = "canary/4711-key"
TOKEN = "canary-token-of-the-operator"
EMPTY = "The response appears here"
UNCONFIRMED = {"ask": "json", "json": "{}", "confirmed": "yes"}
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(autouse=True)
def full_rate_limits() -> None:
    cache.clear()


def form_with(page: HttpResponse, button: str) -> LexborNode:
    forms = LexborHTMLParser(page.content).css("form")
    return next(each for each in forms if button in [found.text().strip() for found in each.css("button")])


def values_of(form: LexborNode) -> dict[str, str]:
    """Return what a browser submits."""
    found = {}
    for each in form.css("input[name], select, textarea"):
        chosen = each.css_first("option[selected]") or each
        found[str(each.attributes["name"])] = (
            each.text() if each.tag == "textarea" else chosen.attributes.get("value") or ""
        )
    return found


def body_to_confirm(page: HttpResponse, operation: str) -> str:
    return values_of(form_with(page, f"Send {operation}"))["json"]


def visible_text(page: HttpResponse) -> str:
    """Return the visible text, without the text areas that repeat it."""
    shown = re.sub(r"<textarea.*?</textarea>|<datalist.*?</datalist>", " ", page.content.decode(), flags=re.DOTALL)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", shown)))


def raw(page: HttpResponse) -> str:
    """Return the response as received."""
    found = re.search(r"As received</summary>.*?<pre[^>]*>(.*?)</pre>", page.content.decode(), re.DOTALL)
    return html.unescape(found[1]) if found else ""


def submit(site: Client, page: HttpResponse, button: str, **typed: str) -> HttpResponse:
    """Submit the form that has this button, with the typed values."""
    form = form_with(page, button)
    pressed = next(each for each in form.css("button") if each.text().strip() == button).attributes
    values = values_of(form) | {key.replace("__", "."): text for key, text in typed.items()}
    if name := pressed.get("name"):
        values[name] = pressed["value"] or ""
    address = str(form.attributes["action"]).partition("#")[0]
    if form.attributes.get("method") == "get":
        return site.get(address, values, follow=True)
    # Browsers send each line break as two characters.
    return site.post(address, {key: text.replace("\n", "\r\n") for key, text in values.items()}, headers=SAME_ORIGIN)


def follow(site: Client, page: HttpResponse, words: str) -> HttpResponse:
    """Follow the link with these words."""
    [link] = [each for each in LexborHTMLParser(page.content).css("a") if each.text().strip() == words]
    return site.get(str(link.attributes["href"]))


def prepare(site: Client, operation: str, text: str) -> HttpResponse:
    """Submit exactly this JSON text. A write is then to be confirmed."""
    button = "Send this JSON…" if operation in WRITING else "Send this JSON"
    return submit(site, site.get(f"/console/{operation}"), button, json=text)


def ask(site: Client, operation: str, text: str) -> HttpResponse:
    """Send exactly this JSON text, with a confirmation if one is required."""
    page = prepare(site, operation, text)
    return submit(site, page, f"Send {operation}") if operation in WRITING else page


def quote(site: Client) -> HttpResponse:
    return submit(site, submit(site, site.get("/console/QuoteIntent"), "Send…"), "Send QuoteIntent")


# Every operation shows the documented response.

ANSWERS = {
    "SearchIntents": ["intents"],
    "GetIntentHistory": ["intents", "nextPage"],
    "GetIntent": ["intent"],
    "GetIntentReceipt": ["intentReceipt"],
    "WaitIntentReceipt": ["intentReceipt", "receiptStates", "done"],
    "CommitIntent": ["intentId"],
    "GetTokenList": ["tokens"],
    "GetChains": ["chains"],
    "GetExactInputRoutes": ["tokens"],
    "GetExactOutputRoutes": ["tokens"],
    "QuoteIntent": ["intent", "gasFeeOptions"],
    "ExecuteIntent": ["intentId", "intentStatus"],
    "GetTokenPrices": ["tokenPrices"],
}


def test_the_console_lists_every_operation_with_a_description(site):
    page = visible_text(site.get("/console"))
    assert OPERATIONS.keys() == ANSWERS.keys()
    for name in OPERATIONS:
        assert re.search(rf"{name} [A-Z][^.]+\.", page), name
    assert "Create a demo transfer" in page


@pytest.mark.parametrize("operation", READING)
def test_every_read_operation_accepts_its_example(site, operation):
    page = submit(site, site.get(f"/console/{operation}"), "Send")
    assert page.status_code == 200
    answer = json.loads(raw(page))
    assert list(answer) == ANSWERS[operation]
    assert answer[ANSWERS[operation][0]], "an example that finds nothing is none"
    shown = visible_text(page)
    assert "200 OK" in shown
    assert re.search(r"Time [\d.]+ (ms|s) Size [\d,]+ bytes Request ID [0-9a-f]{12}", shown)
    for member in ANSWERS[operation]:
        assert f'"{member}": ' in shown


def test_a_new_user_quotes_commits_and_executes(site):
    page = submit(site, site.get("/console/QuoteIntent"), "Send…")
    assert "It costs nothing and moves no funds" in visible_text(page)
    page = submit(site, page, "Send QuoteIntent")
    answer = json.loads(raw(page))
    assert list(answer) == ANSWERS["QuoteIntent"]
    intent_id = answer["intent"]["intentId"]
    page = follow(site, page, "Accept")
    assert page.request["PATH_INFO"] == f"/intent/{intent_id}/commit"
    page = submit(site, page, "Accept")
    assert "Quote accepted" in visible_text(page)
    result = re.search(r"until (\d\d:\d\d:\d\d UTC) \( ?\d+ min", visible_text(page))
    assert result, "the deadline is a moment"
    assert f"before {result[1]}" in visible_text(site.get(f"/intent/{intent_id}"))
    page = submit(site, follow(site, page, "Execute this intent"), "Send…")
    assert "Once the deposit arrives, it runs and cannot be undone." in visible_text(page)
    page = submit(site, page, "Send ExecuteIntent")
    assert json.loads(raw(page)) == {"intentId": intent_id, "intentStatus": "EXECUTING"}
    assert f'href="/intent/{intent_id}">View transfer</a>' in page.content.decode()


# Invalid requests with documented errors (docs/contract.md#errors). The emulator's tests have those of each operation.
REFUSED = [
    ("GetIntentReceipt", '{"intentId":', 400, "WebrpcBadRequest", -4),
    ("CommitIntent", "{}", 400, "InvalidArgument", 2000),
    ("GetExactInputRoutes", '{"originChainId":999999,"originTokenAddress":"0x1"}', 422, "UnsupportedNetwork", 8008),
]


@pytest.mark.parametrize(("operation", "text", "status", "name", "code"), REFUSED)
def test_a_bad_request_shows_the_documented_error(site, operation, text, status, name, code):
    page = ask(site, operation, text)
    assert page.status_code == 200
    result = json.loads(raw(page))
    assert (result["error"], result["code"], result["status"]) == (name, code, status)
    shown = visible_text(page)
    assert f"{name} code {code} {MEANINGS[code]}" in shown
    assert re.search(rf"{status} [A-Z][a-z]+ ", shown)
    assert result["cause"][:80] in shown


@pytest.mark.parametrize("name", faults.REFUSALS)
def test_every_status_code_of_the_service_has_an_explanation(site, emulator, name):
    refusal = faults.REFUSALS[name]
    error = next(each for each in TABLE.values() if each["name"] == refusal["error"])
    emulator.inject("GetChains", name)
    page = site.get("/console/GetChains", {"ask": "fields"})
    shown = visible_text(page)
    assert page.status_code == 200
    assert f"{error['name']} code {error['code']} {MEANINGS[error['code']]}" in shown
    assert re.search(rf"{error['status']} [A-Z]", shown)
    if (seconds := refusal.get("retryAfter", "")).isdigit():
        assert f"retry-after {seconds}" in shown


# Requests


def test_json_is_sent_exactly_as_typed(site, emulator, monkeypatch):
    came: list[bytes] = []
    transport = app.current().service.transport
    send = transport.handle_request

    def noted(request: httpx.Request) -> httpx.Response:
        came.append(request.read())
        return send(request)

    text = '{"chainIds":[8453],\n  "limit" : 1.0,"x":1157920892373161954235709850086,"é":"<&>"}'
    form = site.get("/console/GetTokenList")
    monkeypatch.setattr(transport, "handle_request", noted)
    page = submit(site, form, "Send this JSON", json=text)
    assert came == [text.encode()]
    assert text in html.unescape(page.content.decode())


def test_a_call_can_be_shared_as_a_link(site):
    page = submit(site, site.get("/console/GetIntentHistory"), "Send", byStatus="FAILED", page__pageSize="2")
    assert page.redirect_chain[-1][0].endswith("/console/GetIntentHistory?page.pageSize=2&byStatus=FAILED&ask=fields")
    page = ask(site, "GetTokenList", '{"chainIds":[8453],"limit":1}')
    again = follow(site, page, "Link to this request")
    assert json.loads(raw(again)) == json.loads(raw(page))


def test_a_link_alone_sends_nothing(site, emulator):
    emulator.inject("GetTokenPrices", "panic-500")
    assert EMPTY in visible_text(site.get("/console/GetTokenPrices", {"tokens": "[]"}))
    assert raw(site.head("/console/GetTokenPrices?ask=fields")) == ""
    assert "WebrpcServerPanic" in visible_text(site.get("/console/GetTokenPrices?ask=fields"))
    assert EMPTY in visible_text(site.get("/console/QuoteIntent", UNCONFIRMED))


def test_the_next_page_is_one_click_away(site):
    page = site.get("/console/GetIntentHistory?page.pageSize=2&ask=fields")
    first, second = (
        {each["intentId"] for each in json.loads(raw(found))["intents"]}
        for found in (page, follow(site, page, "Next page"))
    )
    assert len(first) == len(second) == 2
    assert not first & second


def test_an_intent_is_sent_back_exactly_as_received(site):
    """Through a text area, with every character that forms or pages may change."""
    odd = '{ "memo":"a\\r\\n<\\/textarea>&amp;\\u00e9é\\u0000",\n\t"n":1.10,"n2":1e2 ,"intentId":"0x12"}'
    page = site.post("/console/CommitIntent", {"intent": odd.replace("\n", "\r\n"), "ask": "fields"})
    assert body_to_confirm(page, "CommitIntent") == f'{{"intent":{odd}}}'


def test_a_commit_with_one_changed_digit_is_rejected(site):
    intent = json.loads(raw(quote(site)))["intent"]
    sent, amount = json.dumps({"intent": intent}), intent["depositTransaction"]["amount"]
    changed = amount[:-1] + str((int(amount[-1]) + 1) % 10)
    page = prepare(site, "CommitIntent", sent)
    page = submit(site, page, "Send CommitIntent", json=sent.replace(f'"{amount}"', f'"{changed}"', 1))
    page = submit(site, page, "Send CommitIntent")  # an edited request is confirmed again
    assert "InvalidArgument code 2000" in visible_text(page)
    assert "intent was modified" in visible_text(page)
    assert "Execute this intent" not in visible_text(page)


def test_a_demo_transfer_follows_the_selected_scenario(site, emulator):
    scenario = [*console.SCENARIOS][-1]
    page = ask(site, "CommitIntent", json.dumps({"intent": json.loads(raw(quote(site)))["intent"]}))
    page = submit(site, follow(site, page, "Execute this intent"), "Send…", scenario=scenario)
    assert json.loads(body_to_confirm(page, "ExecuteIntent")).get("scenario", "") == scenario
    page = submit(site, page, "Send ExecuteIntent")
    assert "EXECUTING" in raw(page) or "FAILED" in raw(page)


def test_the_newest_quote_leads_to_its_commit_page(site):
    page = follow(site, site.get("/console/CommitIntent"), "newest quote that can still be accepted")
    assert "Accept this quote?" in visible_text(page)


def test_without_the_service_the_form_has_no_invented_example(site, emulator):
    emulator.inject("*", "node-down-503")
    page = site.get("/console/QuoteIntent")
    assert page.status_code == 200
    assert {value for name, value in values_of(form_with(page, "Send…")).items() if name[:4] != "csrf"} == {""}
    assert "0x" not in visible_text(page)


# Responses


@pytest.mark.parametrize("case", cases("console"))
def test_a_page_says(pages, case):
    pages.check(case)


def test_numbers_are_shown_exactly(site, emulator):
    giant = emulator.finished("dust-and-giants", variant="B")
    page = site.get("/console/GetIntent", {"intentId": giant["intentId"], "ask": "fields"})
    assert giant["depositTransaction"]["amount"] in visible_text(page)


def test_the_curl_command_makes_the_same_call_without_the_access_key(site, emulator, monkeypatch):
    monkeypatch.setattr(settings.ENV, "intents_service_access_key", None)
    app.use(startup.build(emulator=emulator))
    text = """{"intentId":"it's $(id) `id` \\"x\\" \\\\ !"}"""
    shown = html.unescape(ask(site, "GetIntent", text).content.decode())
    assert "http://testserver/rpc/Service/GetIntent" in shown
    assert """--data-raw '{"intentId":"it'"'"'s $(id) `id` \\"x\\" \\\\ !"}'""" in shown
    assert "X-Access-Key" not in shown
    assert "so it has no safe shell command" in visible_text(ask(site, "GetIntent", '{"intentId":"\x1b[201~\n id"}'))


# Authorization


def test_a_read_only_console_lists_no_operation_that_writes(site, monkeypatch):
    monkeypatch.setattr(settings.ENV, "intents_console", "read")
    page = site.get("/console").content.decode()
    assert all(f"/console/{name}" in page for name in READING)
    assert not any(f"/console/{name}" in page for name in WRITING)
    assert "Create a demo transfer" not in page


def test_a_write_operation_needs_the_csrf_token(emulator):
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/console/QuoteIntent", UNCONFIRMED, headers=SAME_ORIGIN).status_code == 403
    assert "InvalidArgument code 2000" in visible_text(ask(strict, "QuoteIntent", "{}"))


def test_reading_sets_no_cookie(site):
    for path in ("/console", "/console/GetIntent", "/console/GetIntent?ask=fields"):
        assert not site.get(path).cookies
    assert site.get("/console/GetIntent")["Cache-Control"] == "no-store"


def test_writing_needs_the_operator_token_and_can_remember_it(site, monkeypatch):
    monkeypatch.setattr(settings.ENV, "intents_console_token", SecretStr(TOKEN))
    page = submit(site, site.get("/console/QuoteIntent"), "Send…")
    refused = submit(site, page, "Send QuoteIntent")
    assert refused.status_code == 403
    assert "Enter the operator token. Nothing was sent to the service." in visible_text(refused)
    assert body_to_confirm(refused, "QuoteIntent") == body_to_confirm(page, "QuoteIntent")
    done = submit(site, refused, "Send QuoteIntent", **{"operator-token": TOKEN, "remember": "on"})
    assert "200 OK" in visible_text(done)
    assert TOKEN not in done.content.decode()
    assert "Quote accepted" in visible_text(submit(site, follow(site, done, "Accept"), "Accept"))


@pytest.mark.parametrize("operation", WRITING)
def test_a_request_edited_during_its_confirmation_is_confirmed_again(site, emulator, operation):
    page = submit(
        site, prepare(site, operation, '{"intentId": "0x1"}'), f"Send {operation}", json='{"intentId": "0x2"}'
    )
    assert page.status_code == 409
    assert "differs from the one you confirmed and wasn't sent" in visible_text(page)
    assert raw(page) == ""
    assert raw(submit(site, page, f"Send {operation}")) != ""


def test_the_signature_of_one_operation_confirms_no_other(site):
    signed = values_of(form_with(prepare(site, "QuoteIntent", "{}"), "Send QuoteIntent"))["confirmed"]
    answer = site.post("/console/ExecuteIntent", UNCONFIRMED | {"confirmed": signed}, headers=SAME_ORIGIN)
    assert (answer.status_code, raw(answer)) == (409, "")


# Limits


def test_calls_count_in_the_rate_limit_and_keep_the_form(site, monkeypatch):
    monkeypatch.setattr(ENV, "intents_rate_pages", 1)
    app.current().rate_limiter.consume("203.0.113.7", limits.SECONDS - 2 * limits.SEARCH - 2)
    client = Client(REMOTE_ADDR="203.0.113.7")
    for _ in range(2):
        assert client.get("/console/GetChains?ask=fields").status_code == 200
    page = client.get("/console/GetChains?routeProvider=CCTP&ask=fields")
    assert (page.status_code, page["Retry-After"]) == (429, "4")
    assert "Try again in 4 seconds" in visible_text(page)
    assert values_of(form_with(page, "Send"))["routeProvider"] == "CCTP"
    assert client.get("/console/GetChains").status_code == 200
    assert Client(REMOTE_ADDR="203.0.113.9").get("/console/GetChains?ask=fields").status_code == 200


def test_writes_count_in_the_rate_limit(site, monkeypatch):
    monkeypatch.setattr(ENV, "intents_rate_pages", 1)
    app.current().rate_limiter.consume("203.0.113.7", limits.SECONDS - 3)
    page = prepare(Client(REMOTE_ADDR="203.0.113.7"), "QuoteIntent", "{}")
    assert page.status_code == 429
    assert "InvalidArgument" not in visible_text(page)


def test_long_polls_are_limited_for_each_client_and_for_all():
    polls, path = app.current().long_polls, "/console/WaitIntentReceipt?intentId=0x12&ask=fields"
    site, other = Client(REMOTE_ADDR="203.0.113.9"), Client(REMOTE_ADDR="203.0.113.10")
    polls.take("203.0.113.9")
    page = site.get(path)
    assert page.status_code == 429
    assert "Your previous WaitIntentReceipt request is still waiting" in visible_text(page)
    assert "NotFound" in visible_text(other.get(path))
    assert "200 OK" in visible_text(site.get("/console/GetChains?ask=fields"))
    polls.give_back("203.0.113.9")
    assert "NotFound" in visible_text(site.get(path))
    for number in range(polls.most):
        polls.take(f"203.0.113.{number}")
    page = site.get(path)
    assert (page.status_code, page["Retry-After"]) == (503, "10")
    assert "Too many WaitIntentReceipt requests are waiting" in visible_text(page)


def test_a_request_body_has_a_maximum_size(site):
    page = ask(site, "GetIntent", '{"intentId":"' + "x" * console.LONGEST + '"}')
    assert page.status_code == 413
    assert "exceeds 64 KB" in visible_text(page)


# With a real service, over real HTTP


def echoed(visit: Visit) -> None:
    """Return all of the request, after longer than a page may take."""
    if visit.operation == "WaitIntentReceipt":
        visit.closing.wait(1.2)
    visit.send(response({"headers": visit.headers, "body": visit.body.decode()}))


@pytest.fixture(scope="module")
def real() -> Iterator[tuple[httpx.Client, ScriptedServer]]:
    given = {
        "INTENTS_SERVICE_ACCESS_KEY": CANARY,
        "SECRET_KEY": "a key of the test",
        "INTENTS_CONSOLE": "write",
        "INTENTS_CONSOLE_TOKEN": TOKEN,
    } | constants(**{PAGE_TIMEOUT: 0.4})
    with (
        serving(echoed) as service,
        dashboard(INTENTS_SERVICE_URL=service.url, **given) as root,
        httpx.Client(base_url=root, trust_env=False, timeout=PATIENCE, headers={"Origin": root}) as client,
    ):
        yield client, service


@pytest.mark.programs
def test_a_long_poll_may_take_longer_than_a_page(real):
    client, service = real
    page = client.get("/console/WaitIntentReceipt?intentId=0x12&ask=fields")
    assert page.status_code == 200
    assert "200 OK" in page.text
    assert '{"intentId":"0x12"}' in [visit.body.decode() for visit in service.visits]


def test_a_real_services_access_key_and_host_are_never_shown(real):
    client, service = real
    page = html.unescape(client.get("/console/GetChains?ask=fields").text)
    assert service.visits[-1].headers["x-access-key"] == CANARY
    assert "x-access-key" in page
    assert CANARY not in page
    assert "curl -sS https://intent-service.example/rpc/Service/GetChains" in page
    assert "-H 'X-Access-Key: …'" in page
    for path in ("/console", "/console/GetChains", "/console/GetChains?ask=fields", "/console/QuoteIntent"):
        page = html.unescape(client.get(path).text)
        assert service.url not in page  # this service echoes the request's own Host, without a scheme


def test_with_a_real_service_only_its_operator_writes(real):
    client, service = real
    proof = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get("/console/QuoteIntent").text)
    assert proof
    sent = {"ask": "json", "json": "{}", "csrfmiddlewaretoken": proof[1]}
    confirmed = re.search(r'name="confirmed" value="([^"]+)"', client.post("/console/QuoteIntent", data=sent).text)
    assert confirmed
    sent["confirmed"] = confirmed[1]
    refused = client.post("/console/QuoteIntent", data=sent)
    assert refused.status_code == 403
    assert "QuoteIntent" not in [visit.operation for visit in service.visits]
    assert "All of it is invented" not in refused.text
    done = client.post("/console/QuoteIntent", data=sent | {"operator-token": TOKEN})
    assert done.status_code == 200
    assert [visit.operation for visit in service.visits].count("QuoteIntent") == 1
    assert TOKEN not in done.text
    assert TOKEN not in str(done.cookies)
