"""A real nginx with the project's configuration in front of processes of the dashboard."""

import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import trustme

from tests.serving import ROOT, free_port, needs, wait_for
from tests.unprivileged import give_to_unprivileged, unprivileged
from tests.waiting import PATIENCE


@contextmanager
def balanced(ports: list[int], place: Path) -> Iterator[tuple[str, ssl.SSLContext]]:
    """Run nginx with deploy/nginx.conf, changing only ports and the host name. Yields its URL, and what trusts it."""
    nginx, authority, trust = needs("nginx", "apt-get install nginx"), trustme.CA(), ssl.create_default_context()
    authority.configure_trust(trust)
    secure, plain = free_port(), free_port()
    shutil.copy(ROOT / "tests/nginx.conf", place / "nginx.conf")
    (place / "intents-ui.conf").write_text(on_ports((ROOT / "deploy/nginx.conf").read_text(), secure, plain))
    (place / "intents-ui").mkdir()
    (place / "intents-ui/servers.conf").write_text(servers(ports))
    certificate = authority.issue_cert("localhost")
    certificate.private_key_pem.write_to_path(place / "intents-ui/privkey.pem")
    for blob in certificate.cert_chain_pems:
        blob.write_to_path(place / "intents-ui/fullchain.pem", append=True)
    give_to_unprivileged(place)
    command = [*unprivileged(), str(nginx), "-p", str(place), "-c", str(place / "nginx.conf"), "-e", "stderr"]
    subprocess.run([*command, "-t", "-q"], check=True, cwd=place)
    process = subprocess.Popen(command, cwd=place)
    try:
        wait_for(f"http://localhost:{plain}/", process)
        yield f"https://localhost:{secure}", trust
    finally:
        process.terminate()
        process.wait(PATIENCE)


def on_ports(configuration: str, secure: int, plain: int) -> str:
    configuration = re.sub(r" *listen \[::\]:.*\n", "", configuration)
    for before, after in (
        ("listen 443 ", f"listen 127.0.0.1:{secure} "),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("server_name intents.example;", "server_name localhost;"),
    ):
        assert before in configuration
        configuration = configuration.replace(before, after)
    return configuration


def servers(ports: list[int]) -> str:
    """Return deploy/servers.conf for processes on these ports."""
    lines = [line for line in (ROOT / "deploy/servers.conf").read_text().splitlines() if ":8001 " in line]
    return "\n".join(line.replace(":8001 ", f":{port} ") for line in lines for port in ports)
