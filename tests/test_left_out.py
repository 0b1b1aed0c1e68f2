"""Apps that can be left out of `INSTALLED_APPS` and urls.py: every other page works, and none links to them."""

import re
from urllib.parse import urlsplit

import httpx
import pytest
from django.urls import Resolver404, resolve

from intents_ui import urls
from tests.browser.kinds import OF_AN_INTENT, PLACES, Kind, transfer
from tests.serving import dashboard
from tests.waiting import PATIENCE

LINK = re.compile(r'\s(?:href|src|action|content|hx-get|hx-post)="(/[^"]*|http://127[^"]*)"')
APPS = ("insight", "share", "console", "helpdesk")
FROM_THE_MIRROR = "address of a recipient"  # its transfers come from the mirror, which pages without Insight don't show


def is_of(app: str, url: str) -> bool:
    try:
        resolve(urlsplit(url).path, f"{urls.__package__}.{app}.urls")
    except Resolver404:
        return False
    return True


def kinds(root: str) -> list[Kind]:
    shown = [transfer(root), transfer(root, commit=True), transfer(root, commit=True, execute=True)]
    parts = [f"{shown[2]}/{part}" for part in OF_AN_INTENT]
    return [*(Kind(path, path) for path in (*shown, *parts)), *PLACES]


@pytest.mark.parametrize("app", APPS)
def test_the_rest_runs_without(app: str, sample_mirror: str) -> None:
    settings = {"DJANGO_SETTINGS_MODULE": "tests.left_out.settings", "LEFT_OUT": app}
    with (
        dashboard(INTENTS_DATABASE=sample_mirror, **settings) as root,
        httpx.Client(base_url=root, trust_env=False, timeout=PATIENCE) as client,
    ):
        for kind in kinds(root):
            if (app, kind.name) == ("insight", FROM_THE_MIRROR):
                continue
            found = client.get(kind.path)
            is_left_out = is_of(app, kind.path)
            assert found.status_code == (404 if is_left_out else kind.status), kind.name
            assert [url for url in LINK.findall(found.text) if is_of(app, url)] == [], kind.name
