"""Logos: no third-party images unless configured, and then served by the dashboard."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from pydantic import ValidationError

from intents_ui import wiring
from intents_ui.emulator.app import Emulator
from intents_ui.service.logos.logos import Busy, Logos
from intents_ui.settings import Environment
from tests.service.logo_host import HOST, Host, hosting
from tests.service.pictures import opened, picture
from tests.service.scripted_server import answering

INTO_SOMI, SPOOF = 17, 18
SOMNIA, BASE = 5031, 8453
NATIVE = "0x" + "0" * 40
SOMI = f"/logo/token/{SOMNIA}/{NATIVE}"
USDC_ON_BASE = f"/logo/token/{BASE}/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
COIN = re.compile(r'<span class="coin" aria-hidden="true"( data-hue="\d")?>(.*?)</span>(?!</span>)', re.DOTALL)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """Configured logo host that has every logo."""
    with hosting(answering(picture("PNG"))) as found:
        wiring.current().logos = found.logos()
        yield found


def page_of(site: Client, emulator: Emulator, number: int) -> str:
    return site.get(f"/intent/{emulator.finished(number)['intentId']}").content.decode()


def coins(page: str) -> list[str]:
    return [found[0] for found in COIN.finditer(page)]


@pytest.mark.parametrize("path", ["/", "/history", "/chains", f"/chain/{SOMNIA}", "/intent"])
def test_no_page_links_to_a_third_partys_image_by_default(site: Client, emulator: Emulator, path: str) -> None:
    path = f"/intent/{emulator.finished(INTO_SOMI)['intentId']}" if path == "/intent" else path
    page = site.get(path).content.decode()
    assert "/static/img/coins.svg#" in page
    assert "<img" not in page
    assert "/logo/" not in page
    assert not re.search(r'(?:src|srcset|poster|data|xlink:href)="(?:https?:)?//', page)


@pytest.mark.parametrize("path", [SOMI, USDC_ON_BASE, f"/logo/chain/{SOMNIA}"])
def test_by_default_there_is_no_logo(site: Client, path: str) -> None:
    assert site.get(path).status_code == 404


def test_logos_of_configured_hosts_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring.ENV, "intents_logo_hosts", [HOST])
    logos = wiring.Dashboard().logos
    assert logos
    assert logos.offers(f"https://{HOST}/a.png")
    assert not logos.offers("https://other.example/a.png")


def test_a_configured_host_shows_a_logo_where_no_built_in_image_exists(
    site: Client, emulator: Emulator, host: Host
) -> None:
    page = page_of(site, emulator, INTO_SOMI)
    shown = re.findall(r'<img src="([^"]+)" alt="" ', page)
    assert {SOMI, f"/logo/chain/{SOMNIA}"} == set(shown)
    assert "#usdc" in page
    assert host.visits == 0


@pytest.mark.parametrize("path", [SOMI, f"/logo/chain/{SOMNIA}"])
def test_a_logo_is_re_encoded_and_served_without_any_rights(site: Client, host: Host, path: str) -> None:
    answer = site.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/webp")
    assert opened(answer.content).size == (64, 64)
    assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["Cache-Control"] == "public, max-age=86400"
    assert "Set-Cookie" not in answer


def test_an_unchanged_logo_is_a_304(site: Client, host: Host) -> None:
    first = site.get(SOMI)
    again = site.get(SOMI, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert site.head(SOMI).status_code == 200
    assert host.visits == 1


def test_the_logo_is_the_one_in_the_services_list(site: Client, host: Host) -> None:
    site.get(SOMI)
    site.get(f"/logo/chain/{SOMNIA}?uri=https://{HOST}/other.png")
    requested = [visit.head.split(" ")[1] for visit in host.server.visits]
    assert requested == [f"/{SOMNIA}/{NATIVE}.webp", f"/chains/{SOMNIA}.webp"]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(f"/logo/token/{BASE}/0x{'12' * 20}", id="token that is not listed"),
        pytest.param(f"/logo/token/{BASE}/https:", id="no address"),
        pytest.param(f"/logo/token/999999/{NATIVE}", id="token of an unknown chain"),
        pytest.param("/logo/chain/999999", id="unknown chain"),
        pytest.param("/logo/chain/99999999999999999999", id="chain beyond all numbers"),
    ],
)
def test_an_unlisted_token_has_no_logo(site: Client, host: Host, path: str) -> None:
    assert (site.get(path).status_code, host.visits) == (404, 0)


def test_a_failed_logo_is_not_requested_again(site: Client, host: Host) -> None:
    host.server.script = answering("gone", status=404)
    answers = [site.get(SOMI) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert answers[0]["Cache-Control"] == "public, max-age=600"
    assert host.visits == 1


def test_a_missing_logo_is_a_transparent_image(site: Client) -> None:
    answer = site.get(SOMI)
    assert (answer.status_code, answer["Content-Type"]) == (404, "image/webp")
    assert opened(answer.content).getpixel((0, 0)) == (0, 0, 0, 0)


def test_too_many_waiting_clients_are_asked_to_retry(site: Client, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(logos: Logos, uri: str | None) -> bytes | None:
        raise Busy

    monkeypatch.setattr(Logos, "picture", busy)
    answer = site.get(SOMI)
    assert (answer.status_code, answer["Cache-Control"], answer["Retry-After"]) == (503, "no-store", "2")


def test_a_spoofed_token_has_letters_on_a_plain_background(site: Client, emulator: Emulator, host: Host) -> None:
    page = page_of(site, emulator, SPOOF)
    spoof = next(coin for coin in coins(page) if "<b>USD</b>" in coin)
    assert "data-hue" not in spoof
    own, _, chain = spoof.partition("<span><b>")
    assert "<svg" not in own
    assert "<img" not in own
    assert "#base" in chain


@pytest.mark.parametrize(
    "hosts",
    [
        pytest.param("https://logos.example", id="URL"),
        pytest.param("logos.example/icons", id="path"),
        pytest.param("logos.example:443", id="port"),
        pytest.param("me@logos.example", id="user"),
        pytest.param("*.logos.example", id="pattern"),
        pytest.param("logos", id="single label"),
        pytest.param("localhost", id="ourselves"),
        pytest.param("10.0.0.8", id="address"),
        pytest.param("127.1", id="short address"),
        pytest.param("0x7f.1", id="address in hex"),
        pytest.param("[::1]", id="IPv6 address"),
        pytest.param("logos.example, 10.0.0.8", id="a name and an address"),
    ],
)
def test_a_logo_host_is_a_name(hosts: str) -> None:
    with pytest.raises(ValidationError, match="host names"):
        Environment.model_validate({"intents_logo_hosts": hosts})


def test_logo_hosts_are_separated_by_commas_and_case_insensitive() -> None:
    read = Environment.model_validate({"intents_logo_hosts": "Logos.Example, xn--bcher-kva.example"})
    assert read.intents_logo_hosts == ["logos.example", "xn--bcher-kva.example"]
