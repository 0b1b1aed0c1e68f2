"""The dashboard with a remote service over TCP behaves as with the embedded one."""

import re
from collections.abc import Iterator

import httpx
import pytest

from tests.canary import KEY as ACCESS_KEY
from tests.serving import dashboard, free_port, running
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def pointed() -> Iterator[str]:
    """Yield a dashboard with the emulator on a port of its own as its service, with an access key."""
    port = free_port()
    service = f"http://127.0.0.1:{port}"
    emulator = ("-m", "intents_ui.emulator", "--port", str(port), "--key", ACCESS_KEY)
    settings = {
        "INTENTS_SERVICE_URL": service,
        "INTENTS_SERVICE_ACCESS_KEY": ACCESS_KEY,
        "SECRET_KEY": "a key of the test",
    }
    with running(*emulator, url=f"{service}/rpc/Service/GetChains"), dashboard(**settings) as root:
        yield root


def answer_part(page: str) -> str:
    """Return the page without what differs by design: times, the demo banner and its links."""
    main = page[page.index("<main") : page.index("</main>")]
    printed = r"<p class=\"on-paper.*?</p>"
    times = r"(Updated|[Cc]hecked)\s+<time.*?</time>|data-(?:since|now)=\"[^\"]*\"|\d+ (s|min|h|d) ago|[\d a-z]+ so far"
    return re.sub(rf"{printed}|{times}|\?seen=\w+", "", main, flags=re.DOTALL)


def test_a_remote_service_shows_the_same_transfers(server: str, pointed: str) -> None:
    with httpx.Client(trust_env=False, timeout=30) as client:
        ids = re.findall(r'href="/intent/(0x[0-9a-f]+)"[^>]*>Completed', client.get(f"{server}/demo").text)
        assert len(ids) == 30
        for intent_id in ids:
            for root in (server, pointed):
                client.get(f"{root}/intent/{intent_id}/balances")  # so that neither page waits for them
            one, other = (client.get(f"{root}/intent/{intent_id}") for root in (server, pointed))
            assert (one.status_code, other.status_code) == (200, 200)
            assert answer_part(one.text) == answer_part(other.text)


def test_a_remote_service_has_no_banner_no_demo_and_no_embedded_api(pointed: str) -> None:
    with httpx.Client(base_url=pointed, trust_env=False, timeout=PATIENCE) as client:
        assert "Demo data" not in client.get("/").text
        assert client.get("/demo").status_code == 404
        assert client.post("/rpc/Service/GetChains", json={}).status_code in (403, 404)


def test_the_access_key_stays_on_the_server(pointed: str) -> None:
    with httpx.Client(base_url=pointed, trust_env=False, timeout=PATIENCE) as client:
        for path in ("/", "/search?q=nobody", "/intent/0x" + "ab" * 32, "/nowhere"):
            answer = client.get(path)
            assert ACCESS_KEY not in answer.text
            assert ACCESS_KEY not in str(answer.headers)
