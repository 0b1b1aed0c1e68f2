"""`/slack/command` and `/slack/events`: lookups in Slack, and transfers below links.

Slack signs its requests. A signature is valid for five minutes, and is compared in constant time. Slack is only called
with a bot token. It formats only our own words and links. All other text is plain, so that no name can mention, link or
format.
"""

import hashlib
import hmac
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from http import HTTPStatus
from typing import Any, Final

import httpx
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST
from pydantic import BaseModel, SecretStr, ValidationError

from intents_ui.formatting import text
from intents_ui.http import client_ip, marks
from intents_ui.service import request_context
from intents_ui.triage import rows
from intents_ui.triage.lookup import rows_of
from intents_ui.triage.rows import TriageRow
from intents_ui.web.search import CHECK, Candidates

MOST: Final = 5  # identifiers of a command, links of a message
MAX_CANDIDATES: Final = 5
# Slack drops answers that take longer than three seconds.
SECONDS: Final = 1.5
USAGE: Final = "Add an intent ID, a transaction hash or an address."
NO_STORE: Final = {"Cache-Control": "no-store"}
LONGEST = 3000  # characters of one block
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Slack has no escapes for these in the text of a link.
FORMATS = str.maketrans("", "", "*_~`|")

VALID_SECONDS: Final = 300
TIMESTAMP: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
NOT_SIGNED: Final = "The request has no signature."
WRONG: Final = "The signature is wrong."
STALE: Final = "The signature is older than five minutes."
API: Final = "https://slack.com/api"
API_SECONDS: Final = 1.0  # Slack waits three for the answer to its event

log = logging.getLogger(__name__)

type Block = dict[str, Any]


class SharedLink(BaseModel):
    url: str


class SlackEvent(BaseModel):
    """Links that a user typed or posted, in a message with an unfurl ID and its source, or with a channel and time."""

    type: str
    links: tuple[SharedLink, ...] = ()
    unfurl_id: str = ""
    source: str = ""
    channel: str = ""
    message_ts: str = ""

    @property
    def message(self) -> dict[str, str]:
        if self.unfurl_id and self.source:
            return {"unfurl_id": self.unfurl_id, "source": self.source}
        return {"channel": self.channel, "ts": self.message_ts}


class SlackEnvelope(BaseModel):
    type: str
    challenge: str = ""
    event: SlackEvent | None = None


