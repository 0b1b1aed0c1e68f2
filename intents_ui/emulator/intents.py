"""Builds Intent documents."""

from typing import Any, Final

from intents_ui.emulator import calldata, names
from intents_ui.emulator.catalog import PRICE_SCALE, Catalogue
from intents_ui.emulator.documents import Document, stamp
from intents_ui.emulator.pricing import Gas, Terms, terms_of, usd
from intents_ui.emulator.scenario_engine import Scene
from intents_ui.emulator.transfers import Transfer

DURATIONS: Final = {"RELAY": 12, "CCTP": 30, "LIFI": 120, "LZ_OFT": 900, "LZ_TRANSFER": 900, "HYPERLANE": 90, "OIF": 60}
OTHER_DURATION: Final = 8


def intent(transfer: Transfer, scene: Scene, catalogue: Catalogue) -> Document:
    """Return the Intent document of a transfer. For a same-chain transfer, the destination fields are null."""
    terms = terms_of(transfer, catalogue)
    crossing = not transfer.same_chain
    origin_calls = calldata.origin_calls(transfer, terms)
    destination_calls = calldata.destination_calls(transfer, terms) if crossing else []
    document = {
        "id": transfer.born,
        "projectId": transfer.project,
        "intentId": transfer.intent_id,
        "status": scene.status,
        "quoteRequest": _quote_request(transfer),
        "ownerAddress": transfer.owner,
        "originChainId": transfer.origin.chain_id,
        "destinationChainId": transfer.destination.chain_id,
        "originIntentAddress": transfer.origin_address,
        "destinationIntentAddress": transfer.destination_address,
        "salt": str(int.from_bytes(names.noise(transfer.number, "salt"))),
        "depositTransaction": _deposit(transfer, terms),
        "originCalls": _calls(transfer, terms, transfer.origin.chain_id, origin_calls),
        "originPrecondition": precondition(transfer, terms, "origin"),
        "originMetaTxn": meta_txn(transfer, "origin", origin_calls),
        "quote": _quote(transfer, terms),
        "fees": _fees(transfer, terms),
        "serviceVersion": "1.5.2" if transfer.deal.protocol == "v1.5" else "1.4.0",
        "serviceContracts": {
            "serviceIntentEntrypointAddress": names.stranger("entrypoint"),
            "serviceRouterAddress": names.stranger("router"),
            "serviceRouterShimAddress": names.stranger("router shim"),
        },
        "expiresAt": stamp(transfer.expires),
        "passthrough": False,
        "destinationCalls": _calls(transfer, terms, transfer.destination.chain_id, destination_calls)
        if crossing
        else None,
        "destinationPrecondition": precondition(transfer, terms, "destination") if crossing else None,
        "destinationMetaTxn": meta_txn(transfer, "destination", destination_calls) if crossing else None,
        "intentProtocol": transfer.deal.protocol,
        "updatedAt": stamp(transfer.moment(scene.updated)),
        "createdAt": stamp(transfer.born),
    }
    return document | _edge_fields(transfer, scene) if transfer.deal.edge else document


def precondition(transfer: Transfer, terms: Terms, leg: str) -> Document:
    """Return the balance that the intent address must have before the calls of a chain."""
    is_origin = leg == "origin"
    token = transfer.origin if is_origin else transfer.destination
    return {
        "type": "tokenMinBalance",
        "chainId": token.chain_id,
        "ownerAddress": transfer.origin_address if is_origin else transfer.destination_address,
        "tokenAddress": token.address,
        "minAmount": str(terms.from_amount if is_origin else terms.to_minimum),
    }


def meta_txn_id(transfer: Transfer, leg: str) -> str:
    return names.noise(transfer.number, f"meta {leg}").hex()


def meta_txn(transfer: Transfer, leg: str, calls: list[tuple[str, str, int]]) -> Document:
    side = transfer.origin if leg == "origin" else transfer.destination
    wallet = transfer.origin_address if leg == "origin" else transfer.destination_address
    return {
        "id": meta_txn_id(transfer, leg),
        "chainId": side.chain_id,
        "walletAddress": wallet,
        "contract": wallet,
        "input": calldata.meta_input(calls, names.noise(transfer.number, f"signature {leg}", 64)),
        "bridgeGas": str(0),
    }


