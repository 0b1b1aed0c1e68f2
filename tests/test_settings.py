"""Every setting is one line, is documented, and stops the start when it is wrong."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from intents_ui.settings import Environment

ROOT = Path(__file__).parent.parent


def table() -> str:
    """The README's table as the settings themselves give it."""
    rows = ["| name | default | meaning |", "|---|---|---|"]
    for name, field in Environment.model_fields.items():
        rows.append(f"| `{name.upper()}` | {shown(field.default)} | {field.description} |")
    return "\n".join(rows)


def shown(default: object) -> str:
    if default is None or default == []:
        return "unset"
    if isinstance(default, bool):
        return "on" if default else "off"
    if isinstance(default, dict):
        return f"`{','.join(f'{group}={number:.15g}' for group, number in default.items())}`"
    return f"`{','.join(default) if isinstance(default, list) else default}`"


def start(**env: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", "from intents_ui import settings; print(settings.ENV.embedded)"]
    return subprocess.run(command, cwd=ROOT, env=clean | env, capture_output=True, text=True, check=False)


def test_the_readme_lists_every_setting_with_its_default_and_meaning() -> None:
    readme = (ROOT / "README.md").read_text()
    listed = re.search(r"<!-- settings:.*?-->\n(.*?)<!-- end of settings -->", readme, re.DOTALL)
    assert listed is not None
    assert listed[1].strip() == table()


@pytest.mark.parametrize(
    ("env", "line"),
    [
        pytest.param({"PORT": "high"}, "PORT: ", id="no number"),
        pytest.param({"PORT": "70000"}, "PORT: ", id="no port"),
        pytest.param({"INTENTS_SERVICE_URL": "service"}, "INTENTS_SERVICE_URL: ", id="no URL"),
        pytest.param({"INTENTS_SERVICE_URL": "https://a.example"}, "SECRET_KEY: ", id="real service, no key"),
        pytest.param({"HOST": "0.0.0.0"}, "INTENTS_SERVICE_URL: ", id="invented transfers for everybody"),
        pytest.param({"WEB_CONCURRENCY": "2"}, "WEB_CONCURRENCY: ", id="two processes, one embedded service"),
        pytest.param({"INTENTS_SERVICE_TOTALS": "search=soon"}, "INTENTS_SERVICE_TOTALS: ", id="no seconds"),
        pytest.param({"INTENTS_SERVICE_SIZES": "everything=1"}, "INTENTS_SERVICE_SIZES: ", id="no such group"),
        pytest.param({"REDIS_URL": "localhost"}, "REDIS_URL: ", id="no Redis URL"),
        pytest.param({"TRUSTED_PROXIES": "the-proxy"}, "TRUSTED_PROXIES: ", id="no network"),
        pytest.param({"LOG_FORMAT": "xml"}, "LOG_FORMAT: ", id="unknown log format"),
        pytest.param({"INTENTS_SERVICE_BRAND": "Two Words"}, "INTENTS_SERVICE_BRAND: ", id="brand that is no word"),
    ],
)  # fmt: skip
def test_a_bad_value_stops_the_start_with_one_line_that_names_the_variable(env: dict[str, str], line: str) -> None:
    stopped = start(**env)
    assert stopped.returncode == 1
    assert stopped.stderr.startswith(line)
    assert stopped.stderr.count("\n") == 1


def test_a_limit_can_be_set_for_one_group_of_operations_alone() -> None:
    show = (
        "from intents_ui import wiring; c = wiring.config(); print(c.limits['search'].total, c.limits['intent'].total)"
    )
    env = {"PATH": os.environ["PATH"], "INTENTS_SERVICE_TOTALS": "search=3.5"}
    shown = subprocess.run([sys.executable, "-c", show], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["3.5", "4.0"]


@pytest.mark.parametrize(
    ("env", "embedded"),
    [
        pytest.param({}, "True", id="nothing set"),
        pytest.param({"INTENTS_SERVICE_URL": ""}, "True", id="set to nothing"),
        pytest.param({"INTENTS_SERVICE_URL": "embedded", "HOST": "0.0.0.0"}, "True", id="embedded on purpose"),
        pytest.param({"INTENTS_SERVICE_URL": "https://a.example", "SECRET_KEY": "k"}, "False", id="a real service"),
    ],
)
def test_the_embedded_service_is_there_when_no_other_is_named(env: dict[str, str], embedded: str) -> None:
    started = start(**env)
    assert started.stdout.strip() == embedded, started.stderr
