"""Pages as a user reads them."""

import html
import re

from django.http import HttpResponse
from django.test import Client

PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}


def read(site: Client, path: str, *, status: int = 200, **headers: str) -> str:
    answer = site.get(path, headers=headers)
    assert answer.status_code == status, f"{path}: {answer.status_code} {answer.get('Location', '')}"
    return answer.content.decode()


def visible_text(page: str | HttpResponse) -> str:
    markup = page if isinstance(page, str) else page.content.decode()
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def rows(page: str | HttpResponse) -> list[str]:
    """Return the Intent IDs of a list's rows."""
    markup = page if isinstance(page, str) else page.content.decode()
    return re.findall(r'<tr id="row-(0x[0-9a-f]+)"', markup)
