"""HTTP client of a dashboard's API. It waits when the dashboard asks it to, for a limited time."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

import httpx

from intents_ui.cli.exit_codes import Exit

ROOT: Final = "/api/v1"
TIMEOUT: Final = httpx.Timeout(120, connect=10)  # a ticket with many identifiers takes long
LONGEST_WAIT: Final = 60.0  # seconds, for all retries of a request
FIRST_WAIT: Final = 2.0
RETRIED: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
CODES: Final = {
    HTTPStatus.BAD_REQUEST: Exit.USAGE,
    HTTPStatus.UNAUTHORIZED: Exit.USAGE,
    HTTPStatus.FORBIDDEN: Exit.USAGE,
    HTTPStatus.NOT_FOUND: Exit.NOT_FOUND,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: Exit.USAGE,
    HTTPStatus.REQUEST_URI_TOO_LONG: Exit.USAGE,
    HTTPStatus.TOO_MANY_REQUESTS: Exit.UNAVAILABLE,
    HTTPStatus.BAD_GATEWAY: Exit.UNAVAILABLE,
    HTTPStatus.SERVICE_UNAVAILABLE: Exit.UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT: Exit.UNAVAILABLE,
}
TOKEN: Final = re.compile(r"[!-~]+", re.ASCII)
NOT_OURS: Final = "The answer is not that of this API."
CHECK_URL: Final = "Check the dashboard's URL (--url or INTENTS_UI_URL)."
TRY_AGAIN: Final = "Try again later."
CHECK_TOKEN: Final = "Check INTENTS_UI_TOKEN."  # noqa: S105 - the name of a variable

type Query = Mapping[str, str | Sequence[str]]


class Problem(Exception):
    """Why a command has no result, and what to do."""

    def __init__(self, code: Exit, detail: str, todo: str = "", *, request_id: str | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.todo = todo
        self.request_id = request_id


class ApiClient:
    """`progress` shows a line while it waits."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None,
        progress: Callable[[str], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._root = _root(url)
        self._progress = progress
        self.pause = sleep
        headers = {"Accept": "application/json", **_authorization(token)}
        self._http = httpx.Client(headers=headers, timeout=TIMEOUT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._http.close()

    def get(self, path: str, query: Query | None = None) -> dict[str, Any]:
        """Return the answer of an operation. Raises Problem."""
        return self._answer(self._http.build_request("GET", f"{self._root}{ROOT}{path}", params=query))

    def post(self, path: str, body: object) -> dict[str, Any]:
        return self._answer(self._http.build_request("POST", f"{self._root}{ROOT}{path}", json=body))

    def transfer(self, intent_id: str) -> dict[str, Any]:
        """Return a transfer, with its balances."""
        return self.get(f"/transfers/{quote(intent_id, safe='')}")

    def follow(self, link: str) -> dict[str, Any]:
        """Return what a link of an answer leads to. Its host doesn't count, so that no other one gets the token."""
        path = httpx.URL(link).raw_path.decode("ascii").lstrip("/")
        return self._answer(self._http.build_request("GET", f"{self._root}/{path}"))

    def _answer(self, request: httpx.Request) -> dict[str, Any]:
        waited = 0.0
        while True:
            response = self._send(request)
            if response.status_code not in RETRIED:
                break
            pause = _retry_after(response) or max(FIRST_WAIT, waited)
            if waited + pause > LONGEST_WAIT:
                break
            self._progress(f"{_problem(response).detail} Trying again in {pause:.0f} s.")
            self.pause(pause)
            waited += pause
        if response.status_code != HTTPStatus.OK:
            raise _problem(response)
        return _document(response)

    def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            return self._http.send(request)
        except httpx.TimeoutException:
            raise Problem(Exit.UNAVAILABLE, f"{_host(request)} did not answer in time.", TRY_AGAIN) from None
        except httpx.RequestError as error:
            raise Problem(Exit.UNAVAILABLE, f"{_host(request)} can't be reached: {error}.", CHECK_URL) from None


def _root(url: str) -> str:
    """Return the dashboard's URL without the slash. Raises Problem."""
    try:
        read = httpx.URL(url)
    except httpx.InvalidURL:
        read = httpx.URL()
    if read.scheme not in ("http", "https") or not read.host:
        raise Problem(Exit.USAGE, "The dashboard's URL must begin with http:// or https://.", CHECK_URL)
    return str(read.copy_with(query=None, fragment=None)).rstrip("/")


def _host(request: httpx.Request) -> str:
    """Return the host and port, without a password in the URL."""
    return request.url.netloc.decode("ascii")


def _authorization(token: str | None) -> dict[str, str]:
    if not token:
        return {}
    if not TOKEN.fullmatch(token):
        raise Problem(Exit.USAGE, "The token has characters that no token has.", CHECK_TOKEN)
    return {"Authorization": f"Bearer {token}"}


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds of Retry-After, which may be a date. At least one."""
    written = response.headers.get("Retry-After", "")
    if written.isascii() and written.isdigit():
        return max(1.0, float(written))
    try:
        at = parsedate_to_datetime(written)
    except ValueError:
        return None
    return max(1.0, (at - datetime.now(UTC)).total_seconds()) if at.tzinfo else None


def _document(response: httpx.Response) -> dict[str, Any]:
    try:
        found = json.loads(response.content)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Problem(Exit.ERROR, NOT_OURS, CHECK_URL)
    return found


def _problem(response: httpx.Response) -> Problem:
    """Return the problem of a response: its details (RFC 9457), or its status alone."""
    status = response.status_code
    code = CODES.get(HTTPStatus(status), Exit.ERROR) if status in HTTPStatus else Exit.ERROR
    is_detailed = response.headers.get("Content-Type", "").partition(";")[0] == "application/problem+json"
    found = _document(response) if is_detailed else {}
    if isinstance(detail := found.get("detail"), str):
        todo, request_id = (str(found.get(name) or "") for name in ("whatToDo", "requestId"))
        return Problem(code, detail, todo, request_id=request_id or None)
    if code is Exit.NOT_FOUND or status < HTTPStatus.BAD_REQUEST:
        code = Exit.ERROR
    return Problem(code, f"The answer has status {status}.", _todo(status, code))


def _todo(status: int, code: Exit) -> str:
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return CHECK_TOKEN
    return TRY_AGAIN if code is Exit.UNAVAILABLE else CHECK_URL
