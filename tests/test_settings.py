"""Settings: documented once, checked at startup, and never leaked."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock, patch

import pytest
from pydantic import RedisDsn

from intents_ui.mirror import database
from intents_ui.settings import Environment, read_environment
from tests.serving import ROOT
from tests.tables import toml


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
    return f"`{','.join(default) if isinstance(default, list) else default}`"


def start(code: str = "from intents_ui import settings", **env: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": os.environ["PATH"]}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=clean | env, capture_output=True, text=True, check=False
    )


def test_every_setting_is_documented_once_with_its_default_and_description() -> None:
    assert sorted(rows("docs/settings.md")) == sorted(row(name) for name in Environment.model_fields)


def test_the_readme_lists_ten_settings_as_they_are() -> None:
    listed = rows("README.md")
    assert len(listed) == len(set(listed)) == 10
    assert set(listed) <= {row(name) for name in Environment.model_fields}


REAL = {"INTENTS_SERVICE_URL": "https://a.example", "SECRET_KEY": "a key of the test"}
INVALID = toml(__file__, "invalid_settings")
OF_A_REAL_SERVICE = INVALID.pop("of_a_real_service")
INVALID_TOGETHER = {
    "a real service without a key": ("SECRET_KEY", {"INTENTS_SERVICE_URL": "https://a.example"}),
    "a token too long": ("INTENTS_CONSOLE_TOKEN", {"INTENTS_CONSOLE_TOKEN": "x" * 1001}),
    "everybody writes": ("INTENTS_CONSOLE_TOKEN", {**REAL, "INTENTS_CONSOLE": "write"}),
    "demo data in public": ("INTENTS_SERVICE_URL", {"HOST": "0.0.0.0"}),
    "debug mode in public": ("DEBUG", {"DEBUG": "on", "INTENTS_SERVICE_URL": "embedded", "HOST": "0.0.0.0"}),
    "demo data in public on IPv6": ("INTENTS_SERVICE_URL", {"HOST": "::"}),
    "a rejected token": ("INTENTS_CONSOLE_TOKEN", {"INTENTS_CONSOLE_TOKEN": "s3cret", "INTENTS_CONSOLE": "write"}),
}


def environment(env: dict[str, str], secrets_dir: Path = Path("/nowhere")) -> Environment:
    with patch.dict(os.environ, env, clear=True):
        return read_environment(secrets_dir)


@pytest.mark.parametrize(
    ("name", "env"),
    [
        pytest.param(name, given | {name: value}, id=f"{name}={value[:40]}")
        for values, given in ((INVALID, {}), (OF_A_REAL_SERVICE, REAL))
        for name in values
        for value in values[name]
    ]
    + [pytest.param(*case, id=title) for title, case in INVALID_TOGETHER.items()],
)
def test_an_invalid_value_stops_the_start_with_a_line_that_names_it_and_no_secret(
    name: str, env: dict[str, str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        environment(env)
    line = str(stopped.value)
    assert line.startswith(f"{name}: ")
    assert "\n" not in line
    assert "s3cret" not in line


def test_a_dsn_without_its_package_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "is_installed", lambda module: False)
    with pytest.raises(SystemExit, match="SENTRY_DSN: requires packages"):
        environment({"SENTRY_DSN": "https://a@b.example/1"})


def test_an_invalid_value_ends_the_process() -> None:
    stopped = start(PORT="http")
    assert stopped.returncode == 1
    assert stopped.stderr.startswith("PORT: ")
    assert stopped.stderr.count("\n") == 1


SECRETS = {
    "INTENTS_SERVICE_ACCESS_KEY": "key-of-the-test",
    "SECRET_KEY": "a key of the test",
    "INTENTS_CONSOLE_TOKEN": "a token of the test",
    "INTENTS_API_TOKENS": f"desk:{'a' * 64}:60\nbot:{'b' * 64}:60",
}


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("case", [str.upper, str.lower])
def test_secrets_are_read_from_files_without_their_trailing_newline(
    tmp_path: Path, end: str, case: Callable[[str], str]
) -> None:
    for name, value in SECRETS.items():
        (tmp_path / case(name)).write_bytes((value + end).encode())
    given = environment({name: value + end for name, value in SECRETS.items()})
    for each in (environment({}, tmp_path), given):
        assert {name: getattr(each, name.lower()).get_secret_value() for name in SECRETS} == SECRETS
        assert [token.name for token in each.api_tokens] == ["desk", "bot"]


def test_a_variable_takes_precedence_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "PORT").write_text("8001")
    assert (environment({}, tmp_path).port, environment({"PORT": "8002"}, tmp_path).port) == (8001, 8002)


def misspelled(path: Path) -> None:
    path.with_name(f"{path.name}S").write_text("s3cret")


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(lambda path: path.write_text(" \n"), id="empty"),
        pytest.param(lambda path: path.write_text("s3cret\ns3cret s3cret"), id="two lines"),
        pytest.param(lambda path: path.write_bytes(b"s3cret s3cret s3cret\xff"), id="not UTF-8"),
        pytest.param(Path.mkdir, id="a directory"),
        pytest.param(lambda path: path.symlink_to("/etc/hostname"), id="a link out of the directory"),
        pytest.param(lambda path: path.symlink_to(path.name), id="a link to itself"),
        pytest.param(misspelled, id="misspelled"),
    ],
)
def test_an_odd_file_stops_the_start_with_a_line_that_names_the_setting(
    tmp_path: Path, place: Callable[[Path], object]
) -> None:
    place(tmp_path / "INTENTS_CONSOLE_TOKEN")
    with pytest.raises(SystemExit) as stopped:
        environment({}, tmp_path)
    line = str(stopped.value)
    assert line.startswith("INTENTS_CONSOLE_TOKEN")
    assert "\n" not in line
    assert "s3cret" not in line


@pytest.mark.parametrize("read", ["iterdir", "read_text"])
def test_an_unreadable_file_or_directory_stops_the_start(
    tmp_path: Path, read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "INTENTS_CONSOLE_TOKEN").write_text("a token of the test")
    monkeypatch.setattr(Path, read, Mock(side_effect=PermissionError))
    with pytest.raises(SystemExit, match=f"^(INTENTS_CONSOLE_TOKEN: must .*|{tmp_path}: can't be read .*)$"):
        environment({}, tmp_path)


NEARBY = ("127.0.0.1:8801", "localhost", "[::1]:1", "10.0.0.8:80", "172.31.0.1", "192.168.1.1", "[fd00::1]", "service")
GREETING = "\u0645\u200c\u0645 \U0001f469\u200d\U0001f527,"  # of any language
RECOVERY = "https://app.example/recover?from=dashboard"
# By variable or variables, a valid value, and how it is read.
VALID: list[tuple[dict[str, str], dict[str, object]]] = [
    ({}, {"embedded": True}),
    ({"INTENTS_SERVICE_URL": ""}, {"embedded": True}),
    ({"INTENTS_SERVICE_URL": "embedded", "HOST": "0.0.0.0"}, {"embedded": True}),
    (REAL, {"embedded": False}),
    *((REAL | {"INTENTS_SERVICE_URL": f"http://{host}"}, {"embedded": False}) for host in NEARBY),
    (
        {"INTENTS_EMBED_HOSTS": "https://Shop.example:443,*.Shop.example:8443,*"},
        {"intents_embed_hosts": ["https://shop.example", "*.shop.example:8443", "*"]},
    ),
    ({"INTENTS_REPLY_GREETING": GREETING}, {"intents_reply_greeting": GREETING}),
    ({"INTENTS_REPLY_SIGNATURE": r"Anna\nSupport"}, {"intents_reply_signature": "Anna\nSupport"}),
    ({"INTENTS_RECOVERY_URL": RECOVERY}, {"intents_recovery_url": RECOVERY}),
    *(
        ({"INTENTS_SUPPORT_CONTACT": contact}, {"intents_support_contact": contact})
        for contact in ("support@app.example", "https://app.example:8443/help?topic=refund#form")
    ),
    *(
        ({"REDIS_URL": url}, {"redis_url": RedisDsn(url)})
        for url in ("redis://a.example", "rediss://u:p@a.example:1/2?ssl_cert_reqs=none&protocol=3", "redis://a?db=2")
    ),
]


@pytest.mark.parametrize(("env", "read"), VALID, ids=[str(env) for env, _ in VALID])
def test_a_valid_value_is_accepted(env: dict[str, str], read: dict[str, object]) -> None:
    found = environment(env)
    assert {name: getattr(found, name) for name in read} == read


@pytest.mark.parametrize(
    "network", ["0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1", "8.0.0.0/8", "::/0", "8000::/1", "2000::/3", "2400::/12"]
)
def test_a_trusted_network_with_clients_in_it_is_too_wide(network: str) -> None:
    read = environment({"TRUSTED_PROXIES": f"10.0.0.0/8,fc00::/7,104.16.0.0/13,2a06:98c0::/29,127.0.0.1,{network}"})
    assert [str(each) for each in read.wide_proxies] == [network]