def signed(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Reject requests that Slack hasn't signed within five minutes."""

    @wraps(view)
    def checked(request: HttpRequest) -> HttpResponse:
        if (key := settings.ENV.intents_slack_signing_secret) is None:
            raise Http404("This dashboard has no Slack app.")
        if problem := signature_problem(request, key):
            return in_words(problem, status=HTTPStatus.FORBIDDEN)
        return view(request)

    return checked


def signature_problem(request: HttpRequest, key: SecretStr) -> str:
    """Return what is wrong with the signature (version 0) of a request from Slack, or ""."""
    timestamp = request.headers.get("X-Slack-Request-Timestamp", "")
    signature = request.headers.get("X-Slack-Signature", "")
    if not signature:
        return NOT_SIGNED
    signed = b"v0:" + timestamp.encode() + b":" + request.body
    expected = f"v0={hmac.new(key.get_secret_value().encode(), signed, hashlib.sha256).hexdigest()}"
    if not hmac.compare_digest(signature.encode(), expected.encode()) or not TIMESTAMP.fullmatch(timestamp):
        return WRONG
    return STALE if abs(time.time() - int(timestamp)) > VALID_SECONDS else ""


@marks.Marks(costly="posted")
@require_POST
@signed
def command(request: HttpRequest) -> HttpResponse:
    """Answer a slash command, visibly only to its user."""
    written = request.POST.get("text", "").strip()
    if not written:
        return ephemeral(USAGE, [plain(USAGE)])
    with request_context.within(SECONDS):
        found = rows_of(written, request, most=MOST)
    root = client_ip.root(request)
    summary = found.problem or rows.total(found.rows)
    said = [plain(found.problem)] if found.problem else blocks(found.rows, root=root)
    return ephemeral(summary, [*said, *map(plain, found.notes), *possible(found.candidates, root=root)])


@marks.Marks(costly="posted")
@require_POST
@signed
def events(request: HttpRequest) -> HttpResponse:
    """Answer Slack's check of the URL, and show transfers below links to them."""
    try:
        sent = SlackEnvelope.model_validate_json(request.body)
    except ValidationError:
        return in_words("The event can't be read.", status=HTTPStatus.BAD_REQUEST)
    if sent.type == "url_verification":
        return in_words(sent.challenge)
    token = settings.ENV.intents_slack_bot_token
    if sent.event and sent.event.type == "link_shared" and token:
        with request_context.within(SECONDS):
            unfurls = {link.url: {"blocks": said} for link in sent.event.links[:MOST] if (said := below(link, request))}
        if unfurls:
            unfurl(token, message=sent.event.message, unfurls=unfurls)
    return in_words("")


def below(link: SharedLink, request: HttpRequest) -> list[Block]:
    """Return what to show below a link: its transfers, if it leads to any."""
    found = rows_of(link.url, request, most=1).rows
    return blocks([row for row in found if row.transfer], root=client_ip.root(request))


def unfurl(token: SecretStr, *, message: Mapping[str, str], unfurls: Mapping[str, Any]) -> None:
    """Show blocks below the links of a message. A failure is only logged, because Slack then shows its own preview."""
    try:
        response = httpx.post(
            f"{API}/chat.unfurl",
            json={**message, "unfurls": unfurls},
            headers={"Authorization": f"Bearer {token.get_secret_value()}"},
            timeout=API_SECONDS,
        )
        result = response.json()
        problem = "" if result["ok"] else text.visible(str(result["error"]))[:100]
    except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
        problem = type(error).__name__
    if problem:
        log.warning("Slack shows no transfer below a link: %s", problem)


def ephemeral(summary: str, said: list[Block]) -> HttpResponse:
    """`summary` is for notifications and screen readers."""
    message = {"response_type": "ephemeral", "text": escaped(summary), "blocks": said}
    return JsonResponse(message, headers=NO_STORE)


def in_words(words: str, *, status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    return HttpResponse(words, status=status, content_type="text/plain; charset=utf-8", headers=NO_STORE)


def blocks(found: Sequence[TriageRow], *, root: str) -> list[Block]:
    """`root`: scheme and host of the links."""
    return [block for row in found for block in _of_row(row, root=root)]


def possible(found: Candidates | None, *, root: str) -> list[Block]:
    """Return what the text may be about, and where it was searched."""
    if found is None:
        return []
    listed = found.listed[:MAX_CANDIDATES]
    more = [f"{found.count - len(listed)} more on the search page."] if found.count > len(listed) else []
    said = [plain(f"{CHECK} {found.searched}" if listed else found.searched)]
    for each in listed:
        said += [plain(f"{each.brief}\n{each.why}"), linked([_link(root + each.path, "View transfer")])]
    return [*said, *map(plain, more)]


def plain(words: str) -> Block:
    """Return a block in which Slack formats nothing."""
    return {"type": "section", "text": {"type": "plain_text", "text": words[:LONGEST], "emoji": False}}


def escaped(words: str) -> str:
    """Escape the characters that start a link, a mention or an entity."""
    return words.translate(ENTITIES)


def _of_row(row: TriageRow, *, root: str) -> list[Block]:
    said = plain("\n".join(rows.lines(row, root=root)))
    links = [_link(root + link.path, link.words) for link in row.links]
    links += [_link(each.url, each.words) for each in row.help if each.url]
    if not links:
        return [said]
    return [said, linked(links)]


def linked(links: Sequence[str]) -> Block:
    """Return a block of links. Slack links nothing else in verbatim text."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": " · ".join(links), "verbatim": True}}


def _link(url: str, words: str) -> str:
    return f"<{escaped(url)}|{escaped(words.translate(FORMATS))}>"
