"""Compose files, checked by their schema and by reading them, so that no container engine is needed."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from intents_ui.settings import Environment

ROOT = Path(__file__).parent.parent
FILES = ["compose.yaml", "deploy/compose.production.yaml"]
ONE, SEVERAL = (yaml.safe_load((ROOT / name).read_text()) for name in FILES)
SERVICES: dict[str, dict[str, Any]] = SEVERAL["services"]
ALL: dict[str, dict[str, Any]] = {"the only one": ONE["services"]["dashboard"], **SERVICES}
DASHBOARDS = ["dashboard-1", "dashboard-2"]


@pytest.mark.parametrize("name", FILES)
def test_it_is_valid(name):
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", name]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ALL)
def test_every_service_has_minimal_rights_and_a_health_check(name):
    service = ALL[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"]
    assert "healthcheck" in service or name in ("the only one", *DASHBOARDS)  # theirs is in the Dockerfile
    assert service.get("healthcheck") != {"disable": True} or name == "mirror"
    assert "privileged" not in service


@pytest.mark.parametrize("name", ALL)
def test_an_image_from_elsewhere_has_an_exact_version(name):
    assert ALL[name]["image"] == "intents-ui" or re.search(r":\d+\.\d+(\.\d+)?-alpine$", ALL[name]["image"])


def test_two_dashboards_are_identical_and_configured_by_environment_only():
    first, second = ({**SERVICES[name], "networks": None} for name in DASHBOARDS)
    assert first == second
    assert "volumes" not in first
    assert {name.lower() for name in first["environment"]} <= set(Environment.model_fields)
    graceful = re.search(r"^graceful_timeout = (\d+)$", (ROOT / "gunicorn.conf.py").read_text(), re.MULTILINE)
    assert graceful
    assert int(first["stop_grace_period"].removesuffix("s")) > int(graceful[1])


def test_the_mirror_is_the_only_other_container_with_the_dashboards_settings():
    mirror, dashboard = SERVICES["mirror"], SERVICES["dashboard-1"]
    assert mirror["command"][1:] == ["-m", "intents_ui", "mirror", "run"]
    assert mirror["environment"] == dashboard["environment"]
    assert mirror["environment"]["INTENTS_DATABASE"].endswith("@postgres/intents")
    assert set(mirror["networks"]) == {"back", "front"}


def test_only_the_database_has_a_volume():
    assert [name for name, service in SERVICES.items() if service.get("volumes", ["./"])[0][0] != "."] == ["postgres"]
    assert SERVICES["postgres"]["volumes"] == ["postgres:/var/lib/postgresql/data"]
    assert SEVERAL["volumes"] == {"postgres": {}}


def test_only_nginx_is_exposed_and_only_nginx_is_a_trusted_proxy():
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["nginx"]
    assert SEVERAL["networks"]["back"] == {"internal": True}
    assert [SERVICES[name]["networks"] for name in ("redis", "postgres")] == [["back"], ["back"]]
    proxy = SERVICES["nginx"]["networks"]["front"]["ipv4_address"]
    assert SERVICES["dashboard-1"]["environment"]["TRUSTED_PROXIES"] == proxy


def test_nginx_has_the_files_its_configuration_names():
    mounted = dict(volume.removesuffix(":ro").split(":") for volume in SERVICES["nginx"]["volumes"])
    configuration = (ROOT / "deploy/nginx.conf").read_text()
    for named in re.findall(r"\bintents-ui/\w+\.\w+", configuration):
        assert f"/etc/nginx/{named}" in mounted.values()
    for source in mounted:
        assert (ROOT / "deploy" / source).exists() or source.startswith("./tls/")
    servers = (ROOT / "deploy/compose.servers.conf").read_text()
    addresses = [f"{name}:8000" for name in DASHBOARDS]
    assert re.findall(r"^server (\S+) .*$", servers, re.MULTILINE) == addresses * 2
    assert re.findall(r"^server (\S+) .* backup;$", servers, re.MULTILINE) == addresses


def test_one_dashboard_is_on_this_machine_only_and_keeps_its_mirror_in_a_volume():
    service = ONE["services"]["dashboard"]
    assert service["ports"] == ["127.0.0.1:8000:8000"]
    assert service["environment"]["INTENTS_SERVICE_URL"] == "${INTENTS_SERVICE_URL:-embedded}"
    assert service["environment"]["INTENTS_DATABASE"].startswith("/data/")
    assert (service["volumes"], ONE["volumes"]) == (["data:/data"], {"data": {}})
    assert "--owner 10001 --mode 0700 /data" in (ROOT / "Dockerfile").read_text()  # volumes get its owner