def _quote_request(transfer: Transfer) -> Document:
    deal = transfer.deal
    exact_output = deal.exact_output
    return {
        "ownerAddress": transfer.owner,
        "originChainId": transfer.origin.chain_id,
        "originTokenAddress": transfer.origin.address,
        "destinationChainId": transfer.destination.chain_id,
        "destinationTokenAddress": transfer.destination.address,
        "destinationToAddress": transfer.recipient,
        "destinationApproveAddress": transfer.recipient if deal.calls else "",
        "destinationCallData": transfer.call_data,
        "destinationCallValue": str(transfer.call_value),
        "originTokenAmount": str(0 if exact_output else transfer.from_amount or 0),
        "destinationTokenAmount": str(transfer.to_amount or 0 if exact_output else 0),
        "tradeType": "EXACT_OUTPUT" if exact_output else "EXACT_INPUT",
        "fundMethod": deal.fund_method,
        "onlyNativeGasFee": False,
        "options": {
            "intentProtocol": deal.protocol,
            "swapProvider": "AUTO",
            "bridgeProvider": "AUTO",
            "swapProviderFallback": True,
            "bridgeProviderFallback": True,
            "preference": "RECOMMENDED",
            "slippageTolerance": transfer.slippage,
            "serviceAddressOverrides": {
                "smartWalletFactoryAddress": names.stranger("factory"),
                "smartWalletMainModuleAddress": names.stranger("main module"),
                "smartWalletMainModuleUpgradableAddress": names.stranger("upgradable module"),
                "smartWalletGuestModuleAddress": names.stranger("guest module"),
                "smartWalletUtilsAddress": names.stranger("utils"),
            },
        },
    }


def _deposit(transfer: Transfer, terms: Terms) -> Document:
    to, data, value = calldata.deposit_call(transfer, terms)
    return {
        "toAddress": transfer.origin_address,
        "tokenAddress": transfer.origin.address,
        "amount": str(terms.from_amount),
        "chainId": transfer.origin.chain_id,
        "to": to,
        "data": data,
        "value": str(value),
        "decimals": transfer.origin.decimals,
    }


def _calls(transfer: Transfer, terms: Terms, chain_id: int, calls: list[tuple[str, str, int]]) -> Document:
    token, units = (
        (transfer.origin.address, terms.from_amount)
        if chain_id == transfer.origin.chain_id
        else (transfer.destination.address, terms.to_minimum)
    )
    gas_limit = 160_000
    return {
        "chainId": chain_id,
        "calls": [
            *(_call(*call, gas_limit=gas_limit, fallback=False) for call in calls),
            _call(*calldata.fallback_call(transfer, token, units), gas_limit=gas_limit, fallback=True),
        ],
        "space": str(int.from_bytes(names.noise(transfer.number, f"space {chain_id}", 20))),
        "nonce": str(0),
    }


def _call(to: str, data: str, value: int, *, gas_limit: int, fallback: bool) -> Document:
    return {
        "to": to,
        "value": str(value),
        "data": data,
        "gasLimit": str(gas_limit),
        # Only the wallet's own helper contract runs as a delegate call. Other contracts are called normally.
        "delegateCall": fallback,
        "onlyFallback": fallback,
        "behaviorOnError": 0 if fallback else 2,
    }


def _quote(transfer: Transfer, terms: Terms) -> Document:
    providers = transfer.deal.providers
    return {
        "routeProviders": list(providers),
        "routeProvidersRequestIds": [
            "0x" + names.noise(transfer.number, f"request {provider}").hex() for provider in providers
        ],
        "routeProvidersFeeUsd": [fee.usd for fee in terms.providers],
        "fromAmount": str(terms.from_amount),
        "fromAmountMin": str(terms.from_amount),
        "fromAmountUsd": terms.from_usd,
        "fromAmountMinUsd": terms.from_usd,
        "toAmount": str(terms.to_amount),
        "toAmountMin": str(terms.to_minimum),
        "toAmountUsd": terms.to_usd,
        "toAmountMinUsd": usd(terms.to_minimum, terms.destination),
        "maxSlippage": transfer.slippage,
        "priceImpact": _percent(terms.loss_usd, terms),
        "priceImpactUsd": terms.loss_usd,
        "priceImpactDetails": _impact_details(terms),
        "estimatedDuration": estimated_duration(transfer),
    }


