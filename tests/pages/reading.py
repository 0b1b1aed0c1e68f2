"""Pages as a user reads them."""

import asyncio
import html
import re
from typing import Any

from django.http import HttpResponse
from django.test import Client

PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}


def read(site: Client, path: str, *, status: int = 200, **headers: str) -> str:
    answer = site.get(path, headers=headers)
    assert answer.status_code == status, f"{path}: {answer.status_code} {answer.get('Location', '')}"
    return answer.content.decode()


def content(answer: Any) -> str:
    """Return the text of a response, also of a stream."""
    body = b"".join(asyncio.run(_pieces(answer))) if answer.streaming else answer.content
    return str(body.decode("utf-8", "replace"))


async def _pieces(answer: Any) -> list[bytes]:
    return [piece async for piece in answer] if answer.is_async else list(answer)


def visible_text(page: str | HttpResponse) -> str:
    markup = page if isinstance(page, str) else page.content.decode()
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def rows(page: str | HttpResponse) -> list[str]:
    """Return the Intent IDs of a list's rows."""
    markup = page if isinstance(page, str) else page.content.decode()
    return re.findall(r'<tr id="row-(0x[0-9a-f]+)"', markup)
