"""GetTokenList, GetChains, both route operations and GetTokenPrices."""

from tests.emulator.driving import USDC_ON_BASE, call, request

NATIVE = "0x" + "0" * 40
ALIAS = "0x" + "E" * 40


def tokens(emulator, **asked):
    return call(emulator, "GetTokenList", {"chainIds": [8453]} | asked)["tokens"]


def symbols(found):
    return [token["symbol"] for token in found]


def test_one_address_and_exclusion(emulator):
    assert symbols(tokens(emulator, tokenAddress=ALIAS)) == ["ETH"]
    assert tokens(emulator, tokenAddress=ALIAS)[0]["address"] == NATIVE
    assert "USDC" not in symbols(tokens(emulator, excludeTokens=[USDC_ON_BASE.upper().replace("0X", "0x")]))


def routes(emulator, side, **asked):
    operation = f"GetExact{side}Routes"
    return call(emulator, operation, asked)["tokens"]


def test_routes_out(emulator):
    origin = {"originChainId": 8453, "originTokenAddress": USDC_ON_BASE}
    everywhere = routes(emulator, "Input", **origin)
    assert len({token["chainId"] for token in everywhere}) == 19
    polygon = routes(emulator, "Input", **origin, destinationChainId=137)
    assert {token["chainId"] for token in polygon} == {137}
    assert symbols(routes(emulator, "Input", **origin, destinationChainId=137, destinationTokenAddress=ALIAS)) == [
        "POL"
    ]
    testnet = routes(emulator, "Input", **origin, destinationChainId=84532, destinationTokenAddress=NATIVE)
    assert testnet == []
    assert routes(emulator, "Input", originChainId=8453, originTokenAddress="0x" + "9" * 40) == []


def test_routes_in(emulator):
    destination = {"destinationChainId": 8453, "destinationTokenAddress": USDC_ON_BASE}
    popular = routes(emulator, "Output", **destination)
    assert all(token["featured"] for token in popular)
    held = routes(emulator, "Output", **destination, ownerAddress="0x" + "ab" * 20)
    assert 0 < len(held) < len(popular)
    assert held == routes(emulator, "Output", **destination, ownerAddress="0x" + "AB" * 20)
    one = routes(emulator, "Output", **destination, originChainId=10, originTokenAddress=NATIVE)
    assert symbols(one) == ["ETH"]


def test_prices(emulator):
    asked = [
        {"chainId": 8453, "tokenAddress": USDC_ON_BASE.upper().replace("0X", "0x")},
        {"chainId": 1, "tokenAddress": ALIAS},
        {"chainId": 1, "tokenAddress": "0x" + "9" * 40},
    ]
    prices = call(emulator, "GetTokenPrices", {"tokens": asked})["tokenPrices"]
    assert [price["priceUsd"] for price in prices] == [1, 3100, None]
    assert prices[1]["token"] == {"chainId": 1, "tokenAddress": NATIVE, "tokenSymbol": "ETH"}
    assert request(emulator, "GetTokenPrices", {}).code == 2000
    assert request(emulator, "GetTokenPrices", {"tokens": [{"chainId": 1}]}).code == 2000
