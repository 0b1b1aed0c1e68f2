"""compose.yaml, checked by reading it, so that no container engine is needed."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from intents_ui.settings import Environment

ROOT = Path(__file__).parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DASHBOARDS = ["dashboard-1", "dashboard-2"]


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_has_minimal_rights_and_a_health_check(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"]
    assert "healthcheck" in service or name in DASHBOARDS  # theirs is in the Dockerfile
    assert service.get("healthcheck") != {"disable": True} or name == "mirror"
    assert "privileged" not in service


def test_two_dashboards_are_identical_and_configured_by_environment_only():
    first, second = ({**SERVICES[name], "networks": None} for name in DASHBOARDS)
    assert first == second
    assert first["volumes"] == ["mirror:/data"]
    assert {name.lower() for name in first["environment"]} <= set(Environment.model_fields)
    graceful = re.search(r"^graceful_timeout = (\d+)$", (ROOT / "gunicorn.conf.py").read_text(), re.MULTILINE)
    assert graceful
    assert int(first["stop_grace_period"].removesuffix("s")) > int(graceful[1])


def test_the_mirror_runs_on_demand_beside_the_dashboards_and_shares_their_volume():
    mirror, dashboard = SERVICES["mirror"], SERVICES["dashboard-1"]
    assert mirror["profiles"] == ["mirror"]
    assert mirror["command"][1:] == ["manage.py", "mirror", "run"]
    assert (mirror["volumes"], mirror["environment"]) == (dashboard["volumes"], dashboard["environment"])
    assert COMPOSE["volumes"] == {"mirror": {}}
    assert "--owner 10001 --mode 0700 /data" in (ROOT / "Dockerfile").read_text()  # volumes get its owner
    assert set(mirror["networks"]) == {"back", "front"}


def test_only_nginx_is_exposed_and_only_nginx_is_a_trusted_proxy():
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["nginx"]
    assert COMPOSE["networks"]["back"] == {"internal": True}
    assert SERVICES["redis"]["networks"] == ["back"]
    proxy = SERVICES["nginx"]["networks"]["front"]["ipv4_address"]
    assert SERVICES["dashboard-1"]["environment"]["TRUSTED_PROXIES"] == proxy


def test_nginx_has_the_files_its_configuration_names():
    mounted = dict(volume.removesuffix(":ro").split(":") for volume in SERVICES["nginx"]["volumes"])
    configuration = (ROOT / "deploy/nginx.conf").read_text()
    for named in re.findall(r"\bintents-ui/\w+\.\w+", configuration):
        assert f"/etc/nginx/{named}" in mounted.values()
    for source in mounted:
        assert (ROOT / source).exists() or source.startswith("./tls/")
    servers = (ROOT / "deploy/compose-servers.conf").read_text()
    addresses = [f"{name}:8000" for name in DASHBOARDS]
    assert re.findall(r"^server (\S+) .*$", servers, re.MULTILINE) == addresses * 2
    assert re.findall(r"^server (\S+) .* backup;$", servers, re.MULTILINE) == addresses
