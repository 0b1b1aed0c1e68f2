"""A page has one URL. Other spellings redirect to it, without a request about transfers."""

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.formatting import hashes

NOTHING, SIGNATURE = (
    "0x" + "12" * 32,
    "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
)
NATIVE, USDC, ALIAS = "0x" + "0" * 40, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "0x" + "Ee" * 20
NOW = 1_795_262_400  # 2026-11-21T12:00:00Z

OF_A_THING = [
    ("/intent/{digits}", "/intent/{id}"),
    ("/intent/{ID}", "/intent/{id}"),
    ("/intents/{id}", "/intent/{id}"),
    ("/i/{id}", "/intent/{id}"),
    ("/intent/{digits}/card.png", "/intent/{id}/card.png"),
    ("/intent/{digits}/qr.svg", "/intent/{id}/qr.svg"),
    ("/intent/{digits}/share", "/intent/{id}/share"),
    ("/address/{OWNER}?status=FAILED", "/address/{owner}?status=FAILED"),
    ("/address/{checksum}?status=FAILED", "/address/{owner}?status=FAILED"),
    ("/address/base:{owner}", "/address/{owner}"),
    ("/export/address/{OWNER}.csv?run=abcdefghijklmn-_", "/export/address/{owner}.csv?run=abcdefghijklmn-_"),
    (f"/token/8453/{USDC[2:].upper()}", f"/token/8453/{USDC}"),
    (f"/token/08453/{USDC}", f"/token/8453/{USDC}"),
    (f"/token/8453/{USDC}/", f"/token/8453/{USDC}"),
    (f"/token/1/{ALIAS}", f"/token/1/{NATIVE}"),
    ("/chain/08453", "/chain/8453"),
    ("/chain/8453/", "/chain/8453"),
    ("/chain/000", "/chain/0"),
    ("/provider/rElAy", "/provider/RELAY"),
    ("/provider/LayerZero%20OFT", "/provider/LZ_OFT"),
    ("/help/status/on-hold", "/help/status/ON_HOLD"),
    (f"/tx/8453/{NOTHING[2:].upper()}", f"/tx/8453/{NOTHING}"),
    (f"/tx/0008453/{NOTHING}", f"/tx/8453/{NOTHING}"),
    (f"/tx/{NOTHING};jsessionid=1A2B3C", f"/tx/{NOTHING}"),
    (f"/tx/{NOTHING}).", f"/tx/{NOTHING}"),
    (f"/tx/{SIGNATURE},", f"/tx/{SIGNATURE}"),
]
OF_A_LIST = [
    ("/history?status=quoted", "/history?status=QUOTED"),
    ("/history?status=&origin=&owner=&size=20&sort=createdAt&order=DESC&zone=UTC&from_at=&to_at=", "/history"),
    ("/history?status=QUOTED&status=EXECUTING&status=COMMITTED", "/history?status=in-flight"),
    ("/history?origin=arbitrum+one", "/history?origin=42161"),
    ("/history?from_at=2026-11-21T12:30&zone=Europe/Berlin", f"/history?from={NOW - 1800}"),
    ("/history?size=30&order=ASC", "/history?order=ASC&size=30"),
    ("/history?utm_source=mail&cursor=", "/history"),
    ("/chains?provider=li.fi", "/chains?provider=LIFI"),
    ("/chains?network=Testnet&provider=", "/chains?network=testnet"),
    ("/chains?network=testnet&provider=RELAY", "/chains?provider=RELAY&network=testnet"),
    (f"/tokens?without={USDC.upper().replace('X', 'x')}&show=FEATURED&limit=", f"/tokens?without={USDC}"),
    ("/tokens?chain=base,1&q=", "/tokens?chain=1&chain=8453"),
    ("/tokens?q=++usd++coin+", "/tokens?q=usd+coin"),
    (f"/tokens?q={USDC[2:].upper()}&after=0", f"/tokens?q={USDC}"),
    ("/routes?from=base&token=ETH", f"/routes?from=8453&token={NATIVE}"),
    ("/routes?from=8453&token=usdc", f"/routes?from=8453&token={USDC}"),
    (f"/routes?token={ALIAS}&from=08453", f"/routes?from=8453&token={NATIVE}"),
    (f"/routes?from=8453&token={NATIVE}&to=&for=&owner=&x=1&show=all", f"/routes?from=8453&token={NATIVE}"),
    (f"/routes?from=8453&token=ETH&token_typed={USDC}", f"/routes?from=8453&token={USDC}"),
]


@pytest.mark.parametrize(
    ("written", "canonical", "status"),
    [*((*urls, 301) for urls in OF_A_THING), *((*urls, 302) for urls in OF_A_LIST)],
    ids=[written[:40] for written, _ in OF_A_THING + OF_A_LIST],
)
def test_another_spelling_redirects(
    site: Client, emulator: Emulator, operations: list[str], written: str, canonical: str, status: int
) -> None:
    intent = emulator.finished(2)
    intent_id, owner = intent["intentId"], intent["ownerAddress"].lower()
    known = {"id": intent_id, "ID": intent_id.upper(), "digits": intent_id[2:].upper(), "owner": owner}
    known |= {"OWNER": owner[2:].upper(), "checksum": hashes.checksum(owner)}
    answer = site.get(written.format(**known))
    assert (answer.status_code, answer["Location"]) == (status, canonical.format(**known))
    assert {*operations} <= {"GetChains", "GetTokenList"}