def estimated_duration(transfer: Transfer) -> int:
    """Return the estimated duration in seconds."""
    if transfer.deal.duration is not None:
        return transfer.deal.duration
    return sum(DURATIONS.get(provider, OTHER_DURATION) for provider in transfer.deal.providers)


def _impact_details(terms: Terms) -> Document:
    service = terms.service + terms.collector
    parts = {
        "executionPriceImpact": terms.gas.usd,
        "marketPriceImpact": round(terms.loss_usd - terms.total.usd, 6),  # what no fee explains
        "providerFeesPriceImpact": terms.provider.usd,
        "serviceFeesPriceImpact": service.usd,
        "netPriceImpact": terms.loss_usd,
    }
    return {name: {"priceImpact": _percent(loss, terms), "priceImpactUsd": loss} for name, loss in parts.items()}


def _percent(loss: float, terms: Terms) -> float:
    return round(100 * loss / terms.from_usd, 4) if terms.from_usd else 0.0


def _fees(transfer: Transfer, terms: Terms) -> Document:
    provider, service, total = terms.provider, terms.service, terms.total
    both = provider + service
    return {
        "originGas": gas_fee(transfer, terms.origin_gas, "origin"),
        "destinationGas": gas_fee(transfer, terms.destination_gas, "destination") if terms.destination_gas else None,
        "provider": {
            "quoteProvider": transfer.deal.providers[-1],
            "quoteProviderFee": str(provider.amount),
            "quoteProviderFeeUsd": provider.usd,
            "serviceFee": str(service.amount),
            "serviceFeeUsd": service.usd,
            "quoteProviderWithServiceFee": str(both.amount),
            "providerWithServiceFeeUsd": both.usd,
            "totalFeeAmount": str(both.amount),
            "totalFeeUsd": both.usd,
        },
        "feeTokenAddress": transfer.origin.address,
        "feeTokenAmount": str(total.amount),
        "feeTokenUsd": total.usd,
        "feeTokenTotal": str(total.amount),
        "gasFeeTotal": str(terms.gas.amount),
        "gasFeeUsd": terms.gas.usd,
        "serviceFeeTotal": str(service.amount),
        "serviceFeeUsd": service.usd,
        "collectorFeeTotal": str(terms.collector.amount),
        "collectorFeeUsd": terms.collector.usd,
        "providerFeeTotal": str(provider.amount),
        "providerFeeUsd": provider.usd,
        "totalFeeAmount": str(total.amount),
        "totalFeeUsd": total.usd,
    }


def gas_fee(transfer: Transfer, gas: Gas, leg: str) -> Document:
    return {
        "chainId": gas.chain_id,
        "totalGasLimit": str(gas.limit),
        "gasPrice": str(gas.price),
        "nativeTokenSymbol": gas.native_symbol,
        "chainGasUsageStatus": gas.usage,
        "totalFeeAmount": str(gas.cost),
        "totalFeeUsd": f"{gas.fee.usd:.6f}",
        "metaTxnFeeDetails": {
            "metaTxnId": meta_txn_id(transfer, leg),
            "estimatedGasLimit": str(gas.limit),
            "feeNative": str(gas.cost),
        },
        "metaTxnGasQuote": "0x" + names.noise(transfer.number, f"gas quote {leg}").hex(),
        "nativeTokenPriceUsd": gas.native_price / PRICE_SCALE,
    }


def _edge_fields(transfer: Transfer, scene: Scene) -> dict[str, Any]:
    return {
        "mode": "FUND",
        "isTestnet": False,
        "originTokenAddress": transfer.origin.address,
        "destinationTokenAddress": transfer.destination.address,
        "statusUpdatedAt": stamp(transfer.moment(scene.at)),
        "timedRefundUnlockTimestamp": transfer.born // 1_000_000 + 86_400,
        "edge": {
            "edgeChain": "solana",
            "edgeStatus": scene.marks["intent.edgeStatus"],
            "edgeDepositAddress": names.base58_address_of(names.Role.ORIGIN_ADDRESS, transfer.number),
        },
    }
