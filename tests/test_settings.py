"""Settings: documented once, checked at startup, and never leaked."""

import json
import logging
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from unittest.mock import patch

import pytest

from intents_ui.service.operations.config import CacheKind, Group
from intents_ui.settings import Environment, read_environment
from tests.serving import free_port, wait_for
from tests.waiting import PATIENCE

ROOT = Path(__file__).parent.parent


def rows(document: str) -> list[str]:
    """Return the rows of all tables of settings in a document."""
    return re.findall(r"^\| `[A-Z_]+` \| .*$", (ROOT / document).read_text(), re.MULTILINE)


def row(name: str) -> str:
    """Return a setting's row, as the code defines it."""
    field = Environment.model_fields[name]
    return f"| `{name.upper()}` | {shown(field.default)} | {field.description} |"


def shown(default: object) -> str:
    if default is None or default == []:
        return "unset"
    if isinstance(default, bool):
        return "on" if default else "off"
    if isinstance(default, dict):
        return f"`{','.join(f'{name}={shown_number(each)}' for name, each in default.items())}`"
    return f"`{','.join(default) if isinstance(default, list) else default}`"


def shown_number(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, int | float) else str(value)


def start(**env: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", "from intents_ui import settings; print(settings.ENV.embedded)"]
    return subprocess.run(command, cwd=ROOT, env=clean | env, capture_output=True, text=True, check=False)


def test_every_setting_is_documented_once_with_its_default_and_description() -> None:
    assert sorted(rows("docs/settings.md")) == sorted(row(name) for name in Environment.model_fields)


def test_every_group_of_operations_and_every_kind_of_response_is_explained() -> None:
    first_cells = re.findall(r"^\| (`[a-z_`, ]+`) \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE)
    explained = [word for cell in first_cells for word in re.findall(r"`([a-z_]+)`", cell)]
    assert sorted(explained) == sorted([*Group, *CacheKind])


def test_the_readme_lists_ten_settings_as_they_are() -> None:
    listed = rows("README.md")
    assert len(listed) == len(set(listed)) == 10
    assert set(listed) <= {row(name) for name in Environment.model_fields}


@pytest.mark.parametrize(
    ("env", "line"),
    [
        pytest.param({"PORT": "high"}, "PORT: ", id="no number"),
        pytest.param({"PORT": "70000"}, "PORT: ", id="no port"),
        pytest.param({"INTENTS_SERVICE_URL": "service"}, "INTENTS_SERVICE_URL: ", id="no URL"),
        pytest.param({"INTENTS_SERVICE_URL": "https://a.example"}, "SECRET_KEY: ", id="real service, no key"),
        pytest.param({"INTENTS_CONSOLE": "on"}, "INTENTS_CONSOLE: ", id="no level"),
        pytest.param({"INTENTS_CONSOLE_TOKEN": "short"}, "INTENTS_CONSOLE_TOKEN: ", id="a token that can be guessed"),
        pytest.param(
            {"INTENTS_SERVICE_URL": "https://a.example", "SECRET_KEY": "a key of the test", "INTENTS_CONSOLE": "write"},
            "INTENTS_CONSOLE_TOKEN: ",
            id="everybody writes to a real service",
        ),
        pytest.param({"CSRF_TRUSTED_ORIGINS": "a.example"}, "CSRF_TRUSTED_ORIGINS: ", id="an origin without a scheme"),
        pytest.param({"CSRF_TRUSTED_ORIGINS": "https://a.example/x"}, "CSRF_TRUSTED_ORIGINS: ", id="an address"),
        pytest.param({"HOST": "0.0.0.0"}, "INTENTS_SERVICE_URL: ", id="invented transfers for everybody"),
        pytest.param({"WEB_CONCURRENCY": "2"}, "WEB_CONCURRENCY: ", id="two processes, one embedded service"),
        pytest.param(
            {"INTENTS_SERVICE_TOTAL_TIMEOUT": "search=soon"}, "INTENTS_SERVICE_TOTAL_TIMEOUT: ", id="no seconds"
        ),
        pytest.param(
            {"INTENTS_SERVICE_MAX_RESPONSE_BYTES": "everything=1"},
            "INTENTS_SERVICE_MAX_RESPONSE_BYTES: ",
            id="no such group",
        ),
        pytest.param({"INTENTS_SERVICE_TOTAL_TIMEOUT": "search=inf"}, "INTENTS_SERVICE_TOTAL_TIMEOUT: ", id="no end"),
        pytest.param(
            {"INTENTS_SERVICE_READ_TIMEOUT": "search=nan"}, "INTENTS_SERVICE_READ_TIMEOUT: ", id="no number at all"
        ),
        pytest.param({"INTENTS_SERVICE_TOTAL_TIMEOUT": "search=601"}, "INTENTS_SERVICE_TOTAL_TIMEOUT: ", id="too long"),
        pytest.param(
            {"INTENTS_SERVICE_MAX_RESPONSE_BYTES": "search=inf"},
            "INTENTS_SERVICE_MAX_RESPONSE_BYTES: ",
            id="no end of bytes",
        ),
        pytest.param(
            {"INTENTS_SERVICE_MAX_RESPONSE_BYTES": "search=0.5"},
            "INTENTS_SERVICE_MAX_RESPONSE_BYTES: ",
            id="half a byte",
        ),
        pytest.param(
            {"INTENTS_SERVICE_MAX_RESPONSE_BYTES": "search=0"}, "INTENTS_SERVICE_MAX_RESPONSE_BYTES: ", id="no byte"
        ),
        pytest.param({"INTENTS_CACHE_TTL": "moving=10/2"}, "INTENTS_CACHE_TTL: ", id="fresh longer than kept"),
        pytest.param({"INTENTS_CACHE_TTL": "moving=inf"}, "INTENTS_CACHE_TTL: ", id="kept for ever"),
        pytest.param({"INTENTS_CACHE_TTL": "moving=nan"}, "INTENTS_CACHE_TTL: ", id="no age at all"),
        pytest.param({"INTENTS_CACHE_TTL": "everything=1"}, "INTENTS_CACHE_TTL: ", id="no such kind"),
        pytest.param(
            {"INTENTS_MAX_WAITING_PAGES": "64"}, "INTENTS_MAX_WAITING_PAGES: ", id="nobody left who does not wait"
        ),
        pytest.param({"INTENTS_MAX_EXPORT_ROWS": "100001"}, "INTENTS_MAX_EXPORT_ROWS: ", id="more rows than are read"),
        pytest.param({"INTENTS_EMBEDDED_TOKENS": "20001"}, "INTENTS_EMBEDDED_TOKENS: ", id="more than a list shows"),
        pytest.param({"HOST": "127.0.0.1:80"}, "HOST: ", id="host with a port"),
        pytest.param({"HOST": "two words"}, "HOST: ", id="no host"),
        pytest.param({"HOST": "::"}, "INTENTS_SERVICE_URL: ", id="invented transfers for everybody on IPv6"),
        pytest.param({"REDIS_URL": "localhost"}, "REDIS_URL: ", id="no Redis URL"),
        pytest.param({"TRUSTED_PROXIES": "the-proxy"}, "TRUSTED_PROXIES: ", id="no network"),
        pytest.param({"INTENTS_LOGO_HOSTS": "10.0.0.8"}, "INTENTS_LOGO_HOSTS: ", id="address where a name should be"),
        pytest.param({"INTENTS_EMBED_HOSTS": "http://shop.example"}, "INTENTS_EMBED_HOSTS: ", id="a frame over http"),
        pytest.param({"SENTRY_DSN": "https://a@b.example/1"}, "SENTRY_DSN: requires packages", id="no Sentry"),
        pytest.param(
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"},
            "OTEL_EXPORTER_OTLP_ENDPOINT: requires packages",
            id="OpenTelemetry, not installed",
        ),
        pytest.param({"LOG_FORMAT": "xml"}, "LOG_FORMAT: ", id="unknown log format"),
        pytest.param({"INTENTS_API": "token"}, "INTENTS_API_TOKENS: ", id="a token is required, and there is none"),
        pytest.param({"INTENTS_API_TOKENS": "desk:s3cret:read:60"}, "INTENTS_API_TOKENS: ", id="a token, not its hash"),
        pytest.param({"INTENTS_API_ORIGINS": "desk.example"}, "INTENTS_API_ORIGINS: ", id="a host, not an origin"),
        pytest.param({"INTENTS_API_ORIGINS": "https://*.a.example"}, "INTENTS_API_ORIGINS: ", id="many origins"),
        pytest.param({"INTENTS_SERVICE_BRAND": "Two Words"}, "INTENTS_SERVICE_BRAND: ", id="brand that is no word"),
    ],
)  # fmt: skip
def test_an_invalid_value_gives_a_one_line_error_with_the_variable(env: dict[str, str], line: str) -> None:
    with patch.dict(os.environ, env, clear=True), pytest.raises(SystemExit) as stopped:
        read_environment()
    result = str(stopped.value)
    assert result.startswith(line)
    assert "\n" not in result
    assert "s3cret" not in result


REAL = {"INTENTS_SERVICE_URL": "https://a.example", "SECRET_KEY": "a key of the test"}


@pytest.mark.parametrize(
    ("env", "line"),
    [
        pytest.param({**REAL, "INTENTS_SERVICE_ACCESS_KEY": "ké"}, "INTENTS_SERVICE_ACCESS_KEY: ", id="é in the key"),
        pytest.param({**REAL, "INTENTS_SERVICE_ACCESS_KEY": "a\nb"}, "INTENTS_SERVICE_ACCESS_KEY: ", id="two lines"),
        pytest.param({"INTENTS_CONSOLE_TOKEN": " " * 16}, "INTENTS_CONSOLE_TOKEN: ", id="a blank token"),
        pytest.param({"INTENTS_CONSOLE_TOKEN": "x" * 1001}, "INTENTS_CONSOLE_TOKEN: ", id="a token too long"),
        pytest.param({**REAL, "SECRET_KEY": "x" * 15}, "SECRET_KEY: ", id="a secret key too short"),
        pytest.param({**REAL, "INTENTS_SERVICE_URL": "http://a.example"}, "INTENTS_SERVICE_URL: ", id="http"),
        pytest.param({**REAL, "INTENTS_SERVICE_URL": "http://169.254.169.254"}, "INTENTS_SERVICE_URL: ", id="metadata"),
        pytest.param({**REAL, "INTENTS_SERVICE_NAME": ".."}, "INTENTS_SERVICE_NAME: ", id="a name that leads up"),
        pytest.param({"ALLOWED_HOSTS": "http://x"}, "ALLOWED_HOSTS: ", id="an origin instead of a host"),
        pytest.param({"ALLOWED_HOSTS": "x.example,y.example:80"}, "ALLOWED_HOSTS: ", id="a host with its port"),
        pytest.param({"REDIS_URL": "redis://localhost/0?bad=1"}, "REDIS_URL: ", id="an unknown option of Redis"),
        pytest.param({"REDIS_URL": "redis://localhost?db=one"}, "REDIS_URL: ", id="an option with an odd value"),
        pytest.param({"REDIS_URL": "redis://localhost?ssl_keyfile=k"}, "REDIS_URL: ", id="an option of rediss alone"),
        pytest.param({"SECRET_KEY": "a key of the test", "SECRET_KEY_FILE": "/dev/null"}, "SECRET_KEY: ", id="twice"),
        pytest.param({"SECRET_KEY_FILE": "/nowhere/key"}, "SECRET_KEY_FILE: ", id="no such file"),
        pytest.param({"INTENTS_CONSOLE_TOKEN_FILE": "/dev/null"}, "INTENTS_CONSOLE_TOKEN_FILE: ", id="an empty file"),
    ],
)  # fmt: skip
def test_a_setting_that_would_fail_later_stops_the_start_with_one_line(env: dict[str, str], line: str) -> None:
    test_an_invalid_value_gives_a_one_line_error_with_the_variable(env, line)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_secrets_are_read_from_files_without_their_trailing_newline(tmp_path: Path, end: str) -> None:
    secrets = {
        "INTENTS_SERVICE_ACCESS_KEY": "key-of-the-test",
        "SECRET_KEY": "a key of the test",
        "INTENTS_CONSOLE_TOKEN": "a token of the test",
        "INTENTS_API_TOKENS": f"desk:{'a' * 64}:read:60",
    }
    env = {}
    for name, value in secrets.items():
        env[f"{name}_FILE"] = str(tmp_path / name)
        (tmp_path / name).write_bytes((value + end).encode())
    with patch.dict(os.environ, env, clear=True):
        read = read_environment()
    with patch.dict(os.environ, {name: value + end for name, value in secrets.items()}, clear=True):
        given = read_environment()
    for each in (read, given):
        found = (
            each.intents_service_access_key,
            each.secret_key,
            each.intents_console_token,
            each.intents_api_tokens,
        )
        assert [secret.get_secret_value() for secret in found if secret] == list(secrets.values())


def test_plain_http_to_the_service_is_allowed_only_on_loopback_or_by_setting() -> None:
    for more in (
        {"INTENTS_SERVICE_URL": "http://127.0.0.1:8801"},
        {"INTENTS_SERVICE_URL": "http://localhost"},
        {"INTENTS_SERVICE_URL": "http://[::1]:1"},
        {"INTENTS_SERVICE_URL": "http://service.internal", "INTENTS_SERVICE_HTTP": "allowed"},
    ):
        with patch.dict(os.environ, REAL | more, clear=True):
            assert not read_environment().embedded


@pytest.mark.parametrize(
    "url", ["redis://a.example", "rediss://u:p@a.example:1/2?ssl_cert_reqs=none&protocol=3", "redis://a?db=2"]
)
def test_a_redis_url_with_known_options_is_accepted(url: str) -> None:
    with patch.dict(os.environ, {"REDIS_URL": url}, clear=True):
        assert str(read_environment().redis_url).startswith(url.partition("?")[0])


def test_an_invalid_value_stops_the_start() -> None:
    stopped = start(PORT="http")
    assert stopped.returncode == 1
    assert stopped.stderr.startswith("PORT: ")
    assert stopped.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "url", ["https://u:s3cret@h/x", "https://s3cret@h", "https://h/x?key=s3cret", "https://h/#s3cret"]
)
def test_a_secret_in_the_service_url_stops_the_start_and_is_not_printed(url: str) -> None:
    stopped = start(INTENTS_SERVICE_URL=url, SECRET_KEY="a key of the test")
    assert stopped.stderr.startswith("INTENTS_SERVICE_URL: ")
    assert "s3cret" not in stopped.stderr + stopped.stdout


def test_a_rejected_operator_token_is_not_printed() -> None:
    stopped = start(INTENTS_CONSOLE_TOKEN="s3cret", INTENTS_CONSOLE="write")
    assert stopped.returncode == 1
    assert "s3cret" not in stopped.stderr + stopped.stdout


def test_the_access_key_is_not_logged_at_any_level() -> None:
    for name in ("httpx", "httpcore", "httpcore.http11", "httpcore.connection"):
        assert not logging.getLogger(name).isEnabledFor(logging.INFO), name


@contextmanager
def started(port: int, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start the dashboard, and return the process with its output."""
    command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py"]
    clean = {"PATH": os.environ["PATH"], "PORT": str(port)}
    process = subprocess.Popen(command, cwd=ROOT, env=clean | env, stdout=PIPE, stderr=PIPE)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(
    ("env", "line"),
    [
        pytest.param({}, "http://127.0.0.1:{port} (demo data from the emulator)", id="embedded"),
        pytest.param({"HOST": "::1"}, "http://[::1]:{port} (demo data from the emulator)", id="IPv6"),
        pytest.param(
            {"INTENTS_SERVICE_URL": "https://a.example:8/x", "SECRET_KEY": "a key of the test"},
            "{port} (a.example)",
            id="a real service",
        ),
    ],
)
def test_the_startup_line_says_the_listening_address_and_the_service(env: dict[str, str], line: str) -> None:
    if "HOST" in env and not has_ipv6():
        pytest.skip("this machine has no IPv6 loopback")
    port = free_port()
    with started(port, **env) as process:
        assert process.stdout
        result = process.stdout.readline().decode()
        assert line.format(port=port) in result
        host = "[::1]" if "HOST" in env else "127.0.0.1"
        assert wait_for(f"http://{host}:{port}/healthz", process).status_code == 200


def test_in_json_mode_every_log_line_is_json_including_the_servers() -> None:
    port = free_port()
    with started(port, LOG_FORMAT="json") as process:
        assert process.stderr
        ready = json.loads(process.stderr.readline())
        assert ready["message"].startswith("intents-ui is ready on")
        with started(port, LOG_FORMAT="json") as second:
            assert second.stderr
            refused = json.loads(second.stderr.readline())
            assert (refused["logger"], refused["level"]) == ("gunicorn.error", "ERROR")


def test_a_limit_can_be_set_for_a_single_group_of_operations() -> None:
    show = (
        "from intents_ui import wiring; c = wiring.config(); print(c.limits['search'].total, c.limits['intent'].total)"
    )
    env = {"PATH": os.environ["PATH"], "INTENTS_SERVICE_TOTAL_TIMEOUT": "search=3.5"}
    shown = subprocess.run([sys.executable, "-c", show], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["3.5", "4.0"]


def test_the_embedded_service_lists_the_configured_number_of_tokens() -> None:
    show = "from intents_ui import wiring; c = wiring.emulator().catalogue; print(len(list(c.on_chains(c.listed))))"
    env = {"PATH": os.environ["PATH"], "INTENTS_EMBEDDED_TOKENS": "500"}
    shown = subprocess.run([sys.executable, "-c", show], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["500"]


@pytest.mark.parametrize(
    ("env", "embedded"),
    [
        pytest.param({}, "True", id="nothing set"),
        pytest.param({"INTENTS_SERVICE_URL": ""}, "True", id="set to nothing"),
        pytest.param({"INTENTS_SERVICE_URL": "embedded", "HOST": "0.0.0.0"}, "True", id="embedded on purpose"),
        pytest.param(
            {"INTENTS_SERVICE_URL": "https://a.example", "SECRET_KEY": "a key of the test"},
            "False",
            id="a real service",
        ),
    ],
)
def test_the_embedded_service_is_the_default(env: dict[str, str], embedded: str) -> None:
    started = start(**env)
    assert started.stdout.strip() == embedded, started.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("INTENTS_RECOVERY_URL", "http://app.example/recover"),
        ("INTENTS_RECOVERY_URL", "app.example"),
        ("INTENTS_RECOVERY_URL", "javascript:alert(1)"),
        ("INTENTS_RECOVERY_URL", "https://app.example/>x"),
        ("INTENTS_RECOVERY_URL", "https://user:pass@app.example/"),
        ("INTENTS_RECOVERY_URL", "support@app.example"),
        ("INTENTS_ESCALATION_TO", "http://desk.example/{text}"),
        ("INTENTS_ESCALATION_TO", "https://desk.example/{owner}"),
        ("INTENTS_ESCALATION_TO", "javascript:alert({text})"),
        ("INTENTS_ESCALATION_TO", "desk@{text}.example"),
        ("INTENTS_SUPPORT_CONTACT", "http://app.example"),
        ("INTENTS_SUPPORT_CONTACT", "support"),
        ("INTENTS_SUPPORT_CONTACT", "mailto:support@app.example"),
        ("INTENTS_SUPPORT_CONTACT", "a@b.example?subject=x"),
    ],
)
def test_a_link_for_owners_is_https_or_mail_and_safe_to_copy(name: str, value: str) -> None:
    stopped = start(**{name: value})
    assert stopped.returncode == 1
    assert stopped.stderr.startswith((f"{name}: must be an https URL", f"{name}: must be an e-mail address"))
    assert stopped.stderr.count("\n") == 1


@pytest.mark.parametrize("contact", ["support@app.example", "https://app.example:8443/help?topic=refund#form"])
def test_support_is_an_email_address_or_a_page(monkeypatch: pytest.MonkeyPatch, contact: str) -> None:
    monkeypatch.setenv("INTENTS_SUPPORT_CONTACT", contact)
    monkeypatch.setenv("INTENTS_RECOVERY_URL", "https://app.example/recover?from=dashboard")
    read = Environment()
    assert read.intents_support_contact == contact
    assert read.intents_recovery_url == "https://app.example/recover?from=dashboard"
